//! The gather family: which axes the indices address, and the shape of the result.

use super::{PerAxis, check_length, check_rank, distinct_axes, result_rank};
use crate::error::{Place, Problem, Refusal};
use crate::{Count, Shape};

/// The attributes of a `gather` as positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GatherAxes {
    /// The axis of the data that the indices address.
    pub axis: usize,
    /// How many leading axes data and indices share; at most `axis`.
    pub batch_dims: usize,
}

impl GatherAxes {
    /// The shape of the result: the data's axes before `axis`, the indices' own axes, the data's
    /// axes after it.
    pub fn shape(self, data: &[i64], indices: &[i64]) -> Shape {
        let before = data.iter().take(self.axis);
        let own = indices.iter().skip(self.batch_dims);
        let after = data.iter().skip(self.axis + 1);
        before.chain(own).chain(after).copied().collect()
    }
}

/// `gather`: one axis, after shared leading ones.
pub fn gather(
    data: &[i64],
    indices: &[i64],
    axis: i64,
    batch_dims: i64,
) -> Result<GatherAxes, Refusal> {
    check_rank(0, data.len(), Count::AtLeast(1))?;
    let axis = super::axis(Place::Attribute("axis"), axis, data.len())?;
    let rank = indices.len() as i64;
    let refuse = |low, high| {
        let got = batch_dims;
        Place::Attribute("batch_dims").refuse(Problem::OutOfRange { got, low, high })
    };
    if batch_dims < -rank || batch_dims > rank {
        return Err(refuse(-rank, rank));
    }
    let from_end = if batch_dims < 0 { rank } else { 0 };
    let batch = (batch_dims + from_end) as usize;
    if batch > axis {
        return Err(refuse(-rank, axis as i64 - from_end));
    }
    check_batch(data, indices, batch)?;
    result_rank(data.len() - 1 + indices.len() - batch)?;
    Ok(GatherAxes {
        axis,
        batch_dims: batch,
    })
}

/// What is taken of an axis, at a place that is known when it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlacedAxis {
    /// How many elements are taken.
    pub size: i64,
    /// At how many places there are so many; at least 1.
    pub places: i64,
    /// Which entry of the starts says where; none where all of the axis is taken.
    pub start: Option<usize>,
}

/// `dynamic_slice`: what is taken of every axis.
pub fn dynamic_slice(
    data: &[i64],
    starts: &[i64],
    sizes: &[i64],
    axes: Option<&[i64]>,
) -> Result<PerAxis<PlacedAxis>, Refusal> {
    let axes = started(1, data.len(), starts, axes)?;
    check_length("sizes", sizes.len(), Count::Exactly(axes.len()))?;
    for (position, (&axis, &got)) in axes.iter().zip(sizes).enumerate() {
        let (low, high, size) = (0, data[axis], data[axis]);
        if got < low || got > high {
            let problem = Problem::OutsideAxis {
                got,
                axis,
                size,
                low,
                high,
            };
            return Err(Place::Entry("sizes", position).refuse(problem));
        }
    }
    let mut taken = Shape::from_slice(data);
    axes.iter()
        .zip(sizes)
        .for_each(|(&axis, &size)| taken[axis] = size);
    placed(data, &taken, &axes)
}

/// `dynamic_update_slice`: what is replaced of every axis.
pub fn dynamic_update_slice(
    data: &[i64],
    update: &[i64],
    starts: &[i64],
    axes: Option<&[i64]>,
) -> Result<PerAxis<PlacedAxis>, Refusal> {
    check_rank(1, update.len(), Count::Exactly(data.len()))?;
    let axes = started(2, data.len(), starts, axes)?;
    for (axis, (&got, &limit)) in update.iter().zip(data).enumerate() {
        let problem = match axes.contains(&axis) {
            true if got > limit => Problem::SizeAbove { axis, got, limit },
            false if got != limit => Problem::Size {
                axis,
                got,
                expected: limit,
            },
            true | false => continue,
        };
        return Err(Place::Operand(1).refuse(problem));
    }
    placed(data, update, &axes)
}

/// The axes that have a start each, which operand `at` holds.
fn started(
    at: usize,
    rank: usize,
    starts: &[i64],
    axes: Option<&[i64]>,
) -> Result<PerAxis<usize>, Refusal> {
    check_rank(at, starts.len(), Count::Exactly(1))?;
    let axes = match axes {
        Some(axes) => distinct_axes("axes", axes, rank)?,
        None => (0..usize::try_from(starts[0]).unwrap_or(rank).min(rank)).collect(),
    };
    let (axis, got, expected) = (0, starts[0], axes.len() as i64);
    if got != expected {
        return Err(Place::Operand(at).refuse(Problem::Size {
            axis,
            got,
            expected,
        }));
    }
    Ok(axes)
}

