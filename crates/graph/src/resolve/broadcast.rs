//! Repetition: `broadcast` and `tile`.

use super::{PerAxis, check_length, result_rank};
use crate::error::{Place, Problem, Refusal};
use crate::{BroadcastMode, Count, Shape};

/// A broadcast: the result's shape, and for each of its axes the axis of the operand, if any. An
/// axis without one, or whose operand axis has size 1, repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broadcast {
    /// The result's shape.
    pub shape: Shape,
    /// For every axis of the result, the operand's; they rise from left to right.
    pub from: PerAxis<Option<usize>>,
}

/// `broadcast`.
pub fn broadcast(
    shape: &[i64],
    target: &[i64],
    mode: &BroadcastMode,
) -> Result<Broadcast, Refusal> {
    none_negative("shape", target)?;
    result_rank(target.len())?;
    let from = match mode {
        BroadcastMode::Numpy => {
            check_length("shape", target.len(), Count::AtLeast(shape.len()))?;
            aligned(shape.len(), target.len())
        }
        BroadcastMode::Bidirectional => aligned(shape.len(), target.len().max(shape.len())),
        BroadcastMode::Explicit(axes) => {
            check_length("axes", axes.len(), Count::Exactly(shape.len()))?;
            mapped(axes, target.len())?
        }
    };
    let missing = from.len() - target.len();
    let mut out = Shape::new();
    for (axis, from) in from.iter().enumerate() {
        let wanted = axis.checked_sub(missing).map(|k| target[k]);
        out.push(match (wanted, from.map(|axis| shape[axis])) {
            (Some(wanted), None) => wanted,
            (Some(wanted), Some(size)) if wanted == size || size == 1 => wanted,
            (Some(1), Some(size)) if *mode == BroadcastMode::Bidirectional => size,
            (Some(target), Some(size)) => {
                return Err(Place::Entry("shape", axis - missing)
                    .refuse(Problem::NotBroadcastable { axis, size, target }));
            }
            (None, size) => size.unwrap_or(1),
        });
    }
    Ok(Broadcast { shape: out, from })
}

/// The operand's axes at the right.
fn aligned(operand: usize, result: usize) -> PerAxis<Option<usize>> {
    let missing = result - operand;
    (0..result).map(|axis| axis.checked_sub(missing)).collect()
}

/// The operand's axes where `axes` puts them, rising: an explicit broadcast never permutes.
fn mapped(axes: &[i64], rank: usize) -> Result<PerAxis<Option<usize>>, Refusal> {
    let mut from: PerAxis<Option<usize>> = (0..rank).map(|_| None).collect();
    let mut low = 0;
    for (axis, &got) in axes.iter().enumerate() {
        let high = rank as i64 - 1;
        if !(low..=high).contains(&got) {
            let at = Place::Entry("axes", axis);
            return Err(at.refuse(Problem::OutOfRange { got, low, high }));
        }
        from[got as usize] = Some(axis);
        low = got + 1;
    }
    Ok(from)
}

fn none_negative(name: &'static str, values: &[i64]) -> Result<(), Refusal> {
    match values.iter().position(|&value| value < 0) {
        None => Ok(()),
        Some(position) => Err(Place::Entry(name, position).refuse(Problem::OutOfRange {
            got: values[position],
            low: 0,
            high: i64::MAX,
        })),
    }
}

/// A tiling: sizes and counts padded with 1 on the left to one rank, and what comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// The operand's shape, padded.
    pub sizes: Shape,
    /// How often each axis repeats.
    pub repeats: Shape,
    /// The result's shape: their product.
    pub shape: Shape,
}

/// `tile`.
pub fn tile(shape: &[i64], repeats: &[i64]) -> Result<Tiling, Refusal> {
    let rank = shape.len().max(repeats.len());
    result_rank(rank)?;
    none_negative("repeats", repeats)?;
    let padded = |sizes: &[i64]| -> Shape {
        let ones = std::iter::repeat_n(1, rank - sizes.len());
        ones.chain(sizes.iter().copied()).collect()
    };
    let (sizes, repeats) = (padded(shape), padded(repeats));
    let products = sizes.iter().zip(&repeats);
    let out: Option<Shape> = products
        .map(|(&size, &count)| size.checked_mul(count))
        .collect();
    Ok(Tiling {
        shape: out.ok_or_else(super::overflow)?,
        sizes,
        repeats,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(from: &[i64], target: &[i64], mode: BroadcastMode) -> Option<Vec<i64>> {
        let broadcast = broadcast(from, target, &mode).ok()?;
        Some(broadcast.shape.to_vec())
    }

    #[test]
    fn the_three_ways_of_lining_up() {
        use BroadcastMode::{Bidirectional, Explicit, Numpy};
        let axes = |axes: &[i64]| Explicit(axes.into());
        assert_eq!(shape(&[3, 1], &[2, 3, 4], Numpy), Some(vec![2, 3, 4]));
        assert_eq!(shape(&[3, 1], &[4], Numpy), None);
        assert_eq!(shape(&[3, 2], &[3, 1], Numpy), None);
        assert_eq!(shape(&[3, 1], &[4], Bidirectional), Some(vec![3, 4]));
        let both = shape(&[3, 2], &[5, 1, 1], Bidirectional);
        assert_eq!(both, Some(vec![5, 3, 2]));
        assert_eq!(shape(&[3, 2], &[4, 1], Bidirectional), None);
        assert_eq!(shape(&[1], &[0], Numpy), Some(vec![0]));
        assert_eq!(shape(&[0], &[1], Bidirectional), Some(vec![0]));
        let spread = shape(&[2, 3], &[2, 5, 3], axes(&[0, 2]));
        assert_eq!(spread, Some(vec![2, 5, 3]));
        assert_eq!(shape(&[2, 3], &[3, 5, 2], axes(&[2, 0])), None);
        assert_eq!(shape(&[2], &[2], axes(&[i64::MAX])), None);
        assert_eq!(shape(&[2], &[], axes(&[0])), None);
        assert_eq!(shape(&[1], &[-1], Numpy), None);
    }

    #[test]
    fn tiles_pad_on_the_left() {
        assert_eq!(tile(&[2], &[3, 4]).unwrap().shape.as_slice(), [3, 8]);
        assert_eq!(tile(&[2, 5], &[0]).unwrap().shape.as_slice(), [2, 0]);
        assert!(tile(&[2], &[i64::MAX]).is_err());
        assert!(tile(&[2], &[-1]).is_err());
    }
}
