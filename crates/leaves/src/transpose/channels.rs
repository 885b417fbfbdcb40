//! Five to sixteen channels of dense rows, split or joined: a square of cells in registers.
//!
//! Where lines of the channels share a few sets of the nearest cache, several of each channel are moved together, by
//! way of the stack.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use restride_moves::{ByteBox, Channels, pitch};

use super::block::Blocks;
use super::side::at;
use super::staged::leave;
use crate::copy::LINE;
use crate::lanes::{Lanes, transpose};
use crate::leaf::Leaf;
use crate::level::{Avx512, Body};
use crate::nest::{Nest, walk};
use crate::vector::Vector;

#[repr(C, align(64))]
struct ChannelsParams {
    /// From the rows of a window to its channels, or back.
    table: [u8; LINE],
    /// The bytes of a window.
    mask: u64,
    /// How many these are.
    window: usize,
    nest: Nest,
    /// How many rows there are, how many of them fill a line, and from one to the next.
    rows: usize,
    unit: usize,
    row: (isize, isize),
    /// How many channels there are, and from one to the next.
    channels: usize,
    channel: isize,
}

/// With `4 * K` cells in a line, and as many windows.
struct Square<const K: usize, const SPLITS: bool>;

impl<const K: usize, const SPLITS: bool> Body for Square<K, SPLITS> {
    type Params = ChannelsParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &ChannelsParams) {
        walk!(&params.nest, dst, src, |dst, src| {
            for row in Blocks::new(params.rows, params.unit) {
                let dst = dst.wrapping_offset(params.row.0.wrapping_mul(row as isize));
                let src = src.wrapping_offset(params.row.1.wrapping_mul(row as isize));
                // SAFETY: so many rows lie in the caller's box; the body is run where AVX-512 is.
                unsafe {
                    match SPLITS {
                        true => split::<K>(dst, src, params.channel, params),
                        false => join::<K>(dst, src, params.channel, params),
                    }
                }
            }
        });
    }
}

/// From one channel to the next on the stack.
const PITCH: usize = pitch(Channels::TOGETHER);

/// Several lines of up to sixteen channels.
#[repr(C, align(64))]
struct Stage([MaybeUninit<u8>; 16 * PITCH]);

/// As [`Square`], several lines of each channel together.
struct Together<const K: usize, const SPLITS: bool>;

impl<const K: usize, const SPLITS: bool> Body for Together<K, SPLITS> {
    type Params = ChannelsParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &ChannelsParams) {
        let mut stage = Stage([const { MaybeUninit::uninit() }; 16 * PITCH]);
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        let part = params.unit * (Channels::TOGETHER / LINE);
        walk!(&params.nest, dst, src, |dst, src| {
            for first in Blocks::new(params.rows, part) {
                let dst = at(dst, first, params.row.0, 0);
                let src = at(src.cast_mut(), first, params.row.1, 0);
                // SAFETY: so many rows lie in the caller's box, and the stage has room for their lines; the body is
                // run where AVX-512 is.
                unsafe {
                    if !SPLITS {
                        for channel in 0..params.channels {
                            let to = stage.wrapping_add(channel * PITCH);
                            let from = at(src, channel, params.channel, 0);
                            leave::<__m512i, false>(to, from, Channels::TOGETHER);
                        }
                    }
                    for row in 0..Channels::TOGETHER / LINE {
                        let (stage, row) = (stage.wrapping_add(row * LINE), row * params.unit);
                        match SPLITS {
                            true => {
                                let from = at(src, row, params.row.1, 0);
                                split::<K>(stage, from, PITCH as isize, params);
                            }
                            false => {
                                let to = at(dst, row, params.row.0, 0);
                                join::<K>(to, stage, PITCH as isize, params);
                            }
                        }
                    }
                    if SPLITS {
                        for channel in 0..params.channels {
                            let to = at(dst, channel, params.channel, 0);
                            let from = stage.wrapping_add(channel * PITCH);
                            leave::<__m512i, false>(to, from, Channels::TOGETHER);
                        }
                    }
                }
            }
        });
    }
}

