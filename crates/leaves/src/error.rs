//! Why a leaf cannot be prepared.

/// A box that no memory can hold; a verified kernel has none of these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// A dimension has a negative extent.
    #[error("dimension {dim} of the box has extent {extent}, which must not be negative")]
    Extent {
        /// Its place among the dimensions, outermost first.
        dim: usize,
        /// Its extent.
        extent: i64,
    },
    /// The bytes between the first and the last one of the box do not fit the address space.
    #[error("the box spans more than {} bytes", isize::MAX)]
    Span,
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
