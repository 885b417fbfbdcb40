//! Lines of 64 bytes: byte permutations of one to eight masked windows.

mod kernels;
mod op;
mod peel;

use std::marker::PhantomData;
use std::ops::Range;

use super::row::{Both, Middle, Row};
use super::unit::Cut;
use crate::leaf::Leaf;
use crate::level::{Avx512, Body};
use crate::nest::{Nest, walk_planes};
use crate::park::Parked;
use crate::shape::{Shape, Step};
use crate::vector::one_by_one;
use kernels::{Joint, Kernel, Listed, Own};
pub(crate) use op::costs;
use op::{LINE, Op, Way, Windows};
use peel::Peel;

pub(crate) struct WideParams {
    nest: Nest,
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
    unit: Vec<Op>,
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

/// The bytes from the first to the last one that is read, relative to the caller's address.
fn hull(shape: &Shape) -> Range<isize> {
    let (mut low, mut high) = (shape.src, shape.src + shape.run as isize);
    for step in &shape.steps {
        let reach = (step.extent as isize - 1) * step.src;
        low += reach.min(0);
        high += reach.max(0);
    }
    low..high
}

/// The leaf of a cut.
pub(crate) fn prepare(shape: &Shape, cut: &Cut) -> Option<Leaf> {
    let (way, _) = Way::cheapest(&cut.unit)?;
    let mut unit = way.ops()?;
    // The first window is where the unit is.
    let first = unit.first()?.src[0];
    for src in unit.iter_mut().flat_map(|op| &mut op.src) {
        *src -= first;
    }
    let windows = || unit.iter().flat_map(|op| &op.src[..op.windows]).copied();
    let (low, high) = (windows().min()?, windows().max()? + LINE as isize);
    let row = Row::new(cut);
    let last = row.last.map_or(0, |last| last.src);
    let row_reach = low + last.min(0)..high + last.max(0);
    let nest = Nest::new(shape.dst, shape.src + first, &cut.outer, shape.empty);
    let [middle, inner] = nest.plane();
    let in_lines = |step: &Step| step.dst % LINE as isize == 0;
    let alike = cut.long.extent.is_multiple_of(cut.steps) && cut.outer.iter().all(in_lines);
    let params = WideParams {
        whole: alike.then_some(cut.long.extent / cut.steps),
        nest,
        row,
        peel: Peel::new(cut, &unit),
        hull: hull(shape),
        reach: low..high,
        plane_reach: along(&along(&row_reach, inner), middle),
        row_reach,
        unit,
    };
    Some(match way.windows {
        Windows::Joint(2) => joint::<2>(params),
        Windows::Joint(3) => joint::<3>(params),
        Windows::Joint(_) => joint::<4>(params),
        Windows::Own(1) => own::<1>(params),
        Windows::Own(2) => own::<2>(params),
        Windows::Own(3) => own::<3>(params),
        Windows::Own(4) => own::<4>(params),
        Windows::Own(5 | 6) => listed::<6>(params),
        Windows::Own(_) => listed::<8>(params),
    })
}

fn is_full(params: &WideParams) -> bool {
    params.unit.iter().all(|op| op.store == u64::MAX)
}

fn joint<const J: usize>(params: WideParams) -> Leaf {
    match (params.unit.len(), is_full(&params)) {
        (2, true) => of::<Joint<J, 2, true>>(params),
        (2, false) => of::<Joint<J, 2, false>>(params),
        (3, true) => of::<Joint<J, 3, true>>(params),
        (3, false) => of::<Joint<J, 3, false>>(params),
        (4, true) => of::<Joint<J, 4, true>>(params),
        (4, false) => of::<Joint<J, 4, false>>(params),
        _ => listed::<J>(params),
    }
}

fn own<const J: usize>(params: WideParams) -> Leaf {
    match (params.unit.len(), is_full(&params)) {
        (1, true) => of::<Own<J, 1, true>>(params),
        (1, false) => of::<Own<J, 1, false>>(params),
        (2, true) => of::<Own<J, 2, true>>(params),
        (2, false) => of::<Own<J, 2, false>>(params),
        (3, true) => of::<Own<J, 3, true>>(params),
        (3, false) => of::<Own<J, 3, false>>(params),
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
    Leaf::new::<Avx512, Wide<K>>("lines", params)
}

/// Which of `count` things are inside a hull: the first has `low` bytes of it before and `high`
/// after it, and each is `stride` bytes on from the one before.
#[inline(always)]
fn inside(low: isize, high: isize, stride: isize, count: usize) -> Range<usize> {
    let last = stride.wrapping_mul((count as isize).wrapping_sub(1));
    if low.wrapping_add(last.min(0)) >= 0 && high.wrapping_sub(last.max(0)) >= 0 {
        return 0..count;
    }
    some_inside(low, high, stride, count)
}

/// As [`inside`], if not all are.
#[cold]
#[inline(never)]
fn some_inside(low: isize, high: isize, stride: isize, count: usize) -> Range<usize> {
    let (behind, ahead) = if stride < 0 { (high, low) } else { (low, high) };
    let size = stride.unsigned_abs();
    if size == 0 || ahead < 0 {
        return 0..0;
    }
    let first = behind.min(0).unsigned_abs().div_ceil(size);
    let end = (ahead.unsigned_abs() / size).wrapping_add(1).min(count);
    first.min(end)..end
}

struct Wide<K>(PhantomData<K>);

impl<K: Kernel> Body for Wide<K> {
    type Params = WideParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &WideParams) {
        let [middle, inner] = params.nest.plane();
        walk_planes!(&params.nest, dst, src, |d, s| {
            let off = s.addr().wrapping_sub(src.addr()) as isize;
            let (low, high) = params.room(off, &params.plane_reach);
            // SAFETY: the body is run at AVX-512 and was chosen for these lines; planes lie in the
            // caller's box.
            unsafe {
                if low >= 0 && high >= 0 {
                    rows::<K>(d, s, middle.extent, inner.extent, params);
                } else {
                    plane_at_edge::<K>(d, s, src, params);
                }
            }
        });
    }
}

/// Runs a plane of which some windows may not lie in the hull. It starts at `src` and the caller's
/// address is `base`.
///
/// # Safety
/// As [`Kernel::unit`], for all units of the plane.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn plane_at_edge<K: Kernel>(
    dst: *mut u8,
    src: *const u8,
    base: *const u8,
    params: &WideParams,
) {
    let [middle, inner] = params.nest.plane().map(Both::of);
    let [lines, extent] = params.nest.plane().map(|step| step.extent);
    let (mut line, mut from) = (dst, src);
    for _ in 0..lines {
        let (mut d, mut s) = (line, from);
        let off = s.addr().wrapping_sub(base.addr()) as isize;
        let (low, high) = params.room(off, &params.row_reach);
        let plain = inside(low, high, inner.src, extent);
        // SAFETY: the caller's; rows that are plain lie with their whole windows between the first
        // and the last byte of the box.
        unsafe {
            for _ in 0..plain.start {
                row_at_edge::<K>(d, s, base, params);
                (d, s) = inner.from(d, s);
            }
            let count = plain.end.wrapping_sub(plain.start);
            rows::<K>(d, s, 1, count, params);
            (d, s) = inner.times(count).from(d, s);
            for _ in plain.end..extent {
                row_at_edge::<K>(d, s, base, params);
                (d, s) = inner.from(d, s);
            }
        }
        (line, from) = middle.from(line, from);
    }
}

