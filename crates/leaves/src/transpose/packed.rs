//! A transposition whose source steps: every second row of a matrix, read along its columns.
//!
//! The elements that are wanted are packed together first, a tile at a time on the stack, and the
//! tile is transposed from there. So every line of the source is visited once, whatever the distance
//! of its rows.

use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use restride_moves::{ByteBox, PACKED_ROW, Plane};

use super::TransposeParams;
use super::block::{Blocks, InBlocks, Rect, rectangle, store_square};
use super::side::{Apart, at};
use crate::copy::LINE;
use crate::lanes::Lanes;
use crate::leaf::Leaf;
use crate::level::{Avx512, Body, Level};
use crate::nest::walk;
use crate::vector::Vector;

/// Bytes from one packed row to the next: more than it has, so that they fall into different sets.
const PITCH: usize = PACKED_ROW + 16;

#[repr(C, align(64))]
struct Tile([MaybeUninit<u8>; LINE * PITCH]);

pub(crate) struct PackedParams<W> {
    /// The elements that are wanted, and their tiles.
    plane: TransposeParams,
    windows: W,
}

/// As many windows as the longest step has elements, or one for each of the packed bytes.
const MOST: usize = Plane::LONGEST_STEP;

/// Where the windows of `SIZE` packed bytes lie, and which bytes of each these are.
#[derive(Clone, Copy)]
struct Windows<const SIZE: usize> {
    count: usize,
    at: [usize; MOST],
    tables: [[u8; SIZE]; MOST],
}

/// A byte of a table that is another window's.
const NONE: u8 = 0x80;

impl<const SIZE: usize> Windows<SIZE> {
    /// Of elements of `width` bytes, `step` elements apart; windows that have none are left out. The
    /// last one ends with the last byte that is needed.
    fn new(width: usize, step: usize) -> Self {
        let end = SIZE * step - (step - 1) * width;
        let mut windows = Windows {
            count: 0,
            at: [0; MOST],
            tables: [[NONE; SIZE]; MOST],
        };
        for byte in 0..SIZE {
            let from = byte / width * width * step + byte % width;
            let start = (from / SIZE * SIZE).min(end - SIZE);
            let known = windows.at[..windows.count].iter();
            let number = known.take_while(|at| **at != start).count();
            windows.at[number] = start;
            windows.count = windows.count.max(number + 1);
            windows.tables[number][byte] = (from - start) as u8;
        }
        windows
    }
}

/// How elements that step are brought together.
trait Packer: Send + Sync + 'static {
    /// The lanes of sixteen bytes that are packed at a time.
    const LANES: usize;

    /// Packs so many.
    ///
    /// # Safety
    /// What the windows are of is readable, and the lanes writable. It runs where bytes can be shuffled,
    /// those of a pair of lines if there are more lanes than one.
    unsafe fn pack(&self, to: *mut u8, from: *const u8);
}

impl Packer for Windows<16> {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn pack(&self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller's.
        unsafe {
            let mut lane = part(from, self, 0);
            for number in 1..self.count {
                lane = _mm_or_si128(lane, part(from, self, number));
            }
            _mm_storeu_si128(to.cast(), lane);
        }
    }
}

/// Windows of lines, two at a time: `MANY`, or some number.
struct Pairs<const MANY: usize> {
    count: usize,
    pairs: [Pair; MANY],
}

/// As many as there may be.
const ANY: usize = MOST / 2;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Pair {
    table: [u8; LINE],
    at: [usize; 2],
    /// Which bytes are of these two.
    bytes: u64,
}

impl<const MANY: usize> Pairs<MANY> {
    fn new(width: usize, step: usize) -> Self {
        let windows = Windows::<LINE>::new(width, step);
        let none = Pair {
            table: [0; LINE],
            at: [0; 2],
            bytes: 0,
        };
        let mut pairs = [none; MANY];
        for (number, table) in windows.tables[..windows.count].iter().enumerate() {
            let (pair, second) = (&mut pairs[number / 2], number % 2);
            // One that has no other is its own.
            pair.at[second..].fill(windows.at[number]);
            for (byte, &from) in table.iter().enumerate().filter(|(_, from)| **from != NONE) {
                pair.table[byte] = from + (second * LINE) as u8;
                pair.bytes |= 1 << byte;
            }
        }
        Pairs {
            count: windows.count.div_ceil(2),
            pairs,
        }
    }
}

