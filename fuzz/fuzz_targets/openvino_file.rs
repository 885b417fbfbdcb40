//! The body `openvino_file` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| restride_testkit::fuzz::openvino_file(data));
