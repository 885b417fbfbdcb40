//! How the rows of a chunk are moved, once their offsets are known.

use std::marker::PhantomData;

use super::direct::{Bits, Numbers, Spacing};
use super::{GatherParams, Row};
use crate::copy::{Copier, ask_lines};
use crate::index::OUTSIDE;
use crate::nest::walk;
#[cfg(target_arch = "x86_64")]
use crate::picks::pick;
use crate::vector::{Vector, fence};

/// How the rows of a chunk of offsets are moved.
pub(super) trait Mover: 'static {
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

    /// Asks for rows that are moved before any others are asked for.
    fn ask(_src: *const u8, _offsets: &[isize], _params: &GatherParams) {}

    /// How many rows are a block, if they are moved as their indices are read.
    const EACH: usize = 0;

    /// How many rows have to be moved after the last block.
    const BEHIND: usize = 0;

    /// What indices count more often than anything else, if that makes a difference.
    const BYTES: usize = 0;

    /// Moves a block of rows, or some of them if not all indices are numbers of rows.
    ///
    /// # Safety
    /// The indices can be read, each number is that of a row of the source, and the block is writable.
    #[inline(always)]
    unsafe fn block<I: Bits>(
        _dst: *mut u8,
        _src: *const u8,
        _numbers: &Numbers<I>,
        _rows: Spacing,
    ) -> Option<()> {
        None
    }
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

pub(super) struct Runs<C>(PhantomData<C>);

impl<C: Copier> Mover for Runs<C> {
    const EACH: usize = C::IN_A_TURN;

    #[inline(always)]
    unsafe fn block<I: Bits>(
        dst: *mut u8,
        src: *const u8,
        numbers: &Numbers<I>,
        rows: Spacing,
    ) -> Option<()> {
        let mut to = dst;
        for at in 0..Self::EACH {
            // SAFETY: the caller's.
            unsafe { C::copy(to, src.wrapping_offset(numbers.offset(at)?), rows.run) };
            to = to.wrapping_offset(rows.stride);
        }
        Some(())
    }

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

/// Rows that follow each other, each moved as one vector: what that has too much, the next row is written over.
pub(super) struct Following<C, V>(PhantomData<(C, V)>);

impl<C: Copier, V: Vector> Mover for Following<C, V> {
    const EACH: usize = 4;
    const BEHIND: usize = 1;

    #[inline(always)]
    unsafe fn block<I: Bits>(
        dst: *mut u8,
        src: *const u8,
        numbers: &Numbers<I>,
        rows: Spacing,
    ) -> Option<()> {
        let mut to = dst;
        for at in 0..Self::EACH {
            // SAFETY: the caller's; a vector of any row but the last one of the source is readable, and what it has too
            // much is written over with the next row.
            unsafe {
                let offset = numbers.offset(at)?;
                let from = src.wrapping_offset(offset);
                match offset == rows.last {
                    true => C::copy(to, from, rows.run),
                    false => V::load(from).store(to),
                }
            }
            to = to.wrapping_add(rows.run);
        }
        Some(())
    }

