//! As `crates/jit/src/memory`, with pages that a model watches.

#[path = "../../../crates/jit/src/memory/arena.rs"]
mod arena;
mod slab;

pub(crate) use arena::{ArenaCode, ArenaOptions, ArenaStats, ArenaWriter, CodeArena};
pub(crate) use slab::execute;

pub(crate) const CODE_ALIGN: usize = 64;
