//! A box as a transposition: one dimension contiguous in the destination and one in the source.

use crate::byte_box::{ByteBox, Step, Steps};
use crate::cost::LINE;
use crate::features::Features;
use crate::tiling::{Route, Tiling};

/// The two dimensions of a transposition in a box.
pub(crate) struct Transposed {
    /// The places of `row` and `column` among the steps.
    at: (usize, usize),
    /// The dimension along which the source is contiguous, or steps least, walked forwards in it.
    pub(crate) row: Step,
    /// The one that is contiguous in the destination.
    pub(crate) column: Step,
    /// Where the walk starts, in destination and source: at the other end of a row that goes backwards.
    pub(crate) start: (isize, isize),
    /// The elements from one of a row to the next, in the source.
    pub(crate) step: usize,
}

impl Transposed {
    /// Nothing if there are no two such dimensions.
    pub(crate) fn of(shape: &ByteBox) -> Option<Transposed> {
        let width = shape.run;
        let column_at = shape
            .steps
            .iter()
            .position(|step| step.dst == width as isize)?;
        let elements = |step: &Step| {
            let bytes = step.src.unsigned_abs();
            (bytes.is_multiple_of(width) && bytes > 0).then_some(bytes / width)
        };
        let others = shape.steps.iter().enumerate();
        let others = others.filter(|(at, _)| *at != column_at);
        let stepping = others.filter_map(|(at, step)| Some((elements(step)?, at)));
        let (step, row_at) = stepping.min()?;
        if step > Plane::LONGEST_STEP {
            return None;
        }
        let mut row = shape.steps[row_at];
        let mut start = (0, 0);
        if row.src < 0 {
            let last = row.extent as isize - 1;
            start = (last * row.dst, last * row.src);
            (row.dst, row.src) = (-row.dst, -row.src);
        }
        Some(Transposed {
            at: (row_at, column_at),
            row,
            column: shape.steps[column_at],
            start,
            step,
        })
    }

    /// What is around the two.
    pub(crate) fn outer(&self, shape: &ByteBox) -> Steps {
        let all = shape.steps.iter().enumerate();
        let outer = all.filter(|(at, _)| *at != self.at.0 && *at != self.at.1);
        outer.map(|(_, step)| *step).collect()
    }
}

/// A transposition large enough for register tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plane {
    /// The dimension that is contiguous in the source, or steps through it.
    pub row: Step,
    /// The one that is contiguous in the destination.
    pub column: Step,
    /// Where the walk starts in destination and source, after the start of the box: rows may go
    /// backwards in the destination.
    pub start: (isize, isize),
    /// The elements from one of a row to the next, in the source: 1 where it is contiguous.
    pub step: usize,
    /// What is around the two.
    pub outer: Steps,
    /// Planes within that which are moved together, since rows of the destination go on in them.
    pub together: Step,
    /// The bytes that an element has in registers: a power of two.
    pub cell: usize,
    /// How many elements sixteen bytes of a register hold.
    pub per_lane: usize,
    /// How many lanes of sixteen bytes the vectors have that its columns fill, or two of which one has the first and the
    /// other one the last columns.
    pub lanes: usize,
    /// The bytes that are packed at a time, where rows step.
    pub packed: usize,
    /// How many rows and columns a tile has,
    pub tile: (usize, usize),
    /// on which way it goes,
    pub route: Route,
    /// and by what it is moved.
    pub tiling: Tiling,
}

impl Plane {
    /// Rows that step further are not packed.
    pub const LONGEST_STEP: usize = 16;
    /// The same of elements wider than two bytes that are packed sixteen bytes at a time.
    const LONGEST_WIDE_STEP: usize = 4;

    /// Whether a leaf packs it in less time than it moves single elements: sixteen bytes at a time, a load, a shuffle and a blend
    /// for each of a few take longer, unless every second one of a short row is needed and vectors are wide.
    pub(crate) fn is_for_leaves(&self) -> bool {
        let dense = self.step == 2 && self.lanes == 4;
        self.step == 1 || self.packed == LINE || self.cell <= 2 || self.per_lane == 1 || dense
    }

    /// How many of some columns are moved in blocks, of as many elements as a lane has: not a single last one of narrow
    /// elements, for which a block of all rows would move again what has been moved.
    #[inline(always)]
    #[must_use]
    pub fn in_blocks(per_lane: usize, extent: usize) -> usize {
        match per_lane >= 8 && extent > per_lane && extent % per_lane == 1 {
            true => extent.wrapping_sub(1),
            false => extent,
        }
    }

    /// How many vectors of so many lanes are written in a run, of rows of so many elements a lane: registers hold them.
    #[must_use]
    pub const fn in_a_run(lanes: usize, per_lane: usize) -> usize {
        match (lanes, 4 * lanes / per_lane) {
            (1, _) | (_, 0) => 1,
            (_, n @ 1..4) => n,
            _ => 4,
        }
    }

    /// By how many pairs of lines each line of a square is packed, if rows step and squares stay in registers: those of wide
    /// elements, which need few.
    #[must_use]
    pub fn packed_squares(&self) -> Option<usize> {
        let pairs = self.pairs();
        let square = matches!(self.cell, 4 | 8) && self.packed == LINE && self.lanes == 4;
        (square && self.step > 1 && pairs <= Self::MOST_PAIRS).then_some(pairs)
    }

    /// Pairs of lines that are packed to one without going through memory.
    const MOST_PAIRS: usize = 3;

    /// By how many permutations of two windows each a line is packed.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.windows().div_ceil(2)
    }

    /// Of how many windows some packed bytes are.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.step.min(self.packed / self.cell)
    }

    /// Nothing if the box does not have the two dimensions, or they are not large enough for a
    /// block of some vector.
    pub(crate) fn of(shape: &ByteBox, features: Features) -> Option<Plane> {
        let width = shape.run;
        let cell = match width {
            1 | 2 | 4 | 8 | 16 => width,
            3..16 => width.next_power_of_two(),
            _ => return None,
        };
        let both = Transposed::of(shape)?;
        let (row, column) = (both.row, both.column);
        let per_lane = 16 / cell;
        if row.extent < per_lane || column.extent < per_lane {
            return None;
        }
        // What is not a plain transposition takes shuffles of bytes; rows that are spread out are read
        // sixteen bytes at a time.
        let shuffles = features >= Features::Avx2;
        let packed = match features >= Features::Avx512 && row.extent * width >= LINE {
            true => LINE,
            false => 16,
        };
        let fits = match (cell == width, both.step == 1) {
            (true, true) => true,
            (true, false) if packed == LINE || per_lane == 1 => true,
            (true, false) => shuffles && (cell <= 2 || both.step <= Self::LONGEST_WIDE_STEP),
            (false, true) => shuffles && row.extent * width >= 16,
            (false, false) => false,
        };
        if !fits {
            return None;
        }
        let filled = column.extent / per_lane;
        Some(Plane {
            row,
            column,
            start: both.start,
            step: both.step,
            outer: both.outer(shape),
            together: Step::NONE,
            cell,
            per_lane,
            lanes: features.widest(filled),
            packed,
            tile: (LINE / cell, column.extent),
            route: Route::Straight,
            tiling: Tiling::Blocks,
        })
    }
}
