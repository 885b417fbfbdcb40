//! Rows of a transposition whose lines share sets of the nearest cache.
//!
//! A transposition has a line of each of a dozen rows under way, on both sides. Where rows are a multiple of a cache's
//! way apart, all of these fall into one set, and drive each other out before they are used. What helps is to turn to
//! another row less often: to go through a stage on the stack, or to have fewer rows under way.

use smallvec::SmallVec;

use crate::byte_box::{ByteBox, Step, extent};
use crate::target::Target;

/// Which rows share too few sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowded {
    /// Those of the source, and all of its columns are read before the next lines are.
    Source,
    /// Those of the destination.
    Destination,
    /// Those of both.
    Both,
}

impl Crowded {
    /// How many rows a transposition has under way at least, if there are as many.
    pub(crate) const UNDER_WAY: i64 = 16;

    /// What a transposition does something about. `row` is the dimension that is contiguous in the source, and `column`
    /// the one that is in the destination, of elements of `width` bytes. With the bytes that rows are apart.
    #[must_use]
    pub fn of(target: &Target, width: i64, row: &Step, column: &Step) -> Option<(Crowded, i64)> {
        let (rows, columns) = (row.extent as i64, column.extent as i64);
        let (narrow, lane) = (width < 4, target.per_line(width) / 4);
        if rows.min(columns) < if narrow { lane } else { 2 * lane } {
            return None;
        }
        let side = |apart: isize, rows: i64| {
            let apart = (apart as i64).saturating_abs();
            // Where a row further on comes to the same set as an element further on, both sides are in the same sets.
            let meets = (apart - width) % (target.l1_way / 2).max(1) == 0;
            // Narrow elements are read in parts in any case.
            let visits = if meets && !narrow { 2 } else { 1 };
            let rows = target.per_line(width).max(Self::UNDER_WAY).min(rows);
            let most = target.ways() / visits;
            let crowded = may_crowd(target, apart, rows, most)
                && rows_in_a_set(target, apart, rows, apart % target.line != 0) > most;
            (crowded, apart)
        };
        let (source, src) = side(column.src, columns);
        let (destination, dst) = side(row.dst, rows);
        // As many rows as a set has ways leave no room for what is read, unless each of their lines is written at once.
        let in_squares = target.is_zen_in_lines() && rows == target.per_line(width);
        let full = rows as usize == target.core.ways() && dst % target.l1_way.max(1) == 0;
        match (source, destination || full && !narrow && !in_squares) {
            (true, true) => Some((Crowded::Both, src)),
            (true, false) if width < 16 => Some((Crowded::Source, src)),
            // Vectors of bytes that are whole lines turn to each row once.
            (false, true) if width == 1 && target.is_zen_in_lines() => None,
            (false, true) if width < 16 => Some((Crowded::Destination, dst)),
            _ => None,
        }
    }
}

/// Whether so many rows, so many bytes apart, might touch one set of the nearest cache more than
/// `most` times: then two of them that are not far from each other lie within two lines of a way.
fn may_crowd(target: &Target, apart: i64, rows: i64, most: i64) -> bool {
    let way = target.l1_way.max(1);
    let step = apart % way;
    let mut at = 0;
    (0..rows / most.max(1)).any(|_| {
        at += step;
        at -= if at >= way { way } else { 0 };
        at.min(way - at) < 2 * target.line + way % target.line
    })
}

/// Whether the first of some rows share too few sets, of which each dimension is a step of so many bytes and its extent, the
/// finest first. Rows may lie in one line.
pub(crate) fn share_sets(
    target: &Target,
    steps: impl Iterator<Item = (usize, isize)>,
    rows: usize,
) -> bool {
    let places = places(steps, rows);
    let lines = if places.iter().any(|place| place % target.line != 0) {
        0..2
    } else {
        0..1
    };
    let touched = places.iter().flat_map(|place| {
        let first = place.div_euclid(target.line);
        lines.clone().map(move |next| first + next)
    });
    let mut touched: SmallVec<[i64; 128]> = touched.collect();
    touched.sort_unstable();
    touched.dedup();
    let places = touched
        .iter()
        .map(|line| line.wrapping_mul(target.line).rem_euclid(target.l1_way));
    lines_in_a_set(target, places, false) > target.ways()
}

