//! The rungs that this command knows: those of the test kit, and those that need a code generator.

mod engine;

use restride_testkit::rungs::{Rung, named, rungs};

use crate::failure::Failure;

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

/// The rungs of these names, to be compared with each other; all if none is named.
pub(super) fn compared(names: &[String]) -> Result<Vec<&'static dyn Rung>, Failure> {
    match named(&all_rungs(), names).map_err(Failure::Usage)? {
        rungs if rungs.len() < 2 => Err(Failure::Usage(
            "one rung has nothing to agree with: name two, such as `--rung oracle,jit`".into(),
        )),
        rungs => Ok(rungs),
    }
}
