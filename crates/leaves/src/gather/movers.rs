//! How the rows of a chunk are moved, once their offsets are known.

use std::marker::PhantomData;

use super::direct::{Block, Never};
use super::{GatherParams, Row};
use crate::copy::{Copier, ask_lines};
use crate::index::OUTSIDE;
use crate::nest::{Nest, walk, walk_rows};
use crate::vector::fence;

/// How the rows of a chunk of offsets are moved.
pub(super) trait Mover: 'static {
    /// How they are moved where their indices are read one by one.
    type Block: Block;

    /// Moves rows, and with the first of them asks for those at `later`, at most as many.
    ///
    /// # Safety
    /// The offsets are of rows of the source, or OUTSIDE if `CHECK`; so many rows are writable.
    unsafe fn rows<const CHECK: bool>(
        dst: *mut u8,
        src: *const u8,
        offsets: &[isize],
        later: &[isize],
        params: &GatherParams,
    );

    /// Moves rows that were known before the call, if it can.
    ///
    /// # Safety
    /// As [`Mover::rows`], of all rows.
    #[inline(always)]
    unsafe fn moves_known(_dst: *mut u8, _src: *const u8, _params: &GatherParams) -> bool {
        false
    }

    /// Asks for rows that are moved before any others are asked for.
    fn ask(_src: *const u8, _offsets: &[isize], _params: &GatherParams) {}
}

/// Moves one run, or zeros it.
///
/// # Safety
/// The offset is of a run of the caller's source, or OUTSIDE if `CHECK`; the run is writable.
#[inline(always)]
unsafe fn one<C: Copier, const CHECK: bool>(
    dst: *mut u8,
    src: *const u8,
    offset: isize,
    run: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        if CHECK && offset == OUTSIDE {
            dst.write_bytes(0, run);
        } else {
            C::copy(dst, src.wrapping_offset(offset), run);
        }
    }
}

/// Rows that are a run each.
pub(super) struct Runs<C, B>(PhantomData<(C, B)>);

impl<C: Copier, B: Block> Mover for Runs<C, B> {
    type Block = B;

    #[inline(always)]
    unsafe fn rows<const CHECK: bool>(
        dst: *mut u8,
        src: *const u8,
        offsets: &[isize],
        later: &[isize],
        params: &GatherParams,
    ) {
        let Row::Run(run) = params.row else { return };
        let (rows, rest) = offsets.split_at(later.len().min(offsets.len()));
        // SAFETY: the caller's.
        let mut dst = unsafe {
            match params.far {
                true => asking::<C, CHECK, true>(dst, src, (rows, later), run, params),
                false => asking::<C, CHECK, false>(dst, src, (rows, later), run, params),
            }
        };
        for &offset in rest {
            // SAFETY: the caller's.
            unsafe { one::<C, CHECK>(dst, src, offset, run) };
            dst = dst.wrapping_offset(params.dst_stride);
        }
        if params.past {
            fence();
        }
    }

    fn ask(src: *const u8, offsets: &[isize], params: &GatherParams) {
        let Row::Run(run) = params.row else { return };
        let asked = run.min(ASKED);
        for &offset in offsets {
            let row = src.wrapping_offset(offset);
            match params.far {
                true => ask_lines::<true>(row, asked),
                false => ask_lines::<false>(row, asked),
            }
        }
    }
}

/// Bytes of a row that are asked for at most.
const ASKED: usize = 4096;

/// Moves rows and asks for another one with each. Returns where the next row goes.
///
/// # Safety
/// As [`Mover::rows`].
#[inline(always)]
unsafe fn asking<C: Copier, const CHECK: bool, const FAR: bool>(
    mut dst: *mut u8,
    src: *const u8,
    (rows, later): (&[isize], &[isize]),
    run: usize,
    params: &GatherParams,
) -> *mut u8 {
    let asked = run.min(ASKED);
    for (&offset, &later) in rows.iter().zip(later) {
        let later = src.wrapping_offset(later);
        // SAFETY: the caller's.
        unsafe {
            if CHECK && offset == OUTSIDE {
                ask_lines::<FAR>(later, asked);
                dst.write_bytes(0, run);
            } else {
                C::copy_asking::<FAR>(dst, src.wrapping_offset(offset), run, later, asked);
            }
        }
        dst = dst.wrapping_offset(params.dst_stride);
    }
    dst
}

/// Moves the elements at some offsets, of so many bytes each, to consecutive places, for every point of a nest, of so many rows
/// of its innermost dimension together, and says how many of them; the others are left alone because permutations do not pay for them.
///
/// # Safety
/// Offsets are of elements of the source, or OUTSIDE, and those of all rows if there are several together; the machine has the
/// level that it was made for.
pub(crate) type Picks = unsafe fn(*mut u8, *const u8, &[isize], usize, (&Nest, usize)) -> usize;

