//! Where in a row the lines of its units are those of memory.
//!
//! A store that straddles two lines costs as much as two. So the units behind the first one of a row
//! start after as many steps as bring them to the start of a line, and overlap the first.

use restride_moves::lines::{Cut, WideOp as Op};

use crate::copy::LINE;
use crate::lines::row::{Behind, Middle};

/// The units behind the first of a row, by the place in a line where the row starts.
pub(super) struct Peel {
    /// For every place, after how many steps they start; a unit has at most a thousand.
    steps: [u16; LINE],
    behind: Behind,
}

impl Peel {
    pub(super) fn new(cut: &Cut, unit: &[Op]) -> Peel {
        // From unit to unit, stores must keep their places in lines.
        let keeps = (cut.long.dst * cut.steps as isize).rem_euclid(LINE as isize) == 0
            && unit.iter().all(|op| op.store == u64::MAX);
        Peel {
            steps: if keeps {
                best(cut, unit)
            } else {
                [cut.steps as u16; LINE]
            },
            behind: Behind::new(cut),
        }
    }

    /// The units behind the first of a row that starts at an address.
    #[inline(always)]
    pub(super) fn at(&self, dst: *mut u8) -> Middle {
        self.behind.after(self.steps[dst.addr() % LINE].into())
    }
}

/// For every start, after how many steps, at most a unit's, as many lines as possible start where
/// lines do. Of equals, the last is taken.
fn best(cut: &Cut, unit: &[Op]) -> [u16; LINE] {
    let place = |at: isize| at.rem_euclid(LINE as isize).unsigned_abs();
    let all = cut.steps as u16;
    let mut best = [all; LINE];
    let step = place(cut.long.dst);
    if step == 0 {
        // Every number of steps is as good as the last.
        return best;
    }
    // How many lines of a unit start at each place.
    let mut lines = [0u16; LINE];
    for op in unit {
        lines[place(op.dst)] += 1;
    }
    let mut most = [0; LINE];
    // Before the last so many steps, starts are the same once more.
    let first = all.saturating_sub(LINE as u16 - 1).max(1);
    for (at, &count) in lines.iter().enumerate().filter(|(_, count)| **count > 0) {
        for steps in first..=all {
            let start = (LINE - (at + usize::from(steps) * step) % LINE) % LINE;
            if count > most[start] || count == most[start] && steps > best[start] {
                (best[start], most[start]) = (steps, count);
            }
        }
    }
    best
}
