//! A form that the box does not have.

use super::Reason;
use crate::ir::Stmt;

/// Whether a move's form suits its box.
pub(super) fn stmt(stmt: &Stmt) -> Result<(), Reason> {
    match stmt {
        Stmt::Move(m) if !m.form.fits(&m.dims) => Err(Reason::Form { form: m.form }),
        Stmt::Move(_)
        | Stmt::For { .. }
        | Stmt::Check { .. }
        | Stmt::Index { .. }
        | Stmt::Gather(_)
        | Stmt::Fill { .. } => Ok(()),
    }
}
