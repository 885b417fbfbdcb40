//! A transposition of elements of three to fifteen bytes, such as the pixels of an image.
//!
//! What a lane has of a row is spread out to cells of four, eight or sixteen bytes. These are transposed in registers, and
//! pressed together again where they are stored: sixteen bytes at a time, of which the last are written over by what follows.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use restride_moves::{ByteBox, Plane};

use super::TransposeParams;
use super::block::Blocks;
use super::side::at;
use crate::lanes::{Lanes, transpose};
use crate::leaf::Leaf;
use crate::level::{Avx2, Body, Sixteen};
use crate::nest::walk;
use crate::vector::Vector;

/// Which byte of a lane each byte is, or `NONE`.
type Table = [u8; LANE];

const LANE: usize = 16;
const NONE: u8 = 0x80;

/// A vector whose bytes are shuffled within its lanes.
///
/// # Safety
/// As [`Lanes`].
unsafe trait Shuffled: Lanes {
    /// The bytes that a table names, in every lane.
    ///
    /// # Safety
    /// It runs where bytes can be shuffled.
    unsafe fn shuffle(self, table: Self) -> Self;
}

macro_rules! shuffled {
    ($($vector:ty: $shuffle:ident;)*) => { $(
        // SAFETY: the instruction reads no memory.
        unsafe impl Shuffled for $vector {
            #[inline(always)]
            unsafe fn shuffle(self, table: Self) -> Self {
                // SAFETY: the caller's.
                unsafe { $shuffle(self, table) }
            }
        }
    )* };
}

shuffled! {
    __m128i: _mm_shuffle_epi8;
    __m256i: _mm256_shuffle_epi8;
}

pub(crate) struct WidenedParams {
    plane: TransposeParams,
    /// The bytes of an element, and of as many as are moved in a lane.
    width: usize,
    moved: usize,
    /// Of rows before this one, sixteen bytes are read from their first on; of the others, up to their last.
    forward: usize,
    /// What spreads out either, and how many bytes come before.
    windows: [(Table, usize); 2],
    /// How many columns have to come after what is stored whole.
    after: usize,
    press: Table,
}

impl WidenedParams {
    /// Of elements of so many bytes in cells of so many.
    fn new(shape: &ByteBox, plane: &Plane) -> WidenedParams {
        let (width, cell) = (shape.run, plane.cell);
        let moved = width * plane.per_lane;
        let mut windows = [0, LANE - moved].map(|before| ([NONE; LANE], before));
        let mut press = [NONE; LANE];
        for (byte, pressed) in press[..moved].iter_mut().enumerate() {
            let wide = byte / width * cell + byte % width;
            for (spread, before) in &mut windows {
                spread[wide] = (byte + *before) as u8;
            }
            *pressed = wide as u8;
        }
        WidenedParams {
            plane: TransposeParams::new(shape, plane),
            width,
            moved,
            forward: (plane.row.extent * width + 1 - LANE).div_ceil(width),
            windows,
            after: (LANE - moved).div_ceil(width),
            press,
        }
    }
}

/// `K` elements of each row in a lane, and `N` vectors of a row of the destination after each other: a vector that straddles two
/// lines takes longer to store if the next one does not go on where it ends.
struct Widened<V, const K: usize, const N: usize>(PhantomData<V>);

impl<V: Shuffled, const K: usize, const N: usize> Body for Widened<V, K, N> {
    type Params = WidenedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &WidenedParams) {
        let plane = &params.plane;
        let (rows, columns) = plane.tile;
        let side = V::LANES * K;
        walk!(&plane.nest, dst, src, |dst, src| {
            for first in Blocks::new(plane.rows, rows) {
                for column in Blocks::new(plane.columns, columns) {
                    let end = column.wrapping_add(columns);
                    for row in Blocks::new(rows, K) {
                        let row = first.wrapping_add(row);
                        let (spread, before) = &params.windows[usize::from(row >= params.forward)];
                        let from = src.wrapping_add(row.wrapping_mul(params.width));
                        let band = Band {
                            dst: at(dst, row, plane.dst, 0),
                            src: from.wrapping_sub(*before),
                            spread,
                        };
                        let mut column = column;
                        // SAFETY: so many rows and columns lie in the caller's box, of which a row has sixteen bytes at least.
                        unsafe {
                            while end.wrapping_sub(column) >= N * side {
                                band.blocks::<V, K, N>(column, params);
                                column = column.wrapping_add(N * side);
                            }
                            while column < end {
                                let start = column.min(end.wrapping_sub(side));
                                band.blocks::<V, K, 1>(start, params);
                                column = start.wrapping_add(side);
                            }
                        }
                    }
                }
            }
        });
    }
}

