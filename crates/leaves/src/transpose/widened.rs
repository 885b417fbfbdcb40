//! A transposition of elements of three or six bytes, such as the pixels of an image.
//!
//! A tile of them is spread out on the stack to elements of four or eight bytes, transposed there,
//! and pressed together again on its way to the destination.

use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use restride_moves::{ByteBox, Plane, WIDENED_ROW};

use super::TransposeParams;
use super::block::{Blocks, InBlocks, Rect, rectangle};
use super::side::{Apart, at};
use crate::lanes::Lanes;
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::walk;

/// The rows of either tile, of elements of four bytes.
const ROWS: usize = WIDENED_ROW / 4;
/// Between rows, so that they fall into different sets.
const PITCH: usize = WIDENED_ROW + 16;

/// Bytes of elements that sixteen spread out bytes hold.
const HELD: usize = 12;

#[repr(C, align(64))]
struct Tile([MaybeUninit<u8>; ROWS * PITCH]);

impl Tile {
    #[inline(always)]
    fn new() -> Tile {
        Tile([const { MaybeUninit::uninit() }; ROWS * PITCH])
    }
}

type Table = [u8; 16];

pub(crate) struct WidenedParams {
    /// The transposition and its tiles.
    plane: TransposeParams,
    /// Rows before this one are followed by sixteen bytes of the tile's, columns before that one by as
    /// many of what is written.
    forward: usize,
    whole: usize,
    /// Spreads out the first bytes of sixteen, and the last.
    spread: [Table; 2],
    press: Table,
}

impl WidenedParams {
    /// Tables for elements of `width` bytes in cells of `cell`.
    fn tables(width: usize, cell: usize) -> ([Table; 2], Table) {
        let (mut spread, mut press) = ([[0x80; 16]; 2], [0x80; 16]);
        for (byte, pressed) in press[..HELD].iter_mut().enumerate() {
            let wide = byte / width * cell + byte % width;
            spread[0][wide] = byte as u8;
            spread[1][wide] = (byte + 16 - HELD) as u8;
            *pressed = wide as u8;
        }
        (spread, press)
    }
}

struct Widened<V, const K: usize>(PhantomData<V>);

impl<V: Lanes, const K: usize> Body for Widened<V, K> {
    type Params = WidenedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &WidenedParams) {
        let (mut before, mut after) = (Tile::new(), Tile::new());
        let before = before.0.as_mut_ptr().cast::<u8>();
        let after = after.0.as_mut_ptr().cast::<u8>();
        let width = HELD / K;
        let plane = &params.plane;
        let (rows, columns) = plane.tile;
        walk!(&plane.nest, dst, src, |dst, src| {
            for row in Blocks::new(plane.rows, rows) {
                let src = src.wrapping_add(row.wrapping_mul(width));
                for column in Blocks::new(plane.columns, columns) {
                    let mut from = at(src.cast_mut(), column, plane.src, 0).cast_const();
                    let mut to = at(dst, row, plane.dst, column.wrapping_mul(width));
                    let rect = Rect {
                        dst: Apart {
                            first: after,
                            stride: PITCH as isize,
                        },
                        src: Apart {
                            first: before,
                            stride: PITCH as isize,
                        },
                        rows,
                        columns,
                    };
                    // SAFETY: rows and columns lie in the caller's box, and no more of them in the
                    // tiles than there is room for; there are `K` of each at least, and sixteen bytes
                    // of a row.
                    unsafe {
                        let mut cells = before;
                        for _ in 0..columns {
                            spread::<K>(cells, from, rows, params);
                            from = from.wrapping_offset(plane.src);
                            cells = cells.wrapping_add(PITCH);
                        }
                        rectangle::<V, K, InBlocks>(rect);
                        let mut cells = after;
                        for _ in 0..rows {
                            press::<K>(to, cells, columns, params);
                            to = to.wrapping_offset(plane.dst);
                            cells = cells.wrapping_add(PITCH);
                        }
                    }
                }
            }
        });
    }
}

