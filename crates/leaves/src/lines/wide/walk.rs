//! How the rows of a box are walked: whole windows and whole lines inside, masks at the edges.

use std::marker::PhantomData;
use std::ops::Range;

use super::WideParams;
use super::kernels::{HALVES, Kernel, MASKED, WHOLE};
use crate::copy::LINE;
use crate::level::Body;
use crate::lines::row::{Both, Middle};
use crate::nest::walk_planes;
use crate::park::Parked;
use crate::vector::{fence, one_by_one};

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
    if stride == 0 {
        return 0..0;
    }
    // None is a line or more outside, so these are few; to divide would take as long as a dozen.
    let is_inside = |at: &usize| {
        let off = stride.wrapping_mul(*at as isize);
        low.wrapping_add(off) >= 0 && high.wrapping_sub(off) >= 0
    };
    let first = (0..count).find(is_inside).unwrap_or(count);
    let last = (first..count).rfind(is_inside);
    first..last.map_or(first, |last| last.wrapping_add(1))
}

pub(super) struct Wide<K>(PhantomData<K>);

impl<K: Kernel> Body for Wide<K> {
    type Params = WideParams;

    fn elsewhere(params: &WideParams) -> usize {
        params.unit.elsewhere() + params.peel.bytes()
    }

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
                } else if middle.extent == 1 && inner.extent == 1 {
                    row_at_edge::<K>(d, s, src, params);
                } else {
                    plane_at_edge::<K>(d, s, src, params);
                }
            }
        });
        if params.past {
            fence();
        }
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
            if count > 0 {
                rows::<K>(d, s, 1, count, params);
            }
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
/// # Safety
/// As [`Kernel::unit`], for all units of the rows.
#[inline(always)]
unsafe fn rows<K: Kernel>(
    dst: *mut u8,
    src: *const u8,
    lines: usize,
    count: usize,
    params: &WideParams,
) {
    // SAFETY: the caller's.
    unsafe {
        match params.whole {
            Some(units) if params.peel.at(dst).start == params.row.unit => {
                match K::WHOLE_LINES && params.past && starts_line(dst) {
                    true => whole_rows::<K, true>(dst, src, lines, count, units, params),
                    false => whole_rows::<K, false>(dst, src, lines, count, units, params),
                }
            }
            _ => match params.unaligned {
                Some(row) => unaligned_rows::<K>(dst, src, lines, count, row, params),
                None => peeled_rows::<K>(dst, src, lines, count, params),
            },
        }
    }
}

/// As [`rows`], with a unit at each end.
///
/// It is a function of its own so that nothing but addresses changes in its loops: what would be
/// saved on the stack would wait in one queue with the lines that are stored.
///
/// # Safety
/// As [`rows`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn peeled_rows<K: Kernel>(
    mut dst: *mut u8,
    mut src: *const u8,
    lines: usize,
    count: usize,
    params: &WideParams,
) {
    let [middle, inner] = params.nest.plane().map(Both::of);
    // SAFETY: the caller's.
    unsafe {
        let held = K::hold(&params.unit);
        for _ in 0..lines {
            one_by_one();
            let (mut d, mut s) = (dst, src);
            for _ in 0..count {
                one_by_one();
                K::unit::<WHOLE, false>(d, s, &held);
                if let Some(last) = params.row.last {
                    let rest = params.peel.at(d);
                    let (to, from) = rest.start.from(d, s);
                    plain_units::<K>(to, from, rest.count, params, &held);
                    let (to, from) = last.from(d, s);
                    K::unit::<WHOLE, false>(to, from, &held);
                }
                (d, s) = inner.from(d, s);
            }
            (dst, src) = middle.from(dst, src);
        }
    }
}

