//! A few channels of dense rows, split, joined or one of them taken, by blends of vectors and shuffles within their lanes.

use std::arch::x86_64::*;

use restride_moves::{Blended, ByteBox};

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
type BothLanes = [[u8; LANE]; 2];

#[repr(C, align(64))]
struct BlendedParams {
    /// Which bytes each blend takes from another lane.
    masks: [BothLanes; BITS],
    /// The order of the bytes of a lane that has those of one channel, or of a few.
    orders: [BothLanes; MOST],
    /// Where the lanes lie that are blended, of which one begins with the first of the channels, the next with the second.
    places: [usize; MOST],
    nest: Nest,
    /// How many rows there are, how many are moved at a time, and from one to the next.
    rows: usize,
    unit: usize,
    row: (isize, isize),
    /// From one channel to the next, and how many there are.
    channel: isize,
    channels: usize,
    /// From the first to the last of the rows that are moved together, in the source.
    last: isize,
    /// How wide elements are, and where the source ends, from the caller's address: of some of the channels, vectors hold more.
    width: usize,
    end: isize,
}

/// What all rows take, in registers as far as there are any.
struct Blends<const ODD: usize> {
    masks: [__m256i; BITS],
    orders: [__m256i; ODD],
    places: [usize; ODD],
    channel: isize,
    channels: usize,
    last: isize,
}

impl<const ODD: usize> Blends<ODD> {
    /// # Safety
    /// It runs where AVX2 is.
    #[inline(always)]
    unsafe fn new(params: &BlendedParams) -> Self {
        // SAFETY: tables are aligned.
        let table = |table: &BothLanes| unsafe { _mm256_load_si256(table.as_ptr().cast()) };
        Blends {
            masks: std::array::from_fn(|bit| table(&params.masks[bit])),
            orders: std::array::from_fn(|number| table(&params.orders[number])),
            places: std::array::from_fn(|number| params.places[number]),
            channel: params.channel,
            channels: params.channels,
            last: params.last,
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

    /// A vector of every channel, of so many times as many, or of some.
    ///
    /// # Safety
    /// As many rows of all channels are readable as a vector has elements, and the vectors writable. It runs where AVX2 is.
    #[inline(always)]
    unsafe fn split<const EVEN: usize, const TAKEN: u8>(&self, dst: *mut u8, src: *const u8) {
        // SAFETY: the caller's.
        unsafe {
            let mut all = [[_mm256_setzero_si256(); EVEN]; ODD];
            #[expect(
                clippy::needless_range_loop,
                reason = "a part is a column of all groups"
            )]
            for part in 0..EVEN {
                // Rows that go backwards begin with the last of them in memory, and so do lanes.
                let at = |part: usize| match TAKEN {
                    BACK => {
                        let lane = src.wrapping_add((2 * EVEN - 1 - part) * ODD * LANE);
                        lane.wrapping_offset(self.last)
                    }
                    _ => src.wrapping_add(part * ODD * LANE),
                };
                let mut lanes = self.orders;
                for (lane, place) in lanes.iter_mut().zip(self.places) {
                    let first = at(part).wrapping_add(place);
                    let second = at(part + EVEN).wrapping_add(place);
                    *lane = Lanes::load_lanes([first, second, first, first]);
                }
                let lanes = self.turn::<true>(lanes);
                for (number, lane) in lanes.into_iter().enumerate() {
                    all[number][part] = _mm256_shuffle_epi8(lane, self.orders[number]);
                }
            }
            let mut to = dst;
            for (number, group) in all.into_iter().enumerate() {
                for (part, channel) in transpose(group).into_iter().enumerate() {
                    let number = number * EVEN + part;
                    match TAKEN {
                        ALL => channel.store(to),
                        ONE | BACK if number == 0 => channel.store(to),
                        SOME if number < self.channels => channel.store(to),
                        _ => {}
                    }
                    to = to.wrapping_offset(self.channel);
                }
            }
        }
    }

    /// The way back.
    ///
    /// # Safety
    /// As [`Blends::split`].
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

/// Which channels are taken, or whether they are joined.
const JOIN: u8 = 0;
const ALL: u8 = 1;
const SOME: u8 = 2;
const ONE: u8 = 3;
/// One, of rows that go backwards.
const BACK: u8 = 4;

/// So many times so many channels.
struct Blending<const ODD: usize, const EVEN: usize, const TAKEN: u8>;

impl<const ODD: usize, const EVEN: usize, const TAKEN: u8> Body for Blending<ODD, EVEN, TAKEN> {
    type Params = BlendedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &BlendedParams) {
        // SAFETY: the body is run where AVX2 is.
        let blends = unsafe { Blends::<ODD>::new(params) };
        let &BlendedParams {
            rows, unit, row, ..
        } = params;
        let by = |rows: usize| {
            let rows = rows as isize;
            (row.0.wrapping_mul(rows), row.1.wrapping_mul(rows))
        };
        let (on, back) = (by(unit), by((unit - rows % unit) % unit));
        let end = src.wrapping_offset(params.end);
        // From the first element of some rows to behind the last byte of all of their channels.
        let reach = match TAKEN {
            BACK => params.width * ODD * EVEN,
            _ => 2 * EVEN * ODD * LANE,
        };
        walk!(&params.nest, dst, src, |dst, src| {
            let (mut to, mut from) = (dst, src);
            let mut left = rows / unit;
            let mut rest = !rows.is_multiple_of(unit);
            loop {
                // SAFETY: so many rows lie in the caller's box, and what is between them and before its end; the body is
                // run where AVX2 is.
                unsafe {
                    match TAKEN {
                        JOIN => blends.join::<EVEN>(to, from),
                        SOME | ONE | BACK if from.wrapping_add(reach) > end => {
                            last(to, from, params)
                        }
                        _ => blends.split::<EVEN, TAKEN>(to, from),
                    }
                }
                to = to.wrapping_offset(on.0);
                from = from.wrapping_offset(on.1);
                left = left.wrapping_sub(1);
                if left == 0 {
                    if !rest {
                        break;
                    }
                    // The last ones overlap those before.
                    to = to.wrapping_offset(back.0.wrapping_neg());
                    from = from.wrapping_offset(back.1.wrapping_neg());
                    (left, rest) = (1, false);
                }
            }
        });
    }
}

