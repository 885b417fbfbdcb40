//! Where in a row the lines of its units are those of memory.
//!
//! A store that straddles two lines costs as much as two. So the units behind the first one of a row
//! start after as many steps as bring them to the start of a line, and overlap the first.

use restride_moves::lines::{Cut, WideLines};

use crate::copy::LINE;
use crate::lines::row::{Behind, Middle};

/// The units behind the first of a row, by the place in a line where the row starts.
pub(super) struct Peel {
    /// For every place, after how many steps they start; a unit has at most a thousand.
    steps: [u16; LINE],
    behind: Behind,
    /// For every place, what follows from that, where rows are so short that working it out would be
    /// felt.
    known: Option<Box<[Middle; LINE]>>,
}

/// Rows of fewer bytes are short. A table for them takes as long to make as a few dozen rows.
const SHORT_ROW: usize = 1024;

impl Peel {
    pub(super) fn new(cut: &Cut, unit: &WideLines, aligned: bool) -> Peel {
        // From unit to unit, stores must keep their places in lines.
        let keeps = aligned
            && (cut.long.dst * cut.steps as isize).rem_euclid(LINE as isize) == 0
            && unit.ops.iter().all(|op| op.store == u64::MAX);
        let steps = match keeps {
            true => best(cut, unit),
            false => [cut.steps as u16; LINE],
        };
        let behind = Behind::new(cut);
        let row = cut.long.extent.saturating_mul(cut.long.dst.unsigned_abs());
        let table = || Box::new(steps.map(|steps| behind.after(steps.into())));
        Peel {
            steps,
            behind,
            known: (row < SHORT_ROW).then(table),
        }
    }

    /// What it holds elsewhere.
    pub(super) fn bytes(&self) -> usize {
        self.known.as_ref().map_or(0, |table| size_of_val(&**table))
    }

    /// The units behind the first of a row that starts at an address.
    #[inline(always)]
    pub(super) fn at(&self, dst: *mut u8) -> Middle {
        let place = dst.addr() % LINE;
        match &self.known {
            Some(table) => table[place],
            None => self.behind.after(self.steps[place].into()),
        }
    }
}

/// For every start, after how many steps, at most a unit's, as many lines as possible start where
/// lines do. Of equals, the last is taken.
fn best(cut: &Cut, unit: &WideLines) -> [u16; LINE] {
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
    for line in &*unit.places {
        lines[place(line.dst)] += 1;
    }
    let mut most = [0; LINE];
    // Before the last so many steps, starts are the same once more.
    let first = all.saturating_sub(LINE as u16 - 1).max(1);
    let places = match step % 2 == 1 && all >= LINE as u16 {
        // Lines of any one place come to every start, so those of which there are most decide.
        true => {
            let frequent = (0..LINE).max_by_key(|at| lines[*at]).unwrap_or_default();
            frequent..frequent + 1
        }
        false => 0..LINE,
    };
    let counted = places.map(|at| (at, lines[at]));
    for (at, count) in counted.filter(|(_, count)| *count > 0) {
        for steps in first..=all {
            let start = (LINE - (at + usize::from(steps) * step) % LINE) % LINE;
            if count > most[start] || count == most[start] && steps > best[start] {
                (best[start], most[start]) = (steps, count);
            }
        }
    }
    best
}
