//! Whether indices are in range.

use std::mem::transmute;

use restride_loops::{IndexType, Norm};

use crate::level::Sixteen;
use crate::once::read_once;

/// Whether a row of `count` indices, `stride` bytes apart, is in range.
///
/// # Safety
/// Every index of the row can be read.
#[must_use]
pub unsafe fn row_holds(norm: &Norm, first: *const u8, count: i64, stride: isize) -> bool {
    let low = if norm.wrap {
        -i128::from(norm.limit)
    } else {
        0
    };
    let high = i128::from(norm.limit) - 1;
    macro_rules! scan {
        ($ty:ty, $unsigned:ty) => {{
            let low = low.max(i128::from(<$ty>::MIN));
            let high = high.min(i128::from(<$ty>::MAX));
            if low > high {
                return false;
            }
            let (low, span) = (low as $ty, (high - low) as $unsigned);
            let outside = |value: $ty| value.wrapping_sub(low) as $unsigned > span;
            const WIDTH: usize = size_of::<$ty>();
            const EACH: usize = size_of::<Sixteen>() / WIDTH;
            let (mut at, mut left) = (first, count as usize);
            // Two vectors at a time, each lane by itself until the end.
            let mut wrong: [[$unsigned; EACH]; 2] = [[0; EACH]; 2];
            while stride == WIDTH as isize && left >= 2 * EACH {
                for wrong in &mut wrong {
                    // SAFETY: so many indices of the row are left, and any bytes are integers.
                    let values: [$ty; EACH] = unsafe { transmute(read_once::<Sixteen>(at)) };
                    for (wrong, value) in wrong.iter_mut().zip(values) {
                        *wrong |= if outside(value) { <$unsigned>::MAX } else { 0 };
                    }
                    at = at.wrapping_add(size_of::<Sixteen>());
                }
                left -= 2 * EACH;
            }
            let mut holds = wrong.as_flattened().iter().all(|wrong| *wrong == 0);
            for _ in 0..left {
                // SAFETY: the caller vouches for every index of the row.
                holds &= !outside(unsafe { read_once(at) });
                at = at.wrapping_offset(stride);
            }
            holds
        }};
    }
    match norm.ty {
        IndexType::I8 => scan!(i8, u8),
        IndexType::U8 => scan!(u8, u8),
        IndexType::I16 => scan!(i16, u16),
        IndexType::U16 => scan!(u16, u16),
        IndexType::I32 => scan!(i32, u32),
        IndexType::U32 => scan!(u32, u32),
        IndexType::I64 => scan!(i64, u64),
        IndexType::U64 => scan!(u64, u64),
    }
}
