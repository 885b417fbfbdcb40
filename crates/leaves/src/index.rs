//! Index values to byte offsets, a chunk at a time.
//!
//! Every index is loaded once; what is compared is what becomes the offset, and the offsets live
//! in the leaf's own frame. So an index tensor that somebody changes during the call cannot make a
//! leaf leave its buffers.

use std::mem::MaybeUninit;

use restride_loops::{IndexType, Norm};

use crate::cpu::CpuLevel;

/// Stands for a row that does not exist; no offset inside a buffer has this value.
pub(crate) const OUTSIDE: isize = isize::MIN;

/// How many offsets are computed at a time.
pub(crate) const CHUNK: usize = 512;

/// So few offsets at a time that the processor computes the next ones while it still waits for the
/// rows of these.
pub(crate) const OVERLAPPED: usize = 64;

/// What becomes of indices.
#[derive(Clone, Debug)]
pub(crate) struct Indices {
    /// Bytes between two indices.
    stride: isize,
    limit: u64,
    coeff: isize,
    offsets: Offsets,
}

type Offsets = unsafe fn(*const u8, &Indices, &mut [MaybeUninit<isize>]) -> bool;

impl Indices {
    /// Indices at every `stride` bytes; each stands for `coeff` bytes. `norm.limit` is positive and
    /// every product is within `isize`.
    pub(crate) fn new(norm: &Norm, stride: isize, coeff: isize, cpu: CpuLevel) -> Indices {
        let offsets = match norm.ty {
            IndexType::I8 => policies::<i8>(norm, cpu),
            IndexType::U8 => policies::<u8>(norm, cpu),
            IndexType::I16 => policies::<i16>(norm, cpu),
            IndexType::U16 => policies::<u16>(norm, cpu),
            IndexType::I32 => policies::<i32>(norm, cpu),
            IndexType::U32 => policies::<u32>(norm, cpu),
            IndexType::I64 => policies::<i64>(norm, cpu),
            IndexType::U64 => policies::<u64>(norm, cpu),
        };
        Indices {
            stride,
            limit: norm.limit.unsigned_abs(),
            coeff,
            offsets,
        }
    }

    /// The offsets of the indices from number `first` on, as many as there is room for, and whether
    /// one of them is outside.
    ///
    /// # Safety
    /// So many indices are readable.
    #[inline(always)]
    pub(crate) unsafe fn offsets<'a>(
        &self,
        index: *const u8,
        first: usize,
        to: &'a mut [MaybeUninit<isize>],
    ) -> (&'a [isize], bool) {
        let from = index.wrapping_offset(self.stride.wrapping_mul(first as isize));
        // SAFETY: the caller's; every element of `to` is written.
        unsafe {
            let any_outside = (self.offsets)(from, self, to);
            (to.assume_init_ref(), any_outside)
        }
    }
}

/// An integer that indices are stored as.
trait Stored: Copy + 'static {
    const BYTES: isize;
    /// Its value in 64 bits, and whether those are to be read as negative.
    fn widen(self) -> (u64, bool);
}

macro_rules! stored {
    ($($ty:ty as $wide:ty;)*) => { $(
        impl Stored for $ty {
            const BYTES: isize = size_of::<$ty>() as isize;
            #[inline(always)]
            #[allow(unused_comparisons, clippy::unnecessary_cast, reason = "one body for both signs")]
            fn widen(self) -> (u64, bool) {
                (self as $wide as u64, self < 0)
            }
        }
    )* };
}

stored! {
    i8 as i64; u8 as u64; i16 as i64; u16 as u64; i32 as i64; u32 as u64; i64 as i64; u64 as u64;
}

fn policies<T: Stored>(norm: &Norm, cpu: CpuLevel) -> Offsets {
    match (norm.wrap, norm.clamp) {
        (false, false) => at_level::<T, false, false>(cpu),
        (false, true) => at_level::<T, false, true>(cpu),
        (true, false) => at_level::<T, true, false>(cpu),
        (true, true) => at_level::<T, true, true>(cpu),
    }
}

fn at_level<T: Stored, const WRAP: bool, const CLAMP: bool>(cpu: CpuLevel) -> Offsets {
    match cpu {
        #[cfg(target_arch = "x86_64")]
        CpuLevel::Avx512 => of_avx512::<T, WRAP, CLAMP>,
        CpuLevel::Baseline | CpuLevel::Avx2 => of::<T, WRAP, CLAMP>,
        #[cfg(not(target_arch = "x86_64"))]
        CpuLevel::Avx512 => of::<T, WRAP, CLAMP>,
    }
}

/// With the multiplication of 64-bit lanes, which the levels below lack.
///
/// # Safety
/// As [`of`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn of_avx512<T: Stored, const WRAP: bool, const CLAMP: bool>(
    from: *const u8,
    indices: &Indices,
    to: &mut [MaybeUninit<isize>],
) -> bool {
    // SAFETY: the caller's.
    unsafe { of::<T, WRAP, CLAMP>(from, indices, to) }
}

/// # Safety
/// `to.len()` indices are readable at `from`.
#[inline(always)]
unsafe fn of<T: Stored, const WRAP: bool, const CLAMP: bool>(
    from: *const u8,
    indices: &Indices,
    to: &mut [MaybeUninit<isize>],
) -> bool {
    // A constant stride lets the loop become vectors, a constant number lets it go without what
    // comes after vectors.
    // SAFETY: the caller's.
    unsafe {
        if indices.stride != T::BYTES {
            each::<T, WRAP, CLAMP>(from, indices.stride, indices, to)
        } else if let Ok(to) = <&mut [_; OVERLAPPED]>::try_from(&mut *to) {
            each::<T, WRAP, CLAMP>(from, T::BYTES, indices, to)
        } else {
            each::<T, WRAP, CLAMP>(from, T::BYTES, indices, to)
        }
    }
}

/// # Safety
/// `to.len()` indices, so many bytes apart, are readable at `from`.
#[inline(always)]
unsafe fn each<T: Stored, const WRAP: bool, const CLAMP: bool>(
    from: *const u8,
    stride: isize,
    indices: &Indices,
    to: &mut [MaybeUninit<isize>],
) -> bool {
    let (limit, coeff) = (indices.limit, indices.coeff);
    let mut any_outside = false;
    for (i, to) in to.iter_mut().enumerate() {
        let at = from.wrapping_offset((i as isize).wrapping_mul(stride));
        // SAFETY: the caller's.
        let (value, negative) = unsafe { at.cast::<T>().read_unaligned() }.widen();
        let wrapped = if WRAP && negative {
            value.wrapping_add(limit)
        } else {
            value
        };
        // A negative value that stays negative is huge when read without its sign.
        let inside = wrapped < limit;
        let chosen = if CLAMP && !inside {
            if negative { 0 } else { limit.wrapping_sub(1) }
        } else {
            wrapped
        };
        let offset = (chosen as isize).wrapping_mul(coeff);
        to.write(if CLAMP || inside { offset } else { OUTSIDE });
        any_outside |= !CLAMP && !inside;
    }
    any_outside
}
