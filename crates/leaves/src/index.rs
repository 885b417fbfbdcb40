//! Index values to byte offsets, a chunk at a time.
//!
//! Every index is [read once](crate::once); what is compared is what becomes the offset, and the
//! offsets live in the leaf's own frame. So an index tensor that somebody changes during the call
//! cannot make a leaf leave its buffers.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use restride_loops::{IndexType, Norm};
use restride_moves::Indices;

use crate::bodies::CpuLevel;
use crate::once::read_once;

/// Stands for a row that does not exist; no offset inside a buffer has this value.
pub(crate) const OUTSIDE: isize = isize::MIN;

/// How many indices are taken at a time, and loaded at once where vectors hold so many.
const EACH: usize = 8;

/// How indices become offsets.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    /// Bytes between two indices.
    stride: isize,
    limit: u64,
    coeff: isize,
    compute: Compute,
}

type Compute = unsafe fn(*const u8, &Offsets, &mut [MaybeUninit<isize>]) -> bool;

impl Offsets {
    /// `norm.limit` is positive and every product is within `isize`.
    pub(crate) fn new(indices: &Indices, cpu: CpuLevel) -> Offsets {
        let norm = &indices.norm;
        let compute = match norm.ty {
            IndexType::I8 => policies::<i8>(norm, cpu),
            IndexType::U8 => policies::<u8>(norm, cpu),
            IndexType::I16 => policies::<i16>(norm, cpu),
            IndexType::U16 => policies::<u16>(norm, cpu),
            IndexType::I32 => policies::<i32>(norm, cpu),
            IndexType::U32 => policies::<u32>(norm, cpu),
            IndexType::I64 => policies::<i64>(norm, cpu),
            IndexType::U64 => policies::<u64>(norm, cpu),
        };
        Offsets {
            stride: indices.stride,
            limit: norm.limit.unsigned_abs(),
            coeff: indices.coeff,
            compute,
        }
    }

    /// The offsets of the indices from number `first` on, as many as there is room for, and whether
    /// one of them is outside.
    ///
    /// # Safety
    /// So many indices are readable.
    #[inline(always)]
    pub(crate) unsafe fn of<'a>(
        &self,
        index: *const u8,
        first: usize,
        to: &'a mut [MaybeUninit<isize>],
    ) -> (&'a [isize], bool) {
        let from = index.wrapping_offset(self.stride.wrapping_mul(first as isize));
        // SAFETY: the caller's; every element of `to` is written.
        unsafe {
            let any_outside = (self.compute)(from, self, to);
            (to.assume_init_ref(), any_outside)
        }
    }
}

/// An integer that indices are stored as.
trait Stored: Copy + 'static {
    const BYTES: isize;
    const SIGNED: bool;
    /// Its value in 64 bits, and whether those are to be read as negative.
    fn widen(self) -> (u64, bool);
    /// The values of [`EACH`] of them.
    ///
    /// # Safety
    /// They are readable, and the machine has AVX-512.
    #[cfg(target_arch = "x86_64")]
    unsafe fn widen_each(at: *const u8) -> __m512i;
}

macro_rules! stored {
    ($($ty:ty as $wide:ty, |$each:ident| $widened:expr;)*) => { $(
        impl Stored for $ty {
            const BYTES: isize = size_of::<$ty>() as isize;
            const SIGNED: bool = <$ty>::MIN != 0;
            #[inline(always)]
            #[allow(unused_comparisons, clippy::unnecessary_cast, reason = "one body for both signs")]
            fn widen(self) -> (u64, bool) {
                (self as $wide as u64, self < 0)
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            unsafe fn widen_each(at: *const u8) -> __m512i {
                // SAFETY: the caller's; what is read is as large as so many integers.
                unsafe {
                    let $each = read_once(at);
                    $widened
                }
            }
        }
    )* };
}

stored! {
    i8 as i64, |each| _mm512_cvtepi8_epi64(_mm_cvtsi64_si128(each));
    u8 as u64, |each| _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(each));
    i16 as i64, |each| _mm512_cvtepi16_epi64(each);
    u16 as u64, |each| _mm512_cvtepu16_epi64(each);
    i32 as i64, |each| _mm512_cvtepi32_epi64(each);
    u32 as u64, |each| _mm512_cvtepu32_epi64(each);
    i64 as i64, |each| each;
    u64 as u64, |each| each;
}

fn policies<T: Stored>(norm: &Norm, cpu: CpuLevel) -> Compute {
    match (norm.wrap, norm.clamp) {
        (false, false) => at_level::<T, false, false>(cpu),
        (false, true) => at_level::<T, false, true>(cpu),
        (true, false) => at_level::<T, true, false>(cpu),
        (true, true) => at_level::<T, true, true>(cpu),
    }
}

