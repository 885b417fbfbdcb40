//! One row of indices for many rows of data, as permutations.
//!
//! Where the indices run along the innermost dimension of the destination and serve one row after
//! the other, every line of a row of the destination takes the same bytes of the same few lines of
//! the source. So the offsets of a chunk are turned into permutation tables once, during the call or
//! before it where constants name them, and the rows then cost a few loads and shuffles per line instead of a load and a store per
//! element.
//!
//! Rows that follow each other are moved so many at a time that they fill lines.
//!
//! Nothing is read that does not lie between elements that are named: every load is masked to the hull of the offsets.

mod known;
mod points;
mod register;
mod tables;

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use crate::bodies::CpuLevel;
use crate::gather::Picks;
use crate::index::OUTSIDE;
use crate::nest::Nest;
pub(crate) use known::KnownPicks;
use register::Register;
use restride_moves::{KnownRows, PICKED_TOGETHER};
use tables::{Tables, mask_of, windows_of};

/// The most bytes of a line, which is what a register holds.
const LINE: usize = 64;

/// How a level moves the elements that are picked out of rows, if it does so by permutations.
pub(crate) fn picks(cpu: CpuLevel) -> Option<Picks> {
    match cpu {
        CpuLevel::Baseline => None,
        CpuLevel::Avx2 => Some(at_avx2),
        CpuLevel::Avx512 => Some(at_avx512),
    }
}

/// The same of elements at offsets that are known before the call, of so many rows of the nest together, from a source that
/// begins so many bytes behind the beginning of a line, if tables have room for all of them.
pub(crate) fn known(
    cpu: CpuLevel,
    offsets: &[isize],
    run: usize,
    nest: (&Nest, KnownRows),
    at: usize,
) -> Option<KnownPicks> {
    match cpu {
        CpuLevel::Baseline => None,
        CpuLevel::Avx2 => KnownPicks::of::<__m128i>(offsets, run, nest, at),
        CpuLevel::Avx512 => KnownPicks::of::<__m512i>(offsets, run, nest, at),
    }
}

#[target_feature(enable = "avx2,ssse3")]
unsafe fn at_avx2(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    run: usize,
    nest: (&Nest, usize),
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
    nest: (&Nest, usize),
) -> usize {
    // SAFETY: the caller's.
    unsafe { pick::<__m512i>(dst, src, offsets, run, nest) }
}

/// The elements of so many rows of a nest that follow each other.
#[inline(always)]
fn together<'a>(
    offsets: &'a [isize],
    nest: &Nest,
    rows: usize,
    room: &'a mut [MaybeUninit<isize>],
) -> &'a [isize] {
    let ([_, step], picked) = (nest.plane(), offsets.len());
    if rows == 1 {
        return offsets;
    }
    let all = &mut room[..rows * picked];
    for (row, all) in (0..).zip(all.chunks_exact_mut(picked)) {
        for (all, &offset) in all.iter_mut().zip(offsets) {
            all.write(match offset {
                OUTSIDE => OUTSIDE,
                offset => offset.wrapping_add(step.src.wrapping_mul(row)),
            });
        }
    }
    // SAFETY: as many as there are rows of offsets.
    unsafe { all.assume_init_ref() }
}

/// # Safety
/// As [`Picks`].
#[inline(always)]
unsafe fn pick<V: Register>(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    run: usize,
    (nest, rows): (&Nest, usize),
) -> usize {
    let mut room = [const { MaybeUninit::uninit() }; PICKED_TOGETHER];
    if rows > 1 {
        let all = together(offsets, nest, rows, &mut room);
        // SAFETY: the caller's; these are all the points that the nest has in a row, so many of them at a time, the last of
        // which overlap those before.
        let moved = unsafe { pick_of::<V>(dst, src, all, run, (nest, rows)) };
        if moved == all.len() {
            return offsets.len();
        }
    }
    // SAFETY: the caller's.
    unsafe { pick_of::<V>(dst, src, offsets, run, (nest, 1)) }
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
    let Some(windows) = windows_of::<V>(src.addr(), offsets, run) else {
        return 0;
    };
    let mut place = MaybeUninit::uninit();
    let (tables, mut done) = (Tables::at(&mut place), 0);
    loop {
        let more;
        tables.clear();
        (done, more) = tables.fill::<V>(offsets, done, run, windows, |begin, elements| {
            // What is left of rows that are moved together is not moved in another way.
            match at_once > 1 && begin > 0 {
                true => V::BYTES / run,
                false => elements,
            }
        });
        let (portions, lines) = tables.filled();
        // SAFETY: the bytes of the mask lie between the first and the last element read at a point of the nest, and what is
        // stored of lines among the elements written.
        unsafe { V::POINTS(dst, src, (nest, at_once), mask_of(windows), portions, lines) };
        if !more || done == offsets.len() {
            return done;
        }
    }
}