/// A row of elements, each in a cell.
///
/// # Safety
/// As many elements are readable, `K` and sixteen bytes at least; as many cells are writable. It runs
/// where bytes can be shuffled.
#[inline(always)]
unsafe fn spread<const K: usize>(dst: *mut u8, src: *const u8, rows: usize, p: &WidenedParams) {
    let last = rows.wrapping_sub(K);
    let (mut to, mut from, mut row) = (dst, src, 0usize);
    // SAFETY: what is read too much lies in the row: behind its elements, or before those at its end.
    unsafe {
        let table = _mm_loadu_si128(p.spread[0].as_ptr().cast());
        while row < p.forward {
            let cells = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), table);
            _mm_storeu_si128(to.cast(), cells);
            (to, from) = (to.wrapping_add(16), from.wrapping_add(HELD));
            row = row.wrapping_add(K);
        }
        let table = _mm_loadu_si128(p.spread[1].as_ptr().cast());
        loop {
            row = row.min(last);
            let from = src.wrapping_add(row.wrapping_mul(HELD / K));
            let from = from.wrapping_sub(16 - HELD);
            let cells = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), table);
            _mm_storeu_si128(dst.wrapping_add(row.wrapping_mul(16 / K)).cast(), cells);
            if row == last {
                return;
            }
            row = row.wrapping_add(K);
        }
    }
}

/// A row of cells, as elements next to each other.
///
/// # Safety
/// As many cells are readable, `K` at least; as many elements are writable. It runs where bytes can
/// be shuffled.
#[inline(always)]
unsafe fn press<const K: usize>(dst: *mut u8, src: *const u8, columns: usize, p: &WidenedParams) {
    let last = columns.wrapping_sub(K);
    let mut column = 0usize;
    // SAFETY: the caller's; what is stored too much is stored again.
    unsafe {
        let table = _mm_loadu_si128(p.press.as_ptr().cast());
        let (mut to, mut from) = (dst, src);
        while column < p.whole {
            let elements = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), table);
            _mm_storeu_si128(to.cast(), elements);
            (to, from) = (to.wrapping_add(HELD), from.wrapping_add(16));
            column = column.wrapping_add(K);
        }
        loop {
            column = column.min(last);
            let from = src.wrapping_add(column.wrapping_mul(16 / K));
            let elements = _mm_shuffle_epi8(_mm_loadu_si128(from.cast()), table);
            let to = dst.wrapping_add(column.wrapping_mul(HELD / K));
            _mm_storel_epi64(to.cast(), elements);
            let rest = _mm_cvtsi128_si32(_mm_srli_si128::<8>(elements));
            to.wrapping_add(8).cast::<i32>().write_unaligned(rest);
            if column == last {
                return;
            }
            column = column.wrapping_add(K);
        }
    }
}

/// Prepares a transposition of elements of three or six bytes.
pub(crate) fn prepare<L: Level>(shape: &ByteBox, plane: &Plane) -> Leaf {
    let width = shape.run;
    let (spread, press) = WidenedParams::tables(width, plane.cell);
    // Groups of `HELD` bytes that sixteen bytes begin with.
    let groups = |extent: usize| match (extent * width).checked_sub(16) {
        Some(more) => (more / HELD + 1) * plane.per_lane,
        None => 0,
    };
    let params = WidenedParams {
        plane: TransposeParams::new(shape, plane),
        forward: groups(plane.tile.0),
        whole: groups(plane.tile.1),
        spread,
        press,
    };
    fn of<L: Level, V: Lanes>(params: WidenedParams, cell: usize) -> Leaf {
        match cell {
            4 => Leaf::new::<L, Widened<V, 4>>(params),
            _ => Leaf::new::<L, Widened<V, 2>>(params),
        }
    }
    match plane.lanes {
        1 => of::<L, crate::level::Sixteen>(params, plane.cell),
        _ => of::<L, L::Half>(params, plane.cell),
    }
}