pub(super) struct Points<C>(PhantomData<C>);

impl<C: Copier> Mover for Points<C> {
    type Block = Never;

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn moves_known(dst: *mut u8, src: *const u8, params: &GatherParams) -> bool {
        match &params.row {
            Row::Points {
                nest,
                known: Some(known),
                ..
            } if known.are_of(src) => {
                // SAFETY: the caller's; they are of this nest.
                unsafe { known.call(dst, src, nest) };
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    unsafe fn rows<const CHECK: bool>(
        dst: *mut u8,
        src: *const u8,
        offsets: &[isize],
        _: &[isize],
        params: &GatherParams,
    ) {
        let Row::Points {
            nest, run, picks, ..
        } = &params.row
        else {
            return;
        };
        let done = match picks {
            // SAFETY: the caller's; the plan is for a machine that has its features.
            Some((picks, rows)) => unsafe { picks(dst, src, offsets, *run, (nest, *rows)) },
            None => 0,
        };
        let dst = dst.wrapping_offset(params.dst_stride.wrapping_mul(done as isize));
        let Some(offsets) = offsets.get(done..).filter(|rest| !rest.is_empty()) else {
            return;
        };
        let stride = params.dst_stride;
        if offsets.len() <= FEW_ROWS && nest.plane()[1].extent >= IN_TURN {
            // SAFETY: the caller's.
            unsafe { few::<C, CHECK>(dst, src, offsets, *run, (nest, stride)) };
            return;
        }
        // A turn of a loop of single ones takes two clocks where it straddles two lines of code.
        let (fours, rest) = offsets.as_chunks::<4>();
        walk!(nest, dst, src, |d, s| {
            let mut to = d;
            let mut next = |offset: isize| {
                // SAFETY: the caller's.
                unsafe { one::<C, CHECK>(to, s, offset, *run) };
                to = to.wrapping_offset(stride);
            };
            for &[a, b, c, d] in fours {
                next(a);
                next(b);
                next(c);
                next(d);
            }
            for &offset in rest {
                next(offset);
            }
        });
    }
}

/// The most rows of which several points are moved in turn, and how many points: lines of the destination stay near.
const FEW_ROWS: usize = 32;
const IN_TURN: usize = 8;

/// Moves runs at some offsets to places that are so far apart, for every point of a nest: for several of them, one row after the
/// other.
///
/// # Safety
/// As [`one`], for every point.
#[inline(always)]
unsafe fn few<C: Copier, const CHECK: bool>(
    dst: *mut u8,
    src: *const u8,
    offsets: &[isize],
    run: usize,
    (nest, stride): (&Nest, isize),
) {
    let [_, step] = nest.plane();
    walk_rows!(nest, dst, src, |first_dst, first_src| {
        let (mut d, mut s, mut points) = (first_dst, first_src, step.extent);
        while points > 0 {
            let now = points.min(IN_TURN);
            let mut row = d;
            for &offset in offsets {
                let (mut to, mut from) = (row, s);
                let mut next = || {
                    // SAFETY: the caller's.
                    unsafe { one::<C, CHECK>(to, from, offset, run) };
                    to = to.wrapping_offset(step.dst);
                    from = from.wrapping_offset(step.src);
                };
                match now == IN_TURN {
                    true => (0..IN_TURN).for_each(|_| next()),
                    false => (0..now).for_each(|_| next()),
                }
                row = row.wrapping_offset(stride);
            }
            d = d.wrapping_offset(step.dst.wrapping_mul(now as isize));
            s = s.wrapping_offset(step.src.wrapping_mul(now as isize));
            points = points.wrapping_sub(now);
        }
    });
}

pub(super) struct Boxes;

impl Mover for Boxes {
    type Block = Never;

    #[inline(always)]
    unsafe fn rows<const CHECK: bool>(
        dst: *mut u8,
        src: *const u8,
        offsets: &[isize],
        _: &[isize],
        params: &GatherParams,
    ) {
        let Row::Box { copy, zero } = &params.row else {
            return;
        };
        let mut dst = dst;
        for &offset in offsets {
            // SAFETY: the caller's; a fill reads nothing.
            unsafe {
                if CHECK && offset == OUTSIDE {
                    zero.call(dst, dst);
                } else {
                    copy.call(dst, src.wrapping_offset(offset));
                }
            }
            dst = dst.wrapping_offset(params.dst_stride);
        }
    }
}
