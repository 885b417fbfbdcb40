//! The ONNX project's own tests of operators that move data, and of those that shapes are worked out
//! with, on every rung. `onnx/make.py` writes the file.

use std::path::Path;

use restride_testkit::conform::check_lines;
use restride_testkit::rungs::rungs;

#[test]
fn node_tests_hold() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("onnx/nodes.jsonl");
    let text = std::fs::read_to_string(file).expect("the tests");
    let report = check_lines(&text, &rungs());
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert!(report.refusals.is_empty(), "{:#?}", report.refusals);
    assert!(report.passed == 148, "{}", report.passed);
}

/// An expectation that is changed in one bit is noticed.
#[test]
fn wrong_expectations_are_noticed() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("onnx/nodes.jsonl");
    let text = std::fs::read_to_string(file).expect("the tests");
    let mut noticed = 0;
    for line in text.lines() {
        // The last digits of a line are the last byte of the last output.
        let end = line.len() - "\"]}".len();
        let digit = &line[end - 1..end];
        let other = if digit == "0" { "1" } else { "0" };
        let changed = [&line[..end - 1], other, &line[end..]].concat();
        noticed += usize::from(check_lines(&changed, &rungs()).passed == 0);
    }
    // Bytes of a name may stand last: those change nothing.
    assert!(noticed >= 100, "{noticed} of {}", text.lines().count());
}
