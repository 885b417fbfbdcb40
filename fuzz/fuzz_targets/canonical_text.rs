//! The body `canonical_text` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| restride_testkit::fuzz::canonical_text(data));