/// The cells `i` of all lines as line `i`: number `i % K` of group `i / K`, as the lines were.
#[inline(always)]
fn crosswise<const K: usize>(mut groups: [[__m512i; K]; 4]) -> [[__m512i; K]; 4] {
    for group in &mut groups {
        *group = transpose(*group);
    }
    for number in 0..K {
        let [a, b, c, d] = &groups;
        let lines = Lanes::swap_lanes([a[number], b[number], c[number], d[number]]);
        for (group, line) in groups.iter_mut().zip(lines) {
            group[number] = line;
        }
    }
    groups
}

/// Whole lines of every channel, so many bytes apart, from as many windows as these have cells.
///
/// # Safety
/// The windows are readable, and the lines writable. It runs where AVX-512 is.
#[inline(always)]
unsafe fn split<const K: usize>(
    dst: *mut u8,
    src: *const u8,
    apart: isize,
    params: &ChannelsParams,
) {
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let table = _mm512_load_si512(params.table.as_ptr().cast());
        let mut groups = [[_mm512_setzero_si512(); K]; 4];
        let mut from = src;
        for window in groups.as_flattened_mut() {
            let rows = _mm512_maskz_loadu_epi8(params.mask, from.cast());
            *window = _mm512_permutexvar_epi8(table, rows);
            from = from.wrapping_add(params.window);
        }
        // A loop of as many turns as there are channels would keep the square in memory.
        let mut to = dst;
        for (channel, line) in crosswise(groups).as_flattened().iter().enumerate() {
            if channel < params.channels {
                line.store(to);
            }
            to = to.wrapping_offset(apart);
        }
    }
}

/// The way back.
///
/// # Safety
/// As [`split`].
#[inline(always)]
unsafe fn join<const K: usize>(
    dst: *mut u8,
    src: *const u8,
    apart: isize,
    params: &ChannelsParams,
) {
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let table = _mm512_load_si512(params.table.as_ptr().cast());
        let mut groups = [[_mm512_setzero_si512(); K]; 4];
        let mut from = src;
        for (channel, line) in groups.as_flattened_mut().iter_mut().enumerate() {
            if channel < params.channels {
                *line = Vector::load(from);
            }
            from = from.wrapping_offset(apart);
        }
        let mut to = dst;
        for (number, cells) in crosswise(groups).as_flattened().iter().enumerate() {
            let rows = _mm512_permutexvar_epi8(table, *cells);
            // What a window of half a line or more stores too much, the next one stores again.
            match number + 1 < 4 * K {
                true => rows.store(to),
                false => _mm512_mask_storeu_epi8(to.cast(), params.mask, rows),
            }
            to = to.wrapping_add(params.window);
        }
    }
}

/// Prepares it.
pub(crate) fn prepare(shape: &ByteBox, plan: &Channels) -> Leaf {
    let strip = &plan.strip;
    let (width, channels) = (shape.run, strip.short.extent);
    let window = plan.rows * channels * width;
    let cell = LINE / plan.cells;
    let mut table = [0; LINE];
    for byte in 0..window {
        let (element, byte_of) = (byte / width, byte % width);
        let (row, channel) = (element / channels, element % channels);
        let at = channel * cell + row * width + byte_of;
        let (to, from) = if strip.splits { (at, byte) } else { (byte, at) };
        table[to] = from as u8;
    }
    let params = ChannelsParams {
        table,
        mask: u64::MAX >> (LINE - window),
        window,
        nest: Nest::new(shape, strip.start, &strip.outer),
        rows: strip.long.extent,
        unit: LINE / width,
        row: (strip.long.dst, strip.long.src),
        channels,
        channel: strip.apart(),
    };
    match (plan.cells, strip.splits) {
        (8, true) => of::<2, true>(params, plan.crowded),
        (8, false) => of::<2, false>(params, plan.crowded),
        (_, true) => of::<4, true>(params, plan.crowded),
        (_, false) => of::<4, false>(params, plan.crowded),
    }
}

fn of<const K: usize, const SPLITS: bool>(params: ChannelsParams, crowded: bool) -> Leaf {
    match crowded {
        true => Leaf::new::<Avx512, Together<K, SPLITS>>(params),
        false => Leaf::new::<Avx512, Square<K, SPLITS>>(params),
    }
}
