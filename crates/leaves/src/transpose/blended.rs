//! A few channels of dense rows, split, joined or one of them taken, by blends of vectors and shuffles within their lanes.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use restride_moves::{Blended, ByteBox};

use super::side::at;
use crate::lanes::{Lanes, transpose};
use crate::leaf::Leaf;
use crate::level::{Avx2, Avx512, Body, Level};
use crate::nest::{Nest, walk};
use crate::vector::Vector;

/// As many channels as a strip has at most.
const MOST: usize = 16;
/// As many bits as the number of a lane has.
const BITS: usize = 4;

/// What is done with a lane, which is a vector or half of one, in which lanes are alike.
trait Blend: Vector {
    type Level: Level;
    type Mask: Copy;
    /// The bytes of a lane.
    const LANE: usize;

    /// # Safety
    /// It runs at the level, as do all of these.
    unsafe fn order(table: &ByteTable) -> Self;
    /// # Safety
    /// See above.
    unsafe fn mask(table: &ByteTable) -> Self::Mask;
    /// # Safety
    /// See above. A lane is readable at both places, of which the second is that of a second lane.
    unsafe fn load_both(first: *const u8, second: *const u8) -> Self;
    /// # Safety
    /// See above. A lane is writable at both places.
    unsafe fn store_both(self, first: *mut u8, second: *mut u8);
    /// # Safety
    /// See above.
    unsafe fn blend(self, other: Self, mask: Self::Mask) -> Self;
    /// # Safety
    /// See above.
    unsafe fn shuffle(self, order: Self) -> Self;
    /// A square of parts of lanes, as many as there are rows.
    ///
    /// # Safety
    /// See above.
    unsafe fn square<const N: usize>(rows: [Self; N]) -> [Self; N];
}

impl Blend for __m256i {
    type Level = Avx2;
    type Mask = __m256i;
    const LANE: usize = 16;

