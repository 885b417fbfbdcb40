//! Lines of 64 bytes: byte permutations of one to ten masked windows.

mod kernels;
mod peel;
mod single;
mod walk;

use std::ops::Range;

use restride_moves::lines::{Units, WideLines, Windows};
use restride_moves::{ByteBox, Step, Stores};

use super::row::{Both, Row};
use crate::copy::LINE;
use crate::leaf::Leaf;
use crate::level::Avx512;
use crate::nest::Nest;
use kernels::{Joint, Kernel, Listed, MASKED, OneLine, Own, Shared, WHOLE};
use peel::Peel;
use single::{Single, SingleParams};
use walk::Wide;

pub(crate) struct WideParams {
    nest: Nest,
    /// Whether the box is a single unit.
    single: bool,
    row: Row,
    peel: Peel,
    /// The bytes of the source between the first and the last of the box: windows that lie there
    /// are loaded without masks.
    hull: Range<isize>,
    /// What the windows of a unit span.
    reach: Range<isize>,
    /// What those of a row span.
    row_reach: Range<isize>,
    /// What those of a plane span.
    plane_reach: Range<isize>,
    /// How many units a row is, if it is a number of them and all rows start at the same place in
    /// a line.
    whole: Option<usize>,
    /// How many units are before the last of a row, and where that is, if none of them minds where lines of memory begin.
    unaligned: Option<(usize, Both)>,
    /// Whether lines are stored past the caches; then all lines of all units of a row start lines
    /// of memory if one does.
    past: bool,
    unit: WideLines,
}

impl WideParams {
    /// How many bytes of the hull are before and after windows so far from the caller's address.
    #[inline(always)]
    fn room(&self, off: isize, windows: &Range<isize>) -> (isize, isize) {
        (
            off.wrapping_add(windows.start)
                .wrapping_sub(self.hull.start),
            self.hull.end.wrapping_sub(off).wrapping_sub(windows.end),
        )
    }
}

/// What some windows and all that follow them in a dimension span.
fn along(windows: &Range<isize>, step: Step) -> Range<isize> {
    let last = step.src.saturating_mul(step.extent as isize - 1);
    windows.start.saturating_add(last.min(0))..windows.end.saturating_add(last.max(0))
}

/// The leaf of a program.
pub(crate) fn prepare(
    shape: &ByteBox,
    found: &Units<WideLines, Windows>,
    stores: Stores,
) -> Option<Leaf> {
    let (cut, unit) = (found.cut.in_turns(), &found.lines);
    let windows = || unit.places.iter().flat_map(|line| line.src);
    let (low, high) = (windows().min()?, windows().max()? + LINE as isize);
    let row = Row::new(&cut);
    let last = row.last.map_or(0, |last| last.src);
    let row_reach = low + last.min(0)..high + last.max(0);
    let nest = Nest::new(shape, (0, unit.start), &cut.outer);
    let [middle, inner] = nest.plane();
    let in_lines = |step: &Step| step.dst % LINE as isize == 0;
    let alike = cut.long.extent.is_multiple_of(cut.steps) && cut.outer.iter().all(in_lines);
    let single = cut.is_one_unit() && !shape.empty;
    let aligned = found.aligned || stores == Stores::Past;
    let before_last = cut.long.extent.saturating_sub(1) / cut.steps;
    let params = WideParams {
        single,
        unaligned: row
            .last
            .filter(|_| !aligned)
            .map(|last| (before_last, last)),
        whole: alike.then_some(cut.long.extent / cut.steps),
        past: stores == Stores::Past
            && row.unit.dst % LINE as isize == 0
            && unit.places.iter().all(|line| line.dst % LINE as isize == 0),
        nest,
        row,
        peel: Peel::new(&cut, unit, aligned),
        hull: shape.hull(),
        reach: low..high,
        plane_reach: along(&along(&row_reach, inner), middle),
        row_reach,
        unit: unit.clone(),
    };
    Some(match found.windows {
        Windows::Joint(windows) if windows > 4 || params.unit.ops.len() > 4 => {
            match windows.div_ceil(2) {
                1 => shared::<1>(params),
                2 => shared::<2>(params),
                3 => shared::<3>(params),
                4 => shared::<4>(params),
                _ => shared::<5>(params),
            }
        }
        Windows::Joint(2) => joint::<2>(params),
        Windows::Joint(3) => joint::<3>(params),
        Windows::Joint(_) => joint::<4>(params),
        Windows::Own(1) => own::<1>(params),
        Windows::Own(2) => own::<2>(params),
        Windows::Own(3) => own::<3>(params),
        Windows::Own(4) => own::<4>(params),
        Windows::Own(5 | 6) => one_line::<3, 6>(params),
        Windows::Own(7 | 8) => one_line::<4, 8>(params),
        Windows::Own(_) => one_line::<5, 10>(params),
    })
}

fn is_full(params: &WideParams) -> bool {
    params.unit.ops.iter().all(|op| op.store == u64::MAX)
}

fn joint<const J: usize>(params: WideParams) -> Leaf {
    match (params.unit.ops.len(), is_full(&params)) {
        (2, true) => of::<Joint<J, 2, true>>(params),
        (2, false) => of::<Joint<J, 2, false>>(params),
        (3, true) => of::<Joint<J, 3, true>>(params),
        (3, false) => of::<Joint<J, 3, false>>(params),
        (_, true) => of::<Joint<J, 4, true>>(params),
        (_, false) => of::<Joint<J, 4, false>>(params),
    }
}

fn shared<const PAIRS: usize>(params: WideParams) -> Leaf {
    match is_full(&params) {
        true => of::<Shared<PAIRS, true>>(params),
        false => of::<Shared<PAIRS, false>>(params),
    }
}

fn own<const J: usize>(params: WideParams) -> Leaf {
    match (params.unit.ops.len(), is_full(&params)) {
        (1, true) => of::<Own<J, 1, true>>(params),
        (1, false) => of::<Own<J, 1, false>>(params),
        (2, true) => of::<Own<J, 2, true>>(params),
        (2, false) => of::<Own<J, 2, false>>(params),
        (3, true) => of::<Own<J, 3, true>>(params),
        (3, false) => of::<Own<J, 3, false>>(params),
        _ => listed::<J>(params),
    }
}

/// Lines of so many pairs, which is as many as `J`.
fn one_line<const PAIRS: usize, const J: usize>(params: WideParams) -> Leaf {
    match (params.unit.ops.len(), is_full(&params)) {
        (1, true) => of::<OneLine<PAIRS, true>>(params),
        (1, false) => of::<OneLine<PAIRS, false>>(params),
        _ => listed::<J>(params),
    }
}

fn listed<const J: usize>(params: WideParams) -> Leaf {
    match is_full(&params) {
        true => of::<Listed<J, true>>(params),
        false => of::<Listed<J, false>>(params),
    }
}

fn of<K: Kernel>(params: WideParams) -> Leaf {
    if !params.single {
        return Leaf::new::<Avx512, Wide<K>>(params);
    }
    let (dst, src) = params.nest.start();
    let start = Both { dst, src };
    let (low, high) = params.room(src, &params.reach);
    let params = SingleParams {
        start,
        unit: params.unit,
    };
    match low >= 0 && high >= 0 {
        true => Leaf::new::<Avx512, Single<K, WHOLE>>(params),
        false => Leaf::new::<Avx512, Single<K, MASKED>>(params),
    }
}