impl Pair {
    /// What is of these two.
    ///
    /// # Safety
    /// The windows are readable, and AVX-512 is there.
    #[inline(always)]
    unsafe fn part(&self, from: *const u8) -> __m512i {
        // SAFETY: the caller's; tables are aligned.
        unsafe {
            let table = _mm512_load_si512(self.table.as_ptr().cast());
            let low = _mm512_loadu_si512(from.wrapping_add(self.at[0]).cast());
            let high = _mm512_loadu_si512(from.wrapping_add(self.at[1]).cast());
            _mm512_maskz_permutex2var_epi8(self.bytes, low, table, high)
        }
    }
}

impl<const MANY: usize> Pairs<MANY> {
    /// # Safety
    /// The windows are readable, and AVX-512 is there.
    #[inline(always)]
    unsafe fn line(&self, from: *const u8) -> __m512i {
        let count = if MANY == ANY { self.count } else { MANY };
        // SAFETY: the caller's.
        unsafe {
            let mut line = self.pairs[0].part(from);
            for pair in &self.pairs[1..count] {
                line = _mm512_or_si512(line, pair.part(from));
            }
            line
        }
    }
}

impl<const MANY: usize> Packer for Pairs<MANY> {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn pack(&self, to: *mut u8, from: *const u8) {
        // SAFETY: the caller's.
        unsafe { self.line(from).store(to) }
    }
}

/// Squares of wide elements that a few pairs of lines have: they are packed in registers and stay there.
struct PackedSquares<const K: usize, const PAIRS: usize>;

impl<const K: usize, const PAIRS: usize> Body for PackedSquares<K, PAIRS> {
    type Params = PackedParams<Pairs<PAIRS>>;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &PackedParams<Pairs<PAIRS>>) {
        let plane = &params.plane;
        let (side, width) = (4 * K, 16 / K);
        let (rows, columns) = plane.tile;
        walk!(&plane.nest, dst, src, |dst, src| {
            for tile in Blocks::new(plane.rows, rows) {
                for column in Blocks::new(plane.columns, columns) {
                    for row in Blocks::new(rows, side) {
                        let row = tile.wrapping_add(row);
                        let mut from = at(src.cast_mut(), column, plane.src, row * plane.along);
                        let mut groups = [[<__m512i as Vector>::splat(0); K]; 4];
                        for line in groups.as_flattened_mut() {
                            // SAFETY: the elements of a row lie in the box, from the first to the last of the windows.
                            unsafe { *line = params.windows.line(from) }
                            from = from.wrapping_offset(plane.src);
                        }
                        let to = Apart::new(at(dst, row, plane.dst, column * width), plane.dst);
                        // SAFETY: the square lies in the box.
                        unsafe { store_square(to, groups) }
                    }
                }
            }
        });
    }
}

struct Packed<V, W, const K: usize>(PhantomData<(V, W)>);

impl<V: Lanes, W: Packer, const K: usize> Body for Packed<V, W, K> {
    type Params = PackedParams<W>;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &PackedParams<W>) {
        let mut tile = Tile([const { MaybeUninit::uninit() }; LINE * PITCH]);
        let tile = tile.0.as_mut_ptr().cast::<u8>();
        let plane = &params.plane;
        let (rows, columns) = plane.tile;
        walk!(&plane.nest, dst, src, |dst, src| {
            for row in Blocks::new(plane.rows, rows) {
                let src = src.wrapping_add(row.wrapping_mul(plane.along));
                for column in Blocks::new(plane.columns, columns) {
                    let mut from = at(src.cast_mut(), column, plane.src, 0).cast_const();
                    let mut to = tile;
                    let rect = Rect {
                        dst: Apart::new(
                            at(dst, row, plane.dst, column.wrapping_mul(16 / K)),
                            plane.dst,
                        ),
                        src: Apart::new(tile, PITCH as isize),
                        rows,
                        columns,
                    };
                    // SAFETY: rows and columns lie in the caller's box, and no more of them in the
                    // tile than it has room for; there are `K` of each at least.
                    unsafe {
                        for _ in 0..columns {
                            pack::<W, K>(to, from, rows, params);
                            from = from.wrapping_offset(plane.src);
                            to = to.wrapping_add(PITCH);
                        }
                        rectangle::<V, K, InBlocks>(rect);
                    }
                }
            }
        });
    }
}