/// The last rows of the source, behind which nothing may be read: element by element.
///
/// # Safety
/// They are readable, and what is taken of them writable.
#[cold]
unsafe fn last(dst: *mut u8, src: *const u8, params: &BlendedParams) {
    let apart = params.width as isize;
    for channel in 0..params.channels {
        let mut to = at(dst, channel, params.channel, 0);
        let mut from = src.wrapping_offset(apart.wrapping_mul(channel as isize));
        for _ in 0..params.unit {
            // SAFETY: the caller's.
            unsafe {
                match params.width {
                    1 => to.write(from.read()),
                    _ => u16::load(from).store(to),
                }
            }
            to = to.wrapping_offset(params.row.0);
            from = from.wrapping_offset(params.row.1);
        }
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
    let backwards = strip.long.src < 0;
    let mut masks = [[[0; LANE]; 2]; BITS];
    for (bit, mask) in masks.iter_mut().enumerate() {
        let takes = |byte: usize| ((byte / width % odd) >> bit) & 1 == 1;
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
            let element = match backwards {
                true => elements - 1 - element,
                false => element,
            };
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
    let unit = 2 * LANE / narrow;
    let params = BlendedParams {
        masks,
        orders,
        places,
        nest: Nest::new(shape, strip.start, &strip.outer),
        rows: strip.long.extent,
        unit,
        row: (strip.long.dst, strip.long.src),
        channel: strip.apart(),
        channels: strip.short.extent,
        last: strip.long.src * (unit as isize - 1),
        width: narrow,
        end: shape.hull().end,
    };
    match (strip.splits, strip.short.extent) {
        (false, _) => of::<JOIN>(params, odd, even),
        (true, 1) if backwards => one::<BACK>(params, odd, even),
        (true, 1) => one::<ONE>(params, odd, even),
        (true, channels) if channels == strip.pitch => of::<ALL>(params, odd, even),
        // Of four.
        (true, _) => Leaf::new::<Avx2, Blending<1, 4, SOME>>(params),
    }
}

fn of<const TAKEN: u8>(params: BlendedParams, odd: usize, even: usize) -> Leaf {
    match (odd, even) {
        (1, 2) => Leaf::new::<Avx2, Blending<1, 2, TAKEN>>(params),
        (1, 4) => Leaf::new::<Avx2, Blending<1, 4, TAKEN>>(params),
        (1, _) => Leaf::new::<Avx2, Blending<1, 8, TAKEN>>(params),
        (3, 1) => Leaf::new::<Avx2, Blending<3, 1, TAKEN>>(params),
        (3, 2) => Leaf::new::<Avx2, Blending<3, 2, TAKEN>>(params),
        (3, _) => Leaf::new::<Avx2, Blending<3, 4, TAKEN>>(params),
        (5, 1) => Leaf::new::<Avx2, Blending<5, 1, TAKEN>>(params),
        (5, _) => Leaf::new::<Avx2, Blending<5, 2, TAKEN>>(params),
        (7, 1) => Leaf::new::<Avx2, Blending<7, 1, TAKEN>>(params),
        (7, _) => Leaf::new::<Avx2, Blending<7, 2, TAKEN>>(params),
        (9, _) => Leaf::new::<Avx2, Blending<9, 1, TAKEN>>(params),
        (11, _) => Leaf::new::<Avx2, Blending<11, 1, TAKEN>>(params),
        (13, _) => Leaf::new::<Avx2, Blending<13, 1, TAKEN>>(params),
        _ => Leaf::new::<Avx2, Blending<15, 1, TAKEN>>(params),
    }
}

/// One of up to eight channels.
fn one<const TAKEN: u8>(params: BlendedParams, odd: usize, even: usize) -> Leaf {
    match (odd, even) {
        (1, 1) => Leaf::new::<Avx2, Blending<1, 1, TAKEN>>(params),
        (1, 2) => Leaf::new::<Avx2, Blending<1, 2, TAKEN>>(params),
        (1, 4) => Leaf::new::<Avx2, Blending<1, 4, TAKEN>>(params),
        (1, _) => Leaf::new::<Avx2, Blending<1, 8, TAKEN>>(params),
        (3, 1) => Leaf::new::<Avx2, Blending<3, 1, TAKEN>>(params),
        (3, _) => Leaf::new::<Avx2, Blending<3, 2, TAKEN>>(params),
        (5, _) => Leaf::new::<Avx2, Blending<5, 1, TAKEN>>(params),
        _ => Leaf::new::<Avx2, Blending<7, 1, TAKEN>>(params),
    }
}
