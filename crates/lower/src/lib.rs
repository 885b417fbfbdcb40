//! From canonical form to plan to scheduled kernel.
//!
//! - [`plan`] composes a canonical graph into stages of disjoint pieces: pure index algebra,
//! - [`schedule`](schedule()) turns a plan into a loop kernel: order, tiles, forms, parallel loops.
//!
//! Neither needs to be trusted for memory safety: the verifier of `restride-loops` proves each
//! kernel from its own text, and the ladder compares what it does with the oracle.
#![forbid(unsafe_code)]

pub mod plan;
mod schedule;

pub use schedule::{Decision, LowerError, Machine, Scheduled, Why, schedule};
