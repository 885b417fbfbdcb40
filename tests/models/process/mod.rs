//! As `crates/process`, with processes that a model makes.

#[path = "../../../crates/process/src/shares.rs"]
mod shares;

use crate::world;
pub(crate) use shares::{Identity, PerProcess};

/// A thread of the model belongs to the process that the model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Identity for Process {
    fn current() -> Self {
        Self(world::process())
    }
}
