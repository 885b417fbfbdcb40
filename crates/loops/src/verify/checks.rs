//! Checks come before anything is written, in whatever order the chunks of a phase run.

use super::Reason;
use super::walk::Walker;
use crate::ir::Stmt;

/// One statement, if it is a check.
pub(super) fn stmt(walker: &Walker<'_>, stmt: &Stmt) -> Result<(), Reason> {
    let Stmt::Check { .. } = stmt else {
        return Ok(());
    };
    if walker.phase > 0 {
        return Err(Reason::CheckInLaterPhase);
    }
    if walker.written {
        return Err(Reason::CheckAfterWrite);
    }
    if walker.outermost.is_some_and(writes) {
        return Err(Reason::CheckInWritingLoop);
    }
    let parallel = |s: &Stmt| matches!(s, Stmt::For { parallel: true, .. });
    if walker
        .kernel
        .phases
        .first()
        .is_some_and(|p| p.iter().any(parallel))
    {
        return Err(Reason::CheckBesideParallel);
    }
    Ok(())
}

/// Whether a statement or one inside it writes. Kept off the call stack: the depth of what comes
/// after the check has not been looked at yet.
fn writes(stmt: &Stmt) -> bool {
    let mut stack = vec![stmt];
    while let Some(stmt) = stack.pop() {
        if stmt.dst().is_some() {
            return true;
        }
        stack.extend(stmt.body());
    }
    false
}
