//! Choosing among equal elements.

use super::RuleOutcome;
use crate::engine::{Engine, PendingGather, Result, Value, ValueSource};
use crate::ir::Policy;
use crate::trace::Rule;

pub(crate) const RULE: Rule = Rule {
    name: "gather_fill",
    equation: "gather (fill c) [..] = fill c",
    condition: "c is 0, or every index is clamped",
    measure: "gathers",
};

pub(crate) fn apply(engine: &mut Engine<'_>, pending: &mut PendingGather) -> Result<RuleOutcome> {
    let ValueSource::Fill(fill) = &pending.data.source else {
        return Ok(RuleOutcome::Unchanged);
    };
    let bits = fill.bits;
    let clamped = pending.indices().all(|i| i.policy == Policy::Clamp);
    if bits != 0 && !clamped {
        return Ok(RuleOutcome::Unchanged);
    }
    engine.fired(&RULE, [1, 0, 0], [0, 0, 0], || {
        format!("every element is {bits:#x}")
    })?;
    let (element, shape) = (pending.data.element, &pending.shape);
    Ok(RuleOutcome::Done(Value::fill(element, shape, bits)))
}
