//! Dense pixels whose channels become rows of the destination: two levels of permutations between registers.
//!
//! What bounds it is how often the nearest cache is turned to. Windows of the source and vectors of the destination begin
//! anywhere, so either takes it twice, and none waits beside the others: every window is loaded once, for all channels.

use std::arch::x86_64::*;

use restride_moves::{ByteBox, Patch, Pixels};

use super::block::Blocks;
use super::side::at;
use crate::copy::LINE;
use crate::leaf::Leaf;
use crate::level::{Avx512, Body, Entry, entry};
use crate::nest::{Nest, walk};
use crate::vector::Vector;

/// What a patch has at most of pairs of windows, two by two.
const FOURS: usize = Patch::WINDOWS / 4;

#[repr(C, align(64))]
struct PixelsParams {
    /// From two windows to what their pixels have of one half of the channels, channel by channel.
    halves: [[u8; LINE]; 2],
    /// From two of these to what they have of the first channel,
    fours: [[u8; LINE]; FOURS],
    /// which are these bytes of a vector.
    masks: [u64; FOURS],
    /// From a channel to the next one of its half.
    channel: u8,
    /// The bytes of a window, and those of a vector.
    window: u64,
    vector: u64,
    windows: [isize; Patch::WINDOWS],
    /// Whether the last pair has but one.
    odd: bool,
    /// How many channels a half has, where the second half begins, and from one to the next.
    half: usize,
    second_half: isize,
    apart: isize,
    nest: Nest,
    /// How many steps the dimension has that is cut into patches, how many are moved at a time, and how far each goes.
    long: usize,
    together: usize,
    step: (isize, isize),
    /// From the first to the second patch of those that are moved together.
    second: (isize, isize),
}

/// So many pairs of windows a patch, and patches at a time.
struct Splitting<const PAIRS: usize, const PATCHES: usize>;

impl<const PAIRS: usize, const PATCHES: usize> Body for Splitting<PAIRS, PATCHES> {
    type Params = PixelsParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &PixelsParams) {
        let &PixelsParams {
            step,
            long,
            together,
            ..
        } = params;
        walk!(&params.nest, dst, src, |dst, src| {
            for first in Blocks::new(long, together) {
                let dst = at(dst, first, step.0, 0);
                let src = at(src.cast_mut(), first, step.1, 0);
                // SAFETY: the patches lie in the caller's box, and the body is run where AVX-512 is.
                unsafe { split::<PAIRS, PATCHES>(dst, src, params) }
            }
        });
    }
}

/// So many patches.
///
/// # Safety
/// They lie in the caller's box. It runs where AVX-512 is.
#[inline(always)]
unsafe fn split<const PAIRS: usize, const PATCHES: usize>(
    dst: *mut u8,
    src: *const u8,
    params: &PixelsParams,
) {
    // What the stores leave alone is not loaded again after them.
    let &PixelsParams {
        masks,
        vector: bytes,
        half,
        second_half,
        apart,
        second,
        odd,
        ..
    } = params;
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let table = |table: &[u8; LINE]| _mm512_load_si512(table.as_ptr().cast());
        let halves = [table(&params.halves[0]), table(&params.halves[1])];
        let mut held = [[[_mm512_setzero_si512(); PAIRS]; 2]; PATCHES];
        let mut from = src;
        for patch in &mut held {
            let window = |number: usize| {
                let from = from.wrapping_offset(params.windows[number]);
                _mm512_maskz_loadu_epi8(params.window, from.cast())
            };
            for pair in 0..PAIRS {
                let a = window(2 * pair);
                let b = match pair + 1 == PAIRS && odd {
                    true => a,
                    false => window(2 * pair + 1),
                };
                for (half, halves) in patch.iter_mut().zip(halves) {
                    half[pair] = _mm512_permutex2var_epi8(a, halves, b);
                }
            }
            from = from.wrapping_offset(second.1);
        }
        let mut fours = [_mm512_setzero_si512(); FOURS];
        for (four, bytes) in fours[..PAIRS.div_ceil(2)].iter_mut().zip(&params.fours) {
            *four = table(bytes);
        }
        let channel = _mm512_set1_epi8(params.channel as i8);
        let mut first = dst;
        for _ in 0..half {
            for (half, begin) in [0, second_half].into_iter().enumerate() {
                let mut to = first.wrapping_offset(begin);
                for (number, patch) in held.iter().enumerate() {
                    let vector = vector::<PAIRS>(&patch[half], fours, masks);
                    let narrow = _mm512_castsi512_si256(vector);
                    // What the first of two stores too much, the second one stores again.
                    match (bytes >> (LINE / 2) == 0, number + 1 < PATCHES) {
                        (true, true) => narrow.store(to),
                        (true, false) => _mm256_mask_storeu_epi8(to.cast(), bytes as u32, narrow),
                        (false, true) => vector.store(to),
                        (false, false) => _mm512_mask_storeu_epi8(to.cast(), bytes, vector),
                    }
                    to = to.wrapping_offset(second.0);
                }
            }
            for four in &mut fours[..PAIRS.div_ceil(2)] {
                *four = _mm512_add_epi8(*four, channel);
            }
            first = first.wrapping_offset(apart);
        }
    }
}