/// Runs planes of `count` rows of which all windows lie in the hull.
///
/// It is a function of its own so that nothing but addresses changes in its loops: what would be
/// saved on the stack would wait in one queue with the lines that are stored.
///
/// # Safety
/// As [`Kernel::unit`], for all units of the rows.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn rows<K: Kernel>(
    mut dst: *mut u8,
    mut src: *const u8,
    lines: usize,
    count: usize,
    params: &WideParams,
) {
    let [middle, inner] = params.nest.plane().map(Both::of);
    if let Some(units) = params.whole
        && params.peel.at(dst).start == params.row.unit
    {
        // SAFETY: the caller's.
        return unsafe { whole_rows::<K>(dst, src, [lines, count, units], params) };
    }
    // SAFETY: the caller's.
    unsafe {
        let held = K::hold(&params.unit);
        for _ in 0..lines {
            one_by_one();
            let (mut d, mut s) = (dst, src);
            for _ in 0..count {
                one_by_one();
                K::unit::<true>(d, s, &held);
                if let Some(last) = params.row.last {
                    let rest = params.peel.at(d);
                    let (to, from) = rest.start.from(d, s);
                    units::<K, true>(to, from, rest.count, params.row.unit, &held);
                    let (to, from) = last.from(d, s);
                    K::unit::<true>(to, from, &held);
                }
                (d, s) = inner.from(d, s);
            }
            (dst, src) = middle.from(dst, src);
        }
    }
}

