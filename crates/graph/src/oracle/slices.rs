//! Slices and splits: every output index picks one place on each axis of the operand.

use crate::{StridedSliceDialect, StridedSliceSpec};

use super::refusal::{OpError, axes, axis, require};
use super::walk::Rule;

/// What one position of a `strided_slice` does.
#[derive(Clone, Copy)]
enum Position {
    /// Output axis of size 1; no axis of `x` is consumed.
    NewAxis,
    /// One index of an axis of `x`; no output axis.
    Pick(i64),
    /// An axis of `x` at `first, first + step, ...`, `count` times.
    Span { first: i64, count: i64, step: i64 },
}

const STRIDED_SLICE: &str = "strided_slice";

/// `count(lo, hi, t)`: how many of `lo, lo + t, lo + 2t, ...` lie before `hi`.
fn count(lo: i128, hi: i128, t: i128) -> i64 {
    let n = if t > 0 && hi > lo {
        (hi - lo - 1) / t + 1
    } else if t < 0 && hi < lo {
        (lo - hi - 1) / -t + 1
    } else {
        0
    };
    n as i64
}

/// A negative index counts from the end, once.
fn from_end(index: i64, size: i64) -> i128 {
    let (index, size) = (i128::from(index), i128::from(size));
    if index < 0 { index + size } else { index }
}

/// Bit `position` of a mask.
fn bit(mask: i64, position: usize) -> bool {
    position < 64 && mask >> position & 1 == 1
}

/// Walks the specification left to right; each position takes, by the first mask that names it,
/// several whole axes (ellipsis), none (new axis), one index (shrink) or a range.
pub(super) fn strided_slice<'a>(
    shape: &[i64],
    spec: &StridedSliceSpec<'_>,
) -> Result<Rule<'a>, OpError> {
    let parts = parts(shape, spec)?;
    let mut sizes = Vec::new();
    for part in &parts {
        match *part {
            Position::NewAxis => sizes.push(1),
            Position::Pick(_) => {}
            Position::Span { count, .. } => sizes.push(count),
        }
    }
    Ok(Rule::from_x(sizes, move |out| {
        let mut out = out.iter();
        let mut index = Vec::new();
        for part in &parts {
            match *part {
                Position::NewAxis => {
                    out.next();
                }
                Position::Pick(at) => index.push(at),
                Position::Span { first, step, .. } => {
                    index.extend(out.next().map(|&i| place(first, step, i)));
                }
            }
        }
        index
    }))
}

/// `first + step * i`, which lies on the axis although `step` alone may be huge.
fn place(first: i64, step: i64, i: i64) -> i64 {
    (i128::from(first) + i128::from(step) * i128::from(i)) as i64
}

fn parts(shape: &[i64], spec: &StridedSliceSpec<'_>) -> Result<Vec<Position>, OpError> {
    use StridedSliceDialect::{MindSpore, OpenVino, TensorFlow};
    let op = STRIDED_SLICE;
    let (rank, m) = (shape.len(), spec.begin.len());
    require!(
        op,
        spec.end.len() == m && spec.strides.len() == m,
        "begin, end and strides have {m}, {} and {} values",
        spec.end.len(),
        spec.strides.len()
    );
    require!(
        op,
        spec.ellipsis_mask.count_ones() <= 1,
        "ellipsis_mask {} names more than one position",
        spec.ellipsis_mask
    );
    match spec.dialect {
        TensorFlow => require!(op, m < 32, "{m} positions; fewer than 32 are allowed"),
        OpenVino => {}
        MindSpore => {
            for mask in [
                spec.begin_mask,
                spec.end_mask,
                spec.ellipsis_mask,
                spec.new_axis_mask,
                spec.shrink_axis_mask,
            ] {
                require!(op, mask >= 0, "mask {mask} is negative");
            }
            require!(op, m <= rank, "{m} positions for rank {rank}");
            let zero = spec.strides.iter().position(|&stride| stride == 0);
            require!(op, zero.is_none(), "a stride is 0");
        }
    }

    let ellipsis = |i| bit(spec.ellipsis_mask, i);
    let new_axis = |i| bit(spec.new_axis_mask, i) && !ellipsis(i);
    let used = (0..m).filter(|&i| !ellipsis(i) && !new_axis(i)).count();
    require!(op, used <= rank, "{used} positions select from rank {rank}");

    let mut parts = Vec::new();
    let mut rest = shape.iter().copied();
    let whole = |size| Position::Span {
        first: 0,
        count: size,
        step: 1,
    };
    for i in 0..m {
        if ellipsis(i) {
            parts.extend(rest.by_ref().take(rank - used).map(whole));
        } else if new_axis(i) {
            parts.push(Position::NewAxis);
        } else if let Some(size) = rest.next() {
            parts.push(if bit(spec.shrink_axis_mask, i) {
                pick(spec, i, size)?
            } else {
                range(spec, i, size)?
            });
        }
    }
    parts.extend(rest.map(whole));
    Ok(parts)
}

