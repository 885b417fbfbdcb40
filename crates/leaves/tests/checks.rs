//! Which rows of indices are in range, at every index type and policy against a plain comparison.

use restride_leaves::row_holds;
use restride_loops::{IndexType, Norm};

/// Whether rows of two values hold, of one the first but for the end, of the other all but one place. Rows
/// that the narrowest vectors take, and such as the widest do; both with some left over.
fn holds<const N: usize>(norm: &Norm, value: [u8; N], last: [u8; N]) -> bool {
    let rows = [37, 197].map(|count| {
        let (mut first, mut second) = (vec![value; count], vec![last; count]);
        first[count - 1] = last;
        second[3] = value;
        [first, second].map(|row| {
            let start = row.as_flattened().as_ptr();
            // SAFETY: the row is there.
            unsafe { row_holds(norm, start, count as i64, N as isize) }
        })
    });
    let [all, none] = [true, false].map(|held| rows.as_flattened().iter().all(|row| *row == held));
    assert!(all || none, "{value:?} {last:?} {norm:?}: {rows:?}");
    all
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
