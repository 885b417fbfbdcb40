//! Rectangles of register blocks.
//!
//! The unit is a block of full vectors of the destination: `K` rows of it, `K` being the elements
//! in sixteen bytes, from sixteen bytes of each of `LANES * K` rows of the source. Loads put source
//! rows into lanes, so the transposition stays inside lanes and every store is a whole vector. Edges
//! are narrower, or overlap their neighbours.

use std::mem::MaybeUninit;
use std::ptr;

use restride_moves::{Plane, Step};

use super::side::{Apart, Side};
use crate::lanes::{Lanes, transpose};

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
pub(crate) struct Blocks {
    at: usize,
    last: usize,
    size: usize,
    more: bool,
}

impl Blocks {
    /// `size` is at most `extent`.
    #[inline(always)]
    pub(crate) fn new(extent: usize, size: usize) -> Blocks {
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

/// How a rectangle is cut.
pub(super) trait Parts: 'static {
    /// Into squares, where there is room for them.
    const SQUARES: bool = false;
    /// Into blocks next to each other, of which each row is written to its end before the next one: a vector that straddles
    /// two lines takes three clocks more to store, if what is stored next does not go on where it ends.
    const RUNS: bool = false;
    /// Into a few rows at a time, each written to its end, of a vector's columns at least.
    const BANDS: bool = false;
    /// Into blocks of fewer than `K` rows, which are all that there are.
    const FEW_ROWS: bool = false;
}

/// Into blocks.
pub(super) struct InBlocks;
impl Parts for InBlocks {}

pub(super) struct InSquares;
impl Parts for InSquares {
    const SQUARES: bool = true;
}

pub(super) struct InRows;
impl Parts for InRows {
    const BANDS: bool = true;
}

pub(super) struct InRuns;
impl Parts for InRuns {
    const RUNS: bool = true;
}

pub(super) struct InFewRows;
impl Parts for InFewRows {
    const FEW_ROWS: bool = true;
}

/// By strips of whole vectors of the destination's rows; what is left over takes narrower ones, or
/// overlaps.
///
/// # Safety
/// The rectangle lies in the caller's box and has at least `K` rows, unless it is cut into few, and `K` columns.
#[inline(always)]
pub(super) unsafe fn rectangle<V: Lanes, const K: usize, P: Parts>(
    rect: Rect<impl Side, impl Side>,
) {
    let (side, half) = (V::LANES * K, V::Half::LANES * K);
    let run = Plane::in_a_run(V::LANES, K) * side;
    let mut column = 0;
    // SAFETY: the strips lie in the rectangle.
    unsafe {
        if P::BANDS {
            return bands::<V, K, false>(rect, Step::NONE);
        }
        if P::RUNS && run > side {
            while rect.columns.wrapping_sub(column) >= run {
                runs::<V, K>(rect, column);
                column = column.wrapping_add(run);
            }
        }
        while rect.columns.wrapping_sub(column) >= side {
            strip::<V, K, P>(rect, column);
            column = column.wrapping_add(side);
        }
        let (left, end) = (rect.columns.wrapping_sub(column), rect.columns);
        if left == 0 {
        } else if left <= K || end < half {
            if left > K {
                strip::<Quarter<V>, K, P>(rect, column);
            }
            strip::<Quarter<V>, K, P>(rect, end.wrapping_sub(K));
        } else if left > half && end >= side {
            strip::<V, K, P>(rect, end.wrapping_sub(side));
        } else if left > half && V::LANES == 2 && !P::FEW_ROWS {
            both_ends::<V, K>(rect);
        } else {
            if left > half {
                strip::<V::Half, K, P>(rect, column);
            }
            strip::<V::Half, K, P>(rect, end.wrapping_sub(half));
        }
    }
}

/// Less than a vector's columns of all rows: of these, a lane has the first, and the other one the last, which overlap.
///
/// # Safety
/// The rectangle lies in the caller's box and has at least `K` rows and columns.
#[inline(always)]
unsafe fn both_ends<V: Lanes, const K: usize>(rect: Rect<impl Side, impl Side>) {
    let width = 16 / K;
    let last = rect.columns.wrapping_sub(K);
    for row in Blocks::new(rect.rows, K) {
        let (mut dst, mut src) = (rect.dst.after(row), rect.src.along(row.wrapping_mul(width)));
        // SAFETY: the caller's.
        unsafe {
            let mut square = [V::splat(0); K];
            for v in &mut square {
                let [first, last] = [src, src.after(last)].map(|it| it.first().cast_const());
                *v = V::load_lanes([first, last, first, last]);
                src = src.after(1);
            }
            for v in transpose(square) {
                let first = dst.first();
                let last = first.wrapping_add(last.wrapping_mul(width));
                v.store_lanes([first, last, first, last]);
                dst = dst.after(1);
            }
        }
    }
}

pub(super) type Quarter<V> = <<V as Lanes>::Half as Lanes>::Half;

/// A vector's columns of all rows.
///
/// # Safety
/// As many columns from `column` on lie in the rectangle, which has at least `K` rows, unless it is cut into few.
#[inline(always)]
unsafe fn strip<V: Lanes, const K: usize, P: Parts>(
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
        if P::FEW_ROWS {
            return few::<V, K>(dst, src, rect.rows);
        }
        if P::SQUARES && V::LANES > 1 && rect.rows >= side {
            // Less than half a square is left to blocks.
            while rect.rows.wrapping_sub(row) > side / 2 {
                let start = row.min(rect.rows.wrapping_sub(side));
                match K {
                    16 => through_pane::<V, K>(to(start), from(start)),
                    _ => square::<V, K, _>(to(start), from(start)),
                }
                row = start.wrapping_add(side);
            }
        }
        while row < rect.rows {
            let start = row.min(rect.rows.wrapping_sub(K));
            // One row of two is stored sooner than it is found to be there.
            let done = if K > 2 { row.wrapping_sub(start) } else { 0 };
            block::<V, K, false, _>(to(start), from(start), done);
            row = start.wrapping_add(K);
        }
    }
}

