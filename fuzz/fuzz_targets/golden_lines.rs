//! The body `golden_lines` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| restride_testkit::fuzz::golden_lines(data));
