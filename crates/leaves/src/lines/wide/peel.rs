//! Where in a row the lines of its units are those of memory.
//!
//! A store that straddles two lines costs as much as two. So the units behind the first one of a row
//! start after as many steps as bring them to the start of a line, and overlap the first.

use super::op::{LINE, Op};
use crate::lines::row::{Middle, Row};
use crate::lines::unit::Cut;

/// For every place in a line where a row may start, the units behind the first.
pub(super) struct Peel(Box<[Middle; LINE]>);

impl Peel {
    pub(super) fn new(cut: &Cut, unit: &[Op]) -> Peel {
        // From unit to unit, stores must keep their places in lines.
        let keeps = (cut.long.dst * cut.steps as isize).rem_euclid(LINE as isize) == 0
            && unit.iter().all(|op| op.store == u64::MAX);
        Peel(Box::new(std::array::from_fn(|start| {
            let steps = match keeps {
                true => best(cut, unit, start as isize),
                false => cut.steps,
            };
            Row::middle(cut, steps)
        })))
    }

    /// The units behind the first of a row that starts at an address.
    #[inline(always)]
    pub(super) fn at(&self, dst: *mut u8) -> &Middle {
        &self.0[dst.addr() % LINE]
    }
}

/// After how many steps, at most a unit's, as many lines as possible start where lines do.
fn best(cut: &Cut, unit: &[Op], start: isize) -> usize {
    let aligned = |steps: &usize| {
        let row = start + cut.long.dst * *steps as isize;
        let at = |op: &&Op| (row + op.dst).rem_euclid(LINE as isize) == 0;
        unit.iter().filter(at).count()
    };
    // Of equals, the last is taken.
    (1..=cut.steps).max_by_key(aligned).unwrap_or(cut.steps)
}