/// As many blocks next to each other as registers hold, down all rows.
///
/// # Safety
/// As many columns from `column` on lie in the rectangle, which has at least `K` rows.
#[inline(always)]
unsafe fn runs<V: Lanes, const K: usize>(rect: Rect<impl Side, impl Side>, column: usize) {
    let (width, side) = (16 / K, V::LANES * K);
    let src = rect.src.after(column);
    let dst = rect.dst.along(column.wrapping_mul(width));
    for row in Blocks::new(rect.rows, K) {
        let (mut to, mut from) = (dst.after(row), src.along(row.wrapping_mul(width)));
        // SAFETY: the blocks lie in the rectangle.
        unsafe {
            let mut blocks = [[V::splat(0); K]; 4];
            for block in &mut blocks[..Plane::in_a_run(V::LANES, K)] {
                *block = transpose(in_lanes::<V, K, _>(from));
                from = from.after(side);
            }
            for row in 0..K {
                for (at, block) in blocks[..Plane::in_a_run(V::LANES, K)].iter().enumerate() {
                    block[row].store(to.first().wrapping_add(at * V::BYTES));
                }
                to = to.after(1);
            }
        }
    }
}

/// `K` rows of the destination, of which so many are there already.
///
/// # Safety
/// Both sides have as many rows as the block, and they lie in the caller's box; those that go past the caches begin at a
/// multiple of a vector.
#[inline(always)]
unsafe fn block<V: Lanes, const K: usize, const PAST: bool, D: Side>(
    dst: D,
    src: impl Side,
    done: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        let square = transpose(in_lanes::<V, K, _>(src));
        let mut dst = dst;
        if D::LISTED {
            for two in 0..K / 2 {
                let places = dst.after(2 * two).first_two();
                for (at, place) in places.into_iter().enumerate() {
                    if 2 * two + at >= done {
                        square[2 * two + at].store(place);
                    }
                }
            }
        } else {
            for (row, v) in square.into_iter().enumerate() {
                match row >= done {
                    true if PAST => v.stream(dst.first()),
                    true => v.store(dst.first()),
                    false => {}
                }
                dst = dst.after(1);
            }
        }
    }
}

/// `rows` rows of the destination, fewer than `K`, from as many elements of each of the source. What is not needed for them
/// is not done.
///
/// # Safety
/// The source has as many rows as the block, the destination `rows`, and they lie in the caller's box.
#[inline(always)]
unsafe fn few<V: Lanes, const K: usize>(dst: impl Side, src: impl Side, rows: usize) {
    let mut dst = dst;
    // SAFETY: the caller's.
    unsafe {
        let square = match src.has_whole_lanes() {
            true => in_lanes::<V, K, _>(src),
            false => {
                let mut lanes = [0; 16 * 64];
                copy_rows(&mut lanes, src, V::LANES * K, rows.wrapping_mul(16 / K));
                in_lanes::<V, K, _>(Apart::new(lanes.as_mut_ptr(), 16))
            }
        };
        for (row, v) in transpose(square).into_iter().enumerate() {
            if row < rows {
                v.store(dst.first());
                dst = dst.after(1);
            }
        }
    }
}

