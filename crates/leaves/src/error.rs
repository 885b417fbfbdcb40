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
    /// A block has more variables in scope than a frame holds.
    #[error("{count} variables are in scope, the limit is {limit}")]
    Variables {
        /// How many there are.
        count: usize,
        /// How many there may be.
        limit: usize,
    },
}
