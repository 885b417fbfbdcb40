//! Elements whose width is no power of two, in squares that fill lines: each step towards the
//! transposition is a permutation of the bytes of two lines, whatever the width.

use std::arch::x86_64::*;

use restride_moves::{ByteBox, Squares};

use super::TransposeParams;
use super::block::Blocks;
use super::side::at;
use crate::copy::LINE;
use crate::leaf::Leaf;
use crate::level::{Avx512, Body};
use crate::nest::walk;
use crate::vector::Vector;

/// From two lines to those two with a square of their elements exchanged.
type Exchange = [[u8; LINE]; 2];

#[repr(C, align(64))]
struct SquaresParams<const STEPS: usize> {
    exchanges: [Exchange; STEPS],
    /// The bytes of a row and of a column of a tile.
    load: u64,
    store: u64,
    width: usize,
    /// Columns before this one are followed by a line of others.
    whole: usize,
    plane: TransposeParams,
}

/// `SIDE` elements squared, in `STEPS` steps. `FULL`: there is room for a square.
struct OddSquares<const SIDE: usize, const STEPS: usize, const FULL: bool>;

impl<const SIDE: usize, const STEPS: usize, const FULL: bool> Body
    for OddSquares<SIDE, STEPS, FULL>
{
    type Params = SquaresParams<STEPS>;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &SquaresParams<STEPS>) {
        let plane = &params.plane;
        let (rows, columns) = tile::<SIDE, FULL>(plane);
        walk!(&plane.nest, dst, src, |dst, src| {
            for row in Blocks::new(plane.rows, rows) {
                let src = src.wrapping_add(row.wrapping_mul(params.width));
                for column in Blocks::new(plane.columns, columns) {
                    let from = at(src.cast_mut(), column, plane.src, 0).cast_const();
                    let to = at(dst, row, plane.dst, column.wrapping_mul(params.width));
                    // SAFETY: so many rows and columns lie in the caller's box; what is stored too
                    // much lies in its rows. The body is run where AVX-512 is.
                    unsafe {
                        match column < params.whole {
                            true => square::<SIDE, STEPS, FULL, true>(to, from, params),
                            false => square::<SIDE, STEPS, FULL, false>(to, from, params),
                        }
                    }
                }
            }
        });
    }
}

/// Rows and columns of a tile, which the compiler knows of a square.
#[inline(always)]
fn tile<const SIDE: usize, const FULL: bool>(plane: &TransposeParams) -> (usize, usize) {
    match FULL {
        true => (SIDE, SIDE),
        false => plane.tile,
    }
}

/// A square, or what there is of one. `WHOLE`: whole lines are stored, of which the next square
/// stores the rest again.
///
/// # Safety
/// The elements are readable, and their places writable, if `WHOLE` those of whole lines. It runs
/// where AVX-512 is.
#[inline(always)]
unsafe fn square<const SIDE: usize, const STEPS: usize, const FULL: bool, const WHOLE: bool>(
    dst: *mut u8,
    src: *const u8,
    params: &SquaresParams<STEPS>,
) {
    let (rows, columns) = tile::<SIDE, FULL>(&params.plane);
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let mut lines = [_mm512_setzero_si512(); SIDE];
        let mut from = src;
        for (column, line) in lines.iter_mut().enumerate() {
            if column < columns {
                *line = _mm512_maskz_loadu_epi8(params.load, from.cast());
            }
            from = from.wrapping_offset(params.plane.src);
        }
        for (step, [low, high]) in params.exchanges.iter().enumerate() {
            let low = _mm512_load_si512(low.as_ptr().cast());
            let high = _mm512_load_si512(high.as_ptr().cast());
            for number in (0..SIDE).filter(|number| number >> step & 1 == 0) {
                let (a, b) = (lines[number], lines[number | 1 << step]);
                lines[number] = _mm512_permutex2var_epi8(a, low, b);
                lines[number | 1 << step] = _mm512_permutex2var_epi8(a, high, b);
            }
        }
        let mut to = dst;
        for (row, line) in lines.into_iter().enumerate() {
            if row < rows {
                match WHOLE {
                    true => line.store(to),
                    false => _mm512_mask_storeu_epi8(to.cast(), params.store, line),
                }
            }
            to = to.wrapping_offset(params.plane.dst);
        }
    }
}

/// What exchanges squares of so many elements of `width` bytes.
fn exchange(side: usize, square: usize, width: usize) -> Exchange {
    let mut tables = [[0; LINE]; 2];
    let [low, high] = &mut tables;
    let bytes = low.iter_mut().zip(high).take(side * width);
    for (byte, (low, high)) in (0u8..).zip(bytes) {
        let (second, other) = (byte + LINE as u8, (square * width) as u8);
        // Of the first line the elements before the square stay, and those of the second behind it.
        (*low, *high) = match (usize::from(byte) / width) & square {
            0 => (byte, byte + other),
            _ => (second - other, second),
        };
    }
    tables
}

/// Prepares it.
pub(crate) fn prepare(shape: &ByteBox, plan: &Squares) -> Leaf {
    fn of<const SIDE: usize, const STEPS: usize>(shape: &ByteBox, plan: &Squares) -> Leaf {
        let width = shape.run;
        let tile = (plan.row.extent.min(SIDE), plan.column.extent.min(SIDE));
        let mask = |elements: usize| u64::MAX >> (LINE - elements * width);
        let params = SquaresParams {
            exchanges: std::array::from_fn(|step| exchange(SIDE, 1 << step, width)),
            load: mask(tile.0),
            store: mask(tile.1),
            width,
            whole: (plan.column.extent + 1).saturating_sub(LINE.div_ceil(width)),
            plane: TransposeParams {
                nest: crate::nest::Nest::new(shape, plan.start, &plan.outer),
                rows: plan.row.extent,
                dst: plan.row.dst,
                columns: plan.column.extent,
                src: plan.column.src,
                along: shape.run,
                tile,
            },
        };
        match tile == (SIDE, SIDE) {
            true => Leaf::new::<Avx512, OddSquares<SIDE, STEPS, true>>(params),
            false => Leaf::new::<Avx512, OddSquares<SIDE, STEPS, false>>(params),
        }
    }
    match plan.side {
        16 => of::<16, 4>(shape, plan),
        8 => of::<8, 3>(shape, plan),
        _ => of::<4, 2>(shape, plan),
    }
}
