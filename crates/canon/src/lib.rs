//! The canonical IR and the canonicaliser.
//!
//! Frameworks spell the same movement in many ways. This crate takes the spelling away: whatever
//! an operator of the [graph](restride_graph) says with masks, negative indices, axis lists,
//! batch dimensions, modes and sentinels becomes a handful of [canonical nodes](ir), and equal
//! functions become equal text.
#![forbid(unsafe_code)]

mod canonicalise;
mod desugar;
mod engine;
mod error;
pub mod ir;
mod memo;
mod normalise;
pub mod rules;
mod scalar;
mod sequence;
pub mod text;
pub mod trace;

pub use canonicalise::{canonicalise, spelled_out};
pub use error::CanonError;
pub use normalise::normalise;
