//! A clamped index into an axis of size 1 is 0.

use super::RuleOutcome;
use crate::engine::{Engine, PendingCoordinate, PendingGather, Result, Value, ValueSource};
use crate::ir::Policy;
use crate::trace::{Rule, few};

pub(crate) const RULE: Rule = Rule {
    name: "gather_clamp_unit",
    equation: "gather x [%i(o0) clamp] = gather x [(fill 0)(o0)]",
    condition: "the axis has size 1",
    measure: "indices that are no fills",
};

pub(crate) fn apply(engine: &mut Engine<'_>, pending: &mut PendingGather) -> Result<RuleOutcome> {
    let mut changed = 0;
    for (coordinate, &size) in pending.coordinates.iter_mut().zip(pending.data.shape()) {
        if let PendingCoordinate::Index(index) = coordinate
            && size == 1
            && index.policy == Policy::Clamp
            && matches!(index.value.source, ValueSource::View { .. })
        {
            index.value = Value::fill(index.value.element, index.value.shape(), 0);
            changed += 1;
        }
    }
    if changed == 0 {
        return Ok(RuleOutcome::Unchanged);
    }
    engine.fired(&RULE, [changed, 0, 0], [0, 0, 0], || {
        format!("{} size 1", few(changed, "axis has", "axes have"))
    })?;
    Ok(RuleOutcome::Changed)
}
