//! Short rows that lie far apart in the source, a lane of a register each: permutations of their bytes make the lines of
//! a unit, all of them in registers.

use std::arch::x86_64::*;

use restride_moves::{ByteBox, Joined, ShortRows};

use crate::copy::LINE;
use crate::leaf::Leaf;
use crate::level::{Avx512, Body, Entry, entry};
use crate::lines::Both;
use crate::nest::{Nest, walk};
use crate::vector::one_by_one;

/// A unit has at most so many windows and lines.
const MOST: usize = 4;

struct JoinedParams {
    nest: Nest,
    /// From line to line of units, how many there are, and where the last begins.
    middle: Both,
    lines: usize,
    last: Both,
    /// From unit to unit, and how many each line has, and the last.
    inner: Both,
    units: (usize, usize),
    /// From row to row.
    across: isize,
    /// The bytes of a lane that are needed.
    row: __mmask16,
    /// From the first row of a unit to where sixteen bytes of its last end, and where the box ends.
    reach: isize,
    end: isize,
    /// Of each line, what it takes of two windows and of the other two, and which bytes are of these.
    tables: [([LineTable; 2], u64); MOST],
    /// The bytes of the last line.
    tail: u64,
}

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct LineTable([u8; LINE]);

/// `LINES` lines of `WINDOWS` windows, of which the last has `LAST` rows and the others four.
struct Joining<const WINDOWS: usize, const LAST: usize, const LINES: usize>;

impl<const WINDOWS: usize, const LAST: usize, const LINES: usize> Body
    for Joining<WINDOWS, LAST, LINES>
{
    type Params = JoinedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &JoinedParams) {
        let end = src.wrapping_offset(params.end);
        let &JoinedParams {
            middle,
            lines,
            last,
            inner,
            units,
            across,
            row,
            reach,
            tail,
            ..
        } = params;
        // SAFETY: the body is run where AVX-512 is; units lie in the caller's box, and so does what is read beside their rows.
        unsafe {
            let mut held = [([_mm512_setzero_si512(); 2], 0); LINES];
            for (held, (tables, blend)) in held.iter_mut().zip(&params.tables) {
                *held = (
                    tables.map(|table| _mm512_loadu_si512(table.0.as_ptr().cast())),
                    *blend,
                );
            }
            walk!(&params.nest, dst, src, |dst, src| {
                let (mut first, mut start) = (dst, src);
                for left in (0..lines).rev() {
                    let (mut to, mut from) = (first, start);
                    for _ in 0..if left == 0 { units.1 } else { units.0 } {
                        one_by_one();
                        let windows = match from.wrapping_offset(reach) <= end {
                            true => windows::<WINDOWS, LAST, true>(from, across, row),
                            false => windows::<WINDOWS, LAST, false>(from, across, row),
                        };
                        let mut place = to;
                        for (number, (tables, blend)) in held.iter().enumerate() {
                            let line = join::<WINDOWS>(windows, *tables, *blend);
                            if number + 1 < LINES {
                                _mm512_storeu_si512(place.cast(), line);
                                place = place.wrapping_add(LINE);
                            } else if tail >> 32 == 0 {
                                let half = _mm512_castsi512_si256(line);
                                _mm256_mask_storeu_epi8(place.cast(), tail as u32, half);
                            } else {
                                _mm512_mask_storeu_epi8(place.cast(), tail, line);
                            }
                        }
                        (to, from) = inner.from(to, from);
                    }
                    (first, start) = match left {
                        1 => last.from(dst, src),
                        _ => middle.from(first, start),
                    };
                }
            });
        }
    }
}

/// The rows of a unit, four to a window.
///
/// # Safety
/// They are readable, if `WHOLE` sixteen bytes of each. It runs where AVX-512 is.
#[inline(always)]
unsafe fn windows<const WINDOWS: usize, const LAST: usize, const WHOLE: bool>(
    src: *const u8,
    across: isize,
    needed: __mmask16,
) -> [__m512i; MOST] {
    let mut from = src;
    // SAFETY: the caller's.
    unsafe {
        let mut windows = [_mm512_setzero_si512(); MOST];
        for window in &mut windows[..WINDOWS - 1] {
            *window = stacked::<4, WHOLE>(from, across, needed);
            from = from.wrapping_offset(across.wrapping_mul(4));
        }
        windows[WINDOWS - 1] = stacked::<LAST, WHOLE>(from, across, needed);
        windows
    }
}

