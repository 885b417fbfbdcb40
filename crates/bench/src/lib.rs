//! Times workloads: real uses of data movement, each checked and then timed beside a memcpy of its
//! output.
//!
//! The harness knows workloads (from `restride-testkit`) and [`subject::Subject`]s; [`engine`] is
//! the only file that knows the compiler.

#![deny(unsafe_code)]

pub mod candidates;
pub mod clock;
pub mod compare;
mod crew;
pub mod engine;
pub mod memory;
pub mod outcome;
pub mod peer;
pub mod reference;
pub mod subject;
pub mod svg;
pub mod sweep;
pub mod system;
pub mod table;
pub mod then_read;
pub mod trial;
pub mod versus;

#[cfg(test)]
use restride_testkit::workloads::STORED;
