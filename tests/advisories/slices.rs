//! Slices and strided slices.

use crate::says;
use crate::support::{failure, iota, one, refused, value};

/// An ellipsis mask that the kernel did not expect made it loop for ever.
#[test]
fn cve_2021_37686_ellipsis_masks_end() {
    let slice = |mask: i64| {
        format!(
            "strided_slice %x begin [0, 0, 0] end [1, 1, 1] strides [1, 1, 1] ellipsis_mask {mask}"
        )
    };
    let x = iota(8);
    assert_eq!(value(&one("u8[2, 2, 2]", &slice(0b001)), &[&x]), [0, 4]);
    assert_eq!(value(&one("u8[2, 2, 2]", &slice(0b010)), &[&x]), [0, 2]);
    // Bits beyond the positions stand for nothing.
    assert_eq!(value(&one("u8[2, 2, 2]", &slice(1 << 40)), &[&x]), [0]);
    says(
        refused(&one("u8[2, 2, 2]", &slice(0b101))),
        "strided_slice: ellipsis_mask: mask 0b101 has 2 ellipses; at most one is allowed",
    );
}

/// `offset += stride` in 32 bits wrapped below `stop`, and the loop wrote past its output.
#[test]
fn tf_124643_a_stride_near_the_limit_takes_one_element() {
    for stride in [i64::from(i32::MAX), i64::MAX] {
        let slice = format!("strided_slice %x begin [3] end [200] strides [{stride}]");
        assert_eq!(value(&one("u8[200]", &slice), &[&iota(200)]), [3]);
        let back = format!("strided_slice %x begin [7] end [-201] strides [-{stride}]");
        assert_eq!(value(&one("u8[200]", &back), &[&iota(200)]), [7]);
    }
}

/// `begin + size <= dim` wrapped at the largest integer, and the process ended.
#[test]
fn tf_126158_sums_of_a_begin_and_a_size_do_not_wrap() {
    for begin in [i64::MAX, i64::MAX - 1, 5] {
        let slice = format!(
            "slice %x start [{begin}] stop [{}] step [1] axes [0]",
            i64::MAX
        );
        assert!(value(&one("u8[5]", &slice), &[&iota(5)]).is_empty());
    }
    let split = |low: i64| format!("split %x axis 0 lengths [{low}, {}] part 1", i64::MAX);
    says(
        refused(&one("u8[5]", &split(1))),
        "split: lengths: the parts add up to 9223372036854775808, but axis 0 has size 5",
    );
}

/// A negative begin was never looked at by itself and read another model's memory.
#[test]
fn tf_126106_a_negative_begin_stays_inside() {
    let slice = |begin: i64| format!("slice %x start [{begin}] stop [3] step [1] axes [0]");
    assert_eq!(value(&one("u8[5]", &slice(-3)), &[&iota(5)]), [2]);
    assert_eq!(value(&one("u8[5]", &slice(-1000)), &[&iota(5)]), [0, 1, 2]);
    assert_eq!(
        value(&one("u8[5]", &slice(i64::MIN)), &[&iota(5)]),
        [0, 1, 2]
    );
    let crop = |low: i64| format!("pad %x low [{low}] high [0] constant 0");
    assert_eq!(value(&one("u8[5]", &crop(-4)), &[&iota(5)]), [4]);
    says(
        refused(&one("u8[5]", &crop(-6))),
        "pad: low[0]: 6 elements are cropped from axis 0, which has size 5",
    );
}

/// A size that came out negative at run time was clamped in one of two branches only.
#[test]
fn tf_124950_and_125224_a_negative_size_is_an_empty_one() {
    for (begin, end, step) in [(4, 1, 1), (1, 4, -1), (9, 7, 3), (-1, -9, 2), (0, 0, -1)] {
        let slice = format!("strided_slice %x begin [{begin}] end [{end}] strides [{step}]");
        assert!(
            value(&one("u8[5]", &slice), &[&iota(5)]).is_empty(),
            "{slice}"
        );
    }
}

/// Reversal was skipped, rank assumed, a short begin read out of bounds, by four rewrites.
#[test]
fn ov_38240_slices_with_short_lists_reverse() {
    let text = one(
        "u8[3, 2]",
        "strided_slice %x begin [0] end [0] strides [-1] begin_mask 1 end_mask 1 dialect openvino",
    );
    assert_eq!(value(&text, &[&iota(6)]), [4, 5, 2, 3, 0, 1]);
}

#[test]
fn ov_35687_reversal_by_masks_is_not_an_identity() {
    let text = one(
        "u8[1, 4]",
        "strided_slice %x begin [0, 0] end [0, 0] strides [1, -1] begin_mask 0b11 end_mask 0b11
         dialect openvino",
    );
    assert_eq!(value(&text, &[&iota(4)]), [3, 2, 1, 0]);
}

#[test]
fn ov_1328_a_begin_shorter_than_the_rank_leaves_the_rest_whole() {
    let text = one(
        "u8[2, 2, 2]",
        "strided_slice %x begin [1] end [2] strides [1] dialect openvino",
    );
    assert_eq!(value(&text, &[&iota(8)]), [4, 5, 6, 7]);
}

/// Begins below zero were normalised when they were constants and not when they came at run time.
#[test]
fn tvm_20263_negative_begins_mean_the_same_wherever_they_come_from() {
    use restride::{Engine, InputShape, Template};
    let graph = crate::support::graph(&one("u8[9]", "slice %x start [-3] stop [-1] step [1]"));
    let node = Template::new(graph.expect("a graph"));
    for engine in crate::support::engines() {
        for length in [2, 3, 4, 9, 200u8] {
            let program = specialised(&engine, &node, length);
            let x = iota(length);
            let run = crate::support::run(&program, &[&x]).expect("runs");
            let wanted = &x[x.len().saturating_sub(3)..x.len() - 1];
            assert_eq!(run[0], wanted, "{length}");
        }
    }
    fn specialised(engine: &Engine, node: &Template, length: u8) -> restride::Program {
        let shape = [i64::from(length)];
        let program = engine.specialise(node, &[InputShape::dense(&shape)]);
        program.expect("a program")
    }
}

/// An empty list of begins was an error.
#[test]
fn tvm_11679_no_begin_at_all_takes_everything() {
    let text = one("u8[2, 3]", "strided_slice %x begin [] end [] strides []");
    assert_eq!(value(&text, &[&iota(6)]), iota(6));
    let text = one("u8[]", "strided_slice %x begin [] end [] strides []");
    assert_eq!(value(&text, &[&[7]]), [7]);
}

/// Step 0 is refused by name, everywhere.
#[test]
fn a_step_of_zero_is_refused() {
    says(
        refused(&one(
            "u8[5]",
            "strided_slice %x begin [0] end [5] strides [0]",
        )),
        "strided_slice: strides[0]: a step must not be 0",
    );
    says(
        refused(&one(
            "u8[5]",
            "slice %x start [0] stop [5] step [0] axes [0]",
        )),
        "slice: step[0]: a step must not be 0",
    );
}

/// What fails, fails before anything is written, whatever else the graph computes.
#[test]
fn errors_come_before_any_write() {
    let text = "func @f(%x: u8[4], %i: i64[1]) {
        %a = reverse %x axes [0]
        %b = gather %x, %i axis 0 out_of_range error
        return %a, %b }";
    let error = failure(text, &[&iota(4), &crate::support::indices(&[4])]);
    says(
        error,
        "gather %b: index 4 at position 0 is outside axis 0 of size 4",
    );
}
