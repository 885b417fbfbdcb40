//! Shapes: sizes that overflow, ranks beyond the limit, sizes of zero.

use crate::says;
use crate::support::{graph, iota, one, refused, value};

/// Products of sizes wrapped while memory was set aside for them.
#[test]
fn xnnpack_11132_and_10990_products_of_sizes_do_not_wrap() {
    let half = 1i64 << 32;
    says(
        refused(&one(
            "u8[1, 1]",
            &format!("broadcast %x shape [{half}, {half}]"),
        )),
        "broadcast: result: the sizes multiply to more than 9223372036854775807 bytes",
    );
    says(
        refused(&one(
            "u8[2, 2]",
            &format!("tile %x repeats [{half}, {half}]"),
        )),
        "tile: result: the sizes multiply to more than 9223372036854775807 bytes",
    );
    says(
        refused(&one(
            "u8[1, 4, 1, 1]",
            "depth_to_space %x block 4294967296 order blocks_first",
        )),
        "depth_to_space: result: the sizes overflow",
    );
    says(
        refused(&one(
            "u8[1]",
            &format!("pad %x low [{0}] high [{0}] constant 0", i64::MAX),
        )),
        "pad: result: the sizes overflow",
    );
}

/// Reshapes whose element count overflowed ended the process.
#[test]
fn cve_2022_35934_and_2021_41197_large_reshapes_are_errors() {
    let reshape = |sizes: &str, dialect: &str| {
        refused(&one("u8[4]", &format!("reshape %x shape {sizes}{dialect}")))
    };
    let most = i64::MAX;
    for dialect in [
        "",
        " dialect openvino",
        " dialect onnx",
        " dialect tensorflow",
    ] {
        let error = reshape(&format!("[{most}, {most}, {most}]"), dialect);
        assert!(error.starts_with("reshape: "), "{error}");
        let error = reshape("[4294967296, 4294967297]", dialect);
        assert!(error.starts_with("reshape: "), "{error}");
    }
    says(
        reshape("[3]", ""),
        "reshape: shape: the operand has 4 elements, the result would have 3",
    );
}

/// The target shape could also come as a 1-D tensor, and then nobody had set it.
#[test]
fn cve_2021_29592_a_reshape_without_sizes_is_a_scalar() {
    assert_eq!(value(&one("u8[1, 1]", "reshape %x shape []"), &[&[9]]), [9]);
    let error = refused(&one("u8[4]", "reshape %x"));
    says(error, "reshape needs `shape`");
}

/// An optimiser asserted what nobody had checked.
#[test]
fn cve_2022_23581_rewrites_of_odd_reshapes_assert_nothing() {
    let text = "func @f(%x: u8[0, 3]) {
        %a = reshape %x shape [3, 0]
        %b = reshape %a shape [0] dialect tensorflow
        %c = reshape %b shape [0, 1, 1]
        %d = squeeze %c axes [1, 2]
        return %d, %c, %a }";
    let outputs = crate::support::answer(text, &[&[]]).expect("runs");
    assert_eq!(outputs, [const { Vec::<u8>::new() }; 3]);
}

/// Shapes were kept by reference and outlived what owned them.
#[test]
fn cve_2021_37690_types_are_values() {
    let program = {
        let graph = graph(&one("u8[2, 3]", "reshape %x shape [3, 2]")).expect("a graph");
        let engine = crate::support::engines().remove(0);
        engine.compile(&graph).expect("a program")
    };
    assert_eq!(
        crate::support::run(&program, &[&iota(6)]),
        Ok(vec![iota(6)])
    );
    assert_eq!(program.inputs()[0].shape(), [2, 3]);
}

/// Some element types had no kernel, and the process ended.
#[test]
fn cve_2021_29618_every_element_type_moves() {
    for element in restride::ElementType::ALL {
        let width = element.width();
        let text = one(&format!("{element}[2, 3]"), "transpose %x perm [1, 0]");
        let x = iota(6 * width as u8);
        let wanted: Vec<u8> = [0, 3, 1, 4, 2, 5]
            .iter()
            .flat_map(|&at| x[at * width..][..width].to_vec())
            .collect();
        assert_eq!(value(&text, &[&x]), wanted, "{element}");
    }
}

/// Sizes in 32 bits wrapped when arrays were made and joined.
#[test]
fn cve_2022_23558_sizes_are_never_32_bits() {
    let big = format!(
        "func @f(%x: u8[1]) {{ %y = broadcast %x shape [{}] return %y }}",
        1i64 << 40
    );
    let program = crate::support::engines()[0].compile(&graph(&big).expect("a graph"));
    let program = program.expect("a program");
    let error = program
        .run(
            &[restride::TensorRef::new(&[1u8])],
            &mut [restride::TensorMut::new(&mut [0u8; 16])],
        )
        .expect_err("16 bytes are too few");
    says(
        error.to_string(),
        "output 0 has 16 bytes, its layout needs 1099511627776",
    );
}

