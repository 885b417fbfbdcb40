//! Spellings that a golden file may use, and lines that are no cases.

use super::{GoldenCase, SpellError, check_case, check_lines, spell};
use crate::rungs::rungs;

/// Cases worked out by hand: older versions, absent parameters, refusals before the operator.
const FORMS: &str = include_str!("forms.jsonl");

#[test]
fn every_form_is_understood() {
    let report = check_lines(FORMS, &rungs());
    assert!(report.failures.is_empty(), "{:#?}", report.failures);
    assert!(report.refusals.is_empty(), "{:#?}", report.refusals);
    assert_eq!(report.passed, FORMS.lines().count());
}

/// What the reader cannot make out must never count as a refusal.
#[test]
fn unreadable_is_not_refused() {
    let line = |peer: &str, op: &str, dtype: &str, values: &str| {
        format!(
            r#"{{"id":"x","peer":"{peer}","op":"{op}","opset":"{op}-1","attrs":{{}},"inputs":
            [{{"name":"data","dtype":"{dtype}","shape":[2],"values":{values}}}],"expect":{{"error":"any"}}}}"#
        )
    };
    for text in [
        line("jax", "Transpose", "f32", "[1,2]"),
        line("openvino", "Convolution", "f32", "[1,2]"),
        line("openvino", "Transpose", "f31", "[1,2]"),
        line("openvino", "Transpose", "f32", "[1,2,3]"),
        line("openvino", "Transpose", "f32", "\"random\""),
        line("openvino", "Slice", "f32", "[1,2]"),
    ] {
        let case: GoldenCase = serde_json::from_str(&text).expect("a case");
        assert!(
            matches!(spell(&case), Err(SpellError::Unreadable(_))),
            "{text}"
        );
        assert!(check_case(&case, &rungs()).is_err());
    }
    assert_eq!(
        check_lines("{\"id\": 3}\nnonsense\n\n", &rungs())
            .failures
            .len(),
        2
    );
}

/// Numbers anywhere in a case may be anything; the reader answers all the same.
#[test]
fn extreme_numbers_are_answered() {
    let numbers = [
        "-9223372036854775808",
        "-2147483649",
        "-1",
        "0",
        "33",
        "4294967296",
        "4611686018427387904",
        "9223372036854775807",
        "18446744073709551615",
        "1e300",
        "0.5",
        "null",
        "[]",
        "\"x\"",
    ];
    let mut answered = 0;
    for line in FORMS.lines() {
        let bytes = line.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let digits = bytes[at..]
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .count();
            if digits > 0 {
                for number in numbers {
                    let mutated = [&line[..at], number, &line[at + digits..]].concat();
                    let report = check_lines(&mutated, &rungs());
                    let missed = report.failures.len() + report.refusals.len();
                    assert_eq!(report.passed + missed, 1);
                    answered += 1;
                }
            }
            at += digits.max(1);
        }
    }
    assert!(answered > 5_000, "{answered}");
}
