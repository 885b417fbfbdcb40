//! Why an operation on digits has no answer.

/// Why a law does not apply. Small and `Copy`: the text is made only when it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Break {
    /// A number does not fit: an extent product, a stride or an address.
    #[error("a size or an address does not fit 64 bits")]
    Overflow,
    /// A negative extent, or a piece with no points.
    #[error("axis {axis} has extent {extent}, expected at least 0")]
    Extent {
        /// The axis.
        axis: usize,
        /// Its extent.
        extent: i64,
    },
    /// The operation speaks of another number of axes.
    #[error("{given} axes given, expected {expected}")]
    Rank {
        /// How many the operation names.
        given: usize,
        /// How many there are.
        expected: usize,
    },
    /// An axis list is no permutation.
    #[error("axis {axis} does not occur exactly once in the permutation")]
    Permutation {
        /// The axis that is missing, repeated or out of range.
        axis: usize,
    },
    /// A slice leaves its axis, or has step 0.
    #[error("axis {axis} of extent {extent} has no slice [{start}:{len}:{step}]")]
    Span {
        /// The axis.
        axis: usize,
        /// Its extent.
        extent: i64,
        /// First coordinate taken.
        start: i64,
        /// How many are taken.
        len: i64,
        /// Distance between them.
        step: i64,
    },
    /// Sizes do not multiply to what they replace.
    #[error("axis {axis}: sizes multiply to {given}, expected {expected}")]
    Sizes {
        /// The axis of the smaller rank.
        axis: usize,
        /// Product of the new sizes.
        given: i64,
        /// Size replaced.
        expected: i64,
    },
    /// Only an axis of extent 1 can be repeated.
    #[error("axis {axis} of extent {extent} cannot be repeated, only an extent of 1 can")]
    NotUnit {
        /// The axis.
        axis: usize,
        /// Its extent.
        extent: i64,
    },
    /// One layout does not suffice: the digits of an axis do not divide as the operation asks.
    #[error("the digits do not divide: it would take {pieces} pieces")]
    Indivisible {
        /// How many pieces it would take.
        pieces: usize,
    },
    /// More pieces than [`MAX_PIECES`](crate::MAX_PIECES).
    #[error("axis {axis}: more than {} pieces", crate::MAX_PIECES)]
    TooManyPieces {
        /// The axis.
        axis: usize,
    },
    /// An axis has no runs of so many elements.
    #[error("axis {axis} of extent {extent} has no windows of {size}")]
    Window {
        /// The axis.
        axis: usize,
        /// Its extent.
        extent: i64,
        /// The size asked for.
        size: i64,
    },
    /// The axis must own at most one digit.
    #[error("axis {axis} has {digits} digits")]
    Digits {
        /// The axis.
        axis: usize,
        /// How many digits it owns.
        digits: usize,
    },
    /// The piece must hold all of the axis.
    #[error("axis {axis} is in several pieces")]
    Partial {
        /// The axis.
        axis: usize,
    },
    /// The addresses do not come from view operations on a dense source of this shape.
    #[error("no chain of views of this source has these addresses")]
    NoChain,
}
