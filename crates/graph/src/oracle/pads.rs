//! Pads and crops: an output index shifted back may fall outside the operand.

use crate::PadMode;

use super::refusal::{OpError, axes, require};
use super::tensor::Tensor;
use super::walk::Rule;

/// What index `at` means on an axis of size `d`, outside of which the mode decides.
fn inside(mode: PadMode, at: i128, d: i64) -> Option<i64> {
    let d = i128::from(d);
    let at = match mode {
        PadMode::Constant(_) if at < 0 || at >= d => return None,
        PadMode::Constant(_) => at,
        PadMode::Edge => 0.max(at.min(d - 1)),
        PadMode::Reflect if d == 1 => 0,
        // ... 2 1 | 0 1 2 .. d-1 | d-2 ...: a period of 2 (d - 1).
        PadMode::Reflect => {
            let at = at.rem_euclid(2 * (d - 1));
            at.min(2 * (d - 1) - at)
        }
        // ... 1 0 | 0 1 2 .. d-1 | d-1 ...: a period of 2 d.
        PadMode::Symmetric => {
            let at = at.rem_euclid(2 * d);
            at.min(2 * d - 1 - at)
        }
        PadMode::Wrap => at.rem_euclid(d),
    };
    Some(at as i64)
}

/// `out[.., i, ..] = x[.., i - low, ..]`, the rim as the mode says; negative amounts crop.
pub(super) fn pad<'a>(
    x: &Tensor,
    low: &[i64],
    high: &[i64],
    mode: PadMode,
) -> Result<Rule<'a>, OpError> {
    let op = "pad";
    let (shape, rank) = (x.shape(), x.rank());
    require!(
        op,
        low.len() == rank && high.len() == rank,
        "{} and {} amounts for rank {rank}",
        low.len(),
        high.len()
    );
    let mut sizes = Vec::new();
    for k in 0..rank {
        let (d, low, high) = (
            i128::from(shape[k]),
            i128::from(low[k]),
            i128::from(high[k]),
        );
        let size = d + low + high;
        require!(
            op,
            size >= 0 && size <= i128::from(i64::MAX),
            "axis {k} would have size {size}"
        );
        let most = match mode {
            PadMode::Constant(_) => i128::MAX,
            PadMode::Edge | PadMode::Wrap if d == 0 => 0,
            PadMode::Edge | PadMode::Wrap => i128::MAX,
            PadMode::Reflect => 0.max(d - 1),
            PadMode::Symmetric => d,
        };
        require!(
            op,
            size == 0 || low <= most && high <= most,
            "axis {k} of size {d} cannot grow by {low} and {high}"
        );
        sizes.push(size as i64);
    }
    let bits = match mode {
        PadMode::Constant(bits) => bits,
        PadMode::Edge | PadMode::Reflect | PadMode::Symmetric | PadMode::Wrap => 0,
    };
    let spare = bits & !x.element().bit_mask();
    require!(op, spare == 0, "{bits:#x} is no {}", x.element());
    let (shape, low) = (shape.to_vec(), low.to_vec());
    Ok(Rule::from_x_or(sizes, bits, move |out| {
        (0..rank)
            .map(|k| inside(mode, i128::from(out[k]) - i128::from(low[k]), shape[k]))
            .collect()
    }))
}

/// `out[.., i, ..] = x[.., i + floor((d - s) / 2), ..]` when cropping from `d` to `s`, and
/// `x[.., i - floor((s - d) / 2), ..]` when padding, zero outside.
pub(super) fn center_crop_pad<'a>(
    shape: &[i64],
    target: &[i64],
    named: Option<&[i64]>,
) -> Result<Rule<'a>, OpError> {
    let op = "center_crop_pad";
    let named = match named {
        Some(named) => axes(op, named, shape.len())?,
        None => (0..shape.len()).collect(),
    };
    require!(
        op,
        target.len() == named.len(),
        "{} sizes for {} axes",
        target.len(),
        named.len()
    );
    let mut sizes = shape.to_vec();
    let mut starts = vec![0; shape.len()];
    for (&size, &axis) in target.iter().zip(&named) {
        require!(op, size >= 0, "axis {axis} would have size {size}");
        let d = shape[axis];
        starts[axis] = if d >= size {
            (d - size) / 2
        } else {
            -((size - d) / 2)
        };
        sizes[axis] = size;
    }
    let shape = shape.to_vec();
    Ok(Rule::from_x_or(sizes, 0, move |out| {
        (out.iter().zip(&starts).zip(&shape))
            .map(|((&i, &start), &d)| Some(i + start).filter(|&at| 0 <= at && at < d))
            .collect()
    }))
}
