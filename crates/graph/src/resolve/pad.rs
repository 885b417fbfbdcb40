//! `pad` and `center_crop_pad`.

use super::{PerAxis, check_length, distinct_axes};
use crate::error::{Place, Problem, Refusal};
use crate::{Count, PadMode};

/// What happens to one axis: index `i` of the result reads index `i - low` of the operand, and the
/// mode says what lies outside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PadAxis {
    /// How many elements come before the operand; negative ones are cropped.
    pub low: i64,
    /// How many elements come after it; negative ones are cropped.
    pub high: i64,
    /// The size of the result: `low + size + high`.
    pub len: i64,
}

/// `pad`: what happens to every axis.
pub fn pad(
    shape: &[i64],
    low: &[i64],
    high: &[i64],
    mode: PadMode,
) -> Result<PerAxis<PadAxis>, Refusal> {
    check_length("low", low.len(), Count::Exactly(shape.len()))?;
    check_length("high", high.len(), Count::Exactly(shape.len()))?;
    let mut axes = PerAxis::new();
    for (axis, &size) in shape.iter().enumerate() {
        let padded = padded(axis, size, low[axis], high[axis])?;
        if padded.len > 0 {
            check_reach(mode, axis, size, "low", low[axis])?;
            check_reach(mode, axis, size, "high", high[axis])?;
        }
        axes.push(padded);
    }
    Ok(axes)
}

fn padded(axis: usize, size: i64, low: i64, high: i64) -> Result<PadAxis, Refusal> {
    let grown = i128::from(low) + i128::from(high);
    let len = i128::from(size) + grown;
    if len < 0 {
        let at = Place::Entry(if low < 0 { "low" } else { "high" }, axis);
        return Err(at.refuse(Problem::CroppedAway {
            got: grown.unsigned_abs(),
            axis,
            size,
        }));
    }
    let len = i64::try_from(len).map_err(|_| super::overflow())?;
    Ok(PadAxis { low, high, len })
}

/// How far a mode can see beyond the edge.
fn check_reach(
    mode: PadMode,
    axis: usize,
    size: i64,
    name: &'static str,
    got: i64,
) -> Result<(), Refusal> {
    let limit = match mode {
        PadMode::Constant(_) => return Ok(()),
        PadMode::Edge | PadMode::Wrap if size > 0 => return Ok(()),
        PadMode::Edge | PadMode::Wrap => 0,
        PadMode::Reflect => (size - 1).max(0),
        PadMode::Symmetric => size,
    };
    if got <= limit {
        return Ok(());
    }
    Err(Place::Entry(name, axis).refuse(Problem::RimTooWide {
        got,
        axis,
        size,
        limit,
        mode: mode.name(),
    }))
}

/// `center_crop_pad`: what happens to every axis. Where the difference is odd, the end gets the
/// larger share.
pub fn center_crop_pad(
    shape: &[i64],
    target: &[i64],
    axes: Option<&[i64]>,
) -> Result<PerAxis<PadAxis>, Refusal> {
    let named = match axes {
        Some(axes) => {
            check_length("shape", target.len(), Count::Exactly(axes.len()))?;
            distinct_axes("axes", axes, shape.len())?
        }
        None => {
            check_length("shape", target.len(), Count::Exactly(shape.len()))?;
            (0..shape.len()).collect()
        }
    };
    let untouched = |&len: &i64| PadAxis {
        low: 0,
        high: 0,
        len,
    };
    let mut out: PerAxis<PadAxis> = shape.iter().map(untouched).collect();
    for (position, axis) in named.into_iter().enumerate() {
        let len = target[position];
        if len < 0 {
            return Err(Place::Entry("shape", position).refuse(Problem::OutOfRange {
                got: len,
                low: 0,
                high: i64::MAX,
            }));
        }
        // Neither is negative, so the difference fits; division truncates towards 0.
        let difference = len - shape[axis];
        let low = difference / 2;
        out[axis] = PadAxis {
            low,
            high: difference - low,
            len,
        };
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_reach_as_far_as_they_can_see() {
        let ok = |size: i64, low: i64, high: i64, mode| pad(&[size], &[low], &[high], mode).is_ok();
        assert!(ok(3, 2, 2, PadMode::Reflect) && !ok(3, 3, 0, PadMode::Reflect));
        assert!(ok(3, 3, 3, PadMode::Symmetric) && !ok(3, 0, 4, PadMode::Symmetric));
        assert!(ok(3, 9, 9, PadMode::Wrap) && !ok(0, 1, 0, PadMode::Wrap));
        assert!(ok(3, 9, 9, PadMode::Edge) && !ok(0, 0, 1, PadMode::Edge));
        assert!(ok(0, 1, 1, PadMode::Constant(0)) && ok(0, 0, 0, PadMode::Reflect));
        assert!(ok(3, -2, -1, PadMode::Constant(0)) && !ok(3, -2, -2, PadMode::Constant(0)));
        for extreme in [i64::MIN, i64::MAX] {
            assert!(!ok(3, extreme, extreme, PadMode::Constant(0)));
        }
        assert!(ok(3, i64::MAX, -i64::MAX, PadMode::Constant(0)));
    }

    #[test]
    fn odd_differences_favour_the_end() {
        let one = |size: i64, target: i64| {
            let axis = center_crop_pad(&[size], &[target], None).unwrap()[0];
            (axis.low, axis.high)
        };
        assert_eq!(one(8, 9), (0, 1));
        assert_eq!(one(9, 6), (-1, -2));
        assert!(center_crop_pad(&[3], &[-1], None).is_err());
        assert!(center_crop_pad(&[3, 3], &[3], None).is_err());
        assert!(center_crop_pad(&[3, 3], &[3, 3], Some(&[0, -2])).is_err());
    }
}
