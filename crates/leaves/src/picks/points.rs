//! Lines at all points of a nest.

use std::arch::x86_64::*;

use restride_moves::{POINTS_TOGETHER, Step};

use super::register::Register;
use super::tables::{Line, Portion};
use crate::nest::{Nest, walk_rows};

/// Moves lines at all points of a nest.
pub(super) type Points = unsafe fn(*mut u8, *const u8, (&Nest, usize), u64, &[Portion], &[Line]);

#[target_feature(enable = "avx2,ssse3")]
pub(super) unsafe fn points_at_avx2(
    dst: *mut u8,
    src: *const u8,
    nest: (&Nest, usize),
    mask: u64,
    portions: &[Portion],
    lines: &[Line],
) {
    // SAFETY: the caller's.
    unsafe { points::<__m128i>(dst, src, nest, mask, portions, lines) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(super) unsafe fn points_at_avx512(
    dst: *mut u8,
    src: *const u8,
    nest: (&Nest, usize),
    mask: u64,
    portions: &[Portion],
    lines: &[Line],
) {
    // SAFETY: the caller's.
    unsafe { points::<__m512i>(dst, src, nest, mask, portions, lines) }
}

/// # Safety
/// What the mask has of windows is readable relative to every point of the nest, and what is stored of lines, of which each
/// has some of the portions, is writable.
#[inline(always)]
unsafe fn points<V: Register>(
    dst: *mut u8,
    src: *const u8,
    (nest, at_once): (&Nest, usize),
    mask: u64,
    portions: &[Portion],
    lines: &[Line],
) {
    let [_, step] = nest.plane();
    let times = |rows: usize| Step {
        extent: 1,
        dst: step.dst.wrapping_mul(rows as isize),
        src: step.src.wrapping_mul(rows as isize),
    };
    let (next, last) = (times(at_once), times(step.extent.wrapping_sub(at_once)));
    walk_rows!(nest, dst, src, |first_dst, first_src| {
        let (mut d, mut s) = (first_dst, first_src);
        let mut rows = step.extent / at_once;
        while rows >= POINTS_TOGETHER {
            // SAFETY: so many rows are left.
            unsafe { some_rows::<V, POINTS_TOGETHER>(d, s, next, mask, portions, lines) };
            d = d.wrapping_offset(next.dst.wrapping_mul(POINTS_TOGETHER as isize));
            s = s.wrapping_offset(next.src.wrapping_mul(POINTS_TOGETHER as isize));
            rows = rows.wrapping_sub(POINTS_TOGETHER);
        }
        for _ in 0..rows {
            // SAFETY: as above.
            unsafe { some_rows::<V, 1>(d, s, next, mask, portions, lines) };
            d = d.wrapping_offset(next.dst);
            s = s.wrapping_offset(next.src);
        }
        if !step.extent.is_multiple_of(at_once) {
            let (d, s) = (
                first_dst.wrapping_offset(last.dst),
                first_src.wrapping_offset(last.src),
            );
            // SAFETY: the last rows.
            unsafe { some_rows::<V, 1>(d, s, next, mask, portions, lines) };
        }
    });
}

/// # Safety
/// As [`points`], for `R` points, each a step on from the one before.
#[inline(always)]
unsafe fn some_rows<V: Register, const R: usize>(
    dst: *mut u8,
    src: *const u8,
    step: Step,
    mask: u64,
    portions: &[Portion],
    lines: &[Line],
) {
    for line in lines {
        let (dst, masks) = (dst.wrapping_offset(line.dst), (mask, line.store));
        // SAFETY: the caller's.
        unsafe {
            let portions =
                portions.get_unchecked(line.first..line.first.wrapping_add(line.portions));
            match portions.len() {
                1 => one_line::<V, 1, R>(dst, src, step, masks, portions),
                2 => one_line::<V, 2, R>(dst, src, step, masks, portions),
                3 => one_line::<V, 3, R>(dst, src, step, masks, portions),
                4 => one_line::<V, 4, R>(dst, src, step, masks, portions),
                _ => one_line::<V, 0, R>(dst, src, step, masks, portions),
            }
        }
    }
}

/// # Safety
/// As [`some_rows`], for one line of so many portions, `N` unless that is 0, by the masks of windows and of what is stored.
#[inline(always)]
unsafe fn one_line<V: Register, const N: usize, const R: usize>(
    dst: *mut u8,
    src: *const u8,
    step: Step,
    (load, store): (u64, u64),
    portions: &[Portion],
) {
    let mut bytes = [V::splat(0); R];
    let portions = match portions.first_chunk::<N>() {
        Some(known) if N > 0 => known.as_slice(),
        _ => portions,
    };
    for portion in portions {
        // SAFETY: the caller's.
        let table = unsafe { V::load(portion.table.as_ptr()) };
        let mut from = src.wrapping_offset(portion.src);
        for bytes in &mut bytes {
            // SAFETY: the caller's.
            *bytes = bytes.with(table, unsafe { V::load_part(from, load) });
            from = from.wrapping_offset(step.src);
        }
    }
    let (mut to, whole) = (dst, store == u64::MAX);
    for bytes in bytes {
        // SAFETY: the caller's.
        unsafe {
            match whole {
                true => bytes.store(to),
                false => bytes.store_part(to, store),
            }
        }
        to = to.wrapping_offset(step.dst);
    }
}
