//! Generators, the ladder, the file-test harness and the conformance reader.
pub mod workloads;
