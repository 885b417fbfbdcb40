//! The rungs that this command knows: those of the test kit, and those that need a code generator.

mod engine;

use restride_testkit::rungs::{Rung, rungs};

/// All of them, lowest first.
pub(super) fn all_rungs() -> Vec<&'static dyn Rung> {
    let mut all = rungs();
    all.push(&engine::Native);
    all
}
