//! Why canonicalising ended without a result.

use crate::ir::IrError;
use crate::trace::Measure;
use restride_budget::TooCostly;
use restride_layout::Break;

/// Why canonicalising ended without a result. A graph that its own crate accepts meets none of
/// these but the first; they are here so that a defect is an error and not a crash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CanonError {
    /// It would take more than the compile may spend.
    #[error(transparent)]
    TooCostly(#[from] TooCostly),
    /// A node that cannot be.
    #[error(transparent)]
    Node(#[from] IrError),
    /// A view that has no layout.
    #[error("a view has no layout: {0}")]
    Layout(#[from] Break),
    /// A rule that fired without lowering its measure.
    #[error("rule {rule} did not lower its measure: {before:?} became {after:?}")]
    NotLowered {
        /// The rule.
        rule: &'static str,
        /// Its measure before.
        before: Measure,
        /// Its measure after.
        after: Measure,
    },
    /// An operator whose attributes mean nothing.
    #[error(transparent)]
    Attributes(#[from] restride_graph::Refusal),
    /// An operator whose attributes contradict its type.
    #[error("{op}: {what}")]
    Operator {
        /// The operator.
        op: &'static str,
        /// What is wrong.
        what: &'static str,
    },
}