/// Sixteen bytes of each of `LANES * K` rows of the source.
///
/// # Safety
/// There are as many rows, of sixteen bytes at least.
#[inline(always)]
unsafe fn in_lanes<V: Lanes, const K: usize, S: Side>(src: S) -> [V; K] {
    let mut src = src;
    let mut square = [V::splat(0); K];
    // SAFETY: the caller's.
    unsafe {
        if S::LISTED {
            for row in 0..K / 2 {
                let mut lanes = [src.first_two(); 4];
                for (lane, two) in lanes[..V::LANES].iter_mut().enumerate() {
                    *two = src.after(lane * K).first_two();
                }
                square[2 * row] = V::load_lanes(lanes.map(|two| two[0].cast_const()));
                square[2 * row + 1] = V::load_lanes(lanes.map(|two| two[1].cast_const()));
                src = src.after(2);
            }
        } else {
            for v in &mut square {
                let mut lanes = [src.first().cast_const(); 4];
                for (lane, place) in lanes[..V::LANES].iter_mut().enumerate() {
                    *place = src.after(lane * K).first();
                }
                *v = V::load_lanes(lanes);
                src = src.after(1);
            }
        }
    }
    square
}

/// Copies so many bytes of so many rows, sixteen apart.
///
/// # Safety
/// There are as many rows of so many bytes. Rows are 64 at most, bytes sixteen.
#[cold]
#[inline(never)]
unsafe fn copy_rows(to: &mut [u8; 16 * 64], src: impl Side, rows: usize, bytes: usize) {
    for (row, lane) in to.as_chunks_mut::<16>().0.iter_mut().take(rows).enumerate() {
        // SAFETY: the caller's.
        unsafe { ptr::copy_nonoverlapping(src.after(row).first(), lane.as_mut_ptr(), bytes) }
    }
}

/// A few rows of the destination at a time, by blocks of whole vectors of them, of as many rectangles that follow each
/// other in the rows of the source. `PAST`: past the caches.
///
/// # Safety
/// They lie in the caller's box, and have `K` rows and a vector's columns at least. Past the caches, all vectors of the
/// destination begin at a multiple of their size.
#[inline(always)]
pub(super) unsafe fn bands<V: Lanes, const K: usize, const PAST: bool>(
    rect: Rect<impl Side, impl Side>,
    together: Step,
) {
    let width = 16 / K;
    for row in Blocks::new(rect.rows, K) {
        let mut dst = rect.dst.after(row);
        let mut src = rect.src.along(row.wrapping_mul(width));
        for _ in 0..together.extent {
            for column in Blocks::new(rect.columns, V::LANES * K) {
                let dst = dst.along(column.wrapping_mul(width));
                // SAFETY: the block lies in the rectangle.
                unsafe { block::<V, K, PAST, _>(dst, src.after(column), 0) }
            }
            dst = dst.along(together.dst as usize);
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
        let pane = Apart::new(pane, PANE_PITCH as isize);
        for lane in 0..V::LANES {
            block::<V, K, false, _>(dst, pane.along(16 * lane), 0);
            dst = dst.after(K);
        }
    }
}

/// `LANES * K` rows of the destination: whole vectors on both sides, each touched once.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn square<V: Lanes, const K: usize, S: Side>(dst: impl Side, src: S) {
    let mut src = src;
    // SAFETY: the caller's.
    unsafe {
        let mut groups = [[V::splat(0); K]; 4];
        for group in &mut groups[..V::LANES] {
            if S::LISTED {
                for row in 0..K / 2 {
                    let [one, two] = src.first_two();
                    (group[2 * row], group[2 * row + 1]) = (V::load(one), V::load(two));
                    src = src.after(2);
                }
            } else {
                for v in group {
                    *v = V::load(src.first());
                    src = src.after(1);
                }
            }
        }
        store_square(dst, groups);
    }
}

/// Transposes so many vectors, of which there are `LANES` times `K`, and stores them as rows.
///
/// # Safety
/// There are as many rows, and they lie in the caller's box.
#[inline(always)]
pub(super) unsafe fn store_square<V: Lanes, const K: usize>(dst: impl Side, groups: [[V; K]; 4]) {
    let mut groups = groups;
    for group in &mut groups[..V::LANES] {
        *group = transpose(*group);
    }
    let mut first = dst;
    let [a, b, c, d] = groups;
    for (((a, b), c), d) in a.into_iter().zip(b).zip(c).zip(d) {
        let lines = V::swap_lanes([a, b, c, d]);
        let mut dst = first;
        for line in &lines[..V::LANES] {
            // SAFETY: the caller's.
            unsafe { line.store(dst.first()) }
            dst = dst.after(K);
        }
        first = first.after(1);
    }
}
