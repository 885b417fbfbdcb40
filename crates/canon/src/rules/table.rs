//! Constant index tensors as numbers.

use crate::engine::{Base, Engine, PendingIndex, Value, ValueSource};

/// The longest index table that rules look into.
const MAX_TABLE: u64 = 1 << 20;

/// The elements of a value that is a whole constant or a fill, as numbers, row-major.
/// What does not fit 64 bits is the nearest that does.
pub(crate) fn numbers(engine: &Engine<'_>, value: &Value) -> Option<Vec<i64>> {
    let count = crate::engine::count(value.shape());
    if count > MAX_TABLE {
        return None;
    }
    engine.meter.table(count, 16).ok()?;
    match &value.source {
        ValueSource::Fill(fill) => {
            let number = value.element.number(fill.bits);
            let nearest = number.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            Some(vec![nearest; count as usize])
        }
        ValueSource::View { base, layout } => {
            let Base::Constant(bytes) = engine.base(*base) else {
                return None;
            };
            if !layout.is_dense_over(&engine.ty(*base).shape) {
                return None;
            }
            Some(value.element.integers(bytes))
        }
    }
}

/// The rows that a constant index names; `None` inside for zero bits.
pub(crate) fn rows(
    engine: &Engine<'_>,
    index: &PendingIndex,
    limit: i64,
) -> Option<Vec<Option<i64>>> {
    let row = |value: i64| index.policy.row(value.into(), limit, index.wrap);
    Some(
        numbers(engine, &index.value)?
            .into_iter()
            .map(row)
            .collect(),
    )
}
