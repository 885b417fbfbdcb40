//! Rows that constants name: what is moved is known before the call.

use restride_loops::NamedRows;

use crate::byte_box::ByteBox;
use crate::cost;
use crate::gather::{GatherPlan, GatherWay, Indices};
use crate::planner::Planner;

/// The most lines that are put together of elements picked out of rows, and windows of all of them: tables lie on the stack
/// of a call.
pub const PICKED_LINES: usize = 64;
/// See [`PICKED_LINES`].
pub const PICKED_WINDOWS: usize = 88;

/// Rows that elements are picked out of are at most so many windows long.
pub const ROW_WINDOWS: usize = 128;

/// Bytes that are moved at each point of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedRun {
    /// Where they are written, from the first row.
    pub dst: isize,
    /// Where they are read, from row 0.
    pub src: isize,
    /// How many.
    pub bytes: usize,
}

impl Indices {
    /// The offset of each row that constants name; nothing of one that there is not.
    pub fn offsets(&self) -> impl Iterator<Item = Option<isize>> {
        let offset = |named: &Option<i64>| named.map(|row| self.coeff.wrapping_mul(row as isize));
        self.named.iter().flatten().map(offset)
    }

    /// The lines of so many bytes that elements of `run` bytes fill, and the windows of the source that these are of, which
    /// begins so many bytes behind a line; nothing if constants do not name them, or tables have no room.
    pub(crate) fn lines_and_windows(
        &self,
        run: usize,
        line: usize,
        at: isize,
    ) -> Option<(usize, usize)> {
        let offsets: Vec<Option<isize>> = self.offsets().collect();
        let all = || offsets.iter().copied().flatten();
        let (low, high) = (all().min()?, all().max()?);
        let hull = high.abs_diff(low) + run;
        // Where parts of lines are not loaded and stored, there has to be a whole one.
        let fits = line == cost::LINE || hull.min(offsets.len() * run) >= line;
        let skew = low.wrapping_add(at).rem_euclid(line as isize) as usize;
        let skew = if skew.is_multiple_of(run) { skew } else { 0 };
        if !fits || hull + skew > ROW_WINDOWS * line {
            return None;
        }
        let windows = |line_of: &[Option<isize>]| {
            let window = |offset: isize| (offset.abs_diff(low) + skew) / line;
            let named = line_of.iter().copied().flatten();
            let windows = named.fold(0u128, |all, offset| all | 1 << window(offset));
            windows.count_ones() as usize
        };
        let lines = offsets.chunks(line / run);
        let (lines, windows) = (lines.len(), lines.map(windows).sum());
        (lines <= PICKED_LINES && windows <= PICKED_WINDOWS).then_some((lines, windows))
    }
}

impl NamedRun {
    /// What is moved at each point of a row; rows that follow each other on both sides are one run. So many bytes lie between
    /// rows of destination and source. Nothing if an index names no row.
    #[must_use]
    pub fn all(
        row: &ByteBox,
        named: &NamedRows,
        (dst, src): (isize, isize),
    ) -> Option<Vec<NamedRun>> {
        let mut runs: Vec<NamedRun> = Vec::new();
        for (number, named) in (0isize..).zip(named) {
            let named = isize::try_from((*named)?).ok()?;
            let next = NamedRun {
                dst: row.dst.checked_add(number.checked_mul(dst)?)?,
                src: row.src.checked_add(named.checked_mul(src)?)?,
                bytes: row.run,
            };
            match runs.last_mut().filter(|last| last.goes_on(&next)) {
                Some(last) => last.bytes += next.bytes,
                None => runs.push(next),
            }
        }
        Some(runs)
    }

    /// Whether another one begins where it ends.
    fn goes_on(&self, next: &NamedRun) -> bool {
        let bytes = self.bytes as isize;
        (self.dst + bytes, self.src + bytes) == (next.dst, next.src)
    }
}

impl Planner {
    /// The runs of a gather whose rows constants name, if straight code for each point of a row is faster than precompiled code.
    #[must_use]
    pub fn straight(&self, plan: &GatherPlan) -> Option<Vec<NamedRun>> {
        // Long rows are moved a line at a time.
        if matches!(plan.way(), GatherWay::Boxes(_)) || plan.row().run >= cost::LINE {
            return None;
        }
        let indices = plan.indices();
        let apart = (plan.dst_stride(), indices.coeff);
        let runs = NamedRun::all(plan.row(), indices.named.as_ref()?, apart)?;
        let loads = runs.iter().map(|run| cost::loads(run.bytes)).sum();
        cost::gather::is_straight(loads, plan.row().runs(), plan.cost()).then_some(runs)
    }
}
