//! Elements that are picked out of rows, in lines that permutations put together from windows of the source.

use crate::byte_box::{ByteBox, Step};
use crate::cost::{LINE, gather as cost};
use crate::gather::Indices;

/// The most lines that are put together of elements picked out of rows, and windows of all of them: tables lie on the stack
/// of a call.
pub const PICKED_LINES: usize = 64;
/// See [`PICKED_LINES`].
pub const PICKED_WINDOWS: usize = 88;

/// Rows that elements are picked out of are at most so many windows long.
pub const ROW_WINDOWS: usize = 128;

/// The most elements of rows that become lines together, and lines that these fill, where tables are laid during the call.
pub const PICKED_TOGETHER: usize = 512;
const FILLED: usize = 32;

/// Points that are moved together, so that what a line needs is loaded once for all of them.
pub const POINTS_TOGETHER: usize = 4;

/// The most elements of rows that become lines together where tables are laid before it, and equal parts of all rows.
const KNOWN_TOGETHER: usize = 1024;
const PARTS: usize = 4;

/// Rows that constants name, as lines of which it is known before the call what they are put together from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownRows {
    /// How many rows become lines together.
    pub rows: usize,
    /// Whether that serves for a source that begins elsewhere in a line as well, of which windows then straddle lines.
    pub anywhere: bool,
}

/// The windows of a source that elements lie in, each as long as a line. Nothing outside the hull of the elements is read.
#[derive(Clone, Copy, Debug)]
pub struct PickWindows {
    first: isize,
    low: isize,
    high: isize,
}

impl PickWindows {
    /// Of so many elements of `run` bytes, at offsets from the lowest to the highest of a source at an address; nothing if there
    /// are too many windows, or too few elements.
    #[inline(always)]
    #[must_use]
    pub fn of(
        (lowest, highest): (isize, isize),
        (elements, run): (usize, usize),
        src: usize,
        line: usize,
    ) -> Option<PickWindows> {
        // They begin where the lines of the first row do, if its elements do not straddle them.
        let skew = src.wrapping_add_signed(lowest) % line;
        let skew = if skew.is_multiple_of(run) { skew } else { 0 };
        let windows = PickWindows {
            first: lowest.wrapping_sub(skew as isize),
            low: lowest,
            high: highest.wrapping_add(run as isize),
        };
        // Where parts of lines are not loaded and stored, there has to be a whole one.
        let fits = has_parts(line) || windows.hull().min(elements * run) >= line;
        let near = windows.high.wrapping_sub(windows.first).unsigned_abs() <= ROW_WINDOWS * line;
        (fits && near).then_some(windows)
    }

    /// Bytes from the first to the last element.
    #[inline(always)]
    #[must_use]
    pub fn hull(self) -> usize {
        self.high.wrapping_sub(self.low).unsigned_abs()
    }

    /// The number of the one that has an offset.
    #[inline(always)]
    #[must_use]
    pub fn number(self, offset: isize, line: usize) -> usize {
        (offset.wrapping_sub(self.first).unsigned_abs() / line) % ROW_WINDOWS
    }

    /// Where it is loaded from: moved inwards at the ends of the row.
    #[inline(always)]
    #[must_use]
    pub fn start(self, number: usize, line: usize) -> isize {
        let at = self.first.wrapping_add((number * line) as isize);
        let last = self.high.wrapping_sub(line as isize);
        at.min(last).max(self.low)
    }
}

/// Whether parts of lines of so many bytes are loaded and stored.
#[inline(always)]
fn has_parts(line: usize) -> bool {
    line == LINE
}

/// Where the line begins that has what is left behind so many of some elements, of which lines of so many bytes have `per_line`: what
/// is stored as a whole overlaps the line before.
#[inline(always)]
#[must_use]
pub fn line_from(done: usize, elements: usize, per_line: usize, line: usize) -> usize {
    match has_parts(line) {
        true => done,
        false => done.min(elements - per_line),
    }
}

/// Rows that elements are picked out of, and the lines that they become.
pub(crate) struct PickedRows {
    /// How many of each row.
    picked: usize,
    run: usize,
    line: usize,
    /// The innermost dimension of the points.
    inner: Step,
    points: usize,
}

/// The lines of the points of some rows: all of them, those that are stored in part, and the windows that they are of.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counted {
    pub(crate) lines: usize,
    pub(crate) parts: usize,
    pub(crate) windows: usize,
}

