//! A transposition with one short side of dense rows: the channels of pixels to planes, and back.
//!
//! Lines of the long side are put together from as many windows as there are cells in a line; a window
//! has a few whole rows of the short side. One permutation in a window makes each of its channels a
//! cell, and a square of cells is transposed in registers: the shorter the rows, the larger the cells.

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::cost::LINE;
use crate::crowding::share_sets;
use crate::target::Target;
use crate::transpose::Transposed;

/// How channels are split or joined, on a machine with lines of 64 bytes that permutes their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// From one row of channels to the next, and how many there are.
    pub long: Step,
    /// From one channel to the next, and how many there are.
    pub short: Step,
    /// Whether it is the source that has the rows.
    pub splits: bool,
    /// Where the walk starts in destination and source, after the start of the box.
    pub start: (isize, isize),
    /// What is around the two.
    pub outer: Steps,
    /// How many cells a line has: 8 or 16.
    pub cells: usize,
    /// How many rows a window has, whose elements of one channel are a cell.
    pub rows: usize,
    /// Whether the channels share too few sets of the nearest cache: several lines of each are moved together.
    pub crowded: bool,
}

impl Channels {
    /// Fewer channels are patterns of a few windows; those of so many fill more than half of a window.
    const FEWEST: usize = 5;
    /// The bytes of a channel that are moved together where channels are crowded: several lines.
    pub const TOGETHER: usize = 8 * LINE;

    /// Whether nothing else is looked for: all other ways turn to the rows of a crowded destination more often.
    pub(crate) fn is_alone(&self) -> bool {
        self.crowded && self.splits
    }

    /// Nothing if no side has five to sixteen elements that are rows next to each other, or the other
    /// side does not fill a line.
    pub(crate) fn of(shape: &ByteBox) -> Option<Channels> {
        let width = shape.run;
        let both = Transposed::of(shape)?;
        if both.step != 1 || !matches!(width, 1 | 2 | 4 | 8) {
            return None;
        }
        let (row, column) = (both.row, both.column);
        let dense = |short: Step, long: isize| {
            let fits = (Self::FEWEST..=16).contains(&short.extent);
            fits && long == (short.extent * width) as isize
        };
        let (long, short, splits) = if dense(row, column.src) {
            (column, row, true)
        } else if dense(column, row.dst) {
            (row, column, false)
        } else {
            return None;
        };
        let cells = if short.extent <= 8 { 8 } else { 16 };
        let rows = LINE / cells / width;
        // Wider elements of more than eight channels fill the lanes of register tiles well.
        if cells > 8 && width > 1 || long.extent < LINE / width {
            return None;
        }
        Some(Channels {
            long,
            short,
            splits,
            start: both.start,
            outer: both.outer(shape),
            cells,
            rows,
            crowded: false,
        })
    }

    /// The same as it is carried out on a machine, if tiles are not faster there: of wide elements there is little to permute,
    /// and from behind the nearest cache all that is loaded for cells that no channel fills takes longer.
    pub(crate) fn on(mut self, target: &Target, width: usize) -> Option<Channels> {
        let apart = if self.splits {
            self.short.dst
        } else {
            self.short.src
        };
        let channels = std::iter::once((self.short.extent, apart));
        // A line that is read whole is read once, wherever it lies.
        let parts = self.splits || apart % LINE as isize != 0;
        self.crowded = parts
            && self.long.extent * width >= Self::TOGETHER
            && share_sets(target, channels, self.short.extent);
        let all = [self.short.extent, width, extent(&self.outer)];
        let bytes = all
            .into_iter()
            .fold(self.long.extent, usize::saturating_mul);
        let tiles = target.core.turns_whole_lines()
            && self.splits
            && width >= 4
            && self.short.extent < self.cells
            && bytes > target.l1 as usize / 2;
        (self.crowded || !tiles).then_some(self)
    }
}