    #[inline(always)]
    unsafe fn rows<const CHECK: bool>(
        dst: *mut u8,
        src: *const u8,
        offsets: &[isize],
        _: &[isize],
        params: &GatherParams,
    ) {
        let Row::Run(run) = params.row else { return };
        let Some((&end, offsets)) = offsets.split_last() else {
            return;
        };
        let mut dst = dst;
        // SAFETY: the caller's; a vector begins with a row that is not the last one of the source, nor of these, and
        // ends before the one behind it does.
        unsafe {
            for &offset in offsets {
                if offset == params.last || (CHECK && offset == OUTSIDE) {
                    one::<C, CHECK>(dst, src, offset, run);
                } else {
                    V::load(src.wrapping_offset(offset)).store(dst);
                }
                dst = dst.wrapping_add(run);
            }
            one::<C, CHECK>(dst, src, end, run);
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

pub(super) struct Elements<T>(PhantomData<T>);

/// Part of a word.
pub(super) trait Element: Copy + Default + 'static {
    fn widen(self) -> u64;
}

macro_rules! element {
    ($($ty:ty)*) => { $(
        impl Element for $ty {
            #[inline(always)]
            #[allow(clippy::useless_conversion, reason = "one body for all widths")]
            fn widen(self) -> u64 {
                self.into()
            }
        }
    )* };
}

element! { u8 u16 u32 u64 }

/// How many elements are a word.
const fn in_word<T>() -> usize {
    size_of::<u64>() / size_of::<T>()
}

/// The bits of a word that one of its elements has.
#[inline(always)]
fn in_place<T: Element>(element: T, at: usize) -> u64 {
    let at = match cfg!(target_endian = "little") {
        true => at,
        false => in_word::<T>().wrapping_sub(at.wrapping_add(1)),
    };
    element.widen() << at.wrapping_mul(8 * size_of::<T>())
}

impl<T: Element> Mover for Elements<T> {
    const EACH: usize = 16;
    const BYTES: usize = size_of::<T>();

    #[inline(always)]
    unsafe fn block<I: Bits>(
        dst: *mut u8,
        src: *const u8,
        numbers: &Numbers<I>,
        _: Spacing,
    ) -> Option<()> {
        let mut to = dst.cast::<u64>();
        for first in (0..Self::EACH).step_by(in_word::<T>()) {
            let mut word = 0;
            for at in 0..in_word::<T>() {
                // SAFETY: the caller's.
                word |= unsafe {
                    let offset = numbers.offset(first.wrapping_add(at))?;
                    in_place(src.wrapping_offset(offset).cast::<T>().read_unaligned(), at)
                };
            }
            // SAFETY: the caller's; so many elements are a word.
            unsafe { to.write_unaligned(word) };
            to = to.wrapping_add(1);
        }
        Some(())
    }

    /// A word at a time: one store for several elements.
    #[inline(always)]
    unsafe fn rows<const CHECK: bool>(
        dst: *mut u8,
        src: *const u8,
        offsets: &[isize],
        _: &[isize],
        _: &GatherParams,
    ) {
        let mut dst = dst;
        let element = |offset: isize| match offset {
            OUTSIDE if CHECK => T::default(),
            // SAFETY: the caller's.
            _ => unsafe { src.wrapping_offset(offset).cast::<T>().read_unaligned() },
        };
        let words = offsets.chunks_exact(in_word::<T>());
        let rest = words.remainder();
        for offsets in words {
            let mut word = 0;
            for (at, &offset) in offsets.iter().enumerate() {
                word |= in_place(element(offset), at);
            }
            // SAFETY: the caller's; so many elements are a word.
            unsafe { dst.cast::<u64>().write_unaligned(word) };
            dst = dst.wrapping_add(8);
        }
        for &offset in rest {
            // SAFETY: the caller's.
            unsafe { dst.cast::<T>().write_unaligned(element(offset)) };
            dst = dst.wrapping_add(size_of::<T>());
        }
    }
}

pub(super) struct Points<C>(PhantomData<C>);

impl<C: Copier> Mover for Points<C> {
    #[inline(always)]
    unsafe fn rows<const CHECK: bool>(
        dst: *mut u8,
        src: *const u8,
        offsets: &[isize],
        _: &[isize],
        params: &GatherParams,
    ) {
        let Row::Points {
            nest,
            run,
            permuted,
        } = &params.row
        else {
            return;
        };
        let done = match permuted {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the caller's; permutations are planned only for a machine that has AVX-512.
            true => unsafe { pick(dst, src, offsets, *run, nest) },
            _ => 0,
        };
        let dst = dst.wrapping_offset(params.dst_stride.wrapping_mul(done as isize));
        let Some(offsets) = offsets.get(done..).filter(|rest| !rest.is_empty()) else {
            return;
        };
        // A turn of a loop of single ones takes two clocks where it straddles two lines of code.
        let (fours, rest) = offsets.as_chunks::<4>();
        let stride = params.dst_stride;
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

pub(super) struct Boxes;

impl Mover for Boxes {
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
