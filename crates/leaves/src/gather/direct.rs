//! Rows whose indices are their numbers, one after the other, as nearly all are.
//!
//! Each index is compared with the number of rows as it is read, and becomes an address at once: no offset is kept, and
//! the next rows are loaded meanwhile. Any other index ends this, and is left to a chunk of offsets.

use std::marker::PhantomData;

use restride_loops::Norm;

use super::movers::Mover;
use super::{GatherParams, Row};
use crate::once::read_once;

/// The bits of an index.
pub(super) trait Bits: Copy + Into<u64> + 'static {}

impl Bits for u8 {}
impl Bits for u16 {}
impl Bits for u32 {}
impl Bits for u64 {}

/// Some indices, one after the other.
pub(super) struct Numbers<I> {
    at: *const u8,
    /// The first value, in their bits, that is not the number of a row.
    end: u64,
    /// Bytes of the source that they count.
    coeff: isize,
    of: PhantomData<I>,
}

/// How rows lie. Blocks have it by value, since what they store could change what lies in memory.
#[derive(Clone, Copy)]
pub(super) struct Spacing {
    /// Bytes of a row.
    pub(super) run: usize,
    /// Bytes from a row of the destination to the next.
    pub(super) stride: isize,
    /// The offset of the last row of the source.
    pub(super) last: isize,
}

impl<I: Bits> Numbers<I> {
    /// The offset of the row that one of them names.
    ///
    /// # Safety
    /// It can be read.
    #[inline(always)]
    pub(super) unsafe fn offset(&self, at: usize) -> Option<isize> {
        let at = self.at.wrapping_add(at.wrapping_mul(size_of::<I>()));
        // SAFETY: the caller's, and any bits are an integer.
        let number: u64 = unsafe { read_once::<I>(at) }.into();
        (number < self.end).then(|| (number as isize).wrapping_mul(self.coeff))
    }
}

/// The first value, in the bits of its type, that is not the number of a row: what is negative is larger.
fn end(norm: &Norm) -> u64 {
    let positive = match norm.ty.is_signed() {
        true => 1 << (norm.ty.width().bytes() * 8 - 1),
        false => u64::MAX,
    };
    norm.limit.unsigned_abs().min(positive)
}

/// Moves rows until an index is not the number of one, or until all but a few are moved. Returns how many.
///
/// # Safety
/// So many indices are left to read, one after the other, and as many rows to write; each number is that of a row of
/// the caller's source.
#[inline(always)]
pub(super) unsafe fn rows<M: Mover>(
    dst: *mut u8,
    src: *const u8,
    index: *const u8,
    left: usize,
    params: &GatherParams,
) -> usize {
    let blocks = left.saturating_sub(M::BEHIND) / M::EACH.max(1);
    // SAFETY: the caller's, and that leaves as many indices as these blocks have.
    unsafe {
        match params.norm.ty.width().bytes() {
            1 => of::<M, u8>(dst, src, index, blocks, params),
            2 => of::<M, u16>(dst, src, index, blocks, params),
            4 => of::<M, u32>(dst, src, index, blocks, params),
            _ => of::<M, u64>(dst, src, index, blocks, params),
        }
    }
}

/// As [`rows`], of so many blocks, and indices of so many bits.
///
/// # Safety
/// As [`rows`].
#[inline(always)]
unsafe fn of<M: Mover, I: Bits>(
    dst: *mut u8,
    src: *const u8,
    index: *const u8,
    blocks: usize,
    params: &GatherParams,
) -> usize {
    let coeff = params.coeff;
    // A number that is known here is a part of addresses.
    // SAFETY: the caller's.
    unsafe {
        match M::BYTES > 0 && coeff == M::BYTES as isize {
            true => counting::<M, I>(dst, src, index, blocks, M::BYTES as isize, params),
            false => counting::<M, I>(dst, src, index, blocks, coeff, params),
        }
    }
}

/// As [`of`], of indices that count so many bytes.
///
/// # Safety
/// As [`rows`].
#[inline(always)]
unsafe fn counting<M: Mover, I: Bits>(
    mut dst: *mut u8,
    src: *const u8,
    index: *const u8,
    blocks: usize,
    coeff: isize,
    params: &GatherParams,
) -> usize {
    let mut numbers = Numbers {
        at: index,
        end: end(&params.norm),
        coeff,
        of: PhantomData::<I>,
    };
    let rows = Spacing {
        run: match params.row {
            Row::Run(run) => run,
            Row::Points { .. } | Row::Box { .. } => return 0,
        },
        stride: params.dst_stride,
        last: params.last,
    };
    let mut moved = 0usize;
    for _ in 0..blocks {
        // SAFETY: the caller's.
        if unsafe { M::block(dst, src, &numbers, rows) }.is_none() {
            break;
        }
        numbers.at = numbers.at.wrapping_add(M::EACH * size_of::<I>());
        dst = dst.wrapping_offset(rows.stride.wrapping_mul(M::EACH as isize));
        moved = moved.wrapping_add(M::EACH);
    }
    moved
}
