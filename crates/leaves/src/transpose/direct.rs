//! Straight from source to destination.

use std::marker::PhantomData;

use restride_moves::Plane;

use super::TransposeParams;
use super::block::{Blocks, Parts, Quarter, Rect, panels, rectangle};
use super::side::{Apart, at};
use crate::copy::{Copier, One};
use crate::lanes::Lanes;
use crate::level::Body;
use crate::nest::walk;
use crate::vector::one_by_one;

/// A part of a plane, by the row and the column where it begins and how many it has of both.
#[inline(always)]
fn part<const K: usize>(
    dst: *mut u8,
    src: *const u8,
    params: &TransposeParams,
    (row, column): (usize, usize),
    (rows, columns): (usize, usize),
) -> Rect<Apart, Apart> {
    let width = 16 / K;
    Rect {
        dst: Apart::new(at(dst, row, params.dst, column * width), params.dst),
        src: Apart::new(
            at(src.cast_mut(), column, params.src, row * width),
            params.src,
        ),
        rows,
        columns,
    }
}

/// Tile by tile, down the destination's rows. The last one is what is left, or overlaps the one before it if that is more
/// than half a square.
pub(super) struct Direct<V, const K: usize, P>(PhantomData<(V, P)>);

impl<V: Lanes, const K: usize, P: Parts> Body for Direct<V, K, P> {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        let all_columns = Plane::in_blocks(K, params.columns);
        let rows = params.tile.0.min(params.rows);
        let columns = params.tile.1.min(all_columns);
        let side = V::LANES * K;
        walk!(&params.nest, dst, src, |dst, src| {
            for column in Blocks::new(all_columns, columns) {
                let mut row = 0;
                while row < params.rows {
                    let left = params.rows.wrapping_sub(row);
                    let least = if left > side / 2 { side } else { K };
                    let rows = rows.min(left.max(least));
                    let first = row.min(params.rows.wrapping_sub(rows));
                    let rect = part::<K>(dst, src, params, (first, column), (rows, columns));
                    // SAFETY: the tile lies in the box and has `K` rows and columns at least.
                    unsafe { rectangle::<V, K, P>(rect) }
                    row = first.wrapping_add(rows);
                }
            }
            let width = 16 / K;
            if all_columns < params.columns {
                let to = dst.wrapping_add(all_columns.wrapping_mul(width));
                let from = at(src.cast_mut(), all_columns, params.src, 0);
                // SAFETY: its last column.
                unsafe { elements::<K>(to, from, params.rows, (params.dst, width as isize)) }
            }
        });
    }
}

/// One tile and nothing around it: to begin a walk takes as long as a small square does.
pub(super) struct OneTile<V, const K: usize, P>(PhantomData<(V, P)>);

impl<V: Lanes, const K: usize, P: Parts> Body for OneTile<V, K, P> {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        let (dst, src) = params.nest.begin(dst, src);
        let rect = part::<K>(dst, src, params, (0, 0), (params.rows, params.columns));
        // SAFETY: the rectangle is the box, and has as many rows and columns as its tiles.
        unsafe { rectangle::<V, K, P>(rect) }
    }
}

/// By panels of whole vectors of a few rows of the source, to destination rows that are short.
pub(super) struct Paneled<V, const K: usize>(PhantomData<V>);

impl<V: Lanes, const K: usize> Body for Paneled<V, K> {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        walk!(&params.nest, dst, src, |dst, src| {
            for row in Blocks::new(params.rows, params.tile.0) {
                let rect = part::<K>(dst, src, params, (row, 0), (params.tile.0, params.columns));
                // SAFETY: the tile lies in the box, and has a panel's rows and columns.
                unsafe { panels::<V, K>(rect) }
            }
        });
    }
}

/// Elements as wide as a lane, which may step through the source: four of them at a time, to as many rows, or twice as
/// many where they step, so that a few lines of the source are read one after the other. Rows that are no multiple of these
/// turn to each line twice, so all rows of some columns come first.
pub(super) struct ByFours<V, const STEPS: bool>(PhantomData<V>);

impl<V: Lanes, const STEPS: bool> Body for ByFours<V, STEPS> {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        walk!(&params.nest, dst, src, |dst, src| {
            for column in (0..params.columns).step_by(params.tile.1) {
                let some = params.tile.1.min(params.columns.wrapping_sub(column));
                let dst = dst.wrapping_add(16 * column);
                let src = at(src.cast_mut(), column, params.src, 0).cast_const();
                let mut row = 0;
                while row < params.rows {
                    let to = at(dst, row, params.dst, 0);
                    let from = src.wrapping_add(next::<STEPS>(params) * row);
                    let left = params.rows.wrapping_sub(row);
                    // SAFETY: so many rows and columns lie in the box.
                    let done = unsafe {
                        match left {
                            1 => columns::<V, STEPS, 1>(to, from, params, some),
                            2 | 3 => columns::<V, STEPS, 2>(to, from, params, some),
                            8.. if STEPS => columns::<V, STEPS, 8>(to, from, params, some),
                            _ => columns::<V, STEPS, 4>(to, from, params, some),
                        }
                    };
                    row = row.wrapping_add(done);
                }
            }
        });
    }
}

