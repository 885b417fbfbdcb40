//! Workloads: real uses of data movement, as files of a form that needs nothing but this module.
//!
//! A file is one JSON object with a list `workloads`. Each entry has inputs (shape, element type
//! and how the values are made), a chain of five operators with explicit integer parameters, the
//! shape and checksums of the right output, and what a perfect pass over memory would cost.
//! The `spec` object of `tests/workloads/workloads.json` defines all of it.
//!
//! - [`read`] turns text into [`Workload`]s. It infers every shape, so a workload that was read is
//!   consistent: no later step can meet an axis, a size or a name that does not fit.
//! - [`fill`] makes the values of an input, [`Crc32`] and [`fnv1a64`] are the checksums.
//! - [`evaluate`] runs a workload element by element, straight from the definition of its
//!   operators and independent of every other crate; it answers for workloads made up on the spot.
//! - [`to_graph`] spells a workload as a graph.

mod checksum;
mod evaluate;
mod generate;
mod lines;
mod model;
mod read;
mod shapes;
mod spell;

/// The workloads that a benchmark runs when it is given none.
pub const STORED: &str = include_str!("../../data/workloads.json");

pub use checksum::{Crc32, crc32, fnv1a64};
pub use evaluate::{EvaluateError, evaluate};
pub use generate::{fill, fmix32};
pub use lines::limit_ratio;
pub use model::{Checksum, Dtype, Input, Step, Tensor, Values, Workload};
pub use read::{ReadError, WorkloadError, read};
pub use shapes::{ShapeError, infer};
pub use spell::{SpellError, to_graph};

#[cfg(test)]
mod tests;
