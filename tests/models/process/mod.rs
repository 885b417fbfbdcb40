//! As `crates/jit/src/process`, with forks that a model makes.

#[path = "../../../crates/jit/src/process/forks.rs"]
mod forks;
#[path = "../../../crates/jit/src/process/shares.rs"]
mod shares;

use crate::error::CodeMemoryError;
use crate::world;
pub(crate) use forks::{Era, Forks};
pub(crate) use shares::{Identity, PerProcess};

loom::lazy_static! {
    static ref FORKS: Forks = Forks::default();
}

pub(crate) fn forks() -> &'static Forks {
    &FORKS
}

/// A thread of the model belongs to the process that the model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Identity for Process {
    fn current() -> Self {
        Self(world::process())
    }
}

pub(crate) fn watch() -> Result<(), CodeMemoryError> {
    Ok(())
}
