//! The body `structured` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| restride_tests::fuzz::structured(data));
