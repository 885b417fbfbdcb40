//! Barriers are counted.

use crate::error::CodeMemoryError;
use crate::world;

pub(super) fn register() -> Result<(), CodeMemoryError> {
    Ok(())
}

pub(super) fn synchronise() -> Result<(), CodeMemoryError> {
    world::with(|world| world.barriers += 1);
    Ok(())
}
