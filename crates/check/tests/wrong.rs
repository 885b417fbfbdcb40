//! A file of machine code written by hand, right and wrong, and what is said of it.

use restride_check::{CallForm, CodeSubject, Kind, Limit, Limits, Processor, Unproved, check};
use restride_loops::{Kernel, Verified, verify};

/// The bytes of a listing: hexadecimal digits up to a semicolon on each line.
fn assembled(listing: &str) -> Vec<u8> {
    listing
        .lines()
        .filter_map(|line| line.split(';').next())
        .flat_map(|digits| {
            let digits = digits.trim().as_bytes();
            let digits = digits.chunks(2).map(|pair| {
                let pair = std::str::from_utf8(pair).expect("ASCII");
                u8::from_str_radix(pair, 16).expect("hexadecimal digits")
            });
            digits.collect::<Vec<u8>>()
        })
        .collect()
}

fn verdict(processor: Processor, kernel: &Verified, code: &[u8]) -> String {
    let subject = CodeSubject {
        processor,
        code,
        form: CallForm::Phases(&[0]),
        kernel,
        callees: &[],
    };
    let mut limits = Limits::default();
    limits.steps = 1000;
    match check(&subject, &limits) {
        Ok(_) => "ok".to_owned(),
        Err(violation) => violation.to_string(),
    }
}

#[test]
fn written_code() {
    let (accepted, refused) = cases(Processor::X86, include_str!("wrong.txt"));
    assert!(accepted >= 8 && refused >= 58, "{accepted}, {refused}");
}

#[test]
fn written_code_of_a64() {
    let (accepted, refused) = cases(Processor::A64, include_str!("wrong_a64.txt"));
    assert!(accepted >= 14 && refused >= 34, "{accepted}, {refused}");
}

/// How many cases of a file are said to be right, and to be anything else; all as it says.
fn cases(processor: Processor, text: &str) -> (u64, u64) {
    let (mut accepted, mut refused, mut differ) = (0, 0, Vec::new());
    for case in text.split("// ---- ").skip(1) {
        let (name, rest) = case.split_once('\n').expect("a name");
        let (expect, rest) = rest.split_once('\n').expect("an expectation");
        let expect = expect.strip_prefix("expect ").expect("an expectation");
        let (kernel, code) = rest.split_once("code\n").expect("code");
        let kernel: Kernel = kernel
            .parse()
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let kernel = verify(kernel).unwrap_or_else(|error| panic!("{name}: {error}"));
        let said = verdict(processor, &kernel, &assembled(code));
        if expect == "ok" {
            accepted += 1;
        } else {
            refused += 1;
        }
        if !said.contains(expect) {
            differ.push(format!("{name}: {said}"));
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
    (accepted, refused)
}

#[test]
fn phases_are_counted() {
    let kernel: Kernel = "kernel \"fill\" { b0 = out 0 w1 [1] fill b0[0] <- 0x7 }"
        .parse()
        .expect("a kernel");
    let kernel = verify(kernel).expect("a valid kernel");
    let subject = CodeSubject {
        processor: Processor::X86,
        code: &[0xc3],
        form: CallForm::Phases(&[]),
        kernel: &kernel,
        callees: &[],
    };
    let unproved = check(&subject, &Limits::default()).expect_err("no phases");
    let violation = unproved.violation().expect("a violation");
    assert_eq!(*violation.kind, Kind::Phases { code: 0, kernel: 1 });
}

#[test]
fn limits_say_that_nothing_is_known() {
    let kernel: Kernel = "kernel \"fill\" { b0 = out 0 w1 [100] fill b0[0] <- 0x7 box [(100, 1)] }"
        .parse()
        .expect("a kernel");
    let kernel = verify(kernel).expect("a valid kernel");
    let subject = CodeSubject {
        processor: Processor::X86,
        code: &[0xeb, 0xfe],
        form: CallForm::Phases(&[0]),
        kernel: &kernel,
        callees: &[],
    };
    let mut limits = Limits::default();
    limits.bytes = 99;
    let unproved = check(&subject, &limits).expect_err("bytes");
    assert!(matches!(unproved, Unproved::Limit(Limit::Bytes { .. })));
    limits.bytes = 100;
    limits.steps = 100;
    let unproved = check(&subject, &limits).expect_err("steps");
    assert!(matches!(unproved, Unproved::Limit(Limit::Steps { .. })));
}
