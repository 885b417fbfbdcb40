//! Whether indices are in range.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::mem::transmute;

use restride_loops::{IndexType, Norm};
#[cfg(target_arch = "x86_64")]
use restride_moves::Features;

use crate::level::Sixteen;
use crate::once::read_once;
use crate::vector::Vector;

/// For fewer indices it is not asked what the machine has.
#[cfg(target_arch = "x86_64")]
const LONG: i64 = 64;

/// Whether a row of indices of a type is in range, with vectors of a type.
macro_rules! scan {
    ($vector:ty, $ty:ty, $unsigned:ty, $norm:ident, $first:ident, $count:ident, $stride:ident) => {{
        let low = if $norm.wrap {
            -i128::from($norm.limit)
        } else {
            0
        };
        let low = low.max(i128::from(<$ty>::MIN));
        let high = (i128::from($norm.limit) - 1).min(i128::from(<$ty>::MAX));
        if low > high {
            return false;
        }
        let (low, span) = (low as $ty, (high - low) as $unsigned);
        let past = |value: $ty| value.wrapping_sub(low) as $unsigned;
        const WIDTH: usize = size_of::<$ty>();
        const EACH: usize = size_of::<$vector>() / WIDTH;
        let (mut at, mut left) = ($first, $count as usize);
        let vectors = match $stride == WIDTH as isize {
            // Not all machines compare vectors of 64-bit integers: if the highest bit of the span is not set, that bit tells.
            true if WIDTH == 8 && span as u64 >= 1 << 63 => 0,
            true => left / (2 * EACH),
            false => 0,
        };
        let mut holds = if WIDTH == 8 {
            // SAFETY: so many indices of the row are left.
            unsafe { words_hold::<$vector>(at, vectors, low as u64, span as u64) }
        } else {
            // Each lane by itself until the end: the largest difference so far.
            let mut largest: [[$unsigned; EACH]; 2] = [[0; EACH]; 2];
            for turn in 0..vectors {
                for (number, largest) in largest.iter_mut().enumerate() {
                    let at = at.wrapping_add((2 * turn + number) * size_of::<$vector>());
                    // SAFETY: so many indices of the row are left, and any bytes are integers.
                    let values: [$ty; EACH] = unsafe { transmute(read_once::<$vector>(at)) };
                    for (largest, value) in largest.iter_mut().zip(values) {
                        *largest = (*largest).max(past(value));
                    }
                }
            }
            largest.as_flattened().iter().all(|largest| *largest <= span)
        };
        at = at.wrapping_add(vectors * 2 * size_of::<$vector>());
        left -= vectors * 2 * EACH;
        for _ in 0..left {
            // SAFETY: the caller vouches for every index of the row.
            holds &= past(unsafe { read_once(at) }) <= span;
            at = at.wrapping_offset($stride);
        }
        holds
    }};
}

/// Whether so many pairs of vectors of 64-bit numbers are no more than `span` beyond `low`, of which the highest bit tells:
/// of the difference, or of the number itself, which is larger still.
///
/// # Safety
/// They can be read, and vectors are of the level.
#[inline(always)]
unsafe fn words_hold<V: Words>(first: *const u8, pairs: usize, low: u64, span: u64) -> bool {
    let all = |word: u64| V::splat(u128::from(word) << 64 | u128::from(word));
    let (low, span) = (all(low), all(span));
    let (mut at, mut wrong) = (first, [V::splat(0); 2]);
    for _ in 0..pairs {
        for wrong in &mut wrong {
            // SAFETY: the caller's.
            let past = unsafe { read_once::<V>(at) }.less(low);
            *wrong = wrong.or(past).or(span.less(past));
            at = at.wrapping_add(V::BYTES);
        }
    }
    let mut words = [0u8; 64];
    // SAFETY: no vector is longer.
    unsafe { wrong[0].or(wrong[1]).store(words.as_mut_ptr()) };
    words
        .as_chunks::<8>()
        .0
        .iter()
        .all(|word| i64::from_ne_bytes(*word) >= 0)
}

/// Vectors of 64-bit numbers, by intrinsics: what the compiler makes of arrays in their place depends on what else it compiles.
trait Words: Vector {
    /// The difference of each.
    fn less(self, other: Self) -> Self;
    /// The bits of either.
    fn or(self, other: Self) -> Self;
}

#[cfg(target_arch = "x86_64")]
macro_rules! words {
    ($($vector:ident $less:ident $or:ident;)*) => { $(
        impl Words for $vector {
            #[inline(always)]
            fn less(self, other: Self) -> Self {
                // SAFETY: the trait's: inlined only where the level has it.
                unsafe { $less(self, other) }
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $or(self, other) }
            }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
words! {
    __m128i _mm_sub_epi64 _mm_or_si128;
    __m256i _mm256_sub_epi64 _mm256_or_si256;
    __m512i _mm512_sub_epi64 _mm512_or_si512;
}

#[cfg(not(target_arch = "x86_64"))]
impl Words for u128 {
    #[inline(always)]
    fn less(self, other: Self) -> Self {
        let high = ((self >> 64) as u64).wrapping_sub((other >> 64) as u64);
        u128::from(high) << 64 | u128::from((self as u64).wrapping_sub(other as u64))
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
}

/// As `scan`, of indices of any type.
macro_rules! row {
    ($vector:ty, $norm:ident, $($row:ident),*) => {
        match $norm.ty {
            IndexType::I8 => scan!($vector, i8, u8, $norm, $($row),*),
            IndexType::U8 => scan!($vector, u8, u8, $norm, $($row),*),
            IndexType::I16 => scan!($vector, i16, u16, $norm, $($row),*),
            IndexType::U16 => scan!($vector, u16, u16, $norm, $($row),*),
            IndexType::I32 => scan!($vector, i32, u32, $norm, $($row),*),
            IndexType::U32 => scan!($vector, u32, u32, $norm, $($row),*),
            IndexType::I64 => scan!($vector, i64, u64, $norm, $($row),*),
            IndexType::U64 => scan!($vector, u64, u64, $norm, $($row),*),
        }
    };
}

/// Whether a row of `count` indices, `stride` bytes apart, is in range.
///
/// # Safety
/// Every index of the row can be read.
#[must_use]
pub unsafe fn row_holds(norm: &Norm, first: *const u8, count: i64, stride: isize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if count >= LONG {
        let features = Features::detect();
        // SAFETY: the machine has what it takes; the rest is the caller's.
        unsafe {
            if features >= Features::Avx512 {
                return at_avx512(norm, first, count, stride);
            }
            if features >= Features::Avx2 {
                return at_avx2(norm, first, count, stride);
            }
        }
    }
    row!(Sixteen, norm, first, count, stride)
}

/// # Safety
/// As [`row_holds`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe fn at_avx512(norm: &Norm, first: *const u8, count: i64, stride: isize) -> bool {
    row!(__m512i, norm, first, count, stride)
}

/// # Safety
/// As [`row_holds`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn at_avx2(norm: &Norm, first: *const u8, count: i64, stride: isize) -> bool {
    row!(__m256i, norm, first, count, stride)
}
