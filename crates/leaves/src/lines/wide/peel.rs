//! Where in a row the lines of its units are those of memory.
//!
//! A store that straddles two lines costs as much as two. So the units behind the first one of a row
//! start after as many steps as bring them to the start of a line, and overlap the first.

use restride_moves::lines::{Cut, WideOp as Op};

use crate::copy::LINE;
use crate::lines::row::{Behind, Middle};

/// For every place in a line where a row may start, the units behind the first. Rows may be a few lines
/// long, so it is looked up and not worked out.
pub(super) struct Peel(Box<[Middle; LINE]>);

impl Peel {
    pub(super) fn new(cut: &Cut, unit: &[Op]) -> Peel {
        // From unit to unit, stores must keep their places in lines.
        let keeps = (cut.long.dst * cut.steps as isize).rem_euclid(LINE as isize) == 0
            && unit.iter().all(|op| op.store == u64::MAX);
        let behind = Behind::new(cut);
        let mut places = Box::new([behind.after(cut.steps); LINE]);
        if keeps {
            let best = best(cut, unit).map(usize::from);
            let others = places
                .iter_mut()
                .zip(best)
                .filter(|(_, steps)| *steps != cut.steps);
            others.for_each(|(place, steps)| *place = behind.after(steps));
        }
        Peel(places)
    }

    /// What it holds elsewhere.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }

    /// The units behind the first of a row that starts at an address.
    #[inline(always)]
    pub(super) fn at(&self, dst: *mut u8) -> &Middle {
        &self.0[dst.addr() % LINE]
    }
}

/// For every start, after how many steps, at most a unit's, as many lines as possible start where
/// lines do. Of equals, the last is taken.
fn best(cut: &Cut, unit: &[Op]) -> [u16; LINE] {
    let place = |at: isize| at.rem_euclid(LINE as isize).unsigned_abs();
    // How many lines of a unit start at each place.
    let mut lines = [0u16; LINE];
    for op in unit {
        lines[place(op.dst)] += 1;
    }
    // A unit has so few steps.
    let all = cut.steps as u16;
    let (mut best, mut most) = ([all; LINE], [0; LINE]);
    for (at, &count) in lines.iter().enumerate().filter(|(_, count)| **count > 0) {
        let mut step_at = at as isize;
        for steps in 1..=all {
            step_at = step_at.wrapping_add(cut.long.dst);
            let start = place(step_at.wrapping_neg());
            if count > most[start] || count == most[start] && steps > best[start] {
                (best[start], most[start]) = (steps, count);
            }
        }
    }
    best
}
