//! How the runs of a box are copied.

use crate::byte_box::{ByteBox, Step};
use crate::cores::Core;
use crate::cost::LINE;
use crate::crowding::{fill_few_sets, fit, leave_room};
use crate::target::Target;

/// Ways to copy the runs of a box, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// One after the other.
    Each {
        /// Whether by vectors of whole lines, where runs are so long.
        whole_lines: bool,
        /// How many bytes of the next run are asked for while one is copied.
        early: usize,
    },
    /// As one vector each: what that has too much, the next run is written over.
    Following,
    /// A few of one dimension at every point of the innermost one: what they share of lines of the source would be gone from
    /// the nearest cache after all points.
    Sharing {
        /// Which dimension that is,
        row: usize,
        /// and how many of it.
        at_once: usize,
    },
    /// A piece of a run to all of its places before the next piece.
    Repeated,
    /// One after the other, past the caches.
    Past,
}

/// Runs of so many bytes are the platform's business.
pub const PLATFORM: usize = 16 << 10;

/// Runs of whole lines from so many bytes on are copied four widest vectors at a time. Where more is written than read from
/// afar, lines that are complete at once take a tenth less than halves of them in between.
const WIDE: usize = 8 * LINE;

/// The hardware finds the beginning of a short run, or of one that follows closely, by itself.
const LONG: usize = 6 * LINE;
const GAP: usize = 4 * LINE;

/// How many lines of the destination are filled at a time where runs share lines of the source.
const UNDER_WAY: usize = 16;

/// How many longer runs, which lie side by side in the source, are moved at a time where more is under way anyhow, and the
/// longest of them: in longer ones the hardware reads on by itself.
const SIDE_BY_SIDE: usize = 4;
const LONGEST_SHARING: usize = 2 * LINE;

/// The beginning of a run, until the hardware has noticed that it goes on.
const EARLY: usize = 4 * LINE;

impl Rows {
    /// What fits any box.
    pub const PLAIN: Rows = Rows::Each {
        whole_lines: false,
        early: 0,
    };

    /// Those of a box that stay in the caches.
    pub(crate) fn of(shape: &ByteBox, target: &Target) -> Rows {
        // A run that stays in the second cache is read again for less than writing to several places costs. Pieces are of
        // several vectors, whatever the cache.
        let long = shape.run >= PLATFORM.max(target.l2 as usize / 4);
        let repeats = shape.steps.last().is_some_and(|inner| inner.src == 0);
        if long && repeats {
            return Rows::Repeated;
        }
        if let Some(sharing) = sharing(shape, target) {
            return sharing;
        }
        let widest = 16 * target.features.lanes()[1];
        if shape.following().is_some_and(|vector| vector <= widest) {
            return Rows::Following;
        }
        let near = shape.bytes() <= target.l1 as usize / 2;
        let whole = shape.run.is_multiple_of(LINE);
        let runs = match target.core {
            // What stores lines at once does not store halves of them; that the last line of each of several runs overlaps the
            // one before it is little only beside many.
            Core::Cove if whole || shape.steps.is_empty() => LINE..PLATFORM,
            Core::Cove => WIDE..PLATFORM,
            // A core that stores a line every clock copies what is near in two thirds of the platform's time.
            Core::Zen5 if near => WIDE..usize::MAX,
            Core::Zen5 if whole => WIDE..PLATFORM,
            Core::Zen5 => PLATFORM..PLATFORM,
            // Where that takes two, halves are as good near by, and the platform takes longer to begin.
            Core::Zen if whole && !near => WIDE..8 * PLATFORM,
            Core::Zen => 2 * PLATFORM..8 * PLATFORM,
        };
        Rows::Each {
            whole_lines: runs.contains(&shape.run),
            early: early(shape, target),
        }
    }

    /// Those of a box that is stored past the caches, if its runs are long enough.
    pub(crate) fn past(shape: &ByteBox, target: &Target) -> Rows {
        match (shape.run as i64) < target.worth_past() {
            true => Self::of(shape, target),
            false => Rows::Past,
        }
    }

    /// What they are called in listings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Each {
                whole_lines: true, ..
            } => "rows by lines",
            Self::Each { .. } => "rows",
            Self::Following => "overlapping rows",
            Self::Sharing { .. } => "rows that share lines",
            Self::Repeated => "repeated rows",
            Self::Past => "rows past the caches",
        }
    }
}

/// The dimension whose runs share lines of the source, or lie side by side in it, if the innermost one goes through more of
/// these than stay near.
fn sharing(shape: &ByteBox, target: &Target) -> Option<Rows> {
    let (inner, others) = shape.steps.split_last()?;
    let apart = |step: &Step| step.src.unsigned_abs();
    // What is moved as a vector each has little to gain from a line that it finds again.
    let stay = match shape.run >= 16 || shape.following().is_some() {
        true => !fill_few_sets(target, inner.src, inner.extent),
        false => stay_near(inner, target),
    };
    if apart(inner) < LINE || shape.run > LONGEST_SHARING || stay {
        return None;
    }
    let most = LINE.max(shape.run + 1);
    let shares = |(_, step): &(usize, &Step)| (1..most).contains(&apart(step));
    let all = others.iter().enumerate().filter(shares);
    let (row, step) = all.min_by_key(|(_, step)| apart(step))?;
    let mut at_once = match shape.run >= LINE / 2 && target.core != Core::Zen {
        true => SIDE_BY_SIDE,
        false => UNDER_WAY.max(LINE / apart(step)),
    };
    while at_once > SIDE_BY_SIDE && !leave_room(target, step.dst, at_once) {
        at_once /= 2;
    }
    at_once = at_once.min(step.extent);
    Some(Rows::Sharing { row, at_once })
}

/// Whether the lines of the innermost dimension's elements are there for the next ones.
fn stay_near(inner: &Step, target: &Target) -> bool {
    let lines = (target.l1 / target.line) as usize;
    // A few lines are fetched again in less time than each of their elements takes two more steps.
    inner.extent <= UNDER_WAY
        || inner.extent <= lines / 2 && fit(target, target.ways(), inner.src, inner.extent)
}

/// Whether the innermost dimension steps from one line to the next but one, or further, such that half of the sets of the
/// nearest cache have all of them.
pub(crate) fn skips_sets(shape: &ByteBox) -> bool {
    let skips = |inner: &Step| inner.src.unsigned_abs().is_multiple_of(2 * LINE);
    let inner = shape.steps.last();
    inner.is_some_and(|inner| inner.extent > UNDER_WAY && skips(inner))
}

/// How much of the next run is worth asking for. What fits the nearest cache with room to spare is there.
fn early(shape: &ByteBox, target: &Target) -> usize {
    let Some(inner) = shape.steps.last() else {
        return 0;
    };
    let gap = inner.src.unsigned_abs().saturating_sub(shape.run);
    match shape.run >= LONG && gap >= GAP && shape.bytes() >= target.near() {
        true => EARLY,
        false => 0,
    }
}
