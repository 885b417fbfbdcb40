//! One row of indices for many rows of data, as permutations.
//!
//! Where the indices run along the innermost dimension of the destination and serve one row after
//! the other, every line of a row of the destination takes the same bytes of the same few lines of
//! the source. So the offsets of a chunk are turned into permutation tables once, during the call,
//! and the rows then cost a few loads and shuffles per line instead of a load and a store per
//! element.
//!
//! Where fewer elements are named than a line has, several rows that follow each other are one.
//!
//! Nothing is read that does not lie between elements that are named: every load is masked to the hull of the offsets.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use crate::index::OUTSIDE;
use crate::nest::{Nest, walk_rows};
use restride_moves::Step;

/// The bytes of a line.
const LINE: usize = 64;

/// How many portions of lines the tables have room for.
const PORTIONS: usize = 128;

/// How many lines are prepared at a time.
const LINES: usize = 64;

/// Rows of the source are at most so many lines long.
const WINDOWS: usize = 64;

/// What a line has of one window of the source.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Portion {
    /// Where each byte comes from, with [`HERE`] if it is one of this window.
    table: [u8; LINE],
    src: isize,
}

/// Permutations look at the lower bits of a table only.
const HERE: u8 = 0x80;

/// A line of the destination, and of which portions it is put together.
#[derive(Clone, Copy)]
struct Line {
    dst: isize,
    first: usize,
    portions: usize,
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

/// The lines of a chunk being prepared.
struct Tables {
    portions: [MaybeUninit<Portion>; PORTIONS],
    lines: [MaybeUninit<Line>; LINES],
    portions_used: usize,
    lines_used: usize,
    /// Which portion has a window.
    of: [usize; WINDOWS],
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
    /// Adds the line of elements of so many bytes at `offsets`.
    #[inline]
    fn add<const RUN: usize>(&mut self, offsets: &[isize], dst: isize, grid: Grid) -> Added {
        let mut used = 0u64;
        for &offset in offsets {
            if offset != OUTSIDE {
                used |= 1 << grid.window(offset);
            }
        }
        let (first, portions) = (self.portions_used, used.count_ones() as usize);
        if 3 * portions + 3 > 2 * offsets.len() {
            return Added::Dear;
        }
        if self.lines_used == LINES || first + portions > PORTIONS {
            return Added::Full;
        }
        for (at, portion) in (first..).zip(&mut self.portions[first..first + portions]) {
            let window = used.trailing_zeros() as usize % WINDOWS;
            used &= used.wrapping_sub(1);
            self.of[window] = at;
            portion.write(Portion {
                table: [0; LINE],
                src: grid.start(window),
            });
        }
        for (to, &offset) in offsets.iter().enumerate() {
            if offset == OUTSIDE {
                continue;
            }
            let portion = &mut self.portions[self.of[grid.window(offset)]];
            // SAFETY: a portion was written above for every window of the line, and elements end within it.
            unsafe {
                let portion = portion.assume_init_mut();
                let from = offset.wrapping_sub(portion.src) as u8 | HERE;
                count_from::<RUN>(portion.table.as_mut_ptr().add(to * RUN), from);
            }
        }
        self.lines[self.lines_used].write(Line {
            dst,
            first,
            portions,
        });
        self.portions_used += portions;
        self.lines_used += 1;
        Added::Yes
    }
}

/// Writes so many bytes, a power of two up to 16: `from` and those after it.
///
/// # Safety
/// They are writable.
#[inline]
unsafe fn count_from<const RUN: usize>(to: *mut u8, from: u8) {
    const ONES: u128 = u128::MAX / 0xff;
    const COUNT: u128 = 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100;
    let bytes = ONES.wrapping_mul(u128::from(from)).wrapping_add(COUNT);
    // SAFETY: the caller's.
    unsafe {
        match RUN {
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
    let [_, step] = nest.plane();
    let (picked, row) = (offsets.len(), offsets.len() * run);
    let rows = (LINE / row.max(1)).min(step.extent);
    // An element that straddles windows would be of both.
    let whole = step.src.unsigned_abs().is_multiple_of(run);
    if rows < 2 || !whole || step.dst != row as isize {
        // SAFETY: the caller's.
        return unsafe { pick_of(dst, src, offsets, run, nest, step) };
    }
    // Short rows that follow each other fill a line together.
    let mut all = [OUTSIDE; LINE];
    let all = &mut all[..rows * picked];
    for (row, all) in (0..).zip(all.chunks_exact_mut(picked)) {
        for (all, &offset) in all.iter_mut().zip(offsets) {
            if offset != OUTSIDE {
                *all = offset.wrapping_add(step.src.wrapping_mul(row));
            }
        }
    }
    let apart = |rows: usize| [step.dst, step.src].map(|bytes| bytes.wrapping_mul(rows as isize));
    let (extent, left) = (step.extent / rows, step.extent % rows);
    let ([to, from], [rest_dst, rest_src]) = (apart(rows), apart(extent * rows));
    let lines = Step {
        extent,
        dst: to,
        src: from,
    };
    let rest = Step {
        extent: left,
        ..step
    };
    let (rest_dst, rest_src) = (dst.wrapping_offset(rest_dst), src.wrapping_offset(rest_src));
    // SAFETY: the caller's; these are all the points that the nest has in a row, so many of them at a time, and what is left.
    unsafe {
        match pick_of(dst, src, all, run, nest, lines) == all.len() {
            true if left == 0 => picked,
            true => pick_of(rest_dst, rest_src, offsets, run, nest, rest),
            false => pick_of(dst, src, offsets, run, nest, step),
        }
    }
}

/// As [`pick`], where the innermost dimension of the nest is `step`.
///
/// # Safety
/// As [`pick`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn pick_of(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    run: usize,
    nest: &Nest,
    step: Step,
) -> usize {
    let per_line = LINE / run;
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
        portions: [const { MaybeUninit::uninit() }; PORTIONS],
        lines: [const { MaybeUninit::uninit() }; LINES],
        portions_used: 0,
        lines_used: 0,
        of: [0; WINDOWS],
    };
    let mut done = 0;
    loop {
        (tables.portions_used, tables.lines_used) = (0, 0);
        let mut more = true;
        while done < offsets.len() {
            // The last line overlaps the one before, or is a part of one.
            let first = done.min(offsets.len().saturating_sub(per_line));
            let next = offsets.len().min(first + per_line);
            let (line, to) = (&offsets[first..next], (first * run) as isize);
            let added = match run {
                1 => tables.add::<1>(line, to, grid),
                2 => tables.add::<2>(line, to, grid),
                4 => tables.add::<4>(line, to, grid),
                8 => tables.add::<8>(line, to, grid),
                _ => tables.add::<16>(line, to, grid),
            };
            match added {
                Added::Yes => done = next,
                Added::Full => break,
                Added::Dear => {
                    more = false;
                    break;
                }
            }
        }
        // SAFETY: so many portions and lines were written.
        let (portions, lines) = unsafe {
            (
                tables.portions[..tables.portions_used].assume_init_ref(),
                tables.lines[..tables.lines_used].assume_init_mut(),
            )
        };
        // Of so many portions each, one after the other.
        lines.sort_unstable_by_key(|line| line.portions);
        let first = |bytes: usize| u64::MAX >> LINE.saturating_sub(bytes).min(LINE - 1);
        let masks = Masks {
            load: first(grid.high.wrapping_sub(grid.low).unsigned_abs()),
            store: first(offsets.len() * run),
        };
        // SAFETY: the bytes of the masks lie between the first and the last element read at a point of the nest, and among
        // the elements written.
        unsafe { points(dst, src, (nest, step), masks, portions, lines) };
        if !more || done == offsets.len() {
            return done;
        }
    }
}

/// Rows that are moved together, so that what a line needs is loaded once for all of them.
const TOGETHER: usize = 4;

/// Which bytes of a window there are, and which of a line: all, unless rows are shorter.
#[derive(Clone, Copy)]
struct Masks {
    load: u64,
    store: u64,
}

/// # Safety
/// What masks have of windows is readable relative to every point of the nest, and what they have of lines, of which each has
/// some of the portions, is writable.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn points(
    dst: *mut u8,
    src: *const u8,
    (nest, step): (&Nest, Step),
    masks: Masks,
    portions: &[Portion],
    lines: &[Line],
) {
    walk_rows!(nest, dst, src, |first_dst, first_src| {
        let (mut d, mut s) = (first_dst, first_src);
        let mut rows = step.extent;
        while rows >= TOGETHER {
            // SAFETY: so many rows are left.
            unsafe { some_rows::<TOGETHER>(d, s, step, masks, portions, lines) };
            d = d.wrapping_offset(step.dst.wrapping_mul(TOGETHER as isize));
            s = s.wrapping_offset(step.src.wrapping_mul(TOGETHER as isize));
            rows = rows.wrapping_sub(TOGETHER);
        }
        for _ in 0..rows {
            // SAFETY: as above.
            unsafe { some_rows::<1>(d, s, step, masks, portions, lines) };
            d = d.wrapping_offset(step.dst);
            s = s.wrapping_offset(step.src);
        }
    });
}