/// As many rows of the destination as a lane has elements.
struct Band<'a> {
    dst: *mut u8,
    /// Where a lane of the first column is read.
    src: *const u8,
    spread: &'a Table,
}

impl Band<'_> {
    /// Their columns from one on that `N` vectors have.
    ///
    /// # Safety
    /// They lie in the box, and sixteen bytes of each are readable. It runs where bytes can be shuffled.
    #[inline(always)]
    unsafe fn blocks<V: Shuffled, const K: usize, const N: usize>(
        &self,
        column: usize,
        params: &WidenedParams,
    ) {
        let (moved, stride) = (params.moved, params.plane.src);
        let of = |table: &Table| V::splat(u128::from_ne_bytes(*table));
        let (spread, press) = (of(self.spread), of(&params.press));
        let end = column.wrapping_add(N * V::LANES * K);
        let is_last = end.wrapping_add(params.after) > params.plane.columns;
        let mut squares = [[V::splat(0); K]; N];
        let mut from = self
            .src
            .wrapping_offset(stride.wrapping_mul(column as isize));
        let mut to = self.dst.wrapping_add(column.wrapping_mul(params.width));
        // SAFETY: the caller's; what is stored too much is stored again, unless it is behind the row.
        unsafe {
            for square in &mut squares {
                for (row, v) in square.iter_mut().enumerate() {
                    let lane =
                        |lane: usize| stride.wrapping_mul((lane % V::LANES * K + row) as isize);
                    let lanes = std::array::from_fn(|at| from.wrapping_offset(lane(at)));
                    *v = V::load_lanes(lanes).shuffle(spread);
                }
                *square = transpose(*square);
                from = from.wrapping_offset(stride.wrapping_mul((V::LANES * K) as isize));
            }
            for row in 0..K {
                let mut next = to;
                for (number, square) in squares.iter().enumerate() {
                    let v = square[row].shuffle(press);
                    let mut places =
                        std::array::from_fn(|at| next.wrapping_add(moved.wrapping_mul(at)));
                    if is_last && number == N - 1 {
                        let mut lane = [0; LANE];
                        let last = std::mem::replace(&mut places[V::LANES - 1], lane.as_mut_ptr());
                        v.store_lanes(places);
                        let rest = moved.wrapping_sub(8);
                        for at in [0, rest] {
                            u64::load(lane.as_ptr().wrapping_add(at)).store(last.wrapping_add(at));
                        }
                    } else {
                        v.store_lanes(places);
                    }
                    next = next.wrapping_add(moved.wrapping_mul(V::LANES));
                }
                to = to.wrapping_offset(params.plane.dst);
            }
        }
    }
}

/// Prepares it.
pub(crate) fn prepare(shape: &ByteBox, plane: &Plane) -> Leaf {
    let params = WidenedParams::new(shape, plane);
    match (plane.lanes, plane.per_lane) {
        (_, 1) => Leaf::new::<Avx2, Widened<Sixteen, 1, 8>>(params),
        (1, 4) => Leaf::new::<Avx2, Widened<Sixteen, 4, 1>>(params),
        (1, _) => Leaf::new::<Avx2, Widened<Sixteen, 2, 1>>(params),
        (_, 4) => Leaf::new::<Avx2, Widened<__m256i, 4, 2>>(params),
        (_, _) => Leaf::new::<Avx2, Widened<__m256i, 2, 4>>(params),
    }
}
