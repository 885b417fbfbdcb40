//! Precompiled leaf moves: the FORMs of the loop IR at the full vector width of the host.
//!
//! A [`Leaf`] is a function picked once, when a kernel is made, together with a block of constants
//! for it. Generated code calls it through a pointer with three arguments, whatever it moves; the
//! generic executor calls the very same function. What decides its speed (order of the dimensions,
//! merging, permutation tables, register tiles) is decided when it is prepared.
//!
//! Invariants that every leaf keeps:
//!
//! * It writes the bytes of its box and no others, and it reads no byte outside the hull of what it
//!   must read (the bytes between the first and the last one needed of a short window), so a leaf is
//!   safe whenever the box it was prepared for lies inside its buffers.
//! * Source and destination may have any alignment; they must not overlap.
//! * No function of it allocates, panics or keeps state: one leaf may run on many threads at once.

mod bodies;
mod calibrate;
mod check;
mod contract;
mod copy;
mod error;
mod fill;
mod gather;
mod index;
#[cfg(target_arch = "x86_64")]
mod joined;
mod lanes;
mod leaf;
mod level;
#[cfg(target_arch = "x86_64")]
mod lines;
mod nest;
mod once;
#[cfg(target_arch = "x86_64")]
mod park;
#[cfg(target_arch = "x86_64")]
mod picks;
#[cfg(target_arch = "x86_64")]
mod pressed;
mod rows;
mod stack;
mod stream;
mod through;
mod transpose;
mod vector;
mod woven;

pub use calibrate::{calibrate, read_all};
pub use check::row_holds;
pub use contract::{Callee, Contract};
pub use error::PrepareError;
pub use gather::{GatherFn, GatherLeaf};
pub use leaf::{Leaf, MoveFn};
pub use once::read_index;
pub use restride_moves::{BoxError, Core, Features, MovePlan, Planner, Target};
pub use stack::stack_left;
pub use woven::Weave;
