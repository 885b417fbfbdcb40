//! A few channels of dense rows, split or joined by blends of vectors and shuffles within their lanes.

use std::arch::x86_64::*;

use restride_moves::{Blended, ByteBox};

use super::block::Blocks;
use super::side::at;
use crate::lanes::{Lanes, transpose};
use crate::leaf::Leaf;
use crate::level::{Avx2, Body};
use crate::nest::{Nest, walk};
use crate::vector::Vector;

/// A lane.
const LANE: usize = Blended::LANE;
/// As many channels as a strip has at most.
const MOST: usize = 16;
/// As many bits as the number of a lane has.
const BITS: usize = 4;

/// The same for either lane of a vector.
type Table = [[u8; LANE]; 2];

#[repr(C, align(64))]
struct BlendedParams {
    /// Which bytes each blend takes from another lane.
    masks: [Table; BITS],
    /// The order of the bytes of a lane that has those of one channel, or of a few.
    orders: [Table; MOST],
    /// Where the lanes lie that are blended, of which one begins with the first of the channels, the next with the second.
    places: [usize; MOST],
    nest: Nest,
    /// How many rows there are, how many are moved at a time, and from one to the next.
    rows: usize,
    unit: usize,
    row: (isize, isize),
    /// From one channel to the next.
    channel: isize,
}

/// What all rows take, in registers as far as there are any.
struct Held<const ODD: usize> {
    masks: [__m256i; BITS],
    orders: [__m256i; ODD],
    places: [usize; ODD],
    channel: isize,
}

impl<const ODD: usize> Held<ODD> {
    /// # Safety
    /// It runs where AVX2 is.
    #[inline(always)]
    unsafe fn new(params: &BlendedParams) -> Self {
        // SAFETY: tables are aligned.
        let table = |table: &Table| unsafe { _mm256_load_si256(table.as_ptr().cast()) };
        Held {
            masks: std::array::from_fn(|bit| table(&params.masks[bit])),
            orders: std::array::from_fn(|number| table(&params.orders[number])),
            places: std::array::from_fn(|number| params.places[number]),
            channel: params.channel,
        }
    }

    /// Every element to the lane that is as many lanes on as it has elements before it, or back from there.
    ///
    /// # Safety
    /// It runs where AVX2 is.
    #[inline(always)]
    unsafe fn turn<const ON: bool>(&self, mut lanes: [__m256i; ODD]) -> [__m256i; ODD] {
        let mut far = 1;
        for mask in self.masks {
            if far >= ODD {
                break;
            }
            let before = lanes;
            for (at, lane) in lanes.iter_mut().enumerate() {
                let from = at + if ON { ODD - far } else { far };
                // SAFETY: the caller's.
                *lane = unsafe { _mm256_blendv_epi8(*lane, before[from % ODD], mask) };
            }
            far *= 2;
        }
        lanes
    }

    /// A vector of every channel, of so many times as many.
    ///
    /// # Safety
    /// As many rows are readable as a vector has elements, and the vectors writable. It runs where AVX2 is.
    #[inline(always)]
    unsafe fn split<const EVEN: usize>(&self, dst: *mut u8, src: *const u8) {
        // SAFETY: the caller's.
        unsafe {
            let mut all = [[_mm256_setzero_si256(); EVEN]; ODD];
            for part in 0..EVEN {
                let from = src.wrapping_add(part * ODD * LANE);
                let mut lanes = self.orders;
                for (lane, place) in lanes.iter_mut().zip(self.places) {
                    let from = from.wrapping_add(place);
                    let second = from.wrapping_add(EVEN * ODD * LANE);
                    *lane = Lanes::load_lanes([from, second, from, from]);
                }
                let lanes = self.turn::<true>(lanes);
                for (number, lane) in lanes.into_iter().enumerate() {
                    all[number][part] = _mm256_shuffle_epi8(lane, self.orders[number]);
                }
            }
            let mut to = dst;
            for group in all {
                for channel in transpose(group) {
                    channel.store(to);
                    to = to.wrapping_offset(self.channel);
                }
            }
        }
    }

    /// The way back.
    ///
    /// # Safety
    /// As [`Held::split`].
    #[inline(always)]
    unsafe fn join<const EVEN: usize>(&self, dst: *mut u8, src: *const u8) {
        // SAFETY: the caller's.
        unsafe {
            let mut all = [[_mm256_setzero_si256(); EVEN]; ODD];
            let mut from = src;
            for group in &mut all {
                for channel in group.iter_mut() {
                    *channel = Vector::load(from);
                    from = from.wrapping_offset(self.channel);
                }
                *group = transpose(*group);
            }
            for part in 0..EVEN {
                let to = dst.wrapping_add(part * ODD * LANE);
                let mut lanes = self.orders;
                for (lane, group) in lanes.iter_mut().zip(&all) {
                    *lane = _mm256_shuffle_epi8(group[part], *lane);
                }
                let lanes = self.turn::<false>(lanes);
                for (lane, place) in lanes.into_iter().zip(self.places) {
                    let to = to.wrapping_add(place);
                    let second = to.wrapping_add(EVEN * ODD * LANE);
                    lane.store_lanes([to, second, to, to]);
                }
            }
        }
    }
}

