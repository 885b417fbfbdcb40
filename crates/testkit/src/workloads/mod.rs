//! Workloads: real uses of data movement.
//!
//! A file is one JSON object with a list `workloads`. Each entry has inputs (shape, element type
//! and how the values are made), a chain of five operators with explicit integer parameters, the
//! shape and checksums of the right output, and what a perfect pass over memory would cost.
//! The `spec` object of `tests/workloads/workloads.json` defines all of it.
//!
//! - [`read`] turns text into [`Workload`]s: graphs, whose type rules say what does not fit.
//! - [`Values`] makes the values of an input, [`Crc32`] and [`fnv1a64`] are the checksums.
//! - [`Workload::evaluate`] asks the oracle; it answers for workloads made up on the spot.

mod checksum;
mod generate;
mod lines;
mod model;
mod read;

/// The workloads that a benchmark runs when it is given none.
pub const STORED: &str = include_str!("../../data/workloads.json");

pub use checksum::{Crc32, crc32, fnv1a64};
pub use lines::limit_ratio;
pub use model::{Checksum, ELEMENTS, Values, Workload};
pub use read::{IN_RANGE, ReadError, WorkloadError, read, region};

#[cfg(test)]
mod tests;
