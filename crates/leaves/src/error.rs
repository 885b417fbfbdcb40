//! Why a leaf cannot be prepared.

use restride_moves::BoxError;

/// What no verified kernel has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The box itself.
    #[error(transparent)]
    Box(#[from] BoxError),
    /// A statement mentions a buffer or a variable that there is not; a verified one does not.
    #[error("a buffer or a variable is mentioned that there is not")]
    Unknown,
}
