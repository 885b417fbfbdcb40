//! Generators, the ladder, the file-test harness and the conformance reader.

#![forbid(unsafe_code)]

#[cfg(feature = "stages")]
pub mod conform;
#[cfg(feature = "stages")]
pub mod fuzz;
pub mod generate;
#[cfg(feature = "stages")]
pub mod ladder;
mod mutate;
#[cfg(feature = "stages")]
pub mod rungs;
#[cfg(feature = "stages")]
pub mod workloads;

pub use mutate::mutate;
