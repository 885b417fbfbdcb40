//! What expressions mean, as graphs and as data.

use super::parse;
use restride_graph::oracle::{self, Tensor};
use restride_text::Source;

/// The outputs on inputs that count up, each as shape and elements.
fn eval(text: &str) -> Vec<(Vec<i64>, Vec<u64>)> {
    let graph = parse(text).unwrap_or_else(|e| panic!("{}", e.render(&Source::new("q", text))));
    let inputs: Vec<Tensor> = graph
        .inputs()
        .iter()
        .map(|input| {
            let ty = graph.ty(*input).clone().without_layout();
            let bits: Vec<u128> = (0..ty.numel() as u128).collect();
            Tensor::from_bits(ty, bits).expect("as many as there are")
        })
        .collect();
    let outputs = oracle::eval(&graph, &inputs).expect("in range");
    let elements = |tensor: &Tensor| {
        let width = tensor.element().width();
        let bytes = tensor.bytes().chunks(width);
        bytes
            .map(|bytes| bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)))
            .collect()
    };
    outputs
        .iter()
        .map(|tensor| (tensor.shape().to_vec(), elements(tensor)))
        .collect()
}

fn one(text: &str) -> (Vec<i64>, Vec<u64>) {
    let mut all = eval(text);
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

/// Expected values are numpy's.
#[test]
fn indexing_is_numpys() {
    let x = "x: i32[2,3,4]; ";
    for (expression, shape, elements) in [
        ("x[1,0,2]", vec![], vec![14]),
        ("x[0,1]", vec![4], vec![4, 5, 6, 7]),
        ("x[0, ..., ::-2]", vec![3, 2], vec![3, 1, 7, 5, 11, 9]),
        ("x[..., 0]", vec![2, 3], vec![0, 4, 8, 12, 16, 20]),
        ("x[:, newaxis, 0, :2]", vec![2, 1, 2], vec![0, 1, 12, 13]),
        ("x[0, 2:0:-1, -1]", vec![2], vec![11, 7]),
        ("x[0, [2,0], 1]", vec![2], vec![9, 1]),
        ("x[:, [-1], 1]", vec![2, 1], vec![9, 21]),
        ("x[1:, ..., [[3],[0]]][0,0]", vec![2, 1], vec![15, 12]),
        ("x[0, 0, 5:]", vec![0], vec![]),
    ] {
        assert_eq!(
            one(&format!("{x}{expression}")),
            (shape, elements),
            "{expression}"
        );
    }
}

#[test]
fn methods_are_numpys() {
    let x = "x: u8[2,3]; ";
    for (expression, shape, elements) in [
        ("x.T", vec![3, 2], vec![0, 3, 1, 4, 2, 5]),
        ("x.reshape(-1, 2)[2]", vec![2], vec![4, 5]),
        ("transpose(x, (1,0))[0]", vec![2], vec![0, 3]),
        ("x.transpose(-1, 0)[0]", vec![2], vec![0, 3]),
        ("x.swapaxes(0, -1)[1]", vec![2], vec![1, 4]),
        ("x.take([5, 0])", vec![2], vec![5, 0]),
        ("x.take([2, 0], axis=1)", vec![2, 2], vec![2, 0, 5, 3]),
        ("x.take_along_axis([[2],[0]], 1)", vec![2, 1], vec![2, 3]),
        ("x.flip()", vec![2, 3], vec![5, 4, 3, 2, 1, 0]),
        ("x.flip(axis=1)", vec![2, 3], vec![2, 1, 0, 5, 4, 3]),
        ("x.roll(1)", vec![2, 3], vec![5, 0, 1, 2, 3, 4]),
        ("x.roll(1, axis=1)", vec![2, 3], vec![2, 0, 1, 5, 3, 4]),
        (
            "x[0].pad((1, 2), constant_values=9)",
            vec![6],
            vec![9, 0, 1, 2, 9, 9],
        ),
        ("x[0].pad(1, mode=edge)", vec![5], vec![0, 0, 1, 2, 2]),
        ("x.tile(1, 2)[0]", vec![6], vec![0, 1, 2, 0, 1, 2]),
        (
            "x[0].broadcast_to(2, 3)",
            vec![2, 3],
            vec![0, 1, 2, 0, 1, 2],
        ),
        ("x[0].repeat(2)", vec![6], vec![0, 0, 1, 1, 2, 2]),
        (
            "x.repeat(2, axis=0).flatten()",
            vec![12],
            vec![0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5],
        ),
        (
            "x.expand_dims(0).squeeze(0).ravel()[1:3]",
            vec![2],
            vec![1, 2],
        ),
        ("concat(x[0], x[1, :1])", vec![4], vec![0, 1, 2, 3]),
        ("x.split(3, axis=1)[-1]", vec![2, 1], vec![2, 5]),
        ("np.split(x, [1, 1], 1)[2]", vec![2, 2], vec![1, 2, 4, 5]),
        ("split(x, 2)[0][0, np.newaxis]", vec![1, 3], vec![0, 1, 2]),
        (
            "x.reshape(1,1,2,3)[..., :2].space_to_depth(2).ravel()",
            vec![4],
            vec![0, 1, 3, 4],
        ),
        (
            "x[:, :2].reshape(1,4,1,1).depth_to_space(2)[0, 0]",
            vec![2, 2],
            vec![0, 1, 3, 4],
        ),
        (
            "concatenate([x, x], axis=1)[1]",
            vec![6],
            vec![3, 4, 5, 3, 4, 5],
        ),
        (
            "stack((x[0], x[1]), axis=-1)",
            vec![3, 2],
            vec![0, 3, 1, 4, 2, 5],
        ),
    ] {
        assert_eq!(
            one(&format!("{x}{expression}")),
            (shape, elements),
            "{expression}"
        );
    }
}

#[test]
fn statements_name_and_hand_out() {
    let both = eval("x: u8[4]; y = x[::2]; y[0], (x); i: i64[2]; x[i]");
    assert_eq!(both[0], (vec![], vec![0]));
    assert_eq!(both[1].1, [0, 1, 2, 3]);
    assert_eq!(both[2].1, [0, 1]);
    // Inputs may stand side by side, and a tensor may have numpy's name.
    let side_by_side = eval("x: u8[2], np: u8[2]; np, stack(x, np)[1]");
    assert_eq!(side_by_side[0], side_by_side[1]);
    // A name given last is handed out if nothing else is.
    assert_eq!(one("x: u8[2]; y = x[::-1]").1, [1, 0]);
    let graph = parse("x: u8[2] strides [-2] offset 4; y = x; y").expect("a strided input");
    assert_eq!(
        graph.ty(graph.inputs()[0]).to_string(),
        "u8[2] strides [-2] offset 4"
    );
}

/// Several index tensors are one index; expected values are numpy's.
#[test]
fn index_tensors_are_broadcast_together() {
    let cases: &[(&str, &[i64], &[u64])] = &[
        ("x[[0,1],[1,0]]", &[2, 4], &[4, 5, 6, 7, 12, 13, 14, 15]),
        ("x[:,[0,2],[1,3]]", &[2, 2], &[1, 11, 13, 23]),
        ("x[[0,1],:,[1,3]]", &[2, 3], &[1, 5, 9, 15, 19, 23]),
        (
            "x[[[0],[1]],[2,0]]",
            &[2, 2, 4],
            &[8, 9, 10, 11, 0, 1, 2, 3, 20, 21, 22, 23, 12, 13, 14, 15],
        ),
        ("x[1,:,[1,3]]", &[2, 3], &[13, 17, 21, 15, 19, 23]),
        ("x[0,[1,2],[3,0]]", &[2], &[7, 8]),
        ("x[:,1,[0,-1]]", &[2, 2], &[4, 7, 16, 19]),
        ("x[[1,0],...,[0,2]]", &[2, 3], &[12, 16, 20, 2, 6, 10]),
        ("x[..., [2,0], [1,1]]", &[2, 2], &[9, 1, 21, 13]),
        (
            "x[None,[0,1],[1,0]]",
            &[1, 2, 4],
            &[4, 5, 6, 7, 12, 13, 14, 15],
        ),
        ("x[:,None,[0,2],[1,3]]", &[2, 1, 2], &[1, 11, 13, 23]),
        (
            "y[:,[0,2],[1,3],::2]",
            &[2, 2, 3],
            &[5, 7, 9, 55, 57, 59, 65, 67, 69, 115, 117, 119],
        ),
        (
            "y[[1],:,[[0],[3]],1:3]",
            &[2, 1, 3, 2],
            &[61, 62, 81, 82, 101, 102, 76, 77, 96, 97, 116, 117],
        ),
        (
            "x[:,:,[[0,3],[1,2]]]",
            &[2, 3, 2, 2],
            &[
                0, 3, 1, 2, 4, 7, 5, 6, 8, 11, 9, 10, 12, 15, 13, 14, 16, 19, 17, 18, 20, 23, 21,
                22,
            ],
        ),
        ("y[0,:,[1,2],[3,4]]", &[2, 3], &[8, 28, 48, 14, 34, 54]),
        ("x[[0,1],[1,0],[3,3]]", &[2], &[7, 15]),
    ];
    for (expression, shape, elements) in cases {
        let text = format!("x: i32[2,3,4], y: i32[2,3,4,5]; {expression}");
        let expected = (shape.to_vec(), elements.to_vec());
        assert_eq!(one(&text), expected, "{expression}");
    }
}

#[test]
fn errors_point_and_advise() {
    for (text, message, marked) in [
        ("x: f32[4]; y[0]", "there is no value `y`", "y"),
        ("x: f33[4]; x", "`f33` is not an element type", "f33"),
        (
            "x: f32[4]; x.reshap(2, 2)",
            "there is no method `reshap`",
            "reshap",
        ),
        (
            "x: f32[4,4], i: i32[2]; x[i, [0, 1]]",
            "indices of i64 beside indices of i32",
            "[0, 1]",
        ),
        (
            "x: f32[4,4]; x[[0, 1], [0, 1, 2]]",
            "the index tensors have shapes that do not broadcast together",
            "[0, 1, 2]",
        ),
        (
            "x: f32[4]; x.concat(x)",
            "`concat` is a function, no method",
            "concat",
        ),
        ("x: f32[4]; x + x", "there is no arithmetic here", "+"),
        (
            "x: f32[4]; x[0, 4:0:0]",
            "2 positions take an axis each, but the rank is 1",
            "[0, 4:0:0]",
        ),
        (
            "x: f32[4,4]; x[0, 4]",
            "index 4 is outside -4..=3 for axis 1 of size 4",
            "4",
        ),
        ("x: f32[4]; np.sin(x)", "there is no function `sin`", "sin"),
        ("x: f32[4]; np.pi", "there is no function `pi`", "pi"),
        (
            "x: f32[4]; x.split(2)",
            "`split` gives 2 tensors",
            "x.split(2)",
        ),
        ("x: f32[4]; x.split(2)[2]", "part 2 of 2", "[2]"),
        (
            "x: f32[4]; x.split([3, 1])[0]",
            "cuts go up from 0 to 4, the size of the axis",
            "[3, 1]",
        ),
        ("x: f32[4]; x[..., ...]", "a second `...`", "..."),
        (
            "x: f32[4]; x.take(5, axi=0)",
            "there is no argument `axi`",
            "axi",
        ),
        ("x: f32[4]; x.roll(1, 0, 3)", "one argument too many", "3"),
        ("x: f32[4]; x: f32[4]", "`x` has a value already", "x"),
        (
            "x: f32[4]; x[]",
            "an index is missing between the brackets",
            "[]",
        ),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(error.message, message, "{text}");
        let span = error.span.start as usize..error.span.end as usize;
        assert_eq!(&text[span], marked, "{text}");
    }
    for text in [
        "",
        ";",
        "x",
        "x: f32[4]",
        "x: f32[4]; x[",
        "x: f32[4]; x[1 2]",
        "x: f32[4]; x[7]",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
}

#[test]
fn no_text_makes_it_panic() {
    let words = [
        "x",
        ":",
        "f32",
        "i64",
        "[",
        "]",
        "(",
        ")",
        "4",
        "-1",
        ",",
        ";",
        ".",
        "T",
        "...",
        "=",
        "reshape",
        "concat",
        "pad",
        "take",
        "axis",
        "newaxis",
        "9223372036854775807",
        "roll",
        "split",
        "np",
    ];
    let mut state = 11u64;
    for round in 0..40_000 {
        let mut text = String::from(if round % 2 == 0 { "x: i64[2,3]; x" } else { "" });
        for _ in 0..12 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text += words[(state >> 33) as usize % words.len()];
        }
        let _ = parse(&text);
    }
    let deep = format!("x: f32[4]; {}x{}", "(".repeat(5000), ")".repeat(5000));
    assert!(parse(&deep).is_err());
    let nested = format!("x: f32[4]; x[{}", "[".repeat(5000));
    assert!(parse(&nested).is_err());
}
