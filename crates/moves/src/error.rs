//! What no memory can hold, and what is no text of a machine.

/// A box that no memory can hold; a verified kernel has none of these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoxError {
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
}

/// A text that is no [`Target`](crate::Target).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// A word is neither a processor, a level of its features nor a number of a target.
    #[error("`{0}` is no part of a target: those are words such as `avx2` and `l2=1048576`")]
    Word(String),
}