/// The same of the runs of a box that a transposition has under way, in the order of the destination.
pub(crate) fn runs_share_sets(target: &Target, shape: &ByteBox) -> bool {
    let rows = target.per_line(shape.run as i64).max(Crowded::UNDER_WAY);
    let steps = shape.steps.iter().rev();
    share_sets(target, steps.map(|it| (it.extent, it.src)), rows as usize)
}

/// How many of some rows, of which each dimension is an extent and a step of so many bytes, touch one set of the nearest cache.
pub(crate) fn steps_in_a_set(
    target: &Target,
    steps: impl Iterator<Item = (usize, isize)>,
    rows: usize,
    two: bool,
) -> i64 {
    let places = places(steps, rows).into_iter();
    let in_a_way = places.map(|place| place.rem_euclid(target.l1_way));
    lines_in_a_set(target, in_a_way, two)
}

/// The first of some rows, to about so many, of which each dimension is an extent and a step of so many bytes.
fn places(steps: impl Iterator<Item = (usize, isize)>, rows: usize) -> SmallVec<[i64; 64]> {
    let mut places: SmallVec<[i64; 64]> = SmallVec::from_elem(0, 1);
    for (extent, step) in steps {
        let finer = places.len();
        for _ in 1..extent.min(rows.div_ceil(finer)) {
            // As the last so many, a step further.
            for last in places.len() - finer..places.len() {
                places.push(places[last].wrapping_add(step as i64));
            }
        }
    }
    places
}

/// So many lines are looked at, and no larger cache.
const MOST_LINES: usize = 4096;

/// How many times lines of the destination move to the nearest cache or from it, beyond the first time, if runs of so many bytes are
/// written in the order of `steps`, the innermost first: one that is gone before it is complete has to come back, and whole ones
/// that fall into one set wait for each other.
pub(crate) fn lines_moved(target: &Target, mut run: usize, mut steps: &[Step]) -> usize {
    let line = target.line as isize;
    while let [step, outer @ ..] = steps
        && step.dst == run as isize
    {
        (run, steps) = (run * step.extent, outer);
    }
    let whole = |step: &Step| step.dst % line == 0 || step.dst % run as isize == 0;
    let straddle = line % run as isize != 0 || !steps.iter().all(whole);
    let each = 1 + usize::from(straddle);
    let crowd = |between: &[Step], most: usize| {
        let steps = between.iter().map(|step| (step.extent, step.dst));
        steps_in_a_set(target, steps, most, straddle) > target.ways()
    };
    // From one run to the next in the same lines, all that is before is written.
    let leads_on = |at: &usize| steps[*at].dst % line != 0;
    let times = match (0..steps.len()).rev().find(leads_on) {
        Some(at) => {
            let lines = extent(&steps[..at]).saturating_mul(run.div_ceil(line as usize) + each - 1);
            let gone = lines > MOST_LINES.min((target.l1 / target.line) as usize)
                || crowd(&steps[..at], MOST_LINES);
            if gone { 2 * each } else { 0 }
        }
        None if run == line as usize => usize::from(crowd(steps, 2 * Crowded::UNDER_WAY as usize)),
        None => 0,
    };
    times.saturating_mul(extent(steps))
}

/// Whether lines of some rows of the source and of the destination can be under way together, each of so many rows so many
/// bytes apart; those of the destination touch two lines each where they do not begin with one.
pub(crate) fn fit_together(target: &Target, src: (isize, usize), dst: (isize, usize)) -> bool {
    let ways = target.ways();
    let [src, dst] = [src, dst].map(|(apart, rows)| ((apart as i64).saturating_abs(), rows as i64));
    let few = |(apart, rows)| !may_crowd(target, apart, rows, ways / 2);
    let in_a_set = |(apart, rows), two| rows_in_a_set(target, apart, rows, two);
    few(src) && few(dst) || in_a_set(src, false) + in_a_set(dst, dst.0 % target.line != 0) <= ways
}