fn placed(data: &[i64], taken: &[i64], axes: &[usize]) -> Result<PerAxis<PlacedAxis>, Refusal> {
    let axis = |(axis, (&size, &whole)): (usize, (&i64, &i64))| {
        let places = (whole - size).checked_add(1).ok_or_else(super::overflow)?;
        let start = axes.iter().position(|&named| named == axis);
        Ok(PlacedAxis {
            size,
            places,
            start,
        })
    };
    taken.iter().zip(data).enumerate().map(axis).collect()
}

/// `gather_elements`: the axis; the result has the shape of the indices.
pub fn gather_elements(data: &[i64], indices: &[i64], axis: i64) -> Result<usize, Refusal> {
    check_rank(0, data.len(), Count::AtLeast(1))?;
    check_rank(1, indices.len(), Count::Exactly(data.len()))?;
    let indexed = super::axis(Place::Attribute("axis"), axis, data.len())?;
    for (axis, (&got, &limit)) in indices.iter().zip(data).enumerate() {
        if axis != indexed && got > limit {
            return Err(Place::Operand(1).refuse(Problem::SizeAbove { axis, got, limit }));
        }
    }
    Ok(indexed)
}

/// The attributes of a `gather_nd` as positions, and what comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatherNdAxes {
    /// How many leading axes data and indices share.
    pub batch_dims: usize,
    /// How many axes after them an index addresses: the size of the indices' last axis.
    pub depth: usize,
    /// The shape of the result: the indices' axes but the last, the data's axes after `depth`.
    pub shape: Shape,
}

/// `gather_nd`: the last axis of the indices addresses several axes of the data.
pub fn gather_nd(data: &[i64], indices: &[i64], batch_dims: i64) -> Result<GatherNdAxes, Refusal> {
    check_rank(1, indices.len(), Count::AtLeast(1))?;
    let last = indices.len() - 1;
    let high = last.min(data.len()) as i64;
    if !(0..=high).contains(&batch_dims) {
        return Err(Place::Attribute("batch_dims").refuse(Problem::OutOfRange {
            got: batch_dims,
            low: 0,
            high,
        }));
    }
    let batch = batch_dims as usize;
    check_batch(data, indices, batch)?;
    let limit = (data.len() - batch) as i64;
    if indices[last] > limit {
        return Err(Place::Operand(1).refuse(Problem::SizeAbove {
            axis: last,
            got: indices[last],
            limit,
        }));
    }
    let depth = indices[last] as usize;
    result_rank(last + data.len() - batch - depth)?;
    let mut shape = Shape::from_slice(&indices[..last]);
    shape.extend_from_slice(&data[batch + depth..]);
    Ok(GatherNdAxes {
        batch_dims: batch,
        depth,
        shape,
    })
}

/// The leading axes that data and indices share are equal; 1 does not repeat.
fn check_batch(data: &[i64], indices: &[i64], batch: usize) -> Result<(), Refusal> {
    for (axis, (&expected, &got)) in data.iter().zip(indices).enumerate().take(batch) {
        if got != expected {
            return Err(Place::Operand(1).refuse(Problem::Size {
                axis,
                got,
                expected,
            }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_dims_count_in_the_indices() {
        let axes = gather(&[2, 3, 4], &[2, 5], -2, -1).unwrap();
        assert_eq!((axes.axis, axes.batch_dims), (1, 1));
        assert_eq!(axes.shape(&[2, 3, 4], &[2, 5]).as_slice(), [2, 5, 4]);
        assert!(gather(&[2, 3, 4], &[2, 5], 1, -3).is_err());
        assert!(gather(&[2, 3, 4], &[2, 5], 1, 2).is_err());
        assert!(gather(&[2, 3, 4], &[1, 5], 1, 1).is_err());
        assert!(gather(&[], &[], 0, 0).is_err());
        assert!(gather(&[1; 32], &[1; 2], 0, 0).is_err());
        for extreme in [i64::MIN, i64::MAX] {
            assert!(gather(&[2], &[2], extreme, 0).is_err());
            assert!(gather(&[2], &[2], 0, extreme).is_err());
            assert!(gather_nd(&[2], &[2, 1], extreme).is_err());
        }
    }

    #[test]
    fn an_index_of_gather_nd_may_be_empty() {
        let axes = gather_nd(&[2, 3], &[4, 0], 0).unwrap();
        assert_eq!((axes.depth, axes.shape.to_vec()), (0, vec![4, 2, 3]));
        assert!(gather_nd(&[2, 3], &[4, 3], 0).is_err());
    }
}