/// What all pairs of windows have of a channel.
///
/// # Safety
/// It runs where AVX-512 is.
#[inline(always)]
unsafe fn vector<const PAIRS: usize>(
    pairs: &[__m512i; PAIRS],
    fours: [__m512i; FOURS],
    masks: [u64; FOURS],
) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let mut vector = _mm512_permutex2var_epi8(pairs[0], fours[0], pairs[1]);
        for (number, pair) in pairs.chunks(2).enumerate().skip(1) {
            vector = match pair {
                [a, b] => {
                    let both = _mm512_permutex2var_epi8(*a, fours[number], *b);
                    _mm512_mask_mov_epi8(vector, masks[number], both)
                }
                _ => _mm512_mask_permutexvar_epi8(vector, masks[number], fours[number], pair[0]),
            };
        }
        vector
    }
}

/// Prepares it, if it is one of those that there are.
pub(crate) fn prepare(shape: &ByteBox, plan: &Pixels) -> Option<Leaf> {
    let (width, channels) = (shape.run, plan.channels.extent);
    let half = channels.div_ceil(2);
    let (of_window, of_pair) = (plan.window * width, 2 * plan.window * width);
    let bytes = || (0..of_window).map(|byte| (byte / width, byte % width, byte));
    let mut halves = [[0; LINE]; 2];
    for (table, first) in halves.iter_mut().zip([0, channels - half]) {
        for (channel, window) in (0..half).flat_map(|channel| [(channel, 0), (channel, 1)]) {
            for (pixel, byte, at) in bytes() {
                let from = window * LINE + pixel * plan.pitch + (first + channel) * width + byte;
                table[channel * of_pair + window * of_window + at] = from as u8;
            }
        }
    }
    let mut fours = [[0; LINE]; FOURS];
    let mut masks = [0; FOURS];
    let mut windows = [0; Patch::WINDOWS];
    for (number, (first, src)) in plan.windows.iter().enumerate() {
        windows[number] = *src;
        for (pixel, byte, from) in bytes() {
            // What two windows have is taken from the later one.
            let at = (first + pixel * plan.apart) * width + byte;
            let from = number / 2 % 2 * LINE + number % 2 * of_window + from;
            fours[number / 4][at] = from as u8;
            masks[number / 4] |= 1 << at;
        }
    }
    let step = (plan.long.dst, plan.long.src);
    let second = plan.patch.second;
    let apart = second.unwrap_or(0) as isize;
    let params = PixelsParams {
        halves,
        fours,
        masks,
        channel: of_pair as u8,
        window: u64::MAX >> (LINE - ((plan.window - 1) * plan.pitch + channels * width)),
        vector: u64::MAX >> (LINE - plan.patch.bytes),
        windows,
        odd: !plan.patch.windows.is_multiple_of(2),
        half,
        second_half: plan.channels.dst * (channels - half) as isize,
        apart: plan.channels.dst,
        nest: Nest::new(shape, (0, 0), &plan.outer),
        long: plan.long.extent,
        together: plan.patch.together(),
        step,
        second: (step.0 * apart, step.1 * apart),
    };
    let entry = match plan.patch.pairs() {
        2 => of_patches::<2>(second.is_some()),
        3 => of_patches::<3>(second.is_some()),
        4 => of_patches::<4>(second.is_some()),
        5 => of_patches::<5>(second.is_some()),
        6 => of_patches::<6>(second.is_some()),
        _ => return None,
    };
    Some(Leaf::at::<Splitting<2, 1>>(entry, params))
}

fn of_patches<const PAIRS: usize>(two: bool) -> Entry {
    match two {
        true => entry::<Avx512, Splitting<PAIRS, 2>>(),
        false => entry::<Avx512, Splitting<PAIRS, 1>>(),
    }
}
