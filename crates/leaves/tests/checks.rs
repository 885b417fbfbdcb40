//! Which rows of indices are in range, at every index type and policy against a plain comparison.

use restride_leaves::row_holds;
use restride_loops::{IndexType, Norm};

/// Whether a row of one value holds, which ends with another.
fn holds<const N: usize>(norm: &Norm, value: [u8; N], last: [u8; N]) -> bool {
    let mut row = [value; 37];
    row[36] = last;
    // SAFETY: the row is there.
    unsafe { row_holds(norm, row.as_flattened().as_ptr(), 37, N as isize) }
}

macro_rules! tried {
    ($ty:ident, $index:ident, $values:expr, $limits:expr) => {
        for limit in $limits {
            for wrap in [false, true] {
                let norm = Norm {
                    ty: IndexType::$index,
                    limit,
                    wrap,
                    clamp: false,
                };
                let low = if wrap { -i128::from(limit) } else { 0 };
                for value in $values {
                    let is_in = (low..i128::from(limit)).contains(&i128::from(value));
                    let (value, zero) = ($ty::to_ne_bytes(value), $ty::to_ne_bytes(0));
                    assert_eq!(holds(&norm, value, zero), is_in, "{value:?} {norm:?}");
                    assert_eq!(holds(&norm, zero, value), is_in, "{value:?} {norm:?}");
                }
            }
        }
    };
}

#[test]
fn rows_hold_if_all_of_their_indices_do() {
    let all = (1..=300).chain([1 << 40, i64::MAX]);
    tried!(i8, I8, i8::MIN..=i8::MAX, all.clone());
    tried!(u8, U8, u8::MIN..=u8::MAX, all);
    macro_rules! at_their_ends {
        ($($ty:ident $index:ident),*) => { $(
            let (ends, most) = ([0, 1, 5, $ty::MIN, $ty::MAX], i64::try_from($ty::MAX).unwrap_or(i64::MAX));
            for limit in [1, 5, most / 2, most / 2 + 1, most / 2 + 2, most - 1, most, i64::MAX] {
                let end = limit as $ty;
                let near = [end, end.wrapping_neg()].into_iter().chain(ends);
                let values = near.flat_map(|end| [end.wrapping_sub(1), end, end.wrapping_add(1)]);
                tried!($ty, $index, values.clone(), [limit]);
            }
        )* };
    }
    at_their_ends!(i16 I16, u16 U16, i32 I32, u32 U32, i64 I64, u64 U64);
}
