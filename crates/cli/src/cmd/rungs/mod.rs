//! The rungs that this command knows: those of the test kit, and those that need a code generator.

mod engine;

use restride_testkit::rungs::{Rung, rungs};

/// The help text of `--rung`: what is done with those that are named, and which there are.
pub(super) fn rungs_help(what: &str) -> String {
    let all = all_rungs();
    let names: Vec<&str> = all.iter().map(|rung| rung.name()).collect();
    format!("{what}; all unless named: {}", names.join(", "))
}

/// All of them, lowest first.
pub(super) fn all_rungs() -> Vec<&'static dyn Rung> {
    let mut all = rungs();
    all.push(&engine::Native);
    all.push(&engine::SelfContained);
    all
}
