//! A transposition with one short side of dense rows: the channels of pixels to planes, and back.
//!
//! With lines of 64 bytes whose bytes can be permuted, lines of the long side are put together from as many windows as there are cells in a line; a window
//! has four whole rows of the short side. One permutation in a window makes each of its channels a
//! cell, and a square of cells is transposed in registers.

use crate::byte_box::{ByteBox, Step, Steps};
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

/// How channels of bytes are split or joined, on a machine with lines of 64 bytes that permutes their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// What is split or joined.
    pub strip: Strip,
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
    /// A line has as many cells, of which up to so many are filled: with fewer channels, lines of pixels are joined or split in
    /// less time, and wider elements fill the lanes of register tiles.
    pub const CELLS: usize = 16;
    const FEWEST: usize = 10;
    /// The rows of a window, whose elements of one channel are a cell.
    pub const ROWS: usize = LINE / Self::CELLS;
    /// The bytes of a channel that are moved together where channels are crowded: several lines.
    pub const TOGETHER: usize = 8 * LINE;

    /// Whether nothing else is looked for: all other ways turn to the rows of a crowded destination more often.
    pub(crate) fn is_alone(&self) -> bool {
        self.crowded && self.strip.splits
    }

    /// Nothing if no side has ten to sixteen bytes that are rows next to each other, or the other side does not fill a line.
    pub(crate) fn of(shape: &ByteBox, target: &Target) -> Option<Channels> {
        if shape.run != 1 {
            return None;
        }
        let strip = Strip::of(shape, |channels, pitch| {
            channels == pitch && (Self::FEWEST..=Self::CELLS).contains(&channels)
        })?;
        let apart = strip.apart();
        let channels = std::iter::once((strip.short.extent, apart));
        // A line that is read whole is read once, wherever it lies.
        let parts = strip.splits || apart % LINE as isize != 0;
        let crowded = parts
            && strip.long.extent >= Self::TOGETHER
            && share_sets(target, channels, strip.short.extent);
        (strip.long.extent >= LINE).then_some(Channels { strip, crowded })
    }
}
