//! What the verifier says when it refuses.

use thiserror::Error;

/// Why a kernel was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("{message}")]
pub struct Rejected {
    message: String,
}
