//! From canonical form to plan to scheduled kernel.
//!
//! - [`plan`] composes a canonical graph into stages of disjoint pieces: pure index algebra,
//! - [`schedule`](schedule()) turns a plan into a loop kernel: order, tiles, forms, parallel loops,
//! - [`Traffic`] counts what that moves, beside the least that has to be moved.
//!
//! Neither needs to be trusted for memory safety: the verifier of `restride-loops` proves each
//! kernel from its own text, and the ladder compares what it does with the oracle.
#![forbid(unsafe_code)]

pub mod plain;
pub mod plan;
mod schedule;
mod traffic;

pub use schedule::{Decision, Lines, LowerError, Scheduled, Why, schedule};
pub use traffic::Traffic;