/// # Safety
/// As [`points`], for `R` points, each a step on from the one before.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn some_rows<const R: usize>(
    dst: *mut u8,
    src: *const u8,
    step: Step,
    masks: Masks,
    portions: &[Portion],
    lines: &[Line],
) {
    for line in lines {
        let dst = dst.wrapping_offset(line.dst);
        // SAFETY: the caller's.
        unsafe {
            let portions =
                portions.get_unchecked(line.first..line.first.wrapping_add(line.portions));
            match portions.len() {
                1 => one_line::<1, R>(dst, src, step, masks, portions),
                2 => one_line::<2, R>(dst, src, step, masks, portions),
                3 => one_line::<3, R>(dst, src, step, masks, portions),
                4 => one_line::<4, R>(dst, src, step, masks, portions),
                _ => one_line::<0, R>(dst, src, step, masks, portions),
            }
        }
    }
}

/// # Safety
/// As [`some_rows`], for one line of so many portions, `N` unless that is 0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn one_line<const N: usize, const R: usize>(
    dst: *mut u8,
    src: *const u8,
    step: Step,
    masks: Masks,
    portions: &[Portion],
) {
    let mut bytes = [_mm512_setzero_si512(); R];
    let portions = match portions.first_chunk::<N>() {
        Some(known) if N > 0 => known.as_slice(),
        _ => portions,
    };
    for portion in portions {
        // SAFETY: a masked load touches only the bytes of its mask; tables are aligned.
        unsafe {
            let table = _mm512_load_si512(portion.table.as_ptr().cast());
            let here = _mm512_movepi8_mask(table);
            let mut from = src.wrapping_offset(portion.src);
            for bytes in &mut bytes {
                let window = _mm512_maskz_loadu_epi8(masks.load, from.cast());
                *bytes = _mm512_mask_permutexvar_epi8(*bytes, here, table, window);
                from = from.wrapping_offset(step.src);
            }
        }
    }
    let mut to = dst;
    for bytes in bytes {
        // SAFETY: the caller's.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), masks.store, bytes) };
        to = to.wrapping_offset(step.dst);
    }
}
