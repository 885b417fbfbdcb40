//! Hostile files: nesting, sizes, counts, paths, escapes.

use crate::says;
use crate::support::{graph, one, refused};
use restride_testkit::conform::{GoldenCase, SpellError, check_lines, spell};
use restride_testkit::rungs::rungs;
use restride_testkit::workloads;

/// Fourteen bytes asked for a gigabyte.
#[test]
fn candle_3962_npyz_53_libnpy_44_declared_sizes_are_not_believed() {
    says(
        refused("func @f() { %c = constant u8[9223372036854775807] [1] return %c }"),
        "1 elements for u8[9223372036854775807], which has 9223372036854775807",
    );
    let kernel = r#"kernel "k" { b0 = const w16 [576460752303423487] "00" }"#;
    let refusal = kernel.parse::<restride_loops::Kernel>();
    if let Ok(kernel) = refusal {
        assert!(restride_loops::verify(kernel).is_err());
    }
    let case = r#"{"id":"x","peer":"openvino","op":"Transpose","opset":"Transpose-1","attrs":{},
        "inputs":[{"name":"data","dtype":"u8","shape":[4611686018427387904],"values":"iota"}],
        "expect":{"shape":[1],"values":[0]}}"#;
    let case: GoldenCase = serde_json::from_str(case).expect("a case");
    assert!(matches!(spell(&case), Err(SpellError::Unreadable(_))));
}

/// Nesting ended the process by its stack, quadratic work by its patience.
#[test]
fn rustsec_2024_0437_2026_0194_and_0195_nesting_and_repetition_are_bounded() {
    let deep = "[".repeat(200_000);
    assert!(graph(&format!("func @f(%x: u8{deep}")).is_err());
    assert!(restride_canon::text::parse(&format!("canonical {{ %0 = input {deep}")).is_err());
    let nest = format!("kernel \"k\" {{ {}", "for v0 in 0..2 { ".repeat(200_000));
    assert!(nest.parse::<restride_loops::Kernel>().is_err());
    assert!(workloads::read(&deep).is_err());
    assert_eq!(check_lines(&deep, &rungs()).passed, 0);
    // A long text with a mistake in every statement is answered as fast as a short one.
    let mistakes = "%a = nothing %b\n".repeat(50_000);
    let error = refused(&format!("func @f(%x: u8[1]) {{ {mistakes} return %x }}"));
    assert!(error.len() < 100_000, "{}", error.len());
    let same = "%a, ".repeat(50_000);
    assert!(
        graph(&format!(
            "func @f(%a: u8[1]) {{ %b = concat {same} %a axis 0 return %b }}"
        ))
        .is_ok()
    );
}

/// A model named files outside of its folder. No text of restride names a file.
#[test]
fn cve_2024_27318_and_2022_25882_data_is_never_a_path() {
    let case = r#"{"id":"x","peer":"openvino","op":"Transpose","opset":"Transpose-1","attrs":{},
        "inputs":[{"name":"data","dtype":"u8","shape":[2],"values":"../../../etc/passwd"}],
        "expect":{"shape":[2],"values":[0,1]}}"#;
    let case: GoldenCase = serde_json::from_str(case).expect("a case");
    let Err(SpellError::Unreadable(error)) = spell(&case) else {
        panic!("a path was read")
    };
    assert!(error.contains("../../../etc/passwd"), "{error}");
}

/// Names from a file reach a terminal.
#[test]
fn names_cannot_hold_escapes() {
    let error = refused("func @f(%\u{1b}[31mx: u8[1]) { return %x }");
    assert!(!error.contains('\u{1b}'), "{error:?}");
    let mut g = restride::Graph::new("f");
    let named = g.input("\u{1b}]0;owned\u{7}", restride::ElementType::U8, [1]);
    let error = named.expect_err("refused").to_string();
    assert!(!error.contains('\u{1b}'), "{error:?}");
}

/// Cut anywhere, a text is an error and nothing else.
#[test]
fn every_prefix_of_a_text_is_answered() {
    let text = one(
        "u8[2, 3]",
        "strided_slice %x begin [0, 1] end [2, 3] strides [1, 1]",
    );
    for end in 0..text.len() {
        assert!(graph(&text[..end]).is_err(), "{}", &text[..end]);
    }
    assert!(graph(&text).is_ok());
}
