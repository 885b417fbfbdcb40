//! A gather without an index is a permute.

use super::RuleOutcome;
use crate::engine::{Engine, PendingCoordinate, PendingGather, Result};
use crate::trace::Rule;
use restride_layout::Axes;

pub(crate) const RULE: Rule = Rule {
    name: "gather_none",
    equation: "gather x [o1, o0] = permute x [1, 0]",
    condition: "no coordinate is an index any more",
    measure: "gathers",
};

pub(crate) fn apply(engine: &mut Engine<'_>, pending: &mut PendingGather) -> Result<RuleOutcome> {
    if pending.indices().next().is_some() {
        return Ok(RuleOutcome::Unchanged);
    }
    let mut perm = Axes::from_elem(0, pending.coordinates.len());
    for (axis, coordinate) in pending.coordinates.iter().enumerate() {
        if let PendingCoordinate::Output(output) = coordinate
            && let Some(at) = perm.get_mut(usize::from(*output))
        {
            *at = axis;
        }
    }
    engine.fired(&RULE, [1, 0, 0], [0, 0, 0], || {
        "no index is left".to_owned()
    })?;
    Ok(RuleOutcome::Done(engine.permute(&pending.data, &perm)?))
}
