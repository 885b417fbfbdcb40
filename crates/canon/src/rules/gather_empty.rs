//! A gather that yields nothing, or chooses from nothing, is a fill.

use super::RuleOutcome;
use crate::engine::{Engine, PendingCoordinate, PendingGather, Result, Value};
use crate::trace::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "gather_empty",
    equation: "gather x [..] = fill 0",
    condition: "the result is empty, or an axis that is chosen from is",
    measure: "gathers",
};

pub(crate) fn apply(engine: &mut Engine<'_>, pending: &mut PendingGather) -> Result<RuleOutcome> {
    let empty_axis = pending
        .coordinates
        .iter()
        .zip(pending.data.shape())
        .any(|(c, &size)| size == 0 && matches!(c, PendingCoordinate::Index(_)));
    if !empty_axis && !pending.shape.contains(&0) {
        return Ok(RuleOutcome::Unchanged);
    }
    engine.fired(&RULE, [1, 0, 0], [0, 0, 0], || {
        "there is nothing to choose from, or nobody to choose for".to_owned()
    })?;
    let (element, shape) = (pending.data.element, &pending.shape);
    Ok(RuleOutcome::Done(Value::fill(element, shape, 0)))
}
