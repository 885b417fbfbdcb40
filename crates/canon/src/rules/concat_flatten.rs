//! A concat among the parts of a concat along the same axis gives its parts to it.

use crate::engine::{Base, BaseId, Engine, MAX_PARTS, Result, Value, ValueSource};
use crate::trace::{Rule, few};
use smallvec::SmallVec;

pub(crate) const RULE: Rule = Rule {
    name: "concat_flatten",
    equation: "concat [a, concat [b, c] axis k] axis k = concat [a, b, c] axis k",
    condition: "the same axis, the inner concat seen whole, at most 64 parts together",
    measure: "concats below concats",
};

/// The parts, inner concats opened. What they hold is flat already: it was made by this rule.
pub(crate) fn flatten(
    engine: &mut Engine<'_>,
    parts: SmallVec<[Value; 4]>,
    axis: usize,
) -> Result<SmallVec<[Value; 4]>> {
    let mut inner: SmallVec<[Option<BaseId>; 4]> = SmallVec::new();
    let mut total = 0;
    for part in &parts {
        let (node, count) = match whole_concat(engine, part, axis) {
            Some((node, count)) => (Some(node), count),
            None => (None, 1),
        };
        total += count;
        inner.push(node);
    }
    let nested = inner.iter().flatten().count() as u64;
    if nested == 0 || total > MAX_PARTS || !engine.may_rewrite() {
        return Ok(parts);
    }
    let mut flat = SmallVec::new();
    for (part, node) in parts.into_iter().zip(inner) {
        let Some(node) = node else {
            flat.push(part);
            continue;
        };
        if let Base::Concat { parts, .. } = engine.base(node) {
            flat.extend(parts.iter().cloned());
        }
    }
    engine.fired(&RULE, [nested, 0, 0], [0, 0, 0], || {
        format!(
            "{} along axis {axis} itself",
            few(nested, "part concatenates", "parts concatenate")
        )
    })?;
    Ok(flat)
}

fn whole_concat(engine: &Engine<'_>, part: &Value, axis: usize) -> Option<(BaseId, usize)> {
    let ValueSource::View { base, layout } = &part.source else {
        return None;
    };
    match engine.base(*base) {
        Base::Concat { parts, axis: along } if *along == axis => {
            let whole = layout.is_dense_over(&engine.ty(*base).shape);
            whole.then_some((*base, parts.len()))
        }
        Base::Concat { .. }
        | Base::Input(_)
        | Base::Constant(_)
        | Base::Gather(_)
        | Base::Cut(_) => None,
    }
}
