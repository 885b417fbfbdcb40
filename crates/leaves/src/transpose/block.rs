//! Rectangles of register blocks.
//!
//! The unit is a block of full vectors of the destination: `K` rows of it, `K` being the elements
//! in sixteen bytes, from sixteen bytes of each of `LANES * K` rows of the source. Loads put source
//! rows into lanes, so the transposition stays inside lanes and every store is a whole vector. Edges
//! are narrower, or overlap their neighbours.

use std::mem::MaybeUninit;

use crate::lanes::{Lanes, transpose};

/// The rows of one side, each contiguous, and where they begin.
pub(super) trait Side: Copy {
    /// Where the first of them begins.
    ///
    /// # Safety
    /// There is one.
    unsafe fn first(self) -> *mut u8;

    /// Without the first `n`.
    fn after(self, n: usize) -> Self;

    /// All of them, from so many bytes further on.
    fn along(self, bytes: usize) -> Self;
}

/// Rows that are equally far apart.
#[derive(Clone, Copy)]
pub(super) struct Apart {
    pub(super) first: *mut u8,
    pub(super) stride: isize,
}

impl Side for Apart {
    #[inline(always)]
    unsafe fn first(self) -> *mut u8 {
        self.first
    }

    #[inline(always)]
    fn after(self, n: usize) -> Apart {
        Apart {
            first: at(self.first, n, self.stride, 0),
            ..self
        }
    }

    #[inline(always)]
    fn along(self, bytes: usize) -> Apart {
        Apart {
            first: self.first.wrapping_add(bytes),
            ..self
        }
    }
}

/// Rows whose places are listed.
#[derive(Clone, Copy)]
pub(super) struct Listed {
    pub(super) base: *mut u8,
    /// From `base`, of each row.
    pub(super) places: *const isize,
}

impl Side for Listed {
    #[inline(always)]
    unsafe fn first(self) -> *mut u8 {
        // SAFETY: the caller's.
        self.base.wrapping_offset(unsafe { *self.places })
    }

    #[inline(always)]
    fn after(self, n: usize) -> Listed {
        Listed {
            places: self.places.wrapping_add(n),
            ..self
        }
    }

    #[inline(always)]
    fn along(self, bytes: usize) -> Listed {
        Listed {
            base: self.base.wrapping_add(bytes),
            ..self
        }
    }
}

