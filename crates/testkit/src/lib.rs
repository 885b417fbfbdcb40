//! Generators, the ladder, the file-test harness and the conformance reader.

#![forbid(unsafe_code)]

pub mod conform;
pub mod fuzz;
pub mod generate;
pub mod ladder;
pub mod rungs;
pub mod workloads;