impl PickedRows {
    pub(crate) fn of(indices: &Indices, row: &ByteBox, line: usize) -> PickedRows {
        PickedRows {
            picked: indices.extent,
            run: row.run,
            line,
            inner: row.steps.last().copied().unwrap_or(Step::NONE),
            points: row.runs(),
        }
    }

    /// The bytes of a row of the destination.
    fn row(&self) -> usize {
        self.picked.saturating_mul(self.run).max(1)
    }

    /// Whether rows follow each other, and elements of none of them straddle windows, which would be of both.
    fn follow(&self) -> bool {
        let whole = self.inner.src.unsigned_abs().is_multiple_of(self.run);
        whole && self.inner.dst == self.row() as isize
    }

    /// How many rows fill lines.
    fn filling(&self) -> usize {
        self.line >> self.row().trailing_zeros().min(self.line.ilog2())
    }

    /// How many rows become lines together, of which tables are laid during the call: as many as a line has, or those that fill
    /// whole lines, if that takes fewer by more than the tables of so many elements are worth.
    pub(crate) fn together(&self) -> usize {
        if !self.follow() {
            return 1;
        }
        let (row, extent) = (self.row(), self.inner.extent);
        let few = (LINE / row).min(extent).max(1);
        let most = extent
            .min(PICKED_TOGETHER / self.picked.max(1))
            .min(FILLED * self.line / row);
        let many = most.min(self.filling());
        let of = |rows: usize| (rows * row).div_ceil(self.line);
        let lines = |rows: usize| extent.saturating_mul(of(rows)) / rows;
        match many > few && 2 * lines(few).saturating_sub(lines(many)) > 5 * many * self.picked {
            true => many,
            false => few,
        }
    }

    /// The same where tables are laid before the call, of rows that constants name of a source that begins so many bytes behind
    /// a line: what takes least, which comes first. Nothing if tables have no room.
    pub(crate) fn known_together(&self, indices: &Indices, src: isize) -> Option<(usize, usize)> {
        let (offsets, extent): (Vec<_>, _) = (indices.offsets().collect(), self.inner.extent);
        offsets.first()?;
        let most = match self.follow() {
            true => extent.min(KNOWN_TOGETHER / self.picked.max(1)).max(1),
            false => 1,
        };
        let nests = self.points / extent.max(1);
        let cost = |rows: usize| {
            let counted = self.counted(&offsets, src, rows)?;
            // What is left of the last rows is moved with some of those before.
            let (points, rest) = (extent / rows, usize::from(!extent.is_multiple_of(rows)));
            let turns = points / POINTS_TOGETHER + points % POINTS_TOGETHER + rest;
            let cost = cost::known(self.line, counted, points + rest, turns);
            Some((cost.saturating_mul(nests), rows))
        };
        let powers = (0..=most.ilog2()).map(|power| 1 << power);
        let parts = (1..=PARTS).map(|parts| extent.div_ceil(parts).clamp(1, most));
        let mut all: Vec<usize> = powers.chain(parts).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().filter_map(cost).min()
    }

    /// The lines of so many rows.
    fn counted(&self, offsets: &[Option<isize>], src: isize, rows: usize) -> Option<Counted> {
        let of_row = |row: usize| {
            let apart = self.inner.src.wrapping_mul(row as isize);
            offsets
                .iter()
                .map(move |it| Some((*it)?.wrapping_add(apart)))
        };
        let all: Vec<Option<isize>> = (0..rows).flat_map(of_row).collect();
        let named = || all.iter().copied().flatten();
        let hull = (named().min()?, named().max()?);
        let elements = (all.len(), self.run);
        let windows = PickWindows::of(hull, elements, src as usize, self.line)?;
        let per_line = self.line / self.run;
        let mut counted = Counted::default();
        for done in (0..all.len()).step_by(per_line) {
            let begin = line_from(done, all.len(), per_line, self.line);
            let line = &all[begin..all.len().min(begin + per_line)];
            let number = |offset: isize| windows.number(offset, self.line);
            let named = line.iter().copied().flatten();
            let used = named.fold(0u128, |used, offset| used | 1 << number(offset));
            counted.lines += 1;
            counted.parts += usize::from(line.len() < per_line);
            counted.windows += used.count_ones() as usize;
        }
        let fits = counted.lines <= PICKED_LINES && counted.windows <= PICKED_WINDOWS;
        fits.then_some(counted)
    }
}
