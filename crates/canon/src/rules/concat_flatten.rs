//! A concat among the parts of a concat along the same axis gives its parts to it.

use crate::engine::{Engine, MAX_PARTS, Result, Source, Value};
use crate::ir::{Node, NodeId};
use crate::trace::Rule;
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
    let mut inner: SmallVec<[Option<NodeId>; 4]> = SmallVec::new();
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
        if let Node::Concat { parts, .. } = engine.node(node).clone() {
            for part in parts {
                flat.push(engine.value_of(part)?);
            }
        }
    }
    engine.fired(&RULE, [nested, 0, 0], [0, 0, 0], || {
        format!("{nested} parts are concats along axis {axis} themselves")
    })?;
    Ok(flat)
}

fn whole_concat(engine: &Engine<'_>, part: &Value, axis: usize) -> Option<(NodeId, usize)> {
    let Source::View { base, layout } = &part.source else {
        return None;
    };
    match engine.node(*base) {
        Node::Concat { parts, axis: along } if usize::from(*along) == axis => {
            let same = engine.ty(*base).shape.as_slice() == layout.shape() && layout.is_dense();
            same.then_some((*base, parts.len()))
        }
        Node::Concat { .. }
        | Node::Input { .. }
        | Node::Constant { .. }
        | Node::Slice { .. }
        | Node::Permute { .. }
        | Node::Collapse { .. }
        | Node::Expand { .. }
        | Node::Broadcast { .. }
        | Node::Gather(_)
        | Node::Fill { .. } => None,
    }
}
