//! Why a leaf cannot be prepared.

use restride_moves::BoxError;

/// What no verified kernel has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The box itself.
    #[error(transparent)]
    Box(#[from] BoxError),
    /// An index selects from an axis of no size.
    #[error("an index must select from an axis of at least 1, this one has {limit}")]
    Limit {
        /// The size of the axis.
        limit: i64,
    },
    /// A statement mentions a buffer or a variable that there is not; a verified one does not.
    #[error("a buffer or a variable is mentioned that there is not")]
    Unknown,
}
