//! A call takes no longer than its buffers are large.
//!
//! No element is written twice, so what is spent on writes is bounded by what the caller has set
//! aside. That leaves loops that do nothing, of which there is no need, and checks, which may look
//! at one index again and again: a few words of text would do for days. An index tensor that
//! shows its elements more than once is a view, and what is asked of it is small.

use super::Reason;
use super::walk::Walker;
use crate::ir::Stmt;

/// How often the checks of a kernel may look at indices that they have seen: a second's work.
const LOOKS_AGAIN: i128 = 1 << 28;

/// One statement.
pub(super) fn stmt(walker: &mut Walker<'_>, stmt: &Stmt) -> Result<(), Reason> {
    match stmt {
        Stmt::For { body, .. } => {
            let idle = |stmt: &Stmt| matches!(stmt, Stmt::Index { .. });
            if body.iter().all(idle) {
                return Err(Reason::Idle);
            }
        }
        Stmt::Check { index, dims, .. } => {
            // A dimension of stride 0 shows the same indices again: nobody looks.
            let own = dims.iter().filter(|d| d.1 != 0).map(|d| d.0);
            let looks = walker
                .scope
                .loops()
                .map(|b| b.extent)
                .chain(own)
                .fold(1i128, |n, extent| n.saturating_mul(extent.into()));
            let there = walker.kernel.buffer(index.buffer).map_or(0, |b| b.len);
            let again = (looks - i128::from(there)).max(0);
            walker.looks_again = walker.looks_again.saturating_add(again);
            if walker.looks_again > LOOKS_AGAIN {
                return Err(Reason::LooksAgain {
                    again: walker.looks_again,
                    limit: LOOKS_AGAIN,
                });
            }
        }
        Stmt::Index { .. } | Stmt::Move(_) | Stmt::Gather(_) | Stmt::Fill { .. } => {}
    }
    Ok(())
}
