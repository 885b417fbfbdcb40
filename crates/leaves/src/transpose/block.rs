//! Rectangles of register blocks.
//!
//! The unit is a block of full vectors of the destination: `K` rows of it, `K` being the elements
//! in sixteen bytes, from sixteen bytes of each of `LANES * K` rows of the source. Loads put source
//! rows into lanes, so the transposition stays inside lanes and every store is a whole vector. Edges
//! are narrower, or overlap their neighbours.

use std::mem::MaybeUninit;

use crate::lanes::{Lanes, transpose};

/// Where a rectangle lies.
#[derive(Clone, Copy)]
pub(super) struct Rect {
    pub(super) dst: *mut u8,
    pub(super) dst_stride: isize,
    pub(super) src: *const u8,
    pub(super) src_stride: isize,
    pub(super) rows: usize,
    pub(super) columns: usize,
}

/// Starts of blocks of `size` that cover `0..extent`; the last one overlaps if it must.
pub(super) struct Blocks {
    at: usize,
    last: usize,
    size: usize,
    more: bool,
}

impl Blocks {
    /// `size` is at most `extent`.
    #[inline(always)]
    pub(super) fn new(extent: usize, size: usize) -> Blocks {
        let last = extent.wrapping_sub(size);
        Blocks {
            at: 0,
            last,
            size,
            more: true,
        }
    }
}

impl Iterator for Blocks {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if !self.more {
            return None;
        }
        if self.at < self.last {
            let at = self.at;
            self.at = at.wrapping_add(self.size);
            return Some(at);
        }
        self.more = false;
        Some(self.last)
    }
}

/// By strips of whole vectors of the destination's rows; what is left over takes narrower ones, or
/// overlaps. `SQUARE`: by squares, where there is room for them.
///
/// # Safety
/// The rectangle lies in the caller's box and has at least `K` rows and columns.
#[inline(always)]
pub(super) unsafe fn rectangle<V: Lanes, const K: usize, const SQUARE: bool>(rect: Rect) {
    let (side, half) = (V::LANES * K, V::Half::LANES * K);
    let mut column = 0;
    // SAFETY: the strips lie in the rectangle.
    unsafe {
        while rect.columns.wrapping_sub(column) >= side {
            strip::<V, K, SQUARE>(rect, column);
            column = column.wrapping_add(side);
        }
        let (left, end) = (rect.columns.wrapping_sub(column), rect.columns);
        if left == 0 {
        } else if left <= K || end < half {
            if left > K {
                strip::<Quarter<V>, K, false>(rect, column);
            }
            strip::<Quarter<V>, K, false>(rect, end.wrapping_sub(K));
        } else if left > half && end >= side {
            strip::<V, K, SQUARE>(rect, end.wrapping_sub(side));
        } else {
            if left > half {
                strip::<V::Half, K, SQUARE>(rect, column);
            }
            strip::<V::Half, K, SQUARE>(rect, end.wrapping_sub(half));
        }
    }
}

type Quarter<V> = <<V as Lanes>::Half as Lanes>::Half;

/// A vector's columns of all rows.
///
/// # Safety
/// As many columns from `column` on lie in the rectangle, which has at least `K` rows.
#[inline(always)]
unsafe fn strip<V: Lanes, const K: usize, const SQUARE: bool>(rect: Rect, column: usize) {
    let (width, side) = (16 / K, V::LANES * K);
    let src = at(rect.src.cast_mut(), column, rect.src_stride, 0);
    let dst = rect.dst.wrapping_add(column.wrapping_mul(width));
    let from = |row: usize| src.wrapping_add(row.wrapping_mul(width)).cast_const();
    let to = |row: usize| at(dst, row, rect.dst_stride, 0);
    let mut row = 0;
    // SAFETY: the blocks lie in the strip.
    unsafe {
        if SQUARE && V::LANES > 1 && rect.rows >= side {
            // Less than half a square is left to blocks.
            while rect.rows.wrapping_sub(row) > side / 2 {
                let start = row.min(rect.rows.wrapping_sub(side));
                match K {
                    16 => through_pane::<V, K>(to(start), from(start), rect),
                    _ => square::<V, K>(to(start), from(start), rect),
                }
                row = start.wrapping_add(side);
            }
        }
        while row < rect.rows {
            let start = row.min(rect.rows.wrapping_sub(K));
            block::<V, K>(to(start), from(start), rect);
            row = start.wrapping_add(K);
        }
    }
}

/// `K` rows of the destination.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn block<V: Lanes, const K: usize>(dst: *mut u8, src: *const u8, rect: Rect) {
    let (mut dst, mut src) = (dst, src);
    let lane_stride = rect.src_stride.wrapping_mul(K as isize);
    // SAFETY: the caller's.
    unsafe {
        let mut square = [V::splat(0); K];
        for v in &mut square {
            *v = V::load_lanes(src, lane_stride);
            src = src.wrapping_offset(rect.src_stride);
        }
        for v in transpose(square) {
            v.store(dst);
            dst = dst.wrapping_offset(rect.dst_stride);
        }
    }
}

