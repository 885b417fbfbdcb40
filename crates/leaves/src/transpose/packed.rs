//! A transposition whose source steps: every second row of a matrix, read along its columns.
//!
//! The elements that are wanted are packed together first, a tile at a time on the stack, and the
//! tile is transposed from there.

use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use restride_moves::{ByteBox, Plane};

use super::block::{Apart, Blocks, Rect, at, rectangle};
use super::{TransposeParams, within};
use crate::lanes::Lanes;
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::walk;

/// Bytes of a packed row, and how many there are.
const ROW: usize = 128;
const ROWS: usize = 64;
/// Between packed rows, so that they fall into different sets.
const PITCH: usize = ROW + 16;

#[repr(C, align(64))]
struct Tile([MaybeUninit<u8>; ROWS * PITCH]);

pub(crate) struct PackedParams {
    /// The elements that are wanted, and their tiles.
    plane: TransposeParams,
    /// Bytes from one element of a row to the next.
    step: usize,
    windows: Windows,
}

/// Where the windows of sixteen packed bytes lie, and which bytes of each these are.
#[derive(Clone, Copy)]
struct Windows {
    count: usize,
    at: [usize; MOST],
    tables: [[u8; 16]; MOST],
}

/// As many windows as the longest step has elements, or one for each of sixteen packed bytes.
const MOST: usize = Plane::LONGEST_STEP;

impl Windows {
    /// Of elements of `width` bytes, `step` elements apart; windows that have none are left out. The
    /// last one ends with the last byte that is needed.
    fn new(width: usize, step: usize) -> Windows {
        let end = 16 * step - (step - 1) * width;
        let mut windows = Windows {
            count: 0,
            at: [0; MOST],
            tables: [[0x80; 16]; MOST],
        };
        for byte in 0..16 {
            let from = byte / width * width * step + byte % width;
            let start = (from / 16 * 16).min(end - 16);
            let known = windows.at[..windows.count].iter();
            let number = known.take_while(|at| **at != start).count();
            windows.at[number] = start;
            windows.count = windows.count.max(number + 1);
            windows.tables[number][byte] = (from - start) as u8;
        }
        windows
    }
}

struct Packed<V, const K: usize>(PhantomData<V>);

impl<V: Lanes, const K: usize> Body for Packed<V, K> {
    type Params = PackedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &PackedParams) {
        let mut tile = Tile([const { MaybeUninit::uninit() }; ROWS * PITCH]);
        let tile = tile.0.as_mut_ptr().cast::<u8>();
        let plane = &params.plane;
        let (rows, columns) = plane.tile;
        walk!(&plane.nest, dst, src, |dst, src| {
            for row in Blocks::new(plane.rows, rows) {
                let src = src.wrapping_add(row.wrapping_mul(params.step));
                for column in Blocks::new(plane.columns, columns) {
                    let mut from = at(src.cast_mut(), column, plane.src, 0).cast_const();
                    let mut to = tile;
                    let rect = Rect {
                        dst: Apart {
                            first: at(dst, row, plane.dst, column.wrapping_mul(16 / K)),
                            stride: plane.dst,
                        },
                        src: Apart {
                            first: tile,
                            stride: PITCH as isize,
                        },
                        rows,
                        columns,
                    };
                    // SAFETY: rows and columns lie in the caller's box, and no more of them in the
                    // tile than it has room for; there are `K` of each at least.
                    unsafe {
                        for _ in 0..columns {
                            pack::<K>(to, from, rows, params);
                            from = from.wrapping_offset(plane.src);
                            to = to.wrapping_add(PITCH);
                        }
                        rectangle::<V, K, false>(rect);
                    }
                }
            }
        });
    }
}

/// The elements of a row, next to each other.
///
/// # Safety
/// As many elements are readable, and writable without gaps; there are `K` at least. It runs where
/// bytes can be shuffled.
#[inline(always)]
unsafe fn pack<const K: usize>(dst: *mut u8, src: *const u8, rows: usize, params: &PackedParams) {
    let last = rows.wrapping_sub(K);
    let (mut to, mut from, mut row) = (dst, src, 0usize);
    loop {
        // SAFETY: the windows of `K` elements begin with the first of them and end with the last.
        unsafe {
            let mut lane = part(from, &params.windows, 0);
            for number in 1..params.windows.count {
                lane = _mm_or_si128(lane, part(from, &params.windows, number));
            }
            _mm_storeu_si128(to.cast(), lane);
        }
        if row == last {
            return;
        }
        let next = row.wrapping_add(K).min(last);
        let on = next.wrapping_sub(row);
        from = from.wrapping_add(on.wrapping_mul(params.step));
        to = to.wrapping_add(on.wrapping_mul(16 / K));
        row = next;
    }
}

/// What a window has of sixteen packed bytes.
///
/// # Safety
/// The window is readable.
#[inline(always)]
unsafe fn part(from: *const u8, windows: &Windows, number: usize) -> __m128i {
    // SAFETY: the caller's.
    unsafe {
        let window = _mm_loadu_si128(from.wrapping_add(windows.at[number]).cast());
        _mm_shuffle_epi8(
            window,
            _mm_loadu_si128(windows.tables[number].as_ptr().cast()),
        )
    }
}

/// Prepares a transposition whose rows step through the source.
pub(crate) fn prepare<L: Level>(shape: &ByteBox, plane: &Plane) -> Leaf {
    let width = shape.run;
    let tile = (
        within(plane.row.extent, ROW / width, plane.per_lane),
        within(plane.column.extent, ROWS, plane.per_lane),
    );
    let params = PackedParams {
        plane: TransposeParams::new(shape, plane, tile),
        step: plane.step * width,
        windows: Windows::new(width, plane.step),
    };
    fn of<L: Level, V: Lanes>(params: PackedParams, width: usize) -> Leaf {
        match width {
            1 => Leaf::new::<L, Packed<V, 16>>("packed", params),
            2 => Leaf::new::<L, Packed<V, 8>>("packed", params),
            4 => Leaf::new::<L, Packed<V, 4>>("packed", params),
            _ => Leaf::new::<L, Packed<V, 2>>("packed", params),
        }
    }
    match plane.lanes {
        1 => of::<L, crate::level::Sixteen>(params, width),
        _ => of::<L, L::Half>(params, width),
    }
}
