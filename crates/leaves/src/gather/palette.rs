//! Rows of one to four bytes from a table of at most 256: palettes, codebooks, classes that are numbered anew.
//!
//! The table is taken apart into planes of bytes that stay in registers. So an index is a lookup in each of these, sixty-four
//! at a time, and the planes are woven together again.

use std::arch::x86_64::*;

use restride_loops::Norm;
use restride_moves::REGISTERS;

use super::names::{both, named, store, whole};
use super::{GatherFn, GatherParams};
use crate::copy::LINE;

/// The most rows of a table, and bytes of a row.
const ROWS: usize = REGISTERS.0;
const BYTES: usize = REGISTERS.1;

/// How the planes of rows are woven, of each line of as many rows as a line has bytes, and each pair of planes.
pub(super) struct Palette([[Woven; BYTES / 2]; BYTES]);

/// What a line has of a pair of planes.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Woven {
    from: [u8; LINE],
    bytes: u64,
}

impl Palette {
    /// Of rows of so many bytes.
    pub(super) fn new(run: usize) -> Palette {
        let none = Woven {
            from: [0; LINE],
            bytes: 0,
        };
        let mut woven = [[none; BYTES / 2]; BYTES];
        for byte in 0..run * LINE {
            let (row, plane) = (byte / run, byte % run);
            let pair = &mut woven[byte / LINE][plane / 2];
            pair.from[byte % LINE] = (row + plane % 2 * LINE) as u8;
            pair.bytes |= 1 << (byte % LINE);
        }
        Palette(woven)
    }
}

/// Which rows sixty-four indices name, and which of these there are.
///
/// # Safety
/// They are readable; it runs where the gather does.
#[inline(always)]
unsafe fn all_named(index: *const u8, norm: &Norm) -> (__m512i, u64) {
    // SAFETY: the caller's.
    unsafe {
        let (mut names, mut exist) = ([_mm_setzero_si128(); 4], 0);
        for (part, names) in names.iter_mut().enumerate() {
            let at = index.wrapping_add(part * 16 * norm.ty.width().bytes());
            let (rows, there) = named(at, norm);
            exist |= u64::from(there) << (part * 16);
            *names = _mm512_cvtepi32_epi8(rows);
        }
        let [a, b, c, d] = names;
        let names = both(_mm256_set_m128i(b, a), _mm256_set_m128i(d, c));
        (names, exist)
    }
}

/// The gather of rows of so many bytes.
pub(super) fn entry(run: usize) -> GatherFn {
    match run {
        1 => rows::<1>,
        2 => rows::<2>,
        3 => rows::<3>,
        _ => rows::<4>,
    }
}

/// A plane of the bytes of all rows.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Plane([u8; ROWS]);

/// # Safety
/// As [`super::GatherLeaf::call`], of a table of such rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe extern "C" fn rows<const RUN: usize>(
    dst: *mut u8,
    src: *const u8,
    index: *const u8,
    params: *const u8,
) {
    // SAFETY: it is a gather's block.
    let params = unsafe { &*params.cast::<GatherParams>() };
    let Some(palette) = &params.palette else {
        return;
    };
    let src = src.wrapping_offset(params.start.1);
    let mut dst = dst.wrapping_offset(params.start.0);
    let norm = &params.norm;
    let all = (norm.limit as usize).min(ROWS);
    let mut planes = [Plane([0; ROWS]); RUN];
    for row in 0..all {
        let from = src.wrapping_offset(params.coeff.wrapping_mul(row as isize));
        for (byte, plane) in planes.iter_mut().enumerate() {
            // SAFETY: every row of the table is readable.
            plane.0[row] = unsafe { *from.wrapping_add(byte) };
        }
    }
    let width = norm.ty.width().bytes();
    let mut last = [0; LINE * 8];
    let mut index = index;
    let mut left = params.extent;
    while left > 0 {
        let count = left.min(LINE);
        // SAFETY: so many indices are left.
        let from = unsafe { whole(index, count * width, LINE * width, &mut last) };
        // SAFETY: a line of indices is readable, and the rows of as many as are left writable.
        unsafe {
            let (names, exist) = all_named(from, norm);
            let found = found::<RUN>(&planes, names, all, exist);
            weave::<RUN>(dst, found, palette, count * RUN);
        }
        dst = dst.wrapping_add(LINE * RUN);
        index = index.wrapping_add(LINE * width);
        left = left.wrapping_sub(count);
    }
}

/// What each plane has of the named rows, and zero of those that there are not.
///
/// # Safety
/// It runs where the gather does.
#[inline(always)]
unsafe fn found<const RUN: usize>(
    planes: &[Plane; RUN],
    names: __m512i,
    rows: usize,
    exist: u64,
) -> [__m512i; BYTES] {
    // SAFETY: the caller's; a plane is four lines.
    unsafe {
        let mut found = [_mm512_setzero_si512(); BYTES];
        for (found, plane) in found.iter_mut().zip(planes) {
            let line = |n: usize| _mm512_load_si512(plane.0.as_ptr().wrapping_add(n * LINE).cast());
            let mut bytes = _mm512_permutex2var_epi8(line(0), names, line(1));
            if rows > ROWS / 2 {
                let upper = _mm512_permutex2var_epi8(line(2), names, line(3));
                bytes = _mm512_mask_mov_epi8(bytes, _mm512_movepi8_mask(names), upper);
            }
            *found = _mm512_maskz_mov_epi8(exist, bytes);
        }
        found
    }
}

/// Stores the first so many bytes of the rows whose planes these are.
///
/// # Safety
/// They are writable; it runs where the gather does.
#[inline(always)]
unsafe fn weave<const RUN: usize>(
    dst: *mut u8,
    found: [__m512i; BYTES],
    palette: &Palette,
    bytes: usize,
) {
    let [a, b, c, d] = found;
    for (number, [low, high]) in palette.0.iter().enumerate().take(RUN) {
        // SAFETY: the caller's.
        unsafe {
            let from = |woven: &Woven| _mm512_load_si512(woven.from.as_ptr().cast());
            let mut line = _mm512_maskz_permutex2var_epi8(low.bytes, a, from(low), b);
            if RUN > 2 {
                let rest = _mm512_maskz_permutex2var_epi8(high.bytes, c, from(high), d);
                line = _mm512_or_si512(line, rest);
            }
            let left = bytes.saturating_sub(number * LINE);
            store(dst.wrapping_add(number * LINE), line, left);
        }
    }
}
