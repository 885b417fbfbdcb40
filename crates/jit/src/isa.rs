//! The instruction sets code is generated for.

use cranelift_codegen::isa::{self, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use target_lexicon::Triple;

use crate::cpu;
use crate::error::JitError;
use restride_moves::Features;

/// Self-checks of the code generator, for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paranoia {
    /// Verify the intermediate code before it is compiled.
    pub verifier: bool,
    /// Check the register allocation of every function.
    pub regalloc: bool,
}

/// The code generator for `triple`, restricted to a level where it is an x86-64.
pub(crate) fn target(
    triple: &Triple,
    level: Features,
    paranoia: Paranoia,
) -> Result<OwnedTargetIsa, JitError> {
    let target = |error: String| JitError::Target(error);
    let mut flags = settings::builder();
    let mut set = |name: &str, value: &str| {
        flags
            .set(name, value)
            .map_err(|error| target(format!("{name}: {error}")))
    };
    set("opt_level", "none")?;
    set("is_pic", "false")?;
    set("unwind_info", "false")?;
    set("enable_probestack", "false")?;
    set(
        "enable_verifier",
        if paranoia.verifier { "true" } else { "false" },
    )?;
    set(
        "regalloc_checker",
        if paranoia.regalloc { "true" } else { "false" },
    )?;
    let mut builder = isa::lookup(triple.clone()).map_err(|error| target(error.to_string()))?;
    for name in cpu::cranelift_flags(level, triple.architecture) {
        builder
            .enable(name)
            .map_err(|error| target(format!("{name}: {error}")))?;
    }
    builder
        .finish(settings::Flags::new(flags))
        .map_err(|error| target(error.to_string()))
}
