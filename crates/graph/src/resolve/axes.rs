//! Operators that permute, drop, insert, join or turn axes.

use super::{PerAxis, axis, check_length, check_rank, distinct_axes, product, result_rank};
use crate::error::{Place, Problem, Refusal};
use crate::{Count, Shape};

/// `transpose`: for every axis of the result, the axis of the operand.
pub fn transpose(shape: &[i64], perm: &[i64]) -> Result<PerAxis<usize>, Refusal> {
    if perm.is_empty() {
        return Ok((0..shape.len()).rev().collect());
    }
    check_length("perm", perm.len(), Count::Exactly(shape.len()))?;
    // The frameworks count these from the front only.
    if let Some(position) = perm.iter().position(|&axis| axis < 0) {
        return Err(Place::Entry("perm", position).refuse(Problem::OutOfRange {
            got: perm[position],
            low: 0,
            high: shape.len() as i64 - 1,
        }));
    }
    distinct_axes("perm", perm, shape.len())
}

/// `squeeze`: for every axis of the operand, whether it is dropped. Naming an axis twice drops it
/// once.
pub fn squeeze(shape: &[i64], axes: Option<&[i64]>) -> Result<PerAxis<bool>, Refusal> {
    let Some(axes) = axes else {
        return Ok(shape.iter().map(|&size| size == 1).collect());
    };
    let mut dropped: PerAxis<bool> = shape.iter().map(|_| false).collect();
    for (position, &got) in axes.iter().enumerate() {
        let at = Place::Entry("axes", position);
        let axis = axis(at, got, shape.len())?;
        let size = shape[axis];
        if size != 1 {
            return Err(at.refuse(Problem::NotUnit { axis, size }));
        }
        dropped[axis] = true;
    }
    Ok(dropped)
}

/// `unsqueeze`: for every axis of the result, whether it is new.
pub fn unsqueeze(shape: &[i64], axes: &[i64]) -> Result<PerAxis<bool>, Refusal> {
    let rank = shape.len().saturating_add(axes.len());
    result_rank(rank)?;
    let mut new: PerAxis<bool> = (0..rank).map(|_| false).collect();
    for axis in distinct_axes("axes", axes, rank)? {
        new[axis] = true;
    }
    Ok(new)
}

/// `flatten`: the two sizes.
pub fn flatten(shape: &[i64], axis: i64) -> Result<Shape, Refusal> {
    let rank = shape.len() as i64;
    if axis < -rank || axis > rank {
        return Err(Place::Attribute("axis").refuse(Problem::OutOfRange {
            got: axis,
            low: -rank,
            high: rank,
        }));
    }
    let (left, right) = shape.split_at(if axis < 0 { axis + rank } else { axis } as usize);
    let sizes = [
        product(left.iter().copied())?,
        product(right.iter().copied())?,
    ];
    Ok(Shape::from_slice(&sizes))
}

/// `reverse`: for every axis, whether it is turned round.
pub fn reverse(shape: &[i64], axes: &[i64]) -> Result<PerAxis<bool>, Refusal> {
    let mut turned: PerAxis<bool> = shape.iter().map(|_| false).collect();
    for axis in distinct_axes("axes", axes, shape.len())? {
        turned[axis] = true;
    }
    Ok(turned)
}

/// `roll`: for every axis, how far it is shifted, in `0..size` (0 when the size is 0).
pub fn roll(shape: &[i64], shift: &[i64], axes: &[i64]) -> Result<PerAxis<i64>, Refusal> {
    check_rank(
        0,
        shape.len(),
        Count::AtLeast(usize::from(!axes.is_empty())),
    )?;
    check_length("shift", shift.len(), Count::Exactly(axes.len()))?;
    let mut shifts: PerAxis<i64> = shape.iter().map(|_| 0).collect();
    for (position, (&got, &shift)) in axes.iter().zip(shift).enumerate() {
        let axis = axis(Place::Entry("axes", position), got, shape.len())?;
        let size = shape[axis];
        if size > 0 {
            // Both terms are below the size, which fits in 63 bits; their sum may not.
            let sum = i128::from(shifts[axis]) + i128::from(shift.rem_euclid(size));
            shifts[axis] = (sum % i128::from(size)) as i64;
        }
    }
    Ok(shifts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_add_up_without_overflow() {
        let most = [i64::MAX, i64::MAX, i64::MIN];
        let shifts = roll(&[5, 0], &most, &[0, 0, -2]).unwrap();
        let sum: i128 = most.iter().map(|&shift| i128::from(shift)).sum();
        assert_eq!(shifts.as_slice(), [sum.rem_euclid(5) as i64, 0]);
        assert!(roll(&[], &[1], &[0]).is_err());
        assert_eq!(roll(&[], &[], &[]).unwrap().len(), 0);
    }

    #[test]
    fn axes_count_from_both_ends_but_for_a_permutation() {
        assert_eq!(transpose(&[2, 3], &[]).unwrap().as_slice(), [1, 0]);
        assert_eq!(transpose(&[2, 3], &[1, 0]).unwrap().as_slice(), [1, 0]);
        assert!(transpose(&[2, 3], &[-1, 0]).is_err());
        assert!(transpose(&[2, 3], &[0, -2]).is_err());
        assert!(transpose(&[2, 3], &[0]).is_err());
        let new = unsqueeze(&[2], &[-1, 0]).unwrap();
        assert_eq!(new.as_slice(), [true, false, true]);
        assert!(unsqueeze(&[2], &[0, -3]).is_err());
        assert!(unsqueeze(&[1; 32], &[0]).is_err());
        let dropped = squeeze(&[1, 2, 1], Some(&[-1, 2])).unwrap();
        assert_eq!(dropped.as_slice(), [false, false, true]);
        assert!(squeeze(&[1, 2, 1], Some(&[1])).is_err());
        assert_eq!(flatten(&[2, 3, 4], 3).unwrap().as_slice(), [24, 1]);
        assert_eq!(flatten(&[], 0).unwrap().as_slice(), [1, 1]);
        assert!(flatten(&[2], i64::MIN).is_err());
    }
}
