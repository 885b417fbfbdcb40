//! One row of indices for many rows of data, as permutations.
//!
//! Where the indices run along the innermost dimension of the destination and serve one row after
//! the other, every line of a row of the destination takes the same bytes of the same few lines of
//! the source. So the offsets of a chunk are turned into permutation tables once, during the call,
//! and the rows then cost a few loads and shuffles per line instead of a load and a store per
//! element.
//!
//! Only bytes of rows that are named are read: every load is masked to the hull of the offsets.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use crate::index::OUTSIDE;
use crate::nest::{Nest, walk_rows};
use restride_moves::Step;

/// The bytes of a line.
const LINE: usize = 64;

/// How many pairs of windows the tables have room for.
const PAIRS: usize = 96;

/// How many lines are prepared at a time.
const LINES: usize = 64;

/// Rows of the source are at most so many lines long.
const WINDOWS: usize = 64;

/// Two windows of the source and where their bytes go.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Pair {
    table: [u8; LINE],
    src: [isize; 2],
    /// The bytes of the line that come from these windows.
    blend: u64,
}

/// A line of the destination: the next so many pairs.
#[derive(Clone, Copy)]
struct Line {
    dst: isize,
    pairs: usize,
}

/// The smallest and the largest offset of those that exist.
fn hull(offsets: &[isize]) -> Option<(isize, isize)> {
    let mut hull: Option<(isize, isize)> = None;
    for &offset in offsets {
        if offset != OUTSIDE {
            let (low, high) = hull.unwrap_or((offset, offset));
            hull = Some((low.min(offset), high.max(offset)));
        }
    }
    hull
}

/// The pairs of a chunk being prepared.
struct Tables {
    pairs: [MaybeUninit<Pair>; PAIRS],
    lines: [MaybeUninit<Line>; LINES],
    pairs_used: usize,
    lines_used: usize,
}

/// Where windows begin, and between which bytes they must stay.
#[derive(Clone, Copy)]
struct Grid {
    first: isize,
    low: isize,
    high: isize,
}

impl Grid {
    /// The number of the window that has an offset.
    fn window(self, offset: isize) -> usize {
        (offset.wrapping_sub(self.first).unsigned_abs() / LINE) % WINDOWS
    }

    /// Where a window is loaded from: moved inwards at the ends of the row.
    fn start(self, window: usize) -> isize {
        let at = self.first.wrapping_add((window * LINE) as isize);
        at.min(self.high.wrapping_sub(LINE as isize)).max(self.low)
    }
}

impl Tables {
    /// Adds the line of elements at `offsets`.
    #[inline]
    fn add(&mut self, offsets: &[isize], dst: isize, run: usize, grid: Grid) -> Added {
        let mut used = 0u64;
        for &offset in offsets {
            if offset != OUTSIDE {
                used |= 1 << grid.window(offset);
            }
        }
        let count = (used.count_ones() as usize).div_ceil(2);
        if 3 * count + 2 > offsets.len() {
            return Added::Dear;
        }
        if self.lines_used == LINES || self.pairs_used + count > PAIRS {
            return Added::Full;
        }
        let start = self.pairs_used;
        let mut left = used;
        for pair in &mut self.pairs[start..start + count] {
            let first = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            let second = if left == 0 {
                first
            } else {
                left.trailing_zeros() as usize
            };
            left &= left.wrapping_sub(1);
            pair.write(Pair {
                table: [0; LINE],
                src: [grid.start(first), grid.start(second)],
                blend: 0,
            });
        }
        let full = if run == LINE {
            u64::MAX
        } else {
            (1 << run) - 1
        };
        for (i, &offset) in offsets.iter().enumerate() {
            if offset == OUTSIDE {
                continue;
            }
            let window = grid.window(offset);
            let rank = (used & ((1 << window) - 1)).count_ones() as usize;
            let within = offset.wrapping_sub(grid.start(window)).unsigned_abs() % LINE;
            let from = (rank % 2 * LINE + within) as u8;
            let to = i * run;
            // SAFETY: `rank` counts some of the windows of `used`, for each two of which a pair
            // was written above; elements end within the line.
            unsafe {
                let pair = self.pairs[start + rank / 2].assume_init_mut();
                pair.blend |= full << to;
                count_from(pair.table.as_mut_ptr().add(to), from, run);
            }
        }
        self.pairs_used += count;
        self.lines[self.lines_used].write(Line { dst, pairs: count });
        self.lines_used += 1;
        Added::Yes
    }
}

/// Writes `run` bytes: `from` and those after it.
///
/// # Safety
/// They are writable, and `run` is a power of two up to 16.
#[inline]
unsafe fn count_from(to: *mut u8, from: u8, run: usize) {
    const ONES: u128 = u128::MAX / 0xff;
    const COUNT: u128 = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100;
    let bytes = ONES.wrapping_mul(u128::from(from)).wrapping_add(COUNT);
    // SAFETY: the caller's.
    unsafe {
        match run {
            1 => to.write(from),
            2 => to.cast::<u16>().write_unaligned(bytes as u16),
            4 => to.cast::<u32>().write_unaligned(bytes as u32),
            8 => to.cast::<u64>().write_unaligned(bytes as u64),
            _ => to.cast::<u128>().write_unaligned(bytes),
        }
    }
}

enum Added {
    Yes,
    /// There is no room.
    Full,
    /// It takes too many windows to be worth it.
    Dear,
}

