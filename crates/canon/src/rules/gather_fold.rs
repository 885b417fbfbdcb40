//! A gather of a constant by constants is a constant.

use super::constant_views::FOLD_BYTES;
use super::{RuleOutcome, table};
use crate::engine::{Base, Engine, PendingCoordinate, PendingGather, Result, ValueSource, count};
use crate::scalar;
use crate::trace::Rule;
use restride_layout::Sizes;
use smallvec::SmallVec;

pub(crate) const RULE: Rule = Rule {
    name: "gather_fold",
    equation: "gather (constant) [(constant)(o0)] = constant",
    condition: "data and indices are constants, the result has at most 64 KiB",
    measure: "gathers",
};

pub(crate) fn apply(engine: &mut Engine<'_>, pending: &mut PendingGather) -> Result<RuleOutcome> {
    let Some(bytes) = evaluate(engine, pending) else {
        return Ok(RuleOutcome::Unchanged);
    };
    engine.fired(&RULE, [1, 0, 0], [0, 0, 0], || {
        "data and indices are constants".to_owned()
    })?;
    let (element, shape) = (pending.data.element, &pending.shape);
    Ok(RuleOutcome::Done(engine.constant(
        element,
        shape,
        &bytes.into(),
    )?))
}

fn evaluate(engine: &Engine<'_>, pending: &PendingGather) -> Option<Vec<u8>> {
    let ValueSource::View { base, layout } = &pending.data.source else {
        return None;
    };
    let Base::Constant(bytes) = engine.base(*base) else {
        return None;
    };
    let width = pending.data.element.width();
    let total = count(&pending.shape);
    if total.saturating_mul(width as u64) > FOLD_BYTES {
        return None;
    }
    let mut rows: SmallVec<[Option<Vec<Option<i64>>>; 3]> = SmallVec::new();
    for (coordinate, &limit) in pending.coordinates.iter().zip(pending.data.shape()) {
        rows.push(match coordinate {
            PendingCoordinate::Output(_) => None,
            PendingCoordinate::Index(index) => Some(table::rows(engine, index, limit)?),
        });
    }
    let mut out = Vec::new();
    let mut point = Sizes::from_elem(0, pending.shape.len());
    for _ in 0..total {
        let source = source_point(pending, &rows, &point);
        let bits = source.and_then(|source| {
            let at = layout.at(&source)?.first().copied()?;
            scalar::bits(bytes, usize::try_from(at).ok()?, width)
        });
        scalar::push(&mut out, width, bits.unwrap_or(0));
        for axis in (0..point.len()).rev() {
            point[axis] += 1;
            if point[axis] < pending.shape[axis] {
                break;
            }
            point[axis] = 0;
        }
    }
    Some(out)
}

fn source_point(
    pending: &PendingGather,
    rows: &[Option<Vec<Option<i64>>>],
    point: &[i64],
) -> Option<Sizes> {
    let coordinate = |(c, rows): (&PendingCoordinate, &Option<Vec<Option<i64>>>)| match c {
        PendingCoordinate::Output(output) => point.get(usize::from(*output)).copied(),
        PendingCoordinate::Index(index) => {
            let mut at = 0i64;
            for (&output, &size) in index.outputs.iter().zip(index.value.shape()) {
                at = at * size + point.get(usize::from(output))?;
            }
            *rows.as_ref()?.get(at as usize)?
        }
    };
    pending
        .coordinates
        .iter()
        .zip(rows)
        .map(coordinate)
        .collect()
}