/// So many times so many channels.
struct Blending<const ODD: usize, const EVEN: usize, const SPLITS: bool>;

impl<const ODD: usize, const EVEN: usize, const SPLITS: bool> Body for Blending<ODD, EVEN, SPLITS> {
    type Params = BlendedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &BlendedParams) {
        // SAFETY: the body is run where AVX2 is.
        let held = unsafe { Held::<ODD>::new(params) };
        let &BlendedParams {
            rows, unit, row, ..
        } = params;
        walk!(&params.nest, dst, src, |dst, src| {
            for first in Blocks::new(rows, unit) {
                let to = at(dst, first, row.0, 0);
                let from = at(src.cast_mut(), first, row.1, 0);
                // SAFETY: so many rows lie in the caller's box; the body is run where AVX2 is.
                unsafe {
                    match SPLITS {
                        true => held.split::<EVEN>(to, from),
                        false => held.join::<EVEN>(to, from),
                    }
                }
            }
        });
    }
}

/// Prepares it.
pub(crate) fn prepare(shape: &ByteBox, plan: &Blended) -> Leaf {
    let &Blended {
        ref strip,
        odd,
        even,
    } = plan;
    // Elements are as wide as that where their number is odd.
    let (narrow, width) = (shape.run, shape.run * even);
    let elements = LANE / width;
    let mut masks = [[[0; LANE]; 2]; BITS];
    for (bit, mask) in masks.iter_mut().enumerate() {
        let takes = |byte: usize| byte / width % odd >> bit & 1 == 1;
        *mask = [std::array::from_fn(|byte| if takes(byte) { 0xff } else { 0 }); 2];
    }
    let mut orders = [[[0; LANE]; 2]; MOST];
    for (number, order) in orders[..odd].iter_mut().enumerate() {
        for byte in 0..LANE {
            let (part, element, of) = (
                byte / (LANE / even),
                byte / narrow % elements,
                byte % narrow,
            );
            let blended = (element * odd + number) % elements * width + part * narrow + of;
            let (to, from) = match strip.splits {
                true => (byte, blended),
                false => (blended, byte),
            };
            order.iter_mut().for_each(|lane| lane[to] = from as u8);
        }
    }
    let mut places = [0; MOST];
    for lane in 0..odd {
        places[lane * elements % odd] = lane * LANE;
    }
    let params = BlendedParams {
        masks,
        orders,
        places,
        nest: Nest::new(shape, strip.start, &strip.outer),
        rows: strip.long.extent,
        unit: 2 * LANE / narrow,
        row: (strip.long.dst, strip.long.src),
        channel: strip.apart(),
    };
    match strip.splits {
        true => of::<true>(params, odd, even),
        false => of::<false>(params, odd, even),
    }
}

fn of<const SPLITS: bool>(params: BlendedParams, odd: usize, even: usize) -> Leaf {
    match (odd, even) {
        (1, 2) => Leaf::new::<Avx2, Blending<1, 2, SPLITS>>(params),
        (1, 4) => Leaf::new::<Avx2, Blending<1, 4, SPLITS>>(params),
        (1, _) => Leaf::new::<Avx2, Blending<1, 8, SPLITS>>(params),
        (3, 1) => Leaf::new::<Avx2, Blending<3, 1, SPLITS>>(params),
        (3, 2) => Leaf::new::<Avx2, Blending<3, 2, SPLITS>>(params),
        (3, _) => Leaf::new::<Avx2, Blending<3, 4, SPLITS>>(params),
        (5, 1) => Leaf::new::<Avx2, Blending<5, 1, SPLITS>>(params),
        (5, _) => Leaf::new::<Avx2, Blending<5, 2, SPLITS>>(params),
        (7, 1) => Leaf::new::<Avx2, Blending<7, 1, SPLITS>>(params),
        (7, _) => Leaf::new::<Avx2, Blending<7, 2, SPLITS>>(params),
        (9, _) => Leaf::new::<Avx2, Blending<9, 1, SPLITS>>(params),
        (11, _) => Leaf::new::<Avx2, Blending<11, 1, SPLITS>>(params),
        (13, _) => Leaf::new::<Avx2, Blending<13, 1, SPLITS>>(params),
        _ => Leaf::new::<Avx2, Blending<15, 1, SPLITS>>(params),
    }
}
