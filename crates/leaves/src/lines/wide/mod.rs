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
use crate::nest::{Nest, walk_rows};
use crate::shape::Shape;
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
    unit: Vec<Op>,
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
    let params = WideParams {
        nest: Nest::new(shape.dst, shape.src + first, &cut.outer, shape.empty),
        row,
        peel: Peel::new(cut, &unit),
        hull: hull(shape),
        reach: low..high,
        row_reach: low + last.min(0)..high + last.max(0),
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
        let (hull, reach) = (&params.hull, &params.row_reach);
        let [_, inner] = params.nest.plane();
        let step = Both {
            dst: inner.dst,
            src: inner.src,
        };
        walk_rows!(&params.nest, dst, src, |first_dst, first_src| {
            let (mut d, mut s) = (first_dst, first_src);
            let off = s.addr().wrapping_sub(src.addr()) as isize;
            let low = off.wrapping_add(reach.start).wrapping_sub(hull.start);
            let high = hull.end.wrapping_sub(off).wrapping_sub(reach.end);
            let plain = inside(low, high, inner.src, inner.extent);
            // SAFETY: the body is run at AVX-512 and was chosen for these lines; rows lie in the
            // caller's box, and those that are plain with their whole windows between its first and
            // its last byte.
            unsafe {
                for _ in 0..plain.start {
                    row_at_edge::<K>(d, s, src, params);
                    (d, s) = step.from(d, s);
                }
                let count = plain.end.wrapping_sub(plain.start);
                rows::<K>(d, s, count, params);
                (d, s) = step.times(count).from(d, s);
                for _ in plain.end..inner.extent {
                    row_at_edge::<K>(d, s, src, params);
                    (d, s) = step.from(d, s);
                }
            }
        });
    }
}

/// Runs rows of which all windows lie in the hull.
///
/// It is a function of its own so that nothing but addresses changes in its loops: what would be
/// saved on the stack would wait in one queue with the lines that are stored.
///
/// # Safety
/// As [`Kernel::unit`], for all units of `count` rows.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn rows<K: Kernel>(mut dst: *mut u8, mut src: *const u8, count: usize, params: &WideParams) {
    // SAFETY: the caller's.
    unsafe {
        let held = K::hold(&params.unit);
        for _ in 0..count {
            one_by_one();
            K::unit::<true>(dst, src, &held);
            if let Some(last) = params.row.last {
                let middle = params.peel.at(dst);
                let (to, from) = middle.start.from(dst, src);
                units::<K, true>(to, from, middle.count, params.row.unit, &held);
                let (to, from) = last.from(dst, src);
                K::unit::<true>(to, from, &held);
            }
            let [_, inner] = params.nest.plane();
            dst = dst.wrapping_offset(inner.dst);
            src = src.wrapping_offset(inner.src);
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
        let low = off
            .wrapping_add(params.reach.start)
            .wrapping_sub(params.hull.start);
        let high = params
            .hull
            .end
            .wrapping_sub(off)
            .wrapping_sub(params.reach.end);
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