/// From one row to the next, in the source.
#[inline(always)]
fn next<const STEPS: bool>(params: &TransposeParams) -> usize {
    if STEPS { params.along } else { 16 }
}

/// So many columns of `ROWS` rows, as many at a time as a vector has; what is left takes narrower ones. Returns how many rows
/// these are.
///
/// # Safety
/// They lie in the caller's box.
#[inline(always)]
unsafe fn columns<V: Lanes, const STEPS: bool, const ROWS: usize>(
    dst: *mut u8,
    src: *const u8,
    params: &TransposeParams,
    some: usize,
) -> usize {
    let (mut to, mut from) = (dst, src);
    let mut left = some;
    // SAFETY: the caller's.
    unsafe {
        while left >= V::LANES {
            (to, from) = some_columns::<V, STEPS, ROWS>(to, from, params);
            left = left.wrapping_sub(V::LANES);
        }
        if left >= V::Half::LANES {
            (to, from) = some_columns::<V::Half, STEPS, ROWS>(to, from, params);
            left = left.wrapping_sub(V::Half::LANES);
        }
        if left > 0 {
            some_columns::<Quarter<V>, STEPS, ROWS>(to, from, params);
        }
    }
    ROWS
}

/// As many columns as a vector has, of `ROWS` rows. Returns where the next ones are.
///
/// # Safety
/// They lie in the caller's box.
#[inline(always)]
unsafe fn some_columns<V: Lanes, const STEPS: bool, const ROWS: usize>(
    dst: *mut u8,
    src: *const u8,
    params: &TransposeParams,
) -> (*mut u8, *const u8) {
    let mut places = [src; 4];
    for lane in 1..V::LANES {
        places[lane] = places[lane - 1].wrapping_offset(params.src);
    }
    let in_a_turn = if STEPS || ROWS == 1 || V::LANES == 1 {
        1
    } else {
        2
    };
    for row in (0..ROWS).step_by(in_a_turn) {
        let to = at(dst, row, params.dst, 0);
        let from = places.map(|place| place.wrapping_add(next::<STEPS>(params) * row));
        // SAFETY: the caller's.
        unsafe {
            match (in_a_turn, V::LANES) {
                (1, _) => V::load_lanes(from).store(to),
                (_, 2) => in_pairs::<V, 1>(to, from, params.dst),
                _ => in_pairs::<V::Half, 2>(to, from, params.dst),
            }
        }
    }
    (
        dst.wrapping_add(V::BYTES),
        places[V::LANES - 1].wrapping_offset(params.src),
    )
}

/// Two rows, of two elements each from each of `PAIRS` pairs of places: as many loads and stores as there would be of single
/// elements on one side.
///
/// # Safety
/// They lie in the caller's box, and `H` has two lanes.
#[inline(always)]
unsafe fn in_pairs<H: Lanes, const PAIRS: usize>(dst: *mut u8, from: [*const u8; 4], next: isize) {
    let mut rows = [[H::splat(0); PAIRS]; 2];
    // SAFETY: the caller's.
    unsafe {
        for pair in 0..PAIRS {
            let (one, other) = (H::load(from[2 * pair]), H::load(from[2 * pair + 1]));
            [rows[0][pair], rows[1][pair], ..] = H::swap_lanes([one, other, one, other]);
        }
        for (row, vectors) in rows.into_iter().enumerate() {
            for (pair, vector) in vectors.into_iter().enumerate() {
                vector.store(at(dst, row, next, 32 * pair));
            }
        }
    }
}

/// So many elements, one at a time.
///
/// # Safety
/// They are readable, so many bytes apart, and their places writable.
#[inline(always)]
unsafe fn elements<const K: usize>(
    dst: *mut u8,
    src: *const u8,
    count: usize,
    step: (isize, isize),
) {
    let (mut dst, mut src) = (dst, src);
    let mut next = || {
        // SAFETY: the caller's.
        unsafe {
            match K {
                16 => One::<u8>::copy(dst, src, 1),
                8 => One::<u16>::copy(dst, src, 2),
                4 => One::<u32>::copy(dst, src, 4),
                _ => One::<u64>::copy(dst, src, 8),
            }
        }
        (dst, src) = (dst.wrapping_offset(step.0), src.wrapping_offset(step.1));
    };
    // A turn of a loop of single ones takes two clocks where it straddles two lines of code.
    for _ in 0..count / 4 {
        one_by_one();
        next();
        next();
        next();
        next();
    }
    for _ in 0..count % 4 {
        one_by_one();
        next();
    }
}