/// Whether a line of each of so many rows can be, so many bytes apart, in so many ways of a set.
pub(crate) fn fit(target: &Target, ways: i64, apart: isize, rows: usize) -> bool {
    let apart = (apart as i64).saturating_abs();
    !may_crowd(target, apart, rows as i64, ways)
        || rows_in_a_set(target, apart, rows as i64, false) <= ways
}

/// The same if those of the other side take a way or two.
pub(crate) fn leave_room(target: &Target, apart: isize, rows: usize) -> bool {
    fit(target, target.ways() / 4 * 3, apart, rows)
}

/// Whether so many rows, so many bytes apart, begin in a few sets of the nearest cache, and drive out what lies beside them
/// twice over.
#[must_use]
pub fn fill_few_sets(target: &Target, apart: isize, rows: usize) -> bool {
    let twice = 2 * target.ways();
    // So many tell whether they begin in more than four.
    !fit(target, twice, apart, rows.min(4 * twice as usize + 1))
}

/// How many of so many rows, so many bytes apart, touch one set of the nearest cache, if each touches `two` lines or one.
fn rows_in_a_set(target: &Target, apart: i64, rows: i64, two: bool) -> i64 {
    lines_in_a_set(target, evenly(target, apart, rows), two)
}

/// So many places, so many bytes apart, as they lie in a way.
fn evenly(target: &Target, apart: i64, rows: i64) -> impl Iterator<Item = i64> {
    let (way, step) = (target.l1_way, apart % target.l1_way);
    let after = move |at: &i64| {
        let next = at + step;
        Some(if next >= way { next - way } else { next })
    };
    std::iter::successors(Some(0), after).take(rows as usize)
}

/// How many of some places in a way of the nearest cache touch one set of it, if each is the beginning of `two` lines
/// or of one.
fn lines_in_a_set(target: &Target, places: impl Iterator<Item = i64>, two: bool) -> i64 {
    let sets = (target.l1_way / target.line).max(1) as usize;
    let mut touched: SmallVec<[u16; 64]> = SmallVec::from_elem(0, sets);
    let counts = touched.as_mut_slice();
    let mut most = 0;
    let mut touch = |set: usize| {
        if let Some(count) = counts.get_mut(set) {
            *count += 1;
            most = most.max(*count);
        }
    };
    // A division for each row would be most of what ordering costs.
    let shift = (target.line.count_ones() == 1).then(|| target.line.trailing_zeros());
    for at in places {
        let mut set = match shift {
            Some(shift) => at >> shift,
            None => at / target.line,
        } as usize;
        // What is left of a way that is no number of lines is part of the first.
        if set >= sets {
            set -= sets;
        }
        touch(set);
        if two && sets > 1 {
            touch(if set + 1 < sets { set + 1 } else { 0 });
        }
    }
    most.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_crowds_a_set_is_seen_at_once() {
        let (mut crowded, mut seen) = (0, 0);
        for (l1_way, line) in [(4096, 64), (4096, 128), (3 * 1024 + 16, 64), (64, 64)] {
            let target = Target {
                line,
                l1_way,
                ..Target::default()
            };
            for (apart, rows) in (0..9000).flat_map(|apart| [(apart, 16), (apart, 64)]) {
                for most in [2, 4, 6, 12] {
                    let may = may_crowd(&target, apart, rows, most);
                    let places = evenly(&target, apart, rows);
                    let does = lines_in_a_set(&target, places, apart % line != 0) > most;
                    assert!(may || !does, "{rows} rows, {apart} apart, in {l1_way}");
                    crowded += usize::from(does);
                    seen += usize::from(may);
                }
            }
        }
        assert!(crowded > 1000 && seen < 4 * crowded, "{seen} for {crowded}");
    }
}
