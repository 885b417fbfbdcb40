//! Transpositions one of whose sides is shorter than a register, cut into tiles under a mask.

use crate::byte_box::{ByteBox, Step, Steps};
use crate::transpose::Transposed;

/// Which side of a tile holds whole registers; the others take masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masked {
    /// Columns are loaded whole.
    Destination,
    /// Rows are stored whole.
    Source,
    /// Neither.
    Both,
}

/// The two dimensions of a transposition, the tiles, and what is left around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaggedCut {
    /// The dimension that is contiguous in the source.
    pub row: Step,
    /// The one that is contiguous in the destination.
    pub column: Step,
    /// Where the walk starts in destination and source, after the start of the box: rows may go
    /// backwards in the destination.
    pub start: (isize, isize),
    /// Where tiles follow each other, in elements of the longer side or in tiles.
    pub along: Step,
    /// Elements of the longer side, or tiles, from lane to lane.
    pub apart: usize,
    /// Where masks are needed.
    pub masked: Masked,
    /// How many tiles go through one register.
    pub lanes: usize,
    /// What is around.
    pub outer: Steps,
}

impl RaggedCut {
    /// Nothing if no side is short, or the elements are too wide.
    pub(crate) fn of(shape: &ByteBox) -> Option<RaggedCut> {
        let width = shape.run;
        if !matches!(width, 1 | 2 | 4) {
            return None;
        }
        let per_lane = 16 / width;
        let both = Transposed::of(shape).filter(|both| both.step == 1)?;
        let (row, column) = (both.row, both.column);
        let (tall, wide) = (row.extent >= per_lane, column.extent >= per_lane);
        if tall && wide {
            return None;
        }
        let mut outer = both.outer(shape);
        let (along, apart, masked) = match (tall, wide) {
            (true, _) => (row, per_lane, Masked::Destination),
            (_, true) => (column, per_lane, Masked::Source),
            _ => {
                let many = outer.iter().rposition(|step| step.extent >= 4);
                let step = many.map_or(Step::NONE, |at| outer.remove(at));
                (step, 1, Masked::Both)
            }
        };
        let lanes = if along.extent >= 4 * apart { 4 } else { 1 };
        Some(RaggedCut {
            row,
            column,
            start: both.start,
            along,
            apart,
            masked,
            lanes,
            outer,
        })
    }
}