fn at_level<T: Stored, const WRAP: bool, const CLAMP: bool>(cpu: CpuLevel) -> Compute {
    match cpu {
        #[cfg(target_arch = "x86_64")]
        CpuLevel::Avx512 => of_avx512::<T, WRAP, CLAMP>,
        CpuLevel::Baseline | CpuLevel::Avx2 => of::<T, WRAP, CLAMP>,
        #[cfg(not(target_arch = "x86_64"))]
        CpuLevel::Avx512 => of::<T, WRAP, CLAMP>,
    }
}

/// With vectors of indices, and the multiplication of 64-bit lanes, which the levels below lack.
///
/// # Safety
/// As [`of`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn of_avx512<T: Stored, const WRAP: bool, const CLAMP: bool>(
    from: *const u8,
    by: &Offsets,
    to: &mut [MaybeUninit<isize>],
) -> bool {
    if by.stride != T::BYTES {
        // SAFETY: the caller's.
        return unsafe { of::<T, WRAP, CLAMP>(from, by, to) };
    }
    let limit = _mm512_set1_epi64(by.limit.cast_signed());
    let last = _mm512_sub_epi64(limit, _mm512_set1_epi64(1));
    let coeff = _mm512_set1_epi64(by.coeff as i64);
    let none = _mm512_set1_epi64(OUTSIDE as i64);
    let (mut from, mut largest) = (from, _mm512_setzero_si512());
    let (eights, rest) = to.as_chunks_mut::<EACH>();
    for to in eights {
        // SAFETY: the caller's.
        let values = unsafe { T::widen_each(from) };
        let negative = match T::SIGNED {
            true => _mm512_movepi64_mask(values),
            false => 0,
        };
        let wrapped = match WRAP {
            true => _mm512_mask_add_epi64(values, negative, values, limit),
            false => values,
        };
        let offsets = if !CLAMP {
            let no_row = _mm512_cmpge_epu64_mask(wrapped, limit);
            largest = _mm512_max_epu64(largest, wrapped);
            _mm512_mask_mov_epi64(_mm512_mullo_epi64(wrapped, coeff), no_row, none)
        } else if T::SIGNED {
            let positive = _mm512_max_epi64(wrapped, _mm512_setzero_si512());
            _mm512_mullo_epi64(_mm512_min_epi64(positive, last), coeff)
        } else {
            _mm512_mullo_epi64(_mm512_min_epu64(wrapped, last), coeff)
        };
        // SAFETY: the place of so many offsets.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), offsets) };
        from = from.wrapping_offset(T::BYTES.wrapping_mul(EACH as isize));
    }
    // SAFETY: the caller's.
    let any_outside = unsafe { of::<T, WRAP, CLAMP>(from, by, rest) };
    any_outside | (_mm512_cmpge_epu64_mask(largest, limit) != 0)
}

/// # Safety
/// `to.len()` indices are readable at `from`.
#[inline(always)]
unsafe fn of<T: Stored, const WRAP: bool, const CLAMP: bool>(
    from: *const u8,
    by: &Offsets,
    to: &mut [MaybeUninit<isize>],
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        match by.stride == T::BYTES {
            true => each::<T, WRAP, CLAMP>(from, T::BYTES, by, to),
            false => each::<T, WRAP, CLAMP>(from, by.stride, by, to),
        }
    }
}

/// # Safety
/// `to.len()` indices, so many bytes apart, are readable at `from`.
#[inline(always)]
unsafe fn each<T: Stored, const WRAP: bool, const CLAMP: bool>(
    from: *const u8,
    stride: isize,
    by: &Offsets,
    to: &mut [MaybeUninit<isize>],
) -> bool {
    let (mut from, mut any_outside) = (from, false);
    // A constant number lets the loop be unrolled.
    let (eights, rest) = to.as_chunks_mut::<EACH>();
    for to in eights {
        for (k, to) in to.iter_mut().enumerate() {
            let at = from.wrapping_offset((k as isize).wrapping_mul(stride));
            // SAFETY: the caller's.
            let value = unsafe { read_once(at) };
            any_outside |= offset::<T, WRAP, CLAMP>(value, by, to);
        }
        from = from.wrapping_offset((EACH as isize).wrapping_mul(stride));
    }
    for to in rest {
        // SAFETY: the caller's.
        let value = unsafe { read_once(from) };
        any_outside |= offset::<T, WRAP, CLAMP>(value, by, to);
        from = from.wrapping_offset(stride);
    }
    any_outside
}

/// The offset that an index stands for, and whether there is none.
#[inline(always)]
fn offset<T: Stored, const WRAP: bool, const CLAMP: bool>(
    index: T,
    by: &Offsets,
    to: &mut MaybeUninit<isize>,
) -> bool {
    let limit = by.limit;
    let (value, negative) = index.widen();
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
    let offset = (chosen as isize).wrapping_mul(by.coeff);
    to.write(if CLAMP || inside { offset } else { OUTSIDE });
    !CLAMP && !inside
}
