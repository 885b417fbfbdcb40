//! Constant index tensors as numbers.

use crate::engine::{Engine, PendingIndex, Source, Value};
use crate::ir::{Node, Policy};
use crate::scalar;

/// The longest index table that rules look into.
const MAX_TABLE: u64 = 1 << 20;

/// The elements of a value that is a whole constant or a fill, as numbers, row-major.
pub(crate) fn numbers(engine: &Engine<'_>, value: &Value) -> Option<Vec<i128>> {
    let count = crate::engine::count(value.shape());
    if count > MAX_TABLE {
        return None;
    }
    match &value.source {
        Source::Fill { bits, .. } => {
            Some(vec![scalar::number(value.element, *bits); count as usize])
        }
        Source::View { base, layout } => {
            let Node::Constant { bytes } = engine.node(*base) else {
                return None;
            };
            if !layout.is_dense() || layout.shape() != engine.ty(*base).shape.as_slice() {
                return None;
            }
            let width = value.element.width();
            let element = |at| scalar::bits(bytes, at, width);
            (0..count as usize)
                .map(|at| Some(scalar::number(value.element, element(at)?)))
                .collect()
        }
    }
}

/// The rows that a constant index names; `None` inside for zero bits.
pub(crate) fn rows(
    engine: &Engine<'_>,
    index: &PendingIndex,
    limit: i64,
) -> Option<Vec<Option<i64>>> {
    let row = |value| match (scalar::normalise(value, limit, index.wrap), index.policy) {
        (Some(row), Policy::Zero | Policy::Clamp) => Some(row),
        (None, Policy::Zero) => None,
        (None, Policy::Clamp) if value < 0 => Some(0),
        (None, Policy::Clamp) => Some(limit - 1),
    };
    Some(
        numbers(engine, &index.value)?
            .into_iter()
            .map(row)
            .collect(),
    )
}
