//! Gathers: what an index outside of its axis does, and what a broken shape does.

use crate::says;
use crate::support::{bytes, failure, indexed, indices, iota, refused, value};

/// Indices that were wrong in one of the kernels below.
const WRONG: [i64; 8] = [
    5,
    -6,
    i64::MAX,
    i64::MIN,
    1 << 31,
    -(1 << 31) - 1,
    1 << 32,
    -1 << 32,
];

fn rows(rule: &str) -> String {
    indexed(
        "u8[5, 2]",
        "i64[3]",
        &format!("gather %x, %i axis 0 {rule}"),
    )
}

/// No check, then half a check, then a port that had none.
#[test]
fn cve_2021_37687_negative_indices_read_nothing_before_the_buffer() {
    let i = indices(&[-1, -6, 0]);
    assert_eq!(
        value(&rows("out_of_range zero"), &[&iota(10), &i]),
        [0, 0, 0, 0, 0, 1]
    );
    let wrapped = value(&rows("out_of_range zero wrap"), &[&iota(10), &i]);
    assert_eq!(wrapped, [8, 9, 0, 0, 0, 1]);
}

#[test]
fn cve_2022_35937_and_35938_large_indices_read_nothing_behind_the_buffer() {
    for wrong in WRONG {
        let i = indices(&[4, wrong, 1]);
        for wrap in ["", " wrap"] {
            let zero = value(&rows(&format!("out_of_range zero{wrap}")), &[&iota(10), &i]);
            assert_eq!(zero, [8, 9, 0, 0, 2, 3], "{wrong}");
            let clamp = value(
                &rows(&format!("out_of_range clamp{wrap}")),
                &[&iota(10), &i],
            );
            let edge = if wrong < 0 { [0, 1] } else { [8, 9] };
            assert_eq!(clamp, [[8, 9], edge, [2, 3]].concat(), "{wrong}");
            let error = failure(
                &rows(&format!("out_of_range error{wrap}")),
                &[&iota(10), &i],
            );
            says(
                error,
                &format!("gather %y: index {wrong} at position 1 is outside axis 0 of size 5"),
            );
        }
    }
}

/// Every place of a coordinate is looked at by itself.
#[test]
fn cve_2022_35938_coordinates_of_gather_nd_are_checked_one_by_one() {
    let text = indexed(
        "u8[3, 4]",
        "i32[3, 2]",
        "gather_nd %x, %i out_of_range zero",
    );
    // 0 * 4 + 4 would be an element of row 1, 3 * 4 - 4 one of row 2.
    let i = bytes(&[0, 4, 3, -4, 2, 3], i32::to_ne_bytes);
    assert_eq!(value(&text, &[&iota(12), &i]), [0, 0, 11]);
}

/// `batch_dims` was checked in debug builds only.
#[test]
fn cve_2021_37654_batch_axes_are_always_checked() {
    let gather = |batch: i64| {
        let op = format!("gather %x, %i axis 1 batch_dims {batch} out_of_range zero");
        indexed("u8[2, 3]", "i64[2, 2]", &op)
    };
    assert_eq!(
        value(&gather(1), &[&iota(6), &indices(&[2, 0, 1, 1])]),
        [2, 0, 4, 4]
    );
    says(
        refused(&gather(3)),
        "gather: batch_dims: 3 is outside -2..=2",
    );
    says(
        refused(&gather(i64::MIN)),
        "gather: batch_dims: -9223372036854775808 is outside -2..=2",
    );
    says(
        refused(&indexed(
            "u8[2, 3]",
            "i64[3, 2]",
            "gather %x, %i axis 1 batch_dims 1 out_of_range zero",
        )),
        "gather: operand 1: axis 0 has size 3; expected 2",
    );
}

/// A negative axis was checked in debug builds only.
#[test]
fn cve_2020_15207_negative_axes_are_always_checked() {
    let gather = |axis: i64| {
        let op = format!("gather %x, %i axis {axis} out_of_range zero");
        indexed("u8[2, 3]", "i64[1]", &op)
    };
    assert_eq!(value(&gather(-1), &[&iota(6), &indices(&[2])]), [2, 5]);
    for axis in [-3, 2, i64::MIN, i64::MAX] {
        says(
            refused(&gather(axis)),
            &format!("gather: axis: {axis} is no axis of rank 2 (-2..=1)"),
        );
    }
}

/// Parameters without elements divided by zero.
#[test]
fn cve_2021_29589_gathers_from_nothing() {
    let nd = |policy: &str| {
        let op = format!("gather_nd %x, %i out_of_range {policy}");
        indexed("u8[0, 2]", "i64[2, 1]", &op)
    };
    let i = indices(&[0, 7]);
    assert_eq!(value(&nd("zero"), &[&[], &i]), [0; 4]);
    assert_eq!(value(&nd("clamp"), &[&[], &i]), [0; 4]);
    says(
        failure(&nd("error"), &[&[], &i]),
        "gather_nd %y: index 0 at position 0 is outside axis 0 of size 0",
    );
    let none = indexed(
        "u8[3, 0]",
        "i64[2]",
        "gather %x, %i axis 0 out_of_range error",
    );
    assert!(value(&none, &[&[], &indices(&[2, 0])]).is_empty());
}

