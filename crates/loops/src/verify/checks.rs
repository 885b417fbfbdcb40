//! Checks come before any output is written, in whatever order the chunks of a phase run.
//!
//! Scratch may be written before: that is how indices get there that a kernel computes itself.

use super::Reason;
use super::walk::Walker;
use crate::ir::{Kernel, Stmt};

/// What is known of the statements around a check, found out when there is one.
#[derive(Default)]
pub(super) struct Around {
    /// Whether the statement of the top level writes an output.
    pub(super) outermost: Option<bool>,
    /// Whether a parallel loop of the phase does.
    pub(super) phase: Option<bool>,
}

/// One statement, if it is a check.
pub(super) fn stmt(walker: &mut Walker<'_>, stmt: &Stmt) -> Result<(), Reason> {
    let Stmt::Check { .. } = stmt else {
        return Ok(());
    };
    let kernel = walker.kernel;
    if walker.output_written {
        return Err(Reason::CheckAfterWrite);
    }
    let Some(outermost) = walker.outermost else {
        return Ok(());
    };
    if is_parallel(outermost) {
        return Err(Reason::CheckInParallel);
    }
    let around = &mut walker.around;
    if *around
        .outermost
        .get_or_insert_with(|| writes_output(kernel, outermost))
    {
        return Err(Reason::CheckInWritingLoop);
    }
    let phase = kernel
        .phases
        .get(walker.phase)
        .map_or(&[][..], Vec::as_slice);
    let shared_out = || {
        phase
            .iter()
            .any(|s| is_parallel(s) && writes_output(kernel, s))
    };
    if *around.phase.get_or_insert_with(shared_out) {
        return Err(Reason::CheckBesideParallel);
    }
    Ok(())
}

fn is_parallel(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::For { parallel: true, .. })
}

/// Whether a statement or one inside it writes an output. Kept off the call stack: the depth of
/// what comes after the check has not been looked at yet.
fn writes_output(kernel: &Kernel, stmt: &Stmt) -> bool {
    let mut stack = vec![stmt];
    while let Some(stmt) = stack.pop() {
        let buffer = stmt.dst().and_then(|dst| kernel.buffer(dst.buffer));
        if buffer.is_some_and(|b| b.role.output().is_some()) {
            return true;
        }
        stack.extend(stmt.body());
    }
    false
}
