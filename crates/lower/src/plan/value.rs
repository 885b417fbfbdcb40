//! Values while they are being composed.

use super::Source;
use restride_graph::ElementType;
use restride_layout::{Cover, Piece};
use restride_loops::LEAST_BLOCK;
use smallvec::SmallVec;
use std::borrow::Cow;

/// A value that nothing has been moved for yet.
pub(super) type Unmoved = Cover<Reads>;

/// What a piece reads. Its columns are the source (but for a fill) and then one per index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// Nothing: these bits. The piece has no columns that matter.
    Fill(u128),
    /// Elements of a source, moved by indices.
    Copy {
        source: Source,
        indices: Vec<IndexRead>,
    },
}

/// An index column of a piece, but for its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndexRead {
    pub(super) source: Source,
    pub(super) element: ElementType,
    pub(super) coeff: i64,
    pub(super) limit: i64,
    pub(super) wrap: bool,
    pub(super) clamp: bool,
    /// Whether it is in range, or else an obligation has ended the run.
    pub(super) sure: bool,
    /// `(earlier column, stride)`: what other indices add to its address.
    pub(super) through: Through,
}

/// Earlier columns and a stride for each.
pub(super) type Through = SmallVec<[(u32, i64); 1]>;

impl Reads {
    pub(super) fn plainly(source: Source) -> Reads {
        Reads::Copy {
            source,
            indices: Vec::new(),
        }
    }

    /// The indices that move it.
    pub(super) fn indices(&self) -> &[IndexRead] {
        match self {
            Reads::Fill(_) => &[],
            Reads::Copy { indices, .. } => indices,
        }
    }

    /// The source, if no index moves it.
    pub(super) fn plain(&self) -> Option<Source> {
        match self {
            Reads::Copy { source, indices } if indices.is_empty() => Some(*source),
            Reads::Copy { .. } | Reads::Fill(_) => None,
        }
    }
}

/// The one piece of a value and its source, if it is one plain read.
pub(super) fn single(value: &Unmoved) -> Option<(&Piece, Source)> {
    match value.parts() {
        [(piece, reads)] => reads.plain().map(|source| (piece, source)),
        _ => None,
    }
}

/// Whether a value is one plain read with a single stride per axis: as good as a temporary.
pub(super) fn is_strided(value: &Unmoved) -> bool {
    value.parts().is_empty()
        || single(value).is_some_and(|(piece, _)| {
            piece
                .axes()
                .zip(value.shape())
                .all(|(axis, &n)| axis.digits.len() <= 1 && axis.is_total(n))
        })
}

/// A text that is kept with the plan: see [`LEAST_BLOCK`].
pub(super) fn kept(mut text: String) -> String {
    text.reserve_exact(LEAST_BLOCK.saturating_sub(text.len()));
    text
}

/// Why a value is more than one strided read, in words.
pub(super) fn obstacle(value: &Unmoved) -> Option<Cow<'static, str>> {
    match value.parts() {
        [] => None,
        [(_, Reads::Fill(_))] => Some("it is a fill".into()),
        [(piece, Reads::Copy { indices, .. })] => {
            if !indices.is_empty() {
                return Some("it reads through an index".into());
            }
            let many = piece.axes().position(|axis| axis.digits.len() > 1);
            let strides = |axis: usize| piece.axis(axis).digits.len();
            many.map(|a| kept(format!("axis {a} would need {} strides", strides(a))).into())
        }
        parts => Some(kept(format!("it joins {} pieces", parts.len())).into()),
    }
}
