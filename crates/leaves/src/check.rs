//! Whether indices are in range.

use restride_loops::{IndexType, Norm};

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
        ($ty:ty) => {{
            let low = low.max(i128::from(<$ty>::MIN));
            let high = high.min(i128::from(<$ty>::MAX));
            if low > high {
                return false;
            }
            let (low, high) = (low as $ty, high as $ty);
            // SAFETY: the caller vouches for every index of the row.
            let load = |at: i64, stride: isize| unsafe {
                first
                    .wrapping_offset((at as isize).wrapping_mul(stride))
                    .cast::<$ty>()
                    .read_unaligned()
            };
            const WIDTH: isize = size_of::<$ty>() as isize;
            if stride == WIDTH {
                (0..count).fold(true, |all, at| {
                    let value = load(at, WIDTH);
                    all & (value >= low) & (value <= high)
                })
            } else {
                (0..count).all(|at| (low..=high).contains(&load(at, stride)))
            }
        }};
    }
    match norm.ty {
        IndexType::I8 => scan!(i8),
        IndexType::U8 => scan!(u8),
        IndexType::I16 => scan!(i16),
        IndexType::U16 => scan!(u16),
        IndexType::I32 => scan!(i32),
        IndexType::U32 => scan!(u32),
        IndexType::I64 => scan!(i64),
        IndexType::U64 => scan!(u64),
    }
}