#[test]
fn cve_2021_29601_sums_of_concat_do_not_wrap() {
    let size = i64::MAX / 2 + 1;
    let text = format!("func @f(%x: u8[{size}]) {{ %y = concat %x, %x axis 0 return %y }}");
    says(refused(&text), "concat: result: the sizes overflow");
    let half = i64::MAX / 2;
    let text = format!("func @f(%x: u16[{half}]) {{ %y = concat %x, %x axis 0 return %y }}");
    says(
        refused(&text),
        "concat: result: the sizes multiply to more than 9223372036854775807 bytes",
    );
}

#[test]
fn ranks_beyond_the_limit_are_refused() {
    let ones = |count: usize| vec!["1"; count].join(", ");
    assert_eq!(
        value(&one(&format!("u8[{}]", ones(32)), "squeeze %x"), &[&[5]]),
        [5]
    );
    says(
        refused(&one(&format!("u8[{}]", ones(33)), "squeeze %x")),
        "a list of more than 32 entries",
    );
    let reshape = format!("reshape %x shape [{}]", ones(33));
    says(
        refused(&one("u8[1]", &reshape)),
        "reshape: result: rank 33 is more than 32",
    );
    let axes: Vec<String> = (0..33).map(|n| n.to_string()).collect();
    let unsqueeze = format!("unsqueeze %x axes [{}]", axes.join(", "));
    says(
        refused(&one("u8[]", &unsqueeze)),
        "unsqueeze: result: rank 33 is more than 32",
    );
    // An ellipsis, new axes and an index tensor can all raise the rank.
    let new = "strided_slice %x begin [0] end [0] strides [1] new_axis_mask 1";
    let error = refused(&one(&format!("u8[{}]", ones(32)), new));
    says(error, "strided_slice: result: rank 33 is more than 32");
    let gather = crate::support::indexed(
        &format!("u8[{}]", ones(20)),
        &format!("i8[{}]", ones(20)),
        "gather %x, %i axis 0 out_of_range zero",
    );
    says(refused(&gather), "gather: result: rank 39 is more than 32");
}

/// Every operator on axes without elements, and on scalars where it takes them.
#[test]
fn empty_tensors_and_scalars_are_ordinary() {
    for op in [
        "identity %x",
        "strided_slice %x begin [0, 1] end [9, 9] strides [2, -1]",
        "slice %x start [-1] stop [-9] step [-1] axes [0]",
        "reshape %x shape [3, 0, 5]",
        "reshape %x shape [0, 5] dialect tensorflow",
        "transpose %x perm [1, 0]",
        "unsqueeze %x axes [0]",
        "flatten %x axis 1",
        "broadcast %x shape [4, 0, 3]",
        "reverse %x axes [0, 1]",
        "roll %x shift [5, -5] axes [0, 1]",
        "split %x axis 0 lengths [0, 0, 0] part 1",
        "concat %x, %x, %x axis 0",
        "tile %x repeats [7, 7]",
        "tile %x repeats [1, 0]",
        "pad %x low [0, -3] high [0, 0] constant 1",
        "shuffle_channels %x axis 1 groups 3",
    ] {
        assert!(value(&one("u16[0, 3]", op), &[&[]]).is_empty(), "{op}");
    }
    assert_eq!(
        value(
            &one("u8[0, 2]", "pad %x low [1, 0] high [0, 1] constant 7"),
            &[&[]]
        ),
        [7; 3]
    );
    for op in [
        "identity %x",
        "transpose %x perm []",
        "tile %x repeats [1]",
        "broadcast %x shape []",
    ] {
        assert_eq!(value(&one("u8[]", op), &[&[3]]), [3], "{op}");
    }
}

/// What cannot be held in memory fails where memory is asked for, never before and never worse.
#[test]
fn scratch_that_cannot_be_had_is_an_error() {
    // The rows a gather computes are gathered from again: they need scratch of 2^46 bytes.
    let text = format!(
        "func @f(%x: u8[4], %i: i64[2]) {{
            %a = broadcast %x shape [{}, 4]
            %b = gather %a, %i axis 1 out_of_range zero
            %c = reshape %b shape [{}]
            %d = slice %c start [0] stop [3] step [2] axes [0]
            return %d }}",
        1i64 << 46,
        1i64 << 47,
    );
    let parsed = graph(&text).expect("a graph");
    for engine in crate::support::engines() {
        let Ok(program) = engine.compile(&parsed) else {
            continue;
        };
        let outcome = crate::support::run(&program, &[&iota(4), &crate::support::indices(&[1, 9])]);
        match outcome {
            Ok(outputs) => assert_eq!(outputs, [[1, 1]]),
            Err(error) => assert!(error.to_string().starts_with("no memory for "), "{error}"),
        }
    }
}
