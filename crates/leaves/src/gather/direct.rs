//! Rows whose indices are their numbers, one after the other, as nearly all are.
//!
//! Each index is compared with the number of rows as it is read, and becomes an address at once: no offset is kept, and
//! the next rows are loaded meanwhile. Any other index ends this, and is left to a chunk of offsets.

use std::marker::PhantomData;

use restride_loops::Norm;

use super::{GatherParams, Row};
use crate::copy::{Copier, One};
use crate::once::read_once;
use crate::vector::Vector;

/// How a few rows are moved while their indices are read.
pub(super) trait Block: 'static {
    /// How one is moved that is not in a block.
    type Single: Copier;

    /// How many; none if offsets have to be known first.
    const ROWS: usize;

    /// How many rows have to be moved after the last block.
    const BEHIND: usize = 0;

    /// What indices count more often than anything else, if that makes a difference.
    const COEFF: usize = 0;

    /// Moves them, or some of them if not all indices are numbers of rows.
    ///
    /// # Safety
    /// The indices can be read, each number is that of a row of the source, and the block is writable.
    #[inline(always)]
    unsafe fn rows<I: Word>(
        dst: *mut u8,
        src: *const u8,
        named: &Named<I>,
        spacing: Spacing,
    ) -> Option<()> {
        let mut to = dst;
        for at in 0..Self::ROWS {
            // SAFETY: the caller's.
            unsafe { Self::row(to, src, named.offset(at)?, spacing) };
            to = to.wrapping_offset(spacing.stride);
        }
        Some(())
    }

    /// Moves one of them.
    ///
    /// # Safety
    /// The offset is that of a row of the source, and the row is writable, as is what has to be moved after the block.
    #[inline(always)]
    unsafe fn row(dst: *mut u8, src: *const u8, offset: isize, spacing: Spacing) {
        // SAFETY: the caller's.
        unsafe { Self::Single::copy(dst, src.wrapping_offset(offset), spacing.run) }
    }
}

/// How rows lie. Blocks have it by value, since what they store could change what lies in memory.
#[derive(Clone, Copy)]
pub(super) struct Spacing {
    /// Bytes of a row.
    run: usize,
    /// Bytes from a row of the destination to the next.
    stride: isize,
    /// The offset of the last row of the source.
    last: isize,
}

/// An element of a row, or the bits of an index.
pub(super) trait Word: Copy + 'static {
    fn widen(self) -> u64;
}

macro_rules! words {
    ($($ty:ty)*) => { $(
        impl Word for $ty {
            #[inline(always)]
            #[allow(clippy::useless_conversion, reason = "one body for all widths")]
            fn widen(self) -> u64 {
                self.into()
            }
        }
    )* };
}

words! { u8 u16 u32 u64 }

/// Some indices, one after the other.
pub(super) struct Named<I> {
    at: *const u8,
    /// The first value, in their bits, that is not the number of a row.
    end: u64,
    /// Bytes of the source that they count.
    coeff: isize,
    of: PhantomData<I>,
}

impl<I: Word> Named<I> {
    /// The offset of the row that one of them names.
    ///
    /// # Safety
    /// It can be read.
    #[inline(always)]
    unsafe fn offset(&self, at: usize) -> Option<isize> {
        let at = self.at.wrapping_add(at.wrapping_mul(size_of::<I>()));
        // SAFETY: the caller's, and any bits are an integer.
        let number = unsafe { read_once::<I>(at) }.widen();
        (number < self.end).then(|| (number as isize).wrapping_mul(self.coeff))
    }
}

/// Rows for which offsets have to be known.
pub(super) struct Never;

impl Block for Never {
    type Single = One<u8>;
    const ROWS: usize = 0;
}

/// Runs, as many as their copier takes in a turn.
pub(super) struct InTurn<C>(PhantomData<C>);

impl<C: Copier> Block for InTurn<C> {
    type Single = C;
    const ROWS: usize = C::IN_A_TURN;
}

/// Runs that follow each other, each moved as one vector: what that has too much, the next one is written over.
pub(super) struct Overlapping<C, V>(PhantomData<(C, V)>);

impl<C: Copier, V: Vector> Block for Overlapping<C, V> {
    type Single = C;
    const ROWS: usize = 4;
    const BEHIND: usize = 1;

    #[inline(always)]
    unsafe fn row(dst: *mut u8, src: *const u8, offset: isize, spacing: Spacing) {
        let from = src.wrapping_offset(offset);
        // SAFETY: the caller's; a vector begins with a row, and ends, unless this is the last one of the source, before the
        // one behind it does. There is another one behind the block.
        unsafe {
            match offset == spacing.last {
                true => C::copy(dst, from, spacing.run),
                false => V::load(from).store(dst),
            }
        }
    }
}

