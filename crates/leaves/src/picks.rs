//! One row of indices for many rows of data, as permutations.
//!
//! Where the indices run along the innermost dimension of the destination and serve one row after
//! the other, every line of a row of the destination takes the same bytes of the same few lines of
//! the source. So the offsets of a chunk are turned into permutation tables once, during the call,
//! and the rows then cost a few loads and shuffles per line instead of a load and a store per
//! element.
//!
//! Rows that follow each other are moved so many at a time that they fill lines.
//!
//! Nothing is read that does not lie between elements that are named: every load is masked to the hull of the offsets.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use crate::bodies::CpuLevel;
use crate::gather::Picks;
use crate::index::OUTSIDE;
use crate::nest::{Nest, walk_rows};
use crate::vector::Vector;
use restride_moves::Step;

/// The most bytes of a line, which is what a register holds.
const LINE: usize = 64;

/// How many portions of lines the tables have room for.
const PORTIONS: usize = 96;

/// How many lines are prepared at a time.
const LINES: usize = 64;

/// Rows of the source are at most so many lines long.
const WINDOWS: usize = 128;

/// What a line has of one window of the source.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Portion {
    /// Where in it each byte of the line is; the highest bit says whether it is there.
    table: [u8; LINE],
    src: isize,
}

/// A register that a line is put together in.
trait Register: Vector {
    /// Whether parts of it can be loaded and stored: the bytes of a mask, which is all of them elsewhere.
    const PARTS: bool;

    /// The highest bit of a table where bytes are of other windows; where they are of this one, it is the other way about.
    const ELSEWHERE: u8;

    /// So many windows, or a store, take as long as so many elements one by one.
    const AS_LONG: (usize, usize);

    /// # Safety
    /// The bytes of the mask are readable.
    #[inline(always)]
    unsafe fn load_part(from: *const u8, _mask: u64) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::load(from) }
    }

    /// # Safety
    /// The bytes of the mask are writable.
    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, _mask: u64) {
        // SAFETY: the caller's.
        unsafe { self.store(to) }
    }

    /// With bytes of a window where a table says so.
    fn with(self, table: Self, window: Self) -> Self;
}

impl Register for __m128i {
    const PARTS: bool = false;
    const ELSEWHERE: u8 = 0x80;
    const AS_LONG: (usize, usize) = (1, 1);

    #[inline(always)]
    fn with(self, table: Self, window: Self) -> Self {
        // SAFETY: only functions with these features use it. Nothing else of the line is there yet.
        unsafe { _mm_or_si128(self, _mm_shuffle_epi8(window, table)) }
    }
}

impl Register for __m512i {
    const PARTS: bool = true;
    const ELSEWHERE: u8 = 0;
    const AS_LONG: (usize, usize) = (2, 3);

