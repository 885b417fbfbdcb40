//! Whether indices are in range.

use std::mem::transmute;

use restride_loops::{IndexType, Norm};
#[cfg(target_arch = "x86_64")]
use restride_moves::Features;

use crate::level::Sixteen;
use crate::once::read_once;

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
        // Not all machines compare vectors of 64-bit integers. If the highest bit of the span is not
        // set, it is the highest bit that tells: of the difference, or of the number itself, which is
        // larger still.
        const HIGHEST: $unsigned = 1 << (<$unsigned>::BITS - 1);
        let fits = $stride == WIDTH as isize && (WIDTH < 8 || span < HIGHEST);
        let (mut at, mut left) = ($first, $count as usize);
        // Two vectors at a time, each lane by itself until the end: of narrower integers, the largest difference so far.
        let mut wrong: [[$unsigned; EACH]; 2] = [[0; EACH]; 2];
        while fits && left >= 2 * EACH {
            for wrong in &mut wrong {
                // SAFETY: so many indices of the row are left, and any bytes are integers.
                let values: [$ty; EACH] = unsafe { transmute(read_once::<$vector>(at)) };
                for (wrong, value) in wrong.iter_mut().zip(values) {
                    let past = past(value);
                    *wrong = match WIDTH {
                        8 => *wrong | past | span.wrapping_sub(past),
                        _ => (*wrong).max(past),
                    };
                }
                at = at.wrapping_add(size_of::<$vector>());
            }
            left -= 2 * EACH;
        }
        let most = if WIDTH == 8 { HIGHEST - 1 } else { span };
        let mut holds = wrong.as_flattened().iter().all(|wrong| *wrong <= most);
        for _ in 0..left {
            // SAFETY: the caller vouches for every index of the row.
            holds &= past(unsafe { read_once(at) }) <= span;
            at = at.wrapping_offset($stride);
        }
        holds
    }};
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
    row!(std::arch::x86_64::__m512i, norm, first, count, stride)
}

/// # Safety
/// As [`row_holds`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn at_avx2(norm: &Norm, first: *const u8, count: i64, stride: isize) -> bool {
    row!(std::arch::x86_64::__m256i, norm, first, count, stride)
}
