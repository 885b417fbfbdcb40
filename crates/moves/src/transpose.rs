//! A box as a transposition: one dimension contiguous in the destination and one in the source.

use crate::byte_box::{ByteBox, Step, Steps};
use crate::features::Features;

/// The two dimensions of a transposition, and what is around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plane {
    /// The dimension that is contiguous in the source.
    pub row: Step,
    /// The one that is contiguous in the destination.
    pub column: Step,
    /// What is around the two.
    pub outer: Steps,
    /// The elements in sixteen bytes.
    pub per_lane: usize,
    /// How many lanes of sixteen bytes the vectors have that its columns fill.
    pub lanes: usize,
}

impl Plane {
    /// Nothing if the box does not have the two dimensions, or they are not large enough for a
    /// block of some vector.
    pub(crate) fn of(shape: &ByteBox, features: Features) -> Option<Plane> {
        let width = shape.run;
        if !matches!(width, 1 | 2 | 4 | 8 | 16) {
            return None;
        }
        let (column_at, row_at) = shape.contiguous()?;
        let (column, row) = (shape.steps[column_at], shape.steps[row_at]);
        let per_lane = 16 / width;
        if row.extent < per_lane || column.extent < per_lane {
            return None;
        }
        let outer = (0..shape.steps.len()).filter(|&at| at != column_at && at != row_at);
        let filled = column.extent / per_lane;
        let vectors = features.lanes().into_iter();
        Some(Plane {
            row,
            column,
            outer: outer.map(|at| shape.steps[at]).collect(),
            per_lane,
            lanes: vectors.into_iter().find(|&n| filled >= n).unwrap_or(1),
        })
    }
}