    #[inline(always)]
    unsafe fn load_part(from: *const u8, mask: u64) -> Self {
        // SAFETY: the caller's.
        unsafe { _mm512_maskz_loadu_epi8(mask, from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, mask: u64) {
        // SAFETY: the caller's.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), mask, self) };
    }

    #[inline(always)]
    fn with(self, table: Self, window: Self) -> Self {
        // SAFETY: only functions with these features use it.
        unsafe {
            let here = _mm512_movepi8_mask(table);
            _mm512_mask_permutexvar_epi8(self, here, table, window)
        }
    }
}

/// A line of the destination, and of which portions it is put together.
#[derive(Clone, Copy)]
struct Line {
    dst: isize,
    first: usize,
    portions: usize,
    /// Which bytes of it are stored.
    store: u64,
}

/// A mask of the first so many bytes, one at least, of a line.
fn first_bytes(bytes: usize) -> u64 {
    u64::MAX >> LINE.saturating_sub(bytes).min(LINE - 1)
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
    of: [u8; WINDOWS],
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
    fn window<V: Register>(self, offset: isize) -> usize {
        (offset.wrapping_sub(self.first).unsigned_abs() / V::BYTES) % WINDOWS
    }

    /// Where a window is loaded from: moved inwards at the ends of the row.
    fn start<V: Register>(self, window: usize) -> isize {
        let at = self.first.wrapping_add((window * V::BYTES) as isize);
        let last = self.high.wrapping_sub(V::BYTES as isize);
        at.min(last).max(self.low)
    }
}

impl Tables {
    /// Adds the line of elements of so many bytes at `offsets`, if it is worth that as one of so many.
    #[inline(always)]
    fn add<V: Register, const RUN: usize>(
        &mut self,
        offsets: &[isize],
        worth: usize,
        dst: isize,
        grid: Grid,
    ) -> Added {
        let mut used = 0u128;
        for &offset in offsets {
            if offset != OUTSIDE {
                used |= 1 << grid.window::<V>(offset);
            }
        }
        let (first, portions) = (self.portions_used, used.count_ones() as usize);
        let (windows, elements) = V::AS_LONG;
        if elements * (portions + 1) > windows * worth {
            return Added::Dear;
        }
        if self.lines_used == LINES || first + portions > PORTIONS {
            return Added::Full;
        }
        for (at, portion) in (first..).zip(&mut self.portions[first..first + portions]) {
            let window = used.trailing_zeros() as usize % WINDOWS;
            used &= used.wrapping_sub(1);
            self.of[window] = at as u8;
            portion.write(Portion {
                table: [V::ELSEWHERE; LINE],
                src: grid.start::<V>(window),
            });
        }
        for (to, &offset) in offsets.iter().enumerate() {
            if offset == OUTSIDE {
                continue;
            }
            let portion = &mut self.portions[usize::from(self.of[grid.window::<V>(offset)])];
            // SAFETY: a portion was written above for every window of the line, and elements end within it.
            unsafe {
                let portion = portion.assume_init_mut();
                let from = offset.wrapping_sub(portion.src) as u8 | (V::ELSEWHERE ^ 0x80);
                count_from::<RUN>(portion.table.as_mut_ptr().add(to * RUN), from);
            }
        }
        self.lines[self.lines_used].write(Line {
            dst,
            first,
            portions,
            store: first_bytes(offsets.len() * RUN),
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

/// How a level moves the elements that are picked out of rows, if it does so by permutations.
pub(crate) fn picks(cpu: CpuLevel) -> Option<Picks> {
    match cpu {
        CpuLevel::Baseline => None,
        CpuLevel::Avx2 => Some(at_avx2),
        CpuLevel::Avx512 => Some(at_avx512),
    }
}

#[target_feature(enable = "avx2,ssse3")]
unsafe fn at_avx2(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    run: usize,
    nest: &Nest,
) -> usize {
    // SAFETY: the caller's.
    unsafe { pick::<__m128i>(dst, src, offsets, run, nest) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn at_avx512(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    run: usize,
    nest: &Nest,
) -> usize {
    // SAFETY: the caller's.
    unsafe { pick::<__m512i>(dst, src, offsets, run, nest) }
}

/// # Safety
/// As [`Picks`].
#[inline(always)]
unsafe fn pick<V: Register>(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    run: usize,
    nest: &Nest,
) -> usize {
    let [_, step] = nest.plane();
    let (picked, row) = (offsets.len(), offsets.len() * run);
    // An element that straddles windows would be of both.
    let whole = step.src.unsigned_abs().is_multiple_of(run);
    let rows = match whole && step.dst == row as isize {
        true => rows_together::<V>(picked, row, step.extent),
        false => 1,
    };
    if rows > 1 {
        let mut all = [OUTSIDE; ELEMENTS];
        let all = &mut all[..rows * picked];
        for (row, all) in (0..).zip(all.chunks_exact_mut(picked)) {
            for (all, &offset) in all.iter_mut().zip(offsets) {
                if offset != OUTSIDE {
                    *all = offset.wrapping_add(step.src.wrapping_mul(row));
                }
            }
        }
        // SAFETY: the caller's; these are all the points that the nest has in a row, so many of them at a time, the last of
        // which overlap those before.
        let moved = unsafe { pick_of::<V>(dst, src, all, run, (nest, rows)) };
        if moved == all.len() {
            return picked;
        }
    }
    // SAFETY: the caller's.
    unsafe { pick_of::<V>(dst, src, offsets, run, (nest, 1)) }
}

/// The most elements of rows that are moved together, and lines that these fill.
const ELEMENTS: usize = 512;
const FILLED: usize = 32;

/// How many rows of so many elements and bytes, which follow each other, are moved together: as many as a line has, or those
/// that fill whole lines, if that takes fewer by more than the tables of so many elements are worth.
fn rows_together<V: Register>(picked: usize, row: usize, extent: usize) -> usize {
    let few = (LINE / row).min(extent).max(1);
    let most = extent.min(ELEMENTS / picked).min(FILLED * V::BYTES / row);
    let many = most.min(V::BYTES >> row.trailing_zeros().min(V::BYTES.ilog2()));
    let lines = |rows: usize| extent * (rows * row).div_ceil(V::BYTES) / rows;
    match many > few && 2 * lines(few).saturating_sub(lines(many)) > 5 * many * picked {
        true => many,
        false => few,
    }
}

/// As [`pick`], of so many rows at a time of the innermost dimension of the nest.
///
/// # Safety
/// As [`pick`].
#[inline(always)]
unsafe fn pick_of<V: Register>(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    run: usize,
    (nest, at_once): (&Nest, usize),
) -> usize {
    let per_line = V::BYTES / run;
    let (low, last) = hull(offsets).unwrap_or((0, 0));
    // Windows begin where the lines of the first row do, if its elements do not straddle them.
    let skew = src.addr().wrapping_add_signed(low) % V::BYTES;
    let skew = if skew.is_multiple_of(run) { skew } else { 0 };
    let grid = Grid {
        first: low.wrapping_sub(skew as isize),
        low,
        high: last.wrapping_add(run as isize),
    };
    let hull = grid.high.wrapping_sub(low).unsigned_abs();
    let fits = V::PARTS || hull.min(offsets.len() * run) >= V::BYTES;
    if !fits || grid.high.wrapping_sub(grid.first) > (WINDOWS * V::BYTES) as isize {
        return 0;
    }
    let mut tables = Tables {
        portions: [const { MaybeUninit::uninit() }; PORTIONS],
        lines: [const { MaybeUninit::uninit() }; LINES],
        portions_used: 0,
        lines_used: 0,
        of: [0; WINDOWS],
    };
    let (mask, mut done) = (first_bytes(hull), 0);
    loop {
        (tables.portions_used, tables.lines_used) = (0, 0);
        let mut more = true;
        while done < offsets.len() {
            // What is stored as a whole overlaps the line before.
            let begin = match V::PARTS {
                true => done,
                false => done.min(offsets.len() - per_line),
            };
            let next = offsets.len().min(begin + per_line);
            let (line, to) = (&offsets[begin..next], (begin * run) as isize);
            // What is left of rows that are moved together is not moved in another way.
            let worth = match at_once > 1 && begin > 0 {
                true => per_line,
                false => line.len(),
            };
            let added = match run {
                1 => tables.add::<V, 1>(line, worth, to, grid),
                2 => tables.add::<V, 2>(line, worth, to, grid),
                4 => tables.add::<V, 4>(line, worth, to, grid),
                8 => tables.add::<V, 8>(line, worth, to, grid),
                _ => tables.add::<V, 16>(line, worth, to, grid),
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
        // SAFETY: the bytes of the mask lie between the first and the last element read at a point of the nest, and what is
        // stored of lines among the elements written.
        unsafe { points::<V>(dst, src, (nest, at_once), mask, portions, lines) };
        if !more || done == offsets.len() {
            return done;
        }
    }
}

/// Rows that are moved together, so that what a line needs is loaded once for all of them.
const TOGETHER: usize = 4;

/// # Safety
/// What the mask has of windows is readable relative to every point of the nest, and what is stored of lines, of which each
/// has some of the portions, is writable.
#[inline(always)]
unsafe fn points<V: Register>(
    dst: *mut u8,
    src: *const u8,
    (nest, at_once): (&Nest, usize),
    mask: u64,
    portions: &[Portion],
    lines: &[Line],
) {
    let [_, step] = nest.plane();
    let times = |rows: usize| Step {
        extent: 1,
        dst: step.dst.wrapping_mul(rows as isize),
        src: step.src.wrapping_mul(rows as isize),
    };
    let (next, last) = (times(at_once), times(step.extent.wrapping_sub(at_once)));
    walk_rows!(nest, dst, src, |first_dst, first_src| {
        let (mut d, mut s) = (first_dst, first_src);
        let mut rows = step.extent / at_once;
        while rows >= TOGETHER {
            // SAFETY: so many rows are left.
            unsafe { some_rows::<V, TOGETHER>(d, s, next, mask, portions, lines) };
            d = d.wrapping_offset(next.dst.wrapping_mul(TOGETHER as isize));
            s = s.wrapping_offset(next.src.wrapping_mul(TOGETHER as isize));
            rows = rows.wrapping_sub(TOGETHER);
        }
        for _ in 0..rows {
            // SAFETY: as above.
            unsafe { some_rows::<V, 1>(d, s, next, mask, portions, lines) };
            d = d.wrapping_offset(next.dst);
            s = s.wrapping_offset(next.src);
        }
        if !step.extent.is_multiple_of(at_once) {
            let (d, s) = (
                first_dst.wrapping_offset(last.dst),
                first_src.wrapping_offset(last.src),
            );
            // SAFETY: the last rows.
            unsafe { some_rows::<V, 1>(d, s, next, mask, portions, lines) };
        }
    });
}

/// # Safety
/// As [`points`], for `R` points, each a step on from the one before.
#[inline(always)]
unsafe fn some_rows<V: Register, const R: usize>(
    dst: *mut u8,
    src: *const u8,
    step: Step,
    mask: u64,
    portions: &[Portion],
    lines: &[Line],
) {
    for line in lines {
        let (dst, masks) = (dst.wrapping_offset(line.dst), (mask, line.store));
        // SAFETY: the caller's.
        unsafe {
            let portions =
                portions.get_unchecked(line.first..line.first.wrapping_add(line.portions));
            match portions.len() {
                1 => one_line::<V, 1, R>(dst, src, step, masks, portions),
                2 => one_line::<V, 2, R>(dst, src, step, masks, portions),
                3 => one_line::<V, 3, R>(dst, src, step, masks, portions),
                4 => one_line::<V, 4, R>(dst, src, step, masks, portions),
                _ => one_line::<V, 0, R>(dst, src, step, masks, portions),
            }
        }
    }
}

/// # Safety
/// As [`some_rows`], for one line of so many portions, `N` unless that is 0, by the masks of windows and of what is stored.
#[inline(always)]
unsafe fn one_line<V: Register, const N: usize, const R: usize>(
    dst: *mut u8,
    src: *const u8,
    step: Step,
    (load, store): (u64, u64),
    portions: &[Portion],
) {
    let mut bytes = [V::splat(0); R];
    let portions = match portions.first_chunk::<N>() {
        Some(known) if N > 0 => known.as_slice(),
        _ => portions,
    };
    for portion in portions {
        // SAFETY: the caller's.
        let table = unsafe { V::load(portion.table.as_ptr()) };
        let mut from = src.wrapping_offset(portion.src);
        for bytes in &mut bytes {
            // SAFETY: the caller's.
            *bytes = bytes.with(table, unsafe { V::load_part(from, load) });
            from = from.wrapping_offset(step.src);
        }
    }
    let (mut to, whole) = (dst, store == u64::MAX);
    for bytes in bytes {
        // SAFETY: the caller's.
        unsafe {
            match whole {
                true => bytes.store(to),
                false => bytes.store_part(to, store),
            }
        }
        to = to.wrapping_offset(step.dst);
    }
}