/// Index 0 into an axis without elements was taken for "no error", and heap memory came out.
#[test]
fn ort_27963_index_zero_can_be_the_wrong_one() {
    let text = indexed(
        "u8[2, 0]",
        "i64[1, 2]",
        "gather_nd %x, %i out_of_range error",
    );
    says(
        failure(&text, &[&[], &indices(&[0, 0])]),
        "gather_nd %y: index 0 at position 1 is outside axis 1 of size 0",
    );
    let text = indexed("u8[2]", "i64[0]", "gather %x, %i axis 0 out_of_range error");
    assert!(value(&text, &[&iota(2), &[]]).is_empty());
}

/// The index of a loop that was shared out was cut to 32 bits.
#[test]
fn ort_27444_shares_of_a_loop_count_in_64_bits() {
    use restride_loops::chunk_range;
    for extent in [1i64 << 31, (1 << 33) + 5, i64::MAX] {
        for chunks in [1u32, 3, 1024, u32::MAX] {
            assert_eq!(chunk_range(extent, 0, chunks).start, 0);
            assert_eq!(chunk_range(extent, chunks - 1, chunks).end, extent);
            let middle = chunk_range(extent, chunks / 2, chunks);
            assert!(middle.start <= middle.end);
            if chunks / 2 + 1 < chunks {
                assert_eq!(
                    middle.end,
                    chunk_range(extent, chunks / 2 + 1, chunks).start
                );
            }
        }
    }
}

/// Backends disagreed on what is out of range: 32 bits here, 64 there, negative ones leaked.
#[test]
fn ort_27265_28107_and_10234_every_width_means_the_same() {
    let run = |ty: &str, i: Vec<u8>, rule: &str| {
        let op = format!("gather %x, %i axis 0 out_of_range {rule}");
        value(&indexed("u8[5]", &format!("{ty}[3]"), &op), &[&iota(5), &i])
    };
    for (rule, wanted) in [
        ("zero", [0, 0, 3]),
        ("zero wrap", [4, 0, 3]),
        ("clamp", [0, 4, 3]),
    ] {
        let n: [i64; 3] = [-1, 100, 3];
        let i8s = bytes(&n.map(|n| n as i8), i8::to_ne_bytes);
        assert_eq!(run("i8", i8s, rule), wanted);
        let i16s = bytes(&n.map(|n| n as i16), i16::to_ne_bytes);
        assert_eq!(run("i16", i16s, rule), wanted);
        let i32s = bytes(&n.map(|n| n as i32), i32::to_ne_bytes);
        assert_eq!(run("i32", i32s, rule), wanted);
        assert_eq!(run("i64", indices(&n), rule), wanted);
    }
    // Unsigned ones are large, never negative, `wrap` or not.
    for (rule, wanted) in [
        ("zero", [0, 0, 3]),
        ("zero wrap", [0, 0, 3]),
        ("clamp", [4, 4, 3]),
    ] {
        assert_eq!(run("u8", vec![255, 251, 3], rule), wanted);
        let u16s = bytes(&[u16::MAX, 1 << 15, 3], u16::to_ne_bytes);
        assert_eq!(run("u16", u16s, rule), wanted);
        let u32s = bytes(&[u32::MAX, 1 << 31, 3], u32::to_ne_bytes);
        assert_eq!(run("u32", u32s, rule), wanted);
        let u64s = bytes(&[u64::MAX, 1 << 63, 3], u64::to_ne_bytes);
        assert_eq!(run("u64", u64s, rule), wanted);
    }
}

/// A gather was rewritten into a crop, also where the rank did not suit it.
#[test]
fn ov_37369_scalar_and_repeated_indices() {
    let scalar = indexed(
        "u8[3, 2]",
        "i64[]",
        "gather %x, %i axis 0 out_of_range zero wrap",
    );
    assert_eq!(value(&scalar, &[&iota(6), &indices(&[-1])]), [4, 5]);
    let table = "func @f(%x: u8[3, 2]) {
        %i = constant i64[3] [1, 1, 1]
        %y = gather %x, %i axis 0 out_of_range zero return %y }";
    assert_eq!(value(table, &[&iota(6)]), [2, 3, 2, 3, 2, 3]);
    let ramp = "func @f(%x: u8[3, 2]) {
        %i = constant i64[3] [1, 2, 3]
        %y = gather %x, %i axis 0 out_of_range zero return %y }";
    assert_eq!(value(ramp, &[&iota(6)]), [2, 3, 4, 5, 0, 0]);
}

/// Elements that are no integers cannot index.
#[test]
fn only_integers_index() {
    says(
        refused(&indexed(
            "u8[3]",
            "f32[1]",
            "gather %x, %i axis 0 out_of_range zero",
        )),
        "gather: operand 1: f32 elements cannot index; expected i8..i64 or u8..u64",
    );
}
