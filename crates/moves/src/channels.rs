//! A transposition with one short side of dense rows: the channels of pixels to planes, and back.
//!
//! With lines of 64 bytes whose bytes can be permuted, lines of the long side are put together from as many windows as there are cells in a line; a window
//! has a few whole rows of the short side. One permutation in a window makes each of its channels a
//! cell, and a square of cells is transposed in registers: the shorter the rows, the larger the cells.

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::cost::LINE;
use crate::crowding::share_sets;
use crate::target::Target;
use crate::transpose::Transposed;

/// Rows of a few channels next to each other on one side, which are rows of their own on the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// From one row of channels to the next, and how many there are.
    pub long: Step,
    /// From one channel to the next, and how many there are.
    pub short: Step,
    /// How many elements the rows are apart that lie next to each other.
    pub pitch: usize,
    /// Whether it is the source that has the rows.
    pub splits: bool,
    /// Where the walk starts in destination and source, after the start of the box.
    pub start: (isize, isize),
    /// What is around the two.
    pub outer: Steps,
}

/// How channels are split or joined, on a machine with lines of 64 bytes that permutes their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// What is split or joined.
    pub strip: Strip,
    /// How many cells a line has: 8 or 16.
    pub cells: usize,
    /// How many rows a window has, whose elements of one channel are a cell.
    pub rows: usize,
    /// Whether the channels share too few sets of the nearest cache: several lines of each are moved together.
    pub crowded: bool,
}

impl Strip {
    /// From one channel to the next, on the side where it has a row of its own.
    #[must_use]
    pub fn apart(&self) -> isize {
        match self.splits {
            true => self.short.dst,
            false => self.short.src,
        }
    }

    /// Nothing if no side has rows of elements as wide as registers take them, so many elements apart that their number `fits`.
    pub(crate) fn of(shape: &ByteBox, fits: impl Fn(usize, usize) -> bool) -> Option<Strip> {
        let width = shape.run;
        let both = Transposed::of(shape)?;
        if both.step != 1 || !matches!(width, 1 | 2 | 4 | 8) {
            return None;
        }
        let (row, column) = (both.row, both.column);
        let apart = |short: Step, long: isize| {
            let pitch = usize::try_from(long).ok()? / width;
            (fits(short.extent, pitch) && (pitch * width) as isize == long).then_some(pitch)
        };
        let (long, short, pitch, splits) = if let Some(pitch) = apart(row, column.src) {
            (column, row, pitch, true)
        } else {
            // What lies between the rows of the destination is not theirs.
            let pitch = apart(column, row.dst).filter(|pitch| *pitch == column.extent)?;
            (row, column, pitch, false)
        };
        Some(Strip {
            long,
            short,
            pitch,
            splits,
            start: both.start,
            outer: both.outer(shape),
        })
    }
}

impl Channels {
    /// Fewer channels are patterns of a few windows; those of so many fill more than half of a window.
    const FEWEST: usize = 5;
    /// The bytes of a channel that are moved together where channels are crowded: several lines.
    pub const TOGETHER: usize = 8 * LINE;

    /// Whether nothing else is looked for: all other ways turn to the rows of a crowded destination more often.
    pub(crate) fn is_alone(&self) -> bool {
        self.crowded && self.strip.splits
    }

    /// Nothing if no side has five to sixteen elements that are rows next to each other, or the other
    /// side does not fill a line.
    pub(crate) fn of(shape: &ByteBox) -> Option<Channels> {
        let width = shape.run;
        let strip = Strip::of(shape, |channels, pitch| {
            channels == pitch && (Self::FEWEST..=16).contains(&channels)
        })?;
        let cells = if strip.short.extent <= 8 { 8 } else { 16 };
        let rows = LINE / cells / width;
        // Wider elements of more than eight channels fill the lanes of register tiles well, and rows of whole lines are squares
        // of these.
        let tiles = cells > 8 && width > 1 || strip.splits && strip.pitch * width == LINE;
        if tiles || strip.long.extent < LINE / width {
            return None;
        }
        Some(Channels {
            strip,
            cells,
            rows,
            crowded: false,
        })
    }

    /// The same as it is carried out on a machine, if tiles are not faster there: of wide elements there is little to permute,
    /// and from behind the nearest cache all that is loaded for cells that no channel fills takes longer.
    pub(crate) fn on(mut self, target: &Target, width: usize) -> Option<Channels> {
        let strip = &self.strip;
        let apart = strip.apart();
        let channels = std::iter::once((strip.short.extent, apart));
        // A line that is read whole is read once, wherever it lies.
        let parts = strip.splits || apart % LINE as isize != 0;
        self.crowded = parts
            && strip.long.extent * width >= Self::TOGETHER
            && share_sets(target, channels, strip.short.extent);
        let all = [strip.short.extent, width, extent(&strip.outer)];
        let bytes = all
            .into_iter()
            .fold(strip.long.extent, usize::saturating_mul);
        let tiles = target.core.turns_whole_lines()
            && strip.splits
            && width >= 4
            && strip.short.extent < self.cells
            && bytes > target.l1 as usize / 2;
        (self.crowded || !tiles).then_some(self)
    }
}