/// Elements that follow each other, put together to words: one store for several.
pub(super) struct InWords<T>(PhantomData<T>);

impl<T: Vector + Word> Block for InWords<T> {
    type Single = One<T>;
    const ROWS: usize = 16;
    const COEFF: usize = size_of::<T>();

    #[inline(always)]
    unsafe fn rows<I: Word>(
        dst: *mut u8,
        src: *const u8,
        named: &Named<I>,
        _: Spacing,
    ) -> Option<()> {
        let in_word = size_of::<u64>() / size_of::<T>();
        let mut to = dst.cast::<u64>();
        for first in (0..Self::ROWS).step_by(in_word) {
            let mut word = 0;
            for at in 0..in_word {
                // SAFETY: the caller's.
                let element = unsafe {
                    let offset = named.offset(first.wrapping_add(at))?;
                    src.wrapping_offset(offset).cast::<T>().read_unaligned()
                };
                let place = match cfg!(target_endian = "little") {
                    true => at,
                    false => in_word.wrapping_sub(at.wrapping_add(1)),
                };
                word |= element.widen() << place.wrapping_mul(8 * size_of::<T>());
            }
            // SAFETY: the caller's; so many elements are a word.
            unsafe { to.write_unaligned(word) };
            to = to.wrapping_add(1);
        }
        Some(())
    }
}

/// Moves rows until an index is not the number of one. Returns how many.
///
/// # Safety
/// So many indices are left to read, one after the other, and as many rows to write; each number is that of a row of
/// the caller's source.
#[inline(always)]
pub(super) unsafe fn rows<B: Block>(
    dst: *mut u8,
    src: *const u8,
    index: *const u8,
    left: usize,
    params: &GatherParams,
) -> usize {
    // SAFETY: the caller's.
    unsafe {
        match params.norm.ty.width().bytes() {
            1 => of::<B, u8>(dst, src, index, left, params),
            2 => of::<B, u16>(dst, src, index, left, params),
            4 => of::<B, u32>(dst, src, index, left, params),
            _ => of::<B, u64>(dst, src, index, left, params),
        }
    }
}

/// As [`rows`], of indices of these bits.
///
/// # Safety
/// As [`rows`].
#[inline(always)]
unsafe fn of<B: Block, I: Word>(
    dst: *mut u8,
    src: *const u8,
    index: *const u8,
    left: usize,
    params: &GatherParams,
) -> usize {
    let (coeff, usual) = (params.coeff, B::COEFF as isize);
    // SAFETY: the caller's.
    unsafe {
        match usual > 0 && coeff == usual {
            // A constant is a part of addresses.
            true => counting::<B, I>(dst, src, index, left, usual, params),
            false => counting::<B, I>(dst, src, index, left, coeff, params),
        }
    }
}

/// As [`of`], of indices that count so many bytes.
///
/// # Safety
/// As [`rows`].
#[inline(always)]
unsafe fn counting<B: Block, I: Word>(
    mut dst: *mut u8,
    src: *const u8,
    index: *const u8,
    mut left: usize,
    coeff: isize,
    params: &GatherParams,
) -> usize {
    let Row::Run(run) = params.row else { return 0 };
    let (stride, last) = (params.dst_stride, params.last);
    let mut named = Named {
        at: index,
        end: end(&params.norm),
        coeff,
        of: PhantomData::<I>,
    };
    let all = left;
    // SAFETY: the caller's.
    unsafe {
        while left >= B::ROWS + B::BEHIND
            && B::rows(dst, src, &named, Spacing { run, stride, last }).is_some()
        {
            named.at = named.at.wrapping_add(B::ROWS * size_of::<I>());
            dst = dst.wrapping_offset(stride.wrapping_mul(B::ROWS as isize));
            left = left.wrapping_sub(B::ROWS);
        }
        while left > 0
            && let Some(offset) = named.offset(0)
        {
            B::Single::copy(dst, src.wrapping_offset(offset), run);
            named.at = named.at.wrapping_add(size_of::<I>());
            dst = dst.wrapping_offset(stride);
            left = left.wrapping_sub(1);
        }
    }
    all.wrapping_sub(left)
}

/// The first value, in the bits of its type, that is not the number of a row: what is negative is larger.
fn end(norm: &Norm) -> u64 {
    let positive = match norm.ty.is_signed() {
        true => 1 << (norm.ty.width().bytes() * 8 - 1),
        false => u64::MAX,
    };
    norm.limit.unsigned_abs().min(positive)
}