/// By panels of few rows of the source, each read to its end before others are: rows that share a
/// set of a cache are no more than it has ways.
///
/// # Safety
/// The rectangle lies in the caller's box and has at least one panel's rows and columns.
#[inline(always)]
pub(super) unsafe fn panels<V: Lanes, const K: usize>(rect: Rect) {
    let width = 16 / K;
    for column in Blocks::new(rect.columns, 2 * K) {
        let src = at(rect.src.cast_mut(), column, rect.src_stride, 0);
        let dst = rect.dst.wrapping_add(column.wrapping_mul(width));
        for row in Blocks::new(rect.rows, V::LANES * K) {
            let src = src.wrapping_add(row.wrapping_mul(width)).cast_const();
            // SAFETY: the block lies in the rectangle.
            unsafe { panel::<V, K>(at(dst, row, rect.dst_stride, 0), src, rect) }
        }
    }
}

/// Whole vectors of `2 * K` rows of the source, thirty-two bytes of as many rows of the destination
/// as a vector has elements.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn panel<V: Lanes, const K: usize>(dst: *mut u8, src: *const u8, rect: Rect) {
    let lane_stride = rect.dst_stride.wrapping_mul(K as isize);
    let (mut dst, mut src) = (dst, src);
    // SAFETY: the caller's.
    unsafe {
        let mut halves = [[V::splat(0); K]; 2];
        for half in &mut halves {
            for v in half.iter_mut() {
                *v = V::load(src);
                src = src.wrapping_offset(rect.src_stride);
            }
            *half = transpose(*half);
        }
        let [left, right] = halves;
        for (left, right) in left.into_iter().zip(right) {
            left.store_joined(right, dst, lane_stride);
            dst = dst.wrapping_offset(rect.dst_stride);
        }
    }
}

/// Between the rows of a pane, so that they fall into different sets.
const PANE_PITCH: usize = 64 + 16;

#[repr(C, align(64))]
struct Pane([MaybeUninit<u8>; 64 * PANE_PITCH]);

/// `LANES * K` rows of the destination, from whole vectors of the source that are copied together
/// first: a square of narrow elements has more rows than there are registers, and reading the
/// source in parts would fetch its lines once per part where they compete for a few sets.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn through_pane<V: Lanes, const K: usize>(dst: *mut u8, src: *const u8, rect: Rect) {
    let mut pane = Pane([const { MaybeUninit::uninit() }; 64 * PANE_PITCH]);
    let pane = pane.0.as_mut_ptr().cast::<u8>();
    let (mut src, mut dst) = (src, dst);
    // SAFETY: the pane has 64 rows of 64 bytes, and `LANES * K` and `LANES * 16` are no more.
    unsafe {
        for row in 0..V::LANES * K {
            V::load(src).store(pane.wrapping_add(row * PANE_PITCH));
            src = src.wrapping_offset(rect.src_stride);
        }
        let from_pane = Rect {
            src_stride: PANE_PITCH as isize,
            ..rect
        };
        for lane in 0..V::LANES {
            block::<V, K>(dst, pane.wrapping_add(16 * lane), from_pane);
            dst = dst.wrapping_offset(rect.dst_stride.wrapping_mul(K as isize));
        }
    }
}

/// `LANES * K` rows of the destination: whole vectors on both sides, each touched once.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn square<V: Lanes, const K: usize>(dst: *mut u8, src: *const u8, rect: Rect) {
    let mut src = src;
    // SAFETY: the caller's.
    unsafe {
        let mut groups = [[V::splat(0); K]; 4];
        for group in &mut groups[..V::LANES] {
            for v in group.iter_mut() {
                *v = V::load(src);
                src = src.wrapping_offset(rect.src_stride);
            }
            *group = transpose(*group);
        }
        let mut first = dst;
        let [a, b, c, d] = groups;
        for (((a, b), c), d) in a.into_iter().zip(b).zip(c).zip(d) {
            let lines = V::swap_lanes([a, b, c, d]);
            let mut dst = first;
            for line in &lines[..V::LANES] {
                line.store(dst);
                dst = dst.wrapping_offset(rect.dst_stride.wrapping_mul(K as isize));
            }
            first = first.wrapping_offset(rect.dst_stride);
        }
    }
}

/// The address of an element, `inner` bytes into a row.
#[inline(always)]
pub(super) fn at(base: *mut u8, outer: usize, stride: isize, inner: usize) -> *mut u8 {
    base.wrapping_offset(stride.wrapping_mul(outer as isize))
        .wrapping_add(inner)
}