/// A rectangle: as many rows of the destination as there are elements in a row of the source, which
/// are its columns.
#[derive(Clone, Copy)]
pub(super) struct Rect<D, S> {
    pub(super) dst: D,
    pub(super) src: S,
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
pub(super) unsafe fn rectangle<V: Lanes, const K: usize, const SQUARE: bool>(
    rect: Rect<impl Side, impl Side>,
) {
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
unsafe fn strip<V: Lanes, const K: usize, const SQUARE: bool>(
    rect: Rect<impl Side, impl Side>,
    column: usize,
) {
    let (width, side) = (16 / K, V::LANES * K);
    let src = rect.src.after(column);
    let dst = rect.dst.along(column.wrapping_mul(width));
    let from = |row: usize| src.along(row.wrapping_mul(width));
    let to = |row: usize| dst.after(row);
    let mut row = 0;
    // SAFETY: the blocks lie in the strip.
    unsafe {
        if SQUARE && V::LANES > 1 && rect.rows >= side {
            // Less than half a square is left to blocks.
            while rect.rows.wrapping_sub(row) > side / 2 {
                let start = row.min(rect.rows.wrapping_sub(side));
                match K {
                    16 => through_pane::<V, K>(to(start), from(start)),
                    _ => square::<V, K>(to(start), from(start)),
                }
                row = start.wrapping_add(side);
            }
        }
        while row < rect.rows {
            let start = row.min(rect.rows.wrapping_sub(K));
            block::<V, K>(to(start), from(start));
            row = start.wrapping_add(K);
        }
    }
}
/// `K` rows of the destination.
///
/// # Safety
/// Both sides have as many rows as the block, and they lie in the caller's box.
#[inline(always)]
unsafe fn block<V: Lanes, const K: usize>(dst: impl Side, src: impl Side) {
    let (mut dst, mut src) = (dst, src);
    // SAFETY: the caller's.
    unsafe {
        let mut square = [V::splat(0); K];
        for v in &mut square {
            let mut lanes = [src.first().cast_const(); 4];
            for (lane, place) in lanes[..V::LANES].iter_mut().enumerate() {
                *place = src.after(lane * K).first();
            }
            *v = V::load_lanes(lanes);
            src = src.after(1);
        }
        for v in transpose(square) {
            v.store(dst.first());
            dst = dst.after(1);
        }
    }
}

/// A few rows of the destination at a time, by blocks of whole vectors of them, of as many rectangles that follow each
/// other on both sides.
///
/// # Safety
/// They lie in the caller's box, and have `K` rows and a vector's columns at least.
#[inline(always)]
pub(super) unsafe fn bands<V: Lanes, const K: usize>(
    rect: Rect<impl Side, impl Side>,
    together: usize,
) {
    let width = 16 / K;
    for row in Blocks::new(rect.rows, K) {
        let mut dst = rect.dst.after(row);
        let mut src = rect.src.along(row.wrapping_mul(width));
        for _ in 0..together {
            for column in Blocks::new(rect.columns, V::LANES * K) {
                let dst = dst.along(column.wrapping_mul(width));
                // SAFETY: the block lies in the rectangle.
                unsafe { block::<V, K>(dst, src.after(column)) }
            }
            dst = dst.along(rect.columns.wrapping_mul(width));
            src = src.along(rect.rows.wrapping_mul(width));
        }
    }
}

/// By panels of few rows of the source, each read to its end before others are: rows that share a
/// set of a cache are no more than it has ways.
///
/// # Safety
/// The rectangle lies in the caller's box and has at least one panel's rows and columns.
#[inline(always)]
pub(super) unsafe fn panels<V: Lanes, const K: usize>(rect: Rect<Apart, Apart>) {
    let width = 16 / K;
    for column in Blocks::new(rect.columns, 2 * K) {
        let src = rect.src.after(column);
        let dst = rect.dst.along(column.wrapping_mul(width));
        for row in Blocks::new(rect.rows, V::LANES * K) {
            // SAFETY: the block lies in the rectangle.
            unsafe { panel::<V, K>(dst.after(row), src.along(row.wrapping_mul(width))) }
        }
    }
}

/// Whole vectors of `2 * K` rows of the source, thirty-two bytes of as many rows of the destination
/// as a vector has elements.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn panel<V: Lanes, const K: usize>(dst: Apart, src: Apart) {
    let lane_stride = dst.stride.wrapping_mul(K as isize);
    let (mut dst, mut src) = (dst, src);
    // SAFETY: the caller's.
    unsafe {
        let mut halves = [[V::splat(0); K]; 2];
        for half in &mut halves {
            for v in half.iter_mut() {
                *v = V::load(src.first());
                src = src.after(1);
            }
            *half = transpose(*half);
        }
        let [left, right] = halves;
        for (left, right) in left.into_iter().zip(right) {
            left.store_joined(right, dst.first(), lane_stride);
            dst = dst.after(1);
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
unsafe fn through_pane<V: Lanes, const K: usize>(dst: impl Side, src: impl Side) {
    let mut pane = Pane([const { MaybeUninit::uninit() }; 64 * PANE_PITCH]);
    let pane = pane.0.as_mut_ptr().cast::<u8>();
    let (mut src, mut dst) = (src, dst);
    // SAFETY: the pane has 64 rows of 64 bytes, and `LANES * K` and `LANES * 16` are no more.
    unsafe {
        for row in 0..V::LANES * K {
            V::load(src.first()).store(pane.wrapping_add(row * PANE_PITCH));
            src = src.after(1);
        }
        let pane = Apart {
            first: pane,
            stride: PANE_PITCH as isize,
        };
        for lane in 0..V::LANES {
            block::<V, K>(dst, pane.along(16 * lane));
            dst = dst.after(K);
        }
    }
}

/// `LANES * K` rows of the destination: whole vectors on both sides, each touched once.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn square<V: Lanes, const K: usize>(dst: impl Side, src: impl Side) {
    let mut src = src;
    // SAFETY: the caller's.
    unsafe {
        let mut groups = [[V::splat(0); K]; 4];
        for group in &mut groups[..V::LANES] {
            for v in group.iter_mut() {
                *v = V::load(src.first());
                src = src.after(1);
            }
            *group = transpose(*group);
        }
        let mut first = dst;
        let [a, b, c, d] = groups;
        for (((a, b), c), d) in a.into_iter().zip(b).zip(c).zip(d) {
            let lines = V::swap_lanes([a, b, c, d]);
            let mut dst = first;
            for line in &lines[..V::LANES] {
                line.store(dst.first());
                dst = dst.after(K);
            }
            first = first.after(1);
        }
    }
}

/// The address of an element, `inner` bytes into a row.
#[inline(always)]
pub(super) fn at(base: *mut u8, outer: usize, stride: isize, inner: usize) -> *mut u8 {
    base.wrapping_offset(stride.wrapping_mul(outer as isize))
        .wrapping_add(inner)
}
