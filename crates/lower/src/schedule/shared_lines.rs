//! Pieces that read or write the same lines are moved in one loop.
//!
//! Space-to-depth as four strided slices side by side reads every source line four times, once
//! per piece. When the pieces have the same digits and their sources start within a line of each
//! other, a loop over blocks that fit the first cache moves a block of each piece in turn, so that
//! memory is read once.
//!
//! A concat along an inner axis, or a pad, that is written one part after the other visits every
//! line of the destination as often as parts lie in it, and leaves gaps in which nothing is
//! fetched ahead. When pieces lie side by side in each step of an outermost digit that they have
//! in common, a loop over blocks of that digit moves a block of each in turn, so that lines are
//! complete before they leave the first cache.

use super::emit::Unit;
use super::{Target, order};
use restride_loops::ir::{Dim, Form};
use smallvec::{SmallVec, smallvec};

/// Which lines units of a group have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Common {
    /// There is one unit.
    Nothing,
    /// Lines of their source.
    Read,
    /// Lines of their destination, or the ones next to them.
    Written,
}

/// Units that are moved together; mostly a single one.
pub(super) struct UnitGroup {
    pub(super) units: SmallVec<[Unit; 1]>,
    pub(super) common: Common,
    /// Bytes that are written.
    pub(super) bytes: i64,
}

/// Puts a unit to those that it is to be moved together with. Groups are in the order of their
/// first member.
pub(super) fn add(target: &Target, groups: &mut SmallVec<[UnitGroup; 1]>, unit: Unit) {
    let mut alone = UnitGroup {
        common: Common::Nothing,
        bytes: unit.bytes(),
        units: smallvec![unit],
    };
    for group in groups.iter_mut().rev().take(8) {
        // A group is held together by one or the other.
        let may = |common| [Common::Nothing, common].contains(&group.common);
        if may(Common::Read) && reads_same(target, &group.units[0], &alone.units[0]) {
            group.common = Common::Read;
        } else if may(Common::Written)
            && let Some(outermost) = side_by_side(target, &group.units[0], &alone.units[0])
        {
            group.common = Common::Written;
            alone.units[0].split_outermost(outermost);
            if group.units[0].outermost() != Some(outermost) {
                let units = group.units.iter_mut();
                units.for_each(|unit| unit.split_outermost(outermost));
            }
        } else {
            continue;
        }
        group.bytes = group.bytes.saturating_add(alone.bytes);
        return group.units.append(&mut alone.units);
    }
    groups.push(alone);
}

fn reads_same(target: &Target, a: &Unit, b: &Unit) -> bool {
    let (x, y) = (&a.ordered, &b.ordered);
    let within_line = (x.src - y.src).saturating_abs() < target.per_line(a.width);
    let same_walk = x.dims.len() == y.dims.len()
        && x.dims
            .iter()
            .zip(&y.dims)
            .all(|(p, q)| p.extent == q.extent && p.src == q.src);
    // A source that stays cached anyway gains nothing.
    let worth = x.lines_read.saturating_mul(target.line) > target.l1;
    a.what == b.what && a.width == b.width && within_line && same_walk && worth
}

/// The outermost digit of two units, if one lies beside the other in each of its steps, and that in
/// short rows.
fn side_by_side(target: &Target, first: &Unit, unit: &Unit) -> Option<Dim> {
    let (a, b) = (first.outermost()?, unit.outermost()?);
    let (fine, coarse) = if a.dst < b.dst { (a, b) } else { (b, a) };
    // A digit may be two for one of them.
    let same = coarse.dst.checked_rem(fine.dst)? == 0
        && coarse.extent.checked_mul(coarse.dst / fine.dst)? == fine.extent;
    let beside = (first.ordered.dst - unit.ordered.dst).saturating_abs() < coarse.dst;
    // Lines that stay cached anyway gain nothing.
    let step = coarse.dst.saturating_mul(unit.width);
    let far = step.saturating_mul(coarse.extent) > near(target);
    let short = in_short_rows(target, first, step) && in_short_rows(target, unit, step);
    let together = first.destination == unit.destination && same && beside && far && short;
    together.then_some(coarse)
}

/// Whether a unit gains by being moved in blocks of its outermost digit, of which a step is so many
/// bytes. Long rows are fetched ahead, and what goes past the caches fetches none.
fn in_short_rows(target: &Target, unit: &Unit, step: i64) -> bool {
    let short = order::written_run(&unit.ordered.dims, unit.width) <= target.l1 / 8;
    short
        && match unit.ordered.form {
            Form::Elements | Form::Rows | Form::Strided | Form::Lines => true,
            // A block has to be whole tiles.
            Form::Transpose | Form::Staged => unit.outermost().is_some_and(|dim| {
                let read = dim.src.saturating_abs().saturating_mul(unit.width);
                (near(target) / step.max(1)).saturating_mul(read) >= 2 * target.line
            }),
            Form::Stream => false,
        }
}

/// So many bytes stay in the first cache while they are written, with what is read for them.
pub(super) fn near(target: &Target) -> i64 {
    target.l1 / 2
}