/// As [`rows`], where every row is a number of units and none of them has to overlap another.
///
/// # Safety
/// As [`rows`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn whole_rows<K: Kernel>(
    mut dst: *mut u8,
    mut src: *const u8,
    [lines, count, in_row]: [usize; 3],
    params: &WideParams,
) {
    let unit = params.row.unit;
    // From the end of a row to the next one, and from the last of these to the next line.
    let [middle, inner] = params.nest.plane().map(Both::of);
    let line = middle.less(inner.times(count)).parked();
    let row = inner.less(unit.times(in_row)).parked();
    let (count, in_row) = (Parked::new(count as isize), Parked::new(in_row as isize));
    // SAFETY: the caller's.
    unsafe {
        let held = K::hold(&params.unit);
        for _ in 0..lines {
            one_by_one();
            for _ in 0..count.get() {
                one_by_one();
                let units_left = in_row.get() as usize;
                (dst, src) = units::<K, true>(dst, src, units_left, unit, &held);
                (dst, src) = row.get().from(dst, src);
            }
            (dst, src) = line.get().from(dst, src);
        }
    }
}

/// Runs a row of which some windows may not lie in the hull. Rows start at `src` and the caller's
/// address is `base`.
///
/// # Safety
/// As [`Kernel::unit`], for all units of a row.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn row_at_edge<K: Kernel>(
    dst: *mut u8,
    src: *const u8,
    base: *const u8,
    params: &WideParams,
) {
    let row = &params.row;
    // SAFETY: the caller's.
    unsafe {
        let held = K::hold(&params.unit);
        K::unit::<false>(dst, src, &held);
        let Some(last) = row.last else { return };
        let &Middle { start, count } = params.peel.at(dst);
        let (to, from) = start.from(dst, src);
        let off = from.addr().wrapping_sub(base.addr()) as isize;
        let (low, high) = params.room(off, &params.reach);
        let plain = inside(low, high, row.unit.src, count);
        let (to, from) = units::<K, false>(to, from, plain.start, row.unit, &held);
        let inner = plain.end.wrapping_sub(plain.start);
        let (to, from) = units::<K, true>(to, from, inner, row.unit, &held);
        let rest = count.wrapping_sub(plain.end);
        units::<K, false>(to, from, rest, row.unit, &held);
        let (to, from) = last.from(dst, src);
        K::unit::<false>(to, from, &held);
    }
}

/// # Safety
/// As [`Kernel::unit`], for so many units.
#[inline(always)]
unsafe fn units<K: Kernel, const PLAIN: bool>(
    mut to: *mut u8,
    mut from: *const u8,
    count: usize,
    unit: Both,
    held: &K::Held,
) -> (*mut u8, *const u8) {
    for _ in 0..count {
        one_by_one();
        // SAFETY: the caller's.
        unsafe { K::unit::<PLAIN>(to, from, held) }
        (to, from) = unit.from(to, from);
    }
    (to, from)
}
