//! The body `engine` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| restride_tests::fuzz::engine(data));