/// Moves the elements at `offsets` to consecutive places, for every point of a nest, and says how
/// many of them; the others are left alone because permutations do not pay for them.
///
/// # Safety
/// As for a gather's rows: offsets are of elements of the source or OUTSIDE. The machine has
/// AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
pub(crate) unsafe fn pick(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    run: usize,
    nest: &Nest,
) -> usize {
    let per_line = LINE / run;
    if offsets.len() < per_line {
        return 0;
    }
    let (low, last) = hull(offsets).unwrap_or((0, 0));
    // Windows begin where the lines of the first row do, if its elements do not straddle them.
    let skew = src.addr().wrapping_add_signed(low) % LINE;
    let skew = if skew.is_multiple_of(run) { skew } else { 0 };
    let grid = Grid {
        first: low.wrapping_sub(skew as isize),
        low,
        high: last.wrapping_add(run as isize),
    };
    if grid.high.wrapping_sub(grid.first) > (WINDOWS * LINE) as isize {
        return 0;
    }
    let mut tables = Tables {
        pairs: [const { MaybeUninit::uninit() }; PAIRS],
        lines: [const { MaybeUninit::uninit() }; LINES],
        pairs_used: 0,
        lines_used: 0,
    };
    let mut done = 0;
    loop {
        (tables.pairs_used, tables.lines_used) = (0, 0);
        let mut more = true;
        while done < offsets.len() {
            // The last line overlaps the one before.
            let first = done.min(offsets.len() - per_line);
            let next = first + per_line;
            match tables.add(&offsets[first..next], (first * run) as isize, run, grid) {
                Added::Yes => done = next,
                Added::Full => break,
                Added::Dear => {
                    more = false;
                    break;
                }
            }
        }
        // SAFETY: so many pairs and lines were written.
        let (pairs, lines) = unsafe {
            (
                tables.pairs[..tables.pairs_used].assume_init_ref(),
                tables.lines[..tables.lines_used].assume_init_ref(),
            )
        };
        let bytes = grid.high.wrapping_sub(grid.low);
        let load = u64::MAX >> (LINE as isize - bytes).clamp(0, LINE as isize - 1);
        // SAFETY: whole windows, and otherwise the bytes of the mask, lie between the first and
        // the last element read at a point of the nest, and lines among the elements written.
        unsafe {
            if bytes >= LINE as isize {
                points::<true>(dst, src, nest, load, pairs, lines);
            } else {
                points::<false>(dst, src, nest, load, pairs, lines);
            }
        }
        if !more || done == offsets.len() {
            return done;
        }
    }
}

/// Rows that are moved together, so that what a line needs is loaded once for all of them.
const TOGETHER: usize = 4;

/// # Safety
/// The windows are readable relative to every point of the nest, if not `WHOLE` those bytes of them
/// that are in `load`; the lines are writable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn points<const WHOLE: bool>(
    dst: *mut u8,
    src: *const u8,
    nest: &Nest,
    load: u64,
    pairs: &[Pair],
    lines: &[Line],
) {
    let [_, step] = nest.plane();
    walk_rows!(nest, dst, src, |first_dst, first_src| {
        let (mut d, mut s) = (first_dst, first_src);
        let mut rows = step.extent;
        while rows >= TOGETHER {
            // SAFETY: so many rows are left.
            unsafe { some_rows::<TOGETHER, WHOLE>(d, s, step, load, pairs, lines) };
            d = d.wrapping_offset(step.dst.wrapping_mul(TOGETHER as isize));
            s = s.wrapping_offset(step.src.wrapping_mul(TOGETHER as isize));
            rows = rows.wrapping_sub(TOGETHER);
        }
        for _ in 0..rows {
            // SAFETY: as above.
            unsafe { some_rows::<1, WHOLE>(d, s, step, load, pairs, lines) };
            d = d.wrapping_offset(step.dst);
            s = s.wrapping_offset(step.src);
        }
    });
}

/// # Safety
/// As [`points`], for `R` points, each a step on from the one before.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn some_rows<const R: usize, const WHOLE: bool>(
    dst: *mut u8,
    src: *const u8,
    step: Step,
    load: u64,
    pairs: &[Pair],
    lines: &[Line],
) {
    let mut pairs = pairs.iter();
    for line in lines {
        let mut bytes = [_mm512_setzero_si512(); R];
        for pair in pairs.by_ref().take(line.pairs) {
            // SAFETY: a masked load touches only the bytes of its mask; tables are aligned.
            unsafe {
                let table = _mm512_load_si512(pair.table.as_ptr().cast());
                let window = |from: *const u8| match WHOLE {
                    true => _mm512_loadu_si512(from.cast()),
                    false => _mm512_maskz_loadu_epi8(load, from.cast()),
                };
                let (mut low, mut high) = (
                    src.wrapping_offset(pair.src[0]),
                    src.wrapping_offset(pair.src[1]),
                );
                for bytes in &mut bytes {
                    let both = _mm512_permutex2var_epi8(window(low), table, window(high));
                    *bytes = _mm512_mask_mov_epi8(*bytes, pair.blend, both);
                    low = low.wrapping_offset(step.src);
                    high = high.wrapping_offset(step.src);
                }
            }
        }
        let mut to = dst.wrapping_offset(line.dst);
        for bytes in bytes {
            // SAFETY: the caller's.
            unsafe { _mm512_storeu_si512(to.cast(), bytes) };
            to = to.wrapping_offset(step.dst);
        }
    }
}
