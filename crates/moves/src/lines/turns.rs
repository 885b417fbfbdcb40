//! Rows that take turns.
//!
//! Where neighbouring rows of the destination read different bytes of the same lines of the source,
//! walking row after row reads every line once per row, and only the first of these times waits for
//! memory: reading and writing hardly overlap. So long rows are cut, and the pieces of such
//! neighbours are written in turns, each long enough to be one stream of stores.

use super::unit::{Cut, LINE};
use crate::byte_box::Step;

/// Bytes of a row that are written in one turn: at least, about, and at most.
const FEWEST: usize = 512;
const BYTES: usize = 1024;
const MOST: usize = 4096;

impl Cut {
    /// The cut with long rows in pieces, where neighbours share lines of the source.
    #[must_use]
    pub fn in_turns(&self) -> Cut {
        let mut cut = self.clone();
        let shares = |step: &Step| step.src != 0 && step.src.unsigned_abs() < LINE;
        let apart = cut.outer.iter().rposition(|step| !shares(step));
        let at = apart.map_or(0, |at| at + 1);
        if at == cut.outer.len() {
            return cut;
        }
        if let Some(steps) = piece(&cut) {
            let long = cut.long;
            let pieces = Step {
                extent: long.extent / steps,
                dst: long.dst * steps as isize,
                src: long.src * steps as isize,
            };
            cut.outer.insert(at, pieces);
            cut.long.extent = steps;
        }
        cut
    }
}

/// How many steps of the long dimension are moved in one turn: whole units, and all turns alike.
fn piece(cut: &Cut) -> Option<usize> {
    let units = Some(cut.long.extent / cut.steps).filter(|n| n * cut.steps == cut.long.extent)?;
    let unit = cut.long.dst.unsigned_abs() * cut.steps;
    let fits = |n: &usize| units.is_multiple_of(*n) && (FEWEST..=MOST).contains(&(n * unit));
    let all = (1..units.min(MOST / unit.max(1) + 1)).filter(fits);
    let best = all.min_by_key(|n| (n * unit).abs_diff(BYTES))?;
    Some(best * cut.steps)
}
