//! A transposition of elements whose width is no power of two, from three bytes to fifteen: the pixels of
//! an image, or what of a tensor stays together while its axes change places.

use crate::byte_box::{ByteBox, Step, Steps};
use crate::cost::LINE;
use crate::transpose::Transposed;

/// Squares of elements in registers, on a machine that permutes the bytes of two lines: no element
/// has to be widened for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Squares {
    /// The dimension that is contiguous in the source.
    pub row: Step,
    /// The one that is contiguous in the destination.
    pub column: Step,
    /// Where the walk starts in destination and source, after the start of the box.
    pub start: (isize, isize),
    /// What is around the two.
    pub outer: Steps,
    /// How many elements a side of a square has: 4, 8 or 16.
    pub side: usize,
}

impl Squares {
    /// Nothing for elements of other widths, or if there are no two such dimensions.
    pub(crate) fn of(shape: &ByteBox) -> Option<Squares> {
        let width = shape.run;
        if width.is_power_of_two() || !(3..16).contains(&width) {
            return None;
        }
        let both = Transposed::of(shape).filter(|both| both.step == 1)?;
        Some(Squares {
            row: both.row,
            column: both.column,
            start: both.start,
            outer: both.outer(shape),
            side: LINE / width.next_power_of_two(),
        })
    }
}
