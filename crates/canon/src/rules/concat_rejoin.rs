//! Neighbouring parts that continue each other are one part.

use crate::engine::{Engine, Result, Value, ValueSource};
use crate::trace::Rule;
use smallvec::SmallVec;

pub(crate) const RULE: Rule = Rule {
    name: "concat_rejoin",
    equation: "concat [x[0:2], x[2:5]] = x[0:5]",
    condition: "both are views of one value, and one chain of views of it shows both side by side; \
                or both are fills of the same bits",
    measure: "parts",
};

/// The parts, neighbours joined where they can be.
pub(crate) fn rejoin(
    engine: &mut Engine<'_>,
    parts: SmallVec<[Value; 4]>,
    axis: usize,
) -> Result<SmallVec<[Value; 4]>> {
    let before = parts.len() as u64;
    let mut joined: SmallVec<[Value; 4]> = SmallVec::new();
    for mut part in parts {
        // What has grown may continue what stands before it.
        while let Some(last) = joined.last() {
            let Some(both) = join(engine, last, &part, axis)? else {
                break;
            };
            part = both;
            joined.pop();
        }
        joined.push(part);
    }
    let after = joined.len() as u64;
    if after < before {
        engine.fired(&RULE, [before, 0, 0], [after, 0, 0], || {
            format!("{before} parts along axis {axis} continue each other and make {after}")
        })?;
    }
    Ok(joined)
}

fn join(engine: &Engine<'_>, a: &Value, b: &Value, axis: usize) -> Result<Option<Value>> {
    match (&a.source, &b.source) {
        (ValueSource::Fill(fill), ValueSource::Fill(other)) if fill.bits == other.bits => {
            let mut shape = fill.shape.clone();
            if let (Some(size), Some(more)) = (shape.get_mut(axis), b.shape().get(axis)) {
                *size += more;
            }
            Ok(Some(Value::fill(a.element, &shape, fill.bits)))
        }
        (
            ValueSource::View { base, layout },
            ValueSource::View {
                base: other,
                layout: next,
            },
        ) if base == other => {
            let Some(layout) = layout.followed_by(next, axis) else {
                return Ok(None);
            };
            // Not every layout is a chain of views.
            let is_chain = engine.chain_of(&layout, &engine.ty(*base).shape).is_ok();
            Ok(is_chain.then(|| Value::view(a.element, *base, layout)))
        }
        (
            ValueSource::Fill(_) | ValueSource::View { .. },
            ValueSource::Fill(_) | ValueSource::View { .. },
        ) => Ok(None),
    }
}
