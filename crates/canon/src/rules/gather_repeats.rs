//! What does not vary along an output axis does not follow it.

use super::RuleOutcome;
use super::gather_units::drop_output;
use crate::engine::{Engine, PendingCoordinate, PendingGather, Result};
use crate::trace::Rule;
use restride_layout::{Sizes, Span, View};

pub(crate) const RULE: Rule = Rule {
    name: "gather_repeats",
    equation: "gather x [o0, (broadcast %i)(o0, o1)] = gather x [o0, %i(o1)], and \
               gather x [o0, (broadcast %i)(o1, o2)] = broadcast (gather x [o0, %i(o1)])",
    condition: "an operand repeats along an output axis; the second form where nothing else \
                follows that axis",
    measure: "axes of operands",
};

pub(crate) fn apply(engine: &mut Engine<'_>, pending: &mut PendingGather) -> Result<RuleOutcome> {
    let before = operand_axes(pending);
    let Some((output, of_index)) = find(pending) else {
        return Ok(RuleOutcome::Unchanged);
    };
    match of_index {
        Some((coordinate, axis)) if users(pending, output) > 1 => {
            forget(engine, pending, coordinate, axis)?;
        }
        Some(_) | None => {
            let full = Sizes::from_slice(&pending.shape);
            let mut unit = full.clone();
            unit[usize::from(output)] = 1;
            drop_output(engine, pending, output)?;
            pending.after.push(View::Broadcast { sizes: full });
            pending.after.push(put_back(&unit, usize::from(output)));
        }
    }
    let after = operand_axes(pending);
    engine.fired(&RULE, [before, 0, 0], [after, 0, 0], || {
        format!("an operand repeats along output axis {output}")
    })?;
    Ok(RuleOutcome::Changed)
}

/// An output axis along which an operand repeats, and which index axis that is. A repeating axis
/// of the data counts when nothing else follows it.
fn find(pending: &PendingGather) -> Option<(u8, Option<(usize, usize)>)> {
    for (at, coordinate) in pending.coordinates.iter().enumerate() {
        match coordinate {
            PendingCoordinate::Index(index) => {
                for (axis, &output) in index.outputs.iter().enumerate() {
                    if index.value.repeats_along(axis) {
                        return Some((output, Some((at, axis))));
                    }
                }
            }
            PendingCoordinate::Output(output) => {
                if pending.data.repeats_along(at) && users(pending, *output) == 1 {
                    return Some((*output, None));
                }
            }
        }
    }
    None
}

fn users(pending: &PendingGather, output: u8) -> usize {
    let follows = |i: &&crate::engine::PendingIndex| i.outputs.contains(&output);
    usize::from(pending.direct(output).is_some()) + pending.indices().filter(follows).count()
}

fn operand_axes(pending: &PendingGather) -> u64 {
    let axes = |i: &crate::engine::PendingIndex| i.outputs.len();
    (pending.coordinates.len() + pending.indices().map(axes).sum::<usize>()) as u64
}

/// An index no longer follows the output axis of one of its own axes.
fn forget(
    engine: &mut Engine<'_>,
    pending: &mut PendingGather,
    coordinate: usize,
    axis: usize,
) -> Result<()> {
    if let Some(PendingCoordinate::Index(index)) = pending.coordinates.get_mut(coordinate) {
        let first = engine.slice_axis(&index.value, axis, Span::whole(1))?;
        index.value = engine.drop_axes(&first, |k| k == axis)?;
        index.outputs.remove(axis);
    }
    Ok(())
}

/// The expand that inserts one axis of size 1 at `at`; `sizes` is its result.
fn put_back(sizes: &[i64], at: usize) -> View {
    let rank = sizes.len() - 1;
    let mut groups = restride_layout::Axes::from_elem(1, rank);
    // It joins the group of its left neighbour, or of its right one at the start.
    if let Some(group) = groups.get_mut(at.saturating_sub(1)) {
        *group += 1;
    }
    let sizes = Sizes::from_slice(sizes);
    View::Expand { groups, sizes }
}
