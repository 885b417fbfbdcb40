//! `concat` and `split`.

use super::{AxisSpan, check_length, check_rank};
use crate::error::{Place, Problem, Refusal};
use crate::{Count, Ints, MAX_VALUES, Shape};

/// `concat`: the axis, and the result's shape.
pub fn concat(parts: &[&[i64]], axis: i64) -> Result<(usize, Shape), Refusal> {
    let Some(&first) = parts.first() else {
        return Err(Place::Whole.refuse(Problem::NoOperands));
    };
    if parts.len() > MAX_VALUES {
        let limit = MAX_VALUES;
        return Err(Place::Whole.refuse(Problem::TooManyValues { limit }));
    }
    check_rank(0, first.len(), Count::AtLeast(1))?;
    let joined = super::axis(Place::Attribute("axis"), axis, first.len())?;
    let mut shape = Shape::from_slice(first);
    for (operand, part) in parts.iter().enumerate().skip(1) {
        check_rank(operand, part.len(), Count::Exactly(first.len()))?;
        for (axis, (&got, &expected)) in part.iter().zip(first).enumerate() {
            if axis != joined && got != expected {
                return Err(Place::Operand(operand).refuse(Problem::Size {
                    axis,
                    got,
                    expected,
                }));
            }
        }
        let sum = shape[joined].checked_add(part[joined]);
        shape[joined] = sum.ok_or_else(super::overflow)?;
    }
    Ok((joined, shape))
}

/// The most parts one split may have.
pub const MAX_PARTS: usize = 1024;

/// `split`: the axis, and the span of one part.
pub fn split(
    shape: &[i64],
    axis: i64,
    lengths: &[i64],
    part: usize,
) -> Result<(usize, AxisSpan), Refusal> {
    check_rank(0, shape.len(), Count::AtLeast(1))?;
    let axis = super::axis(Place::Attribute("axis"), axis, shape.len())?;
    let size = shape[axis];
    check_length("lengths", lengths.len(), Count::AtMost(MAX_PARTS))?;
    if part >= lengths.len() {
        return Err(Place::Attribute("part").refuse(Problem::OutOfRange {
            got: part as i64,
            low: 0,
            high: lengths.len() as i64 - 1,
        }));
    }
    let mut sum = 0i128;
    let mut rest = None;
    for (position, &got) in lengths.iter().enumerate() {
        let at = Place::Entry("lengths", position);
        if got < -1 {
            let (low, high) = (-1, size);
            return Err(at.refuse(Problem::OutOfRange { got, low, high }));
        }
        if got != -1 {
            sum += i128::from(got);
        } else if let Some(first) = rest.replace(position) {
            return Err(at.refuse(Problem::SeveralInferred { first }));
        }
    }
    let left = i128::from(size) - sum;
    if left < 0 || left > 0 && rest.is_none() {
        return Err(Place::Attribute("lengths").refuse(Problem::PartsSum { sum, axis, size }));
    }
    // From here on every length is at most the size.
    let length = |position: usize| match lengths[position] {
        -1 => left as i64,
        length => length,
    };
    let start: i64 = (0..part).map(length).sum();
    let span = match length(part) {
        0 => AxisSpan::full(0),
        len => AxisSpan {
            start,
            len,
            step: 1,
        },
    };
    Ok((axis, span))
}

/// The lengths of a split into `count` equal parts.
///
/// With `uneven`, the parts are as ONNX Split-18 makes them: each as long as the longest, the last
/// takes what is left.
pub fn equal_parts(shape: &[i64], axis: i64, count: usize, uneven: bool) -> Result<Ints, Refusal> {
    check_rank(0, shape.len(), Count::AtLeast(1))?;
    let axis = super::axis(Place::Attribute("axis"), axis, shape.len())?;
    check_length("lengths", count, Count::AtLeast(1))?;
    check_length("lengths", count, Count::AtMost(MAX_PARTS))?;
    let (size, by) = (shape[axis], count as i64);
    if !uneven && size % by != 0 {
        return Err(Place::Operand(0).refuse(Problem::NotDivisible { axis, size, by }));
    }
    let longest = size / by + i64::from(size % by != 0);
    let mut left = size;
    let mut lengths = Ints::new();
    for _ in 0..count {
        lengths.push(longest.min(left));
        left -= longest.min(left);
    }
    Ok(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_axis() {
        let starts = |lengths: &[i64]| -> Option<Vec<(i64, i64)>> {
            (0..lengths.len())
                .map(|part| split(&[7], 0, lengths, part).ok())
                .map(|part| part.map(|(_, span)| (span.start, span.len)))
                .collect()
        };
        assert_eq!(starts(&[2, -1, 1]), Some(vec![(0, 2), (2, 4), (6, 1)]));
        assert_eq!(starts(&[7, -1]), Some(vec![(0, 7), (0, 0)]));
        assert_eq!(starts(&[2, 4]), None);
        assert_eq!(starts(&[-1, -1]), None);
        assert_eq!(starts(&[i64::MAX, i64::MAX, -1]), None);
        assert_eq!(starts(&[i64::MIN]), None);
        assert!(split(&[7], 0, &[7], 1).is_err());
        let parts = |size: i64| equal_parts(&[size], 0, 4, true).unwrap().to_vec();
        assert_eq!(parts(7), [2, 2, 2, 1]);
        assert_eq!(parts(5), [2, 2, 1, 0]);
        assert!(equal_parts(&[7], 0, 4, false).is_err());
        assert!(equal_parts(&[7], 0, 0, true).is_err());
        assert!(equal_parts(&[7], 0, usize::MAX, true).is_err());
    }

    #[test]
    fn sums_are_checked() {
        assert!(concat(&[&[i64::MAX, 0], &[1, 0]], 0).is_err());
        assert!(concat(&[&[1, 2], &[1, 3]], 0).is_err());
        assert!(concat(&[&[1, 2], &[1]], 0).is_err());
        assert!(concat(&[&[]], 0).is_err());
        assert!(concat(&[], 0).is_err());
        let (axis, shape) = concat(&[&[1, 2], &[1, 0]], -1).unwrap();
        assert_eq!((axis, shape.to_vec()), (1, vec![1, 2]));
    }
}