/// `x = begin < 0 ? begin + d : begin`, which must lie on the axis.
fn pick(spec: &StridedSliceSpec<'_>, i: usize, size: i64) -> Result<Position, OpError> {
    use StridedSliceDialect::{MindSpore, OpenVino, TensorFlow};
    let op = STRIDED_SLICE;
    let stride = spec.strides[i];
    let begin = match spec.dialect {
        TensorFlow | OpenVino => spec.begin[i],
        MindSpore if bit(spec.begin_mask, i) => 0,
        MindSpore => spec.begin[i],
    };
    match spec.dialect {
        TensorFlow | MindSpore => {
            require!(op, stride > 0, "position {i} shrinks with stride {stride}");
        }
        OpenVino => {}
    }
    let at = from_end(begin, size);
    require!(
        op,
        0 <= at && at < i128::from(size),
        "position {i} picks index {begin} of an axis of size {size}"
    );
    Ok(Position::Pick(at as i64))
}

/// `valid = t > 0 ? [0, d] : [-1, d-1]`, begin and end are clamped into it or masked.
fn range(spec: &StridedSliceSpec<'_>, i: usize, size: i64) -> Result<Position, OpError> {
    use StridedSliceDialect::{MindSpore, OpenVino, TensorFlow};
    let (d, t) = (i128::from(size), i128::from(spec.strides[i]));
    require!(STRIDED_SLICE, t != 0, "the stride of position {i} is 0");
    let (low, high) = if t > 0 { (0, d) } else { (-1, d - 1) };
    let lowest_begin = match spec.dialect {
        TensorFlow | MindSpore => low,
        OpenVino => 0,
    };
    let clamp = |x: i128, low: i128| low.max(x.min(high));
    let begin = if !bit(spec.begin_mask, i) {
        clamp(from_end(spec.begin[i], size), lowest_begin)
    } else if t > 0 {
        0
    } else {
        d - 1
    };
    let end = if !bit(spec.end_mask, i) {
        clamp(from_end(spec.end[i], size), low)
    } else if t > 0 {
        d
    } else {
        -1
    };
    let count = if d == 0 { 0 } else { count(begin, end, t) };
    Ok(Position::Span {
        first: begin as i64,
        count,
        step: spec.strides[i],
    })
}

/// Slice-8 and ONNX Slice: per named axis, `out[.., i, ..] = x[.., s + i * t, ..]`.
pub(super) fn slice<'a>(
    shape: &[i64],
    start: &[i64],
    stop: &[i64],
    step: &[i64],
    named: Option<&[i64]>,
) -> Result<Rule<'a>, OpError> {
    let op = "slice";
    let (rank, n) = (shape.len(), start.len());
    require!(op, rank > 0, "a scalar has no axis to slice");
    require!(
        op,
        stop.len() == n && step.len() == n && named.is_none_or(|axes| axes.len() == n),
        "start, stop and step have {n}, {} and {} values, axes {:?}",
        stop.len(),
        step.len(),
        named.map(<[i64]>::len)
    );
    require!(op, n <= rank, "{n} starts for rank {rank}");
    let named = match named {
        Some(named) => axes(op, named, rank)?,
        None => (0..n).collect(),
    };
    let mut sizes = shape.to_vec();
    let mut spans = vec![(0, 1); rank];
    for (k, &axis) in named.iter().enumerate() {
        let (d, t) = (i128::from(shape[axis]), i128::from(step[k]));
        require!(op, t != 0, "step {k} is 0");
        let s = from_end(start[k], shape[axis]);
        let e = from_end(stop[k], shape[axis]);
        let (s, e) = if t > 0 {
            (0.max(s.min(d)), 0.max(e.min(d)))
        } else {
            (0.max(s.min(d - 1)), (-1).max(e.min(d - 1)))
        };
        sizes[axis] = if d == 0 { 0 } else { count(s, e, t) };
        spans[axis] = (s as i64, step[k]);
    }
    Ok(Rule::from_x(sizes, move |out| {
        (out.iter().zip(&spans))
            .map(|(&i, &(first, step))| place(first, step, i))
            .collect()
    }))
}

/// `out[.., i, ..] = x[.., i + the lengths of the parts before, ..]`.
pub(super) fn split<'a>(
    shape: &[i64],
    along: i64,
    lengths: &[i64],
    part: u32,
) -> Result<Rule<'a>, OpError> {
    let op = "split";
    let along = axis(op, along, shape.len())?;
    let size = i128::from(shape[along]);
    let bad = lengths.iter().find(|&&length| length < -1);
    require!(op, bad.is_none(), "length {bad:?} is below -1");
    let rests = lengths.iter().filter(|&&length| length == -1).count();
    require!(op, rests <= 1, "{rests} lengths are -1");
    let named: i128 = lengths
        .iter()
        .filter(|&&l| l >= 0)
        .map(|&l| i128::from(l))
        .sum();
    let fits = if rests == 1 {
        named <= size
    } else {
        named == size
    };
    require!(op, fits, "lengths {lengths:?} do not make up size {size}");
    let length = |k: usize| match lengths[k] {
        -1 => size - named,
        length => i128::from(length),
    };
    let part = part as usize;
    require!(op, part < lengths.len(), "part {part} of {}", lengths.len());
    let before: i128 = (0..part).map(length).sum();
    let mut sizes = shape.to_vec();
    sizes[along] = length(part) as i64;
    Ok(Rule::from_x(sizes, move |out| {
        let mut index = out.to_vec();
        index[along] += before as i64;
        index
    }))
}
