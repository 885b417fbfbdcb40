//! The body `onnx_file` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| restride_testkit::fuzz::onnx_file(data));