/// `ROWS` rows of sixteen bytes, at most four.
///
/// # Safety
/// As [`windows`].
#[inline(always)]
unsafe fn stacked<const ROWS: usize, const WHOLE: bool>(
    src: *const u8,
    across: isize,
    needed: __mmask16,
) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let row = |src: *const u8| match WHOLE {
            true => _mm_loadu_si128(src.cast()),
            false => _mm_maskz_loadu_epi8(needed, src.cast()),
        };
        let pair = |src: *const u8, both: bool| {
            let first = _mm256_castsi128_si256(row(src));
            match both {
                true => _mm256_inserti128_si256::<1>(first, row(src.wrapping_offset(across))),
                false => first,
            }
        };
        let low = _mm512_castsi256_si512(pair(src, ROWS > 1));
        if ROWS <= 2 {
            return low;
        }
        let third = src.wrapping_offset(across.wrapping_mul(2));
        _mm512_inserti64x4::<1>(low, pair(third, ROWS > 3))
    }
}

/// A line of up to four windows.
///
/// # Safety
/// It runs where AVX-512 is.
#[inline(always)]
unsafe fn join<const WINDOWS: usize>(
    [a, b, c, d]: [__m512i; MOST],
    [low, high]: [__m512i; 2],
    blend: u64,
) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        if WINDOWS == 1 {
            return _mm512_permutexvar_epi8(low, a);
        }
        let line = _mm512_permutex2var_epi8(a, low, b);
        match WINDOWS {
            2 => line,
            3 => _mm512_mask_permutexvar_epi8(line, blend, high, c),
            _ => _mm512_mask_mov_epi8(line, blend, _mm512_permutex2var_epi8(c, high, d)),
        }
    }
}

/// Prepares it, if it is one of those that there are.
pub(crate) fn prepare(shape: &ByteBox, plan: &Joined) -> Option<Leaf> {
    let (across, rows) = plan.unit.across?;
    // Where the first byte of a unit lies in its row.
    let within = || (plan.dims.iter().enumerate()).filter(|(at, _)| *at != across);
    let back = within().fold(0, |back, (_, step)| {
        back - (step.src * (step.extent as isize - 1)).min(0)
    });
    let mut tables = [([LineTable([0; LINE]); 2], 0); MOST];
    let mut at = [0; Joined::DEEPEST];
    let mut byte = 0;
    while byte < plan.unit.bytes {
        let inside = within().fold(back, |sum, (dim, step)| sum + step.src * at[dim] as isize);
        for next in 0..shape.run {
            let place = ShortRows::LANE * at[across] + inside as usize + next;
            let (pairs, blend) = &mut tables[byte / LINE];
            pairs[place / (2 * LINE)].0[byte % LINE] = (place % (2 * LINE)) as u8;
            *blend |= u64::from(place >= 2 * LINE) << (byte % LINE);
            byte += 1;
        }
        for (at, step) in at.iter_mut().zip(&plan.dims) {
            *at += 1;
            if *at < step.extent {
                break;
            }
            *at = 0;
        }
    }
    let across = plan.dims[across].src;
    let last = across * (rows as isize - 1);
    let params = JoinedParams {
        nest: Nest::new(shape, (0, -back), &plan.outer),
        middle: Both::of(plan.middle),
        lines: plan.middle.extent,
        last: Both {
            dst: plan.last.0,
            src: plan.last.1,
        },
        inner: Both::of(plan.inner),
        units: (plan.inner.extent, plan.in_last),
        across,
        row: u16::MAX >> (ShortRows::LANE - plan.unit.width),
        reach: last.max(0).saturating_add(ShortRows::LANE as isize),
        end: shape.hull().end,
        tables,
        tail: u64::MAX >> (plan.unit.bytes.next_multiple_of(LINE) - plan.unit.bytes),
    };
    // Chosen apart: parameters that each of them took would have room on the stack for each.
    let entry = match (plan.unit.windows(), plan.unit.bytes.div_ceil(LINE)) {
        (1, 1) => of_rows::<1, 1>(rows),
        (2, 1) => of_rows::<2, 1>(rows),
        (2, 2) => of_rows::<2, 2>(rows),
        (3, 2) => of_rows::<3, 2>(rows),
        (3, 3) => of_rows::<3, 3>(rows),
        (4, 2) => of_rows::<4, 2>(rows),
        (4, 3) => of_rows::<4, 3>(rows),
        (4, 4) => of_rows::<4, 4>(rows),
        _ => return None,
    };
    Some(Leaf::at::<Joining<1, 1, 1>>(entry, params))
}

fn of_rows<const WINDOWS: usize, const LINES: usize>(rows: usize) -> Entry {
    match rows % 4 {
        1 => entry::<Avx512, Joining<WINDOWS, 1, LINES>>(),
        2 => entry::<Avx512, Joining<WINDOWS, 2, LINES>>(),
        3 => entry::<Avx512, Joining<WINDOWS, 3, LINES>>(),
        _ => entry::<Avx512, Joining<WINDOWS, 4, LINES>>(),
    }
}
