//! Pieces that read the same source lines are moved in one loop.
//!
//! Space-to-depth as four strided slices side by side reads every source line four times, once
//! per piece. When the pieces have the same digits and their sources start within a line of each
//! other, a loop over blocks that fit the first cache moves a block of each piece in turn, so that
//! memory is read once.

use super::Target;
use super::emit::Unit;
use smallvec::{SmallVec, smallvec};

/// Units that are moved together; mostly a single one.
pub(super) type UnitGroup = SmallVec<[Unit; 1]>;

/// Puts a unit to those that it is to be moved together with. Groups are in the order of their
/// first member.
pub(super) fn add(target: &Target, groups: &mut SmallVec<[UnitGroup; 1]>, unit: Unit) {
    let fits = |group: &&mut UnitGroup| shares(target, &group[0], &unit);
    match groups.iter_mut().rev().take(8).find(fits) {
        Some(group) => group.push(unit),
        None => groups.push(smallvec![unit]),
    }
}

fn shares(target: &Target, a: &Unit, b: &Unit) -> bool {
    let (x, y) = (&a.ordered, &b.ordered);
    let within_line = (x.src - y.src).saturating_abs() < target.per_line(a.width);
    let same_walk = x.dims.len() == y.dims.len()
        && x.dims
            .iter()
            .zip(&y.dims)
            .all(|(p, q)| p.extent == q.extent && p.src == q.src);
    // A source that stays cached anyway gains nothing.
    let worth = x.lines_read.saturating_mul(target.line) > target.l1;
    a.source == b.source && a.width == b.width && within_line && same_walk && worth
}
