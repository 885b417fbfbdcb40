//! Axes of size 1 are put in after the gather.

use super::RuleOutcome;
use crate::engine::{Engine, PendingGather, Result};
use crate::trace::{Rule, few};
use restride_layout::{Axes, Sizes, View};

pub(crate) const RULE: Rule = Rule {
    name: "gather_units",
    equation: "gather x [o0, %i(o1, o2)] = expand (gather x' [o0, %i'(o1)])",
    condition: "an output axis has size 1; x' and %i' lack the axes that follow it",
    measure: "output axes of size 1",
};

pub(crate) fn apply(engine: &mut Engine<'_>, pending: &mut PendingGather) -> Result<RuleOutcome> {
    let units = pending.shape.iter().filter(|&&n| n == 1).count() as u64;
    if units == 0 {
        return Ok(RuleOutcome::Unchanged);
    }
    let insert = insertion(&pending.shape);
    for output in (0..pending.shape.len()).rev() {
        if pending.shape[output] == 1 {
            drop_output(engine, pending, output as u8)?;
        }
    }
    pending.after.push(insert);
    engine.fired(&RULE, [units, 0, 0], [0, 0, 0], || {
        format!(
            "{} size 1",
            few(units, "output axis has", "output axes have")
        )
    })?;
    Ok(RuleOutcome::Changed)
}

/// The expand that puts the axes of size 1 of this shape in.
fn insertion(shape: &[i64]) -> View {
    let mut groups = Axes::new();
    let mut leading = 0;
    for &size in shape {
        match groups.last_mut() {
            _ if size != 1 => {
                groups.push(1 + std::mem::take(&mut leading));
            }
            Some(group) => *group += 1,
            None => leading += 1,
        }
    }
    let sizes = Sizes::from_slice(shape);
    View::Expand { groups, sizes }
}

/// Takes an output axis out of a gather. Whoever uses it reads its first place.
pub(crate) fn drop_output(
    engine: &mut Engine<'_>,
    pending: &mut PendingGather,
    output: u8,
) -> Result<()> {
    use crate::engine::PendingCoordinate;
    use restride_layout::Span;
    if let Some(axis) = pending.direct(output) {
        let first = engine.slice_axis(&pending.data, axis, Span::whole(1))?;
        pending.data = engine.drop_axes(&first, |k| k == axis)?;
        pending.coordinates.remove(axis);
    }
    for coordinate in &mut pending.coordinates {
        match coordinate {
            PendingCoordinate::Output(o) if *o > output => *o -= 1,
            PendingCoordinate::Output(_) => {}
            PendingCoordinate::Index(index) => {
                if let Some(at) = index.outputs.iter().position(|&o| o == output) {
                    let first = engine.slice_axis(&index.value, at, Span::whole(1))?;
                    index.value = engine.drop_axes(&first, |k| k == at)?;
                    index.outputs.remove(at);
                }
                for o in index.outputs.iter_mut().filter(|o| **o > output) {
                    *o -= 1;
                }
            }
        }
    }
    pending.shape.remove(usize::from(output));
    Ok(())
}
