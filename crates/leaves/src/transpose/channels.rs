//! Ten to sixteen channels of bytes in dense rows, split or joined: a square of cells in registers.
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
    /// How many rows there are, and from one to the next.
    rows: usize,
    row: (isize, isize),
    /// How many channels there are, and from one to the next.
    channels: usize,
    channel: isize,
}

/// As many windows as a line has cells.
struct Square<const SPLITS: bool>;

impl<const SPLITS: bool> Body for Square<SPLITS> {
    type Params = ChannelsParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &ChannelsParams) {
        walk!(&params.nest, dst, src, |dst, src| {
            for row in Blocks::new(params.rows, LINE) {
                let dst = at(dst, row, params.row.0, 0);
                let src = at(src.cast_mut(), row, params.row.1, 0);
                // SAFETY: so many rows lie in the caller's box; the body is run where AVX-512 is.
                unsafe {
                    match SPLITS {
                        true => split(dst, src, params.channel, params),
                        false => join(dst, src, params.channel, params),
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
struct Stage([MaybeUninit<u8>; Channels::CELLS * PITCH]);

/// As [`Square`], several lines of each channel together.
struct Together<const SPLITS: bool>;

impl<const SPLITS: bool> Body for Together<SPLITS> {
    type Params = ChannelsParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &ChannelsParams) {
        let mut stage = Stage([const { MaybeUninit::uninit() }; Channels::CELLS * PITCH]);
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        walk!(&params.nest, dst, src, |dst, src| {
            for first in Blocks::new(params.rows, Channels::TOGETHER) {
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
                    for row in (0..Channels::TOGETHER).step_by(LINE) {
                        let stage = stage.wrapping_add(row);
                        match SPLITS {
                            true => {
                                let from = at(src, row, params.row.1, 0);
                                split(stage, from, PITCH as isize, params);
                            }
                            false => {
                                let to = at(dst, row, params.row.0, 0);
                                join(to, stage, PITCH as isize, params);
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

/// The lines of a square of cells, in groups.
type Groups = [[__m512i; 4]; 4];

/// The cells `i` of all lines as line `i`: number `i % 4` of group `i / 4`, as the lines were.
#[inline(always)]
fn crosswise(mut groups: Groups) -> Groups {
    for group in &mut groups {
        *group = transpose(*group);
    }
    for number in 0..4 {
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
unsafe fn split(dst: *mut u8, src: *const u8, apart: isize, params: &ChannelsParams) {
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let table = _mm512_load_si512(params.table.as_ptr().cast());
        let mut groups = [[_mm512_setzero_si512(); 4]; 4];
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
unsafe fn join(dst: *mut u8, src: *const u8, apart: isize, params: &ChannelsParams) {
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let table = _mm512_load_si512(params.table.as_ptr().cast());
        let mut groups = [[_mm512_setzero_si512(); 4]; 4];
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
            match number + 1 < Channels::CELLS {
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
    let channels = strip.short.extent;
    let window = Channels::ROWS * channels;
    let mut table = [0; LINE];
    for byte in 0..window {
        let (row, channel) = (byte / channels, byte % channels);
        let at = channel * Channels::ROWS + row;
        let (to, from) = if strip.splits { (at, byte) } else { (byte, at) };
        table[to] = from as u8;
    }
    let params = ChannelsParams {
        table,
        mask: u64::MAX >> (LINE - window),
        window,
        nest: Nest::new(shape, strip.start, &strip.outer),
        rows: strip.long.extent,
        row: (strip.long.dst, strip.long.src),
        channels,
        channel: strip.apart(),
    };
    match (plan.crowded, strip.splits) {
        (true, true) => Leaf::new::<Avx512, Together<true>>(params),
        (true, false) => Leaf::new::<Avx512, Together<false>>(params),
        (false, true) => Leaf::new::<Avx512, Square<true>>(params),
        (false, false) => Leaf::new::<Avx512, Square<false>>(params),
    }
}