/// The elements of a row, next to each other.
///
/// # Safety
/// As many elements are readable, and writable without gaps; there are as many at least as are packed
/// at a time. It runs where the packer does.
#[inline(always)]
unsafe fn pack<W: Packer, const K: usize>(
    dst: *mut u8,
    src: *const u8,
    rows: usize,
    params: &PackedParams<W>,
) {
    let unit = W::LANES * K;
    let last = rows.wrapping_sub(unit);
    let (mut to, mut from, mut row) = (dst, src, 0usize);
    loop {
        // SAFETY: windows begin with the first element of a unit and end with the last.
        unsafe { params.windows.pack(to, from) };
        if row == last {
            return;
        }
        let next = row.wrapping_add(unit).min(last);
        let on = next.wrapping_sub(row);
        from = from.wrapping_add(on.wrapping_mul(params.plane.along));
        to = to.wrapping_add(on.wrapping_mul(16 / K));
        row = next;
    }
}

/// What a window has of sixteen packed bytes.
///
/// # Safety
/// The window is readable.
#[inline(always)]
unsafe fn part(from: *const u8, windows: &Windows<16>, number: usize) -> __m128i {
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
    let (width, step) = (shape.run, plane.step);
    match (plane.packed_squares(), plane.packed) {
        (Some(1), _) => squares::<1>(shape, plane),
        (Some(2), _) => squares::<2>(shape, plane),
        (Some(_), _) => squares::<3>(shape, plane),
        (None, LINE) => match plane.pairs() {
            1 => of_lanes::<Avx512, _>(shape, plane, Pairs::<1>::new(width, step)),
            2 => of_lanes::<Avx512, _>(shape, plane, Pairs::<2>::new(width, step)),
            3 => of_lanes::<Avx512, _>(shape, plane, Pairs::<3>::new(width, step)),
            _ => of_lanes::<Avx512, _>(shape, plane, Pairs::<ANY>::new(width, step)),
        },
        (None, _) => of_lanes::<L, _>(shape, plane, Windows::<16>::new(width, step)),
    }
}

fn squares<const PAIRS: usize>(shape: &ByteBox, plane: &Plane) -> Leaf {
    let width = shape.run;
    let params = PackedParams {
        plane: TransposeParams::new(shape, plane),
        windows: Pairs::new(width, plane.step),
    };
    match width {
        4 => Leaf::new::<Avx512, PackedSquares<4, PAIRS>>(params),
        _ => Leaf::new::<Avx512, PackedSquares<2, PAIRS>>(params),
    }
}

fn of_lanes<L: Level, W: Packer>(shape: &ByteBox, plane: &Plane, windows: W) -> Leaf {
    let width = shape.run;
    let params = PackedParams {
        plane: TransposeParams::new(shape, plane),
        windows,
    };
    match plane.lanes {
        1 => of_width::<L, crate::level::Sixteen, W>(params, width),
        2 => of_width::<L, L::Half, W>(params, width),
        _ => of_width::<L, L::Wide, W>(params, width),
    }
}

fn of_width<L: Level, V: Lanes, W: Packer>(params: PackedParams<W>, width: usize) -> Leaf {
    match width {
        1 => Leaf::new::<L, Packed<V, W, 16>>(params),
        2 => Leaf::new::<L, Packed<V, W, 8>>(params),
        4 => Leaf::new::<L, Packed<V, W, 4>>(params),
        _ => Leaf::new::<L, Packed<V, W, 2>>(params),
    }
}