    #[inline(always)]
    unsafe fn order(table: &ByteTable) -> Self {
        // SAFETY: tables are aligned; the rest is the caller's.
        unsafe { _mm256_load_si256(table.0.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn mask(table: &ByteTable) -> Self {
        // SAFETY: as above.
        unsafe { Self::order(table) }
    }

    #[inline(always)]
    unsafe fn load_both(first: *const u8, second: *const u8) -> Self {
        // SAFETY: the caller's.
        unsafe { Lanes::load_lanes([first, second, first, first]) }
    }

    #[inline(always)]
    unsafe fn store_both(self, first: *mut u8, second: *mut u8) {
        // SAFETY: the caller's.
        unsafe { self.store_lanes([first, second, first, first]) }
    }

    #[inline(always)]
    unsafe fn blend(self, other: Self, mask: Self) -> Self {
        // SAFETY: the caller's.
        unsafe { _mm256_blendv_epi8(self, other, mask) }
    }

    #[inline(always)]
    unsafe fn shuffle(self, order: Self) -> Self {
        // SAFETY: the caller's.
        unsafe { _mm256_shuffle_epi8(self, order) }
    }

    #[inline(always)]
    unsafe fn square<const N: usize>(rows: [Self; N]) -> [Self; N] {
        transpose(rows)
    }
}

impl Blend for __m512i {
    type Level = Avx512;
    type Mask = u64;
    const LANE: usize = 64;

    #[inline(always)]
    unsafe fn order(table: &ByteTable) -> Self {
        // SAFETY: tables are aligned; the rest is the caller's.
        unsafe { _mm512_load_si512(table.0.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn mask(table: &ByteTable) -> u64 {
        // SAFETY: the caller's.
        unsafe { _mm512_movepi8_mask(Self::order(table)) }
    }

    #[inline(always)]
    unsafe fn load_both(first: *const u8, _: *const u8) -> Self {
        // SAFETY: the caller's.
        unsafe { Vector::load(first) }
    }

    #[inline(always)]
    unsafe fn store_both(self, first: *mut u8, _: *mut u8) {
        // SAFETY: the caller's.
        unsafe { self.store(first) }
    }

    #[inline(always)]
    unsafe fn blend(self, other: Self, mask: u64) -> Self {
        // SAFETY: the caller's.
        unsafe { _mm512_mask_mov_epi8(self, mask, other) }
    }

    #[inline(always)]
    unsafe fn shuffle(self, order: Self) -> Self {
        // SAFETY: the caller's.
        unsafe { _mm512_permutexvar_epi8(order, self) }
    }

    #[inline(always)]
    unsafe fn square<const N: usize>(mut rows: [Self; N]) -> [Self; N] {
        // SAFETY: the caller's.
        unsafe {
            match N {
                1 => {}
                2 => {
                    let (a, b) = (rows[0], rows[1]);
                    rows[0] = _mm512_shuffle_i64x2::<0x44>(a, b);
                    rows[1] = _mm512_shuffle_i64x2::<0xee>(a, b);
                }
                _ => {
                    let four = Lanes::swap_lanes([rows[0], rows[1], rows[2], rows[3]]);
                    rows[..4].copy_from_slice(&four);
                }
            }
        }
        rows
    }
}

/// What is said of every byte of a lane, and of the second one where there are two.
#[repr(C, align(64))]
struct ByteTable([u8; 64]);

#[repr(C, align(64))]
struct BlendedParams {
    /// Which bytes each blend takes from another lane.
    masks: [ByteTable; BITS],
    /// The order of the bytes of a lane that has those of one channel, or of a few.
    orders: [ByteTable; MOST],
    /// For each lane, from the first channel to that which the lane begins with.
    channels_at: [isize; MOST],
    /// The bytes of a lane, which it would take shuffles to store as one with the next.
    lane: usize,
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
struct Blends<V: Blend, const ODD: usize> {
    masks: [V::Mask; BITS],
    orders: [V; ODD],
    channels_at: [isize; ODD],
    lane: usize,
    channel: isize,
    channels: usize,
    last: isize,
}

impl<V: Blend, const ODD: usize> Blends<V, ODD> {
    /// # Safety
    /// It runs at the level.
    #[inline(always)]
    unsafe fn new(params: &BlendedParams) -> Self {
        // SAFETY: the caller's.
        unsafe {
            Blends {
                masks: std::array::from_fn(|bit| V::mask(&params.masks[bit])),
                orders: std::array::from_fn(|number| V::order(&params.orders[number])),
                channels_at: std::array::from_fn(|lane| params.channels_at[lane]),
                lane: params.lane,
                channel: params.channel,
                channels: params.channels,
                last: params.last,
            }
        }
    }

    /// Every element to the lane that begins with its channel, or back from there.
    ///
    /// # Safety
    /// It runs at the level.
    #[inline(always)]
    unsafe fn turn<const ON: bool>(&self, mut lanes: [V; ODD]) -> [V; ODD] {
        let mut far = 1;
        for mask in self.masks {
            if far >= ODD {
                break;
            }
            let before = lanes;
            for (at, lane) in lanes.iter_mut().enumerate() {
                let from = at + if ON { ODD - far } else { far };
                // SAFETY: the caller's.
                *lane = unsafe { lane.blend(before[from % ODD], mask) };
            }
            far *= 2;
        }
        lanes
    }

    /// A vector of every channel, of so many times as many, or of some.
    ///
    /// # Safety
    /// As many rows of all channels are readable as a vector has elements, and the vectors writable. It runs at the level.
    #[inline(always)]
    unsafe fn split<const EVEN: usize, const TAKEN: u8>(&self, dst: *mut u8, src: *const u8) {
        // SAFETY: the caller's.
        unsafe {
            let mut all = [[self.orders[0]; EVEN]; ODD];
            #[expect(
                clippy::needless_range_loop,
                reason = "a part is a column of all groups"
            )]
            for part in 0..EVEN {
                // Rows that go backwards begin with the last of them in memory, and so do lanes.
                let at = |part: usize| match TAKEN {
                    BACK => {
                        let lane = src.wrapping_add((2 * EVEN - 1 - part) * ODD * V::LANE);
                        lane.wrapping_offset(self.last)
                    }
                    _ => src.wrapping_add(part * ODD * V::LANE),
                };
                let mut lanes = self.orders;
                for (number, lane) in lanes.iter_mut().enumerate() {
                    let first = at(part).wrapping_add(number * V::LANE);
                    let second = at(part + EVEN).wrapping_add(number * V::LANE);
                    *lane = V::load_both(first, second);
                }
                let lanes = self.turn::<true>(lanes);
                for (number, lane) in lanes.into_iter().enumerate() {
                    all[number][part] = lane.shuffle(self.orders[number]);
                }
            }
            for (lane, group) in all.into_iter().enumerate() {
                let mut to = dst.wrapping_offset(self.channels_at[lane]);
                for (part, channel) in V::square(group).into_iter().enumerate() {
                    // Only of a single lane are some taken.
                    let number = lane * EVEN + part;
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
            let mut all = [[self.orders[0]; EVEN]; ODD];
            for (lane, group) in all.iter_mut().enumerate() {
                let mut from = src.wrapping_offset(self.channels_at[lane]);
                for channel in group.iter_mut() {
                    *channel = Vector::load(from);
                    from = from.wrapping_offset(self.channel);
                }
                *group = V::square(*group);
            }
            for part in 0..EVEN {
                let mut to = dst.wrapping_add(part * ODD * V::LANE);
                let mut lanes = self.orders;
                for (lane, group) in lanes.iter_mut().zip(&all) {
                    *lane = group[part].shuffle(*lane);
                }
                let lanes = self.turn::<false>(lanes);
                // One goes on where the other ends, which is stored sooner where lanes straddle lines.
                for lane in lanes {
                    lane.store_both(to, to.wrapping_add(EVEN * ODD * V::LANE));
                    to = to.wrapping_add(self.lane);
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
struct Blending<V, const ODD: usize, const EVEN: usize, const TAKEN: u8>(PhantomData<V>);

impl<V: Blend, const ODD: usize, const EVEN: usize, const TAKEN: u8> Body
    for Blending<V, ODD, EVEN, TAKEN>
{
    type Params = BlendedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &BlendedParams) {
        // SAFETY: the body is run at the level.
        let blends = unsafe { Blends::<V, ODD>::new(params) };
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
            _ => 2 * EVEN * ODD * V::LANE,
        };
        walk!(&params.nest, dst, src, |dst, src| {
            let (mut to, mut from) = (dst, src);
            let mut left = rows / unit;
            let mut rest = !rows.is_multiple_of(unit);
            loop {
                // SAFETY: so many rows lie in the caller's box, and what is between them and before its end; the body is
                // run at the level.
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
        lane,
        odd,
        even,
    } = plan;
    // Elements are as wide as that where their number is odd.
    let (narrow, width) = (shape.run, shape.run * even);
    let elements = lane / width;
    let backwards = strip.long.src < 0;
    // Of the second lane as of the first.
    let table = |of: &dyn Fn(usize) -> u8| ByteTable(std::array::from_fn(|byte| of(byte % lane)));
    // Which channel a lane begins with, and how many lanes on it is that begins with the next channel.
    let begins = |lane: usize| lane * elements % odd;
    let next = (0..odd).find(|lane| begins(*lane) == 1 % odd).unwrap_or(0);
    let masks = std::array::from_fn(|bit| {
        table(&|byte| match ((byte / width * next % odd) >> bit) & 1 {
            1 => 0xff,
            _ => 0,
        })
    });
    let orders = std::array::from_fn(|lane_number| {
        let number = begins(lane_number);
        let mut order = [0; 64];
        for byte in 0..lane {
            let (part, element, of) = (
                byte / (lane / even),
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
            order[to] = from as u8;
        }
        table(&|byte| order[byte])
    });
    let unit = plan.vector() / narrow;
    let params = BlendedParams {
        masks,
        orders,
        channels_at: std::array::from_fn(|it| (begins(it) * even) as isize * strip.apart()),
        lane,
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
    match (lane, strip.splits, strip.short.extent) {
        (64, false, _) => whole::<JOIN>(params, odd, even),
        (64, true, _) => whole::<ALL>(params, odd, even),
        (_, false, _) => of::<JOIN>(params, odd, even),
        (_, true, 1) if backwards => one::<BACK>(params, odd, even),
        (_, true, 1) => one::<ONE>(params, odd, even),
        (_, true, channels) if channels == strip.pitch => of::<ALL>(params, odd, even),
        // Of four.
        (_, true, _) => leaf::<__m256i, 1, 4, SOME>(params),
    }
}

fn leaf<V: Blend, const ODD: usize, const EVEN: usize, const TAKEN: u8>(
    params: BlendedParams,
) -> Leaf {
    Leaf::new::<V::Level, Blending<V, ODD, EVEN, TAKEN>>(params)
}

/// Of lanes that are lines.
fn whole<const TAKEN: u8>(params: BlendedParams, odd: usize, even: usize) -> Leaf {
    match (odd, even) {
        (3, 1) => leaf::<__m512i, 3, 1, TAKEN>(params),
        (3, 2) => leaf::<__m512i, 3, 2, TAKEN>(params),
        (3, _) => leaf::<__m512i, 3, 4, TAKEN>(params),
        (5, 1) => leaf::<__m512i, 5, 1, TAKEN>(params),
        (5, _) => leaf::<__m512i, 5, 2, TAKEN>(params),
        (7, 1) => leaf::<__m512i, 7, 1, TAKEN>(params),
        (7, _) => leaf::<__m512i, 7, 2, TAKEN>(params),
        (9, _) => leaf::<__m512i, 9, 1, TAKEN>(params),
        (11, _) => leaf::<__m512i, 11, 1, TAKEN>(params),
        (13, _) => leaf::<__m512i, 13, 1, TAKEN>(params),
        _ => leaf::<__m512i, 15, 1, TAKEN>(params),
    }
}

fn of<const TAKEN: u8>(params: BlendedParams, odd: usize, even: usize) -> Leaf {
    match (odd, even) {
        (1, 2) => leaf::<__m256i, 1, 2, TAKEN>(params),
        (1, 4) => leaf::<__m256i, 1, 4, TAKEN>(params),
        (1, _) => leaf::<__m256i, 1, 8, TAKEN>(params),
        (3, 1) => leaf::<__m256i, 3, 1, TAKEN>(params),
        (3, 2) => leaf::<__m256i, 3, 2, TAKEN>(params),
        (3, _) => leaf::<__m256i, 3, 4, TAKEN>(params),
        (5, 1) => leaf::<__m256i, 5, 1, TAKEN>(params),
        (5, _) => leaf::<__m256i, 5, 2, TAKEN>(params),
        (7, 1) => leaf::<__m256i, 7, 1, TAKEN>(params),
        (7, _) => leaf::<__m256i, 7, 2, TAKEN>(params),
        (9, _) => leaf::<__m256i, 9, 1, TAKEN>(params),
        (11, _) => leaf::<__m256i, 11, 1, TAKEN>(params),
        (13, _) => leaf::<__m256i, 13, 1, TAKEN>(params),
        _ => leaf::<__m256i, 15, 1, TAKEN>(params),
    }
}

/// One of up to eight channels.
fn one<const TAKEN: u8>(params: BlendedParams, odd: usize, even: usize) -> Leaf {
    match (odd, even) {
        (1, 1) => leaf::<__m256i, 1, 1, TAKEN>(params),
        (1, 2) => leaf::<__m256i, 1, 2, TAKEN>(params),
        (1, 4) => leaf::<__m256i, 1, 4, TAKEN>(params),
        (1, _) => leaf::<__m256i, 1, 8, TAKEN>(params),
        (3, 1) => leaf::<__m256i, 3, 1, TAKEN>(params),
        (3, _) => leaf::<__m256i, 3, 2, TAKEN>(params),
        (5, _) => leaf::<__m256i, 5, 1, TAKEN>(params),
        _ => leaf::<__m256i, 7, 1, TAKEN>(params),
    }
}
