//! `reverse_sequence`.

use super::{axis, check_length, check_rank};
use crate::Count;
use crate::error::{Place, Problem, Refusal};

/// The axes of a `reverse_sequence` as positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReverseSequence {
    /// The axis that has one length per index.
    pub batch_axis: usize,
    /// The axis whose first elements are turned round.
    pub seq_axis: usize,
}

/// `reverse_sequence`: the axes; every length is known to lie in `0..=size` of the sequence axis.
pub fn reverse_sequence(
    shape: &[i64],
    lengths: &[i64],
    batch_axis: i64,
    seq_axis: i64,
) -> Result<ReverseSequence, Refusal> {
    check_rank(0, shape.len(), Count::AtLeast(2))?;
    let batch_axis = axis(Place::Attribute("batch_axis"), batch_axis, shape.len())?;
    let seq_axis = axis(Place::Attribute("seq_axis"), seq_axis, shape.len())?;
    if batch_axis == seq_axis {
        let axis = seq_axis;
        return Err(Place::Attribute("seq_axis").refuse(Problem::SameAxis { axis }));
    }
    let batch = usize::try_from(shape[batch_axis]).unwrap_or(usize::MAX);
    check_length("lengths", lengths.len(), Count::Exactly(batch))?;
    let size = shape[seq_axis];
    for (position, &got) in lengths.iter().enumerate() {
        if !(0..=size).contains(&got) {
            return Err(
                Place::Entry("lengths", position).refuse(Problem::OutsideAxis {
                    got,
                    axis: seq_axis,
                    size,
                    low: 0,
                    high: size,
                }),
            );
        }
    }
    Ok(ReverseSequence {
        batch_axis,
        seq_axis,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_lie_in_the_sequence() {
        assert!(reverse_sequence(&[2, 5], &[0, 5], 0, -1).is_ok());
        assert!(reverse_sequence(&[2, 5], &[0, 6], 0, 1).is_err());
        assert!(reverse_sequence(&[2, 5], &[-1, 5], 0, 1).is_err());
        assert!(reverse_sequence(&[2, 5], &[1], 0, 1).is_err());
        assert!(reverse_sequence(&[2, 5], &[1, 1], 0, 0).is_err());
        assert!(reverse_sequence(&[2], &[1, 1], 0, 0).is_err());
        assert!(reverse_sequence(&[i64::MAX, 5], &[], 0, 1).is_err());
    }
}