/// As [`rows`], of so many units one after the other, and one that ends where its row does.
///
/// # Safety
/// As [`rows`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn unaligned_rows<K: Kernel>(
    mut dst: *mut u8,
    mut src: *const u8,
    lines: usize,
    count: usize,
    (in_row, last): (usize, Both),
    params: &WideParams,
) {
    let unit = params.row.unit;
    let [middle, inner] = params.nest.plane().map(Both::of);
    let line = middle.less(inner.times(count)).parked();
    // SAFETY: the caller's.
    unsafe {
        let held = K::hold(&params.unit);
        for _ in 0..lines {
            one_by_one();
            for _ in 0..count {
                one_by_one();
                match K::IN_REGISTERS {
                    true => units::<K, WHOLE, false>(dst, src, in_row, unit, &held),
                    false => units::<K, HALVES, false>(dst, src, in_row, unit, &held),
                };
                let (to, from) = last.from(dst, src);
                K::unit::<WHOLE, false>(to, from, &held);
                (dst, src) = inner.from(dst, src);
            }
            (dst, src) = line.get().from(dst, src);
        }
    }
}

/// As [`rows`], where every row is a number of units and none of them has to overlap another.
///
/// # Safety
/// As [`rows`]; if `PAST`, as for [`Kernel::unit`].
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn whole_rows<K: Kernel, const PAST: bool>(
    mut dst: *mut u8,
    mut src: *const u8,
    lines: usize,
    count: usize,
    in_row: usize,
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
                (dst, src) = units::<K, HALVES, PAST>(dst, src, units_left, unit, &held);
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
        let Middle { start, count } = params.peel.at(dst);
        let (to, from) = start.from(dst, src);
        let off = from.addr().wrapping_sub(base.addr()) as isize;
        let (low, high) = params.room(off, &params.reach);
        let plain = inside(low, high, row.unit.src, count);
        // After that, since what is held in registers would be saved around a call.
        let held = K::hold(&params.unit);
        K::unit::<MASKED, false>(dst, src, &held);
        let Some(last) = row.last else { return };
        let (to, from) = units::<K, MASKED, false>(to, from, plain.start, row.unit, &held);
        let inner = plain.end.wrapping_sub(plain.start);
        let (to, from) = plain_units::<K>(to, from, inner, params, &held);
        let rest = count.wrapping_sub(plain.end);
        units::<K, MASKED, false>(to, from, rest, row.unit, &held);
        let (to, from) = last.from(dst, src);
        K::unit::<MASKED, false>(to, from, &held);
    }
}

/// Rows of so many bytes are stored past the caches though the units at their ends are not: these
/// fetch again what has just left.
const LONG_ROW: usize = 32 << 10;

/// Units of which all windows lie in the hull, stored past the caches where they can be.
///
/// # Safety
/// As [`Kernel::unit`], for so many units.
#[inline(always)]
unsafe fn plain_units<K: Kernel>(
    to: *mut u8,
    from: *const u8,
    count: usize,
    params: &WideParams,
    held: &K::Held,
) -> (*mut u8, *const u8) {
    let unit = params.row.unit;
    let long = count.wrapping_mul(unit.dst.unsigned_abs()) >= LONG_ROW;
    // SAFETY: the caller's; where one unit starts a line, all lines of all units do.
    unsafe {
        match K::WHOLE_LINES && params.past && long && starts_line(to) {
            true => units::<K, HALVES, true>(to, from, count, unit, held),
            false => units::<K, HALVES, false>(to, from, count, unit, held),
        }
    }
}

#[inline(always)]
fn starts_line(address: *mut u8) -> bool {
    address.addr().is_multiple_of(LINE)
}

/// # Safety
/// As [`Kernel::unit`], for so many units.
#[inline(always)]
unsafe fn units<K: Kernel, const LOADS: u8, const PAST: bool>(
    mut to: *mut u8,
    mut from: *const u8,
    count: usize,
    unit: Both,
    held: &K::Held,
) -> (*mut u8, *const u8) {
    for _ in 0..count {
        one_by_one();
        // SAFETY: the caller's.
        unsafe { K::unit::<LOADS, PAST>(to, from, held) }
        (to, from) = unit.from(to, from);
    }
    (to, from)
}
