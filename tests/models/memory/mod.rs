//! As `crates/jit/src/memory`, with pages and barriers that a model watches.

#[path = "../../../crates/jit/src/memory/arena.rs"]
mod arena;
mod barrier;
#[path = "../../../crates/jit/src/memory/ranges.rs"]
mod ranges;
mod slab;

pub(crate) use arena::{ArenaCode, ArenaOptions, CodeArena};
pub(crate) use slab::execute;

pub(crate) const CODE_ALIGN: usize = 64;
