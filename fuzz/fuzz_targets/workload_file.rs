//! The body `workload_file` under libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| restride_testkit::fuzz::workload_file(data));
