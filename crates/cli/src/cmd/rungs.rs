//! The rungs that this command knows: those of the test kit, and those that need a code generator.

use restride_testkit::rungs::{Rung, rungs};

/// All of them, lowest first.
pub(super) fn all_rungs() -> Vec<&'static dyn Rung> {
    rungs()
}
