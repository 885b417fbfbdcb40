//! Empty parts of a concat are dropped.

use crate::engine::{Engine, Result, Value};
use crate::trace::{Rule, few};
use smallvec::SmallVec;

pub(crate) const RULE: Rule = Rule {
    name: "concat_empty",
    equation: "concat [a, e, b] = concat [a, b]",
    condition: "e is empty; one part stays if all are",
    measure: "parts",
};

/// The parts that hold something, or the first if none does.
pub(crate) fn drop_empty(
    engine: &mut Engine<'_>,
    mut parts: SmallVec<[Value; 4]>,
    axis: usize,
) -> Result<SmallVec<[Value; 4]>> {
    if !parts.iter().any(Value::is_empty) {
        return Ok(parts);
    }
    let before = parts.len() as u64;
    let Some(first) = parts.first().filter(|_| parts.iter().all(Value::is_empty)) else {
        parts.retain(|part| !part.is_empty());
        let after = parts.len() as u64;
        engine.fired(&RULE, [before, 0, 0], [after, 0, 0], || {
            few(before - after, "part is empty", "parts are empty")
        })?;
        return Ok(parts);
    };
    // All are empty; the sizes still add up.
    let mut shape = restride_graph::Shape::from_slice(first.shape());
    let element = first.element;
    if let Some(size) = shape.get_mut(axis) {
        *size = parts.iter().filter_map(|p| p.shape().get(axis)).sum();
    }
    parts.clear();
    parts.push(Value::fill(element, &shape, 0));
    Ok(parts)
}
