//! Values while they are being canonicalised: a base and one view of it.

use super::BaseId;
use crate::ir::{Axes, Policy};
use restride_graph::{ElementType, Shape};
use restride_layout::{Layout, View};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// A value that has no nodes of its own yet.
///
/// However long the chain of views that led here, it is one layout over one base. This is what
/// makes equal chains equal. Layouts are some
/// hundred bytes and are handed on more often than changed, so they are shared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Value {
    pub(crate) element: ElementType,
    pub(crate) source: ValueSource,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ValueSource {
    /// The same bits everywhere. Every empty value is a fill of 0.
    Fill(Rc<Fill>),
    /// Elements of a base, at addresses of its dense row-major order.
    View { base: BaseId, layout: Arc<Layout> },
}

/// A shape, and the bits of every element.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fill {
    pub(crate) shape: Shape,
    pub(crate) bits: u128,
}

impl Value {
    pub(crate) fn fill(element: ElementType, shape: &[i64], bits: u128) -> Self {
        let bits = if shape.contains(&0) { 0 } else { bits };
        let shape = Shape::from_slice(shape);
        Self {
            element,
            source: ValueSource::Fill(Rc::new(Fill { shape, bits })),
        }
    }

    pub(crate) fn view(element: ElementType, base: BaseId, layout: Layout) -> Self {
        if layout.is_empty() {
            return Self::fill(element, layout.shape(), 0);
        }
        Self {
            element,
            source: ValueSource::View {
                base,
                layout: Arc::new(layout),
            },
        }
    }

    pub(crate) fn shape(&self) -> &[i64] {
        match &self.source {
            ValueSource::Fill(fill) => &fill.shape,
            ValueSource::View { layout, .. } => layout.shape(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shape().contains(&0)
    }

    /// Whether all elements along an axis are the same by construction.
    pub(crate) fn repeats_along(&self, axis: usize) -> bool {
        match &self.source {
            ValueSource::Fill(_) => true,
            ValueSource::View { layout, .. } => layout.piece().is_none_or(|piece| {
                let view = piece.axis(axis);
                (view.first..view.first + view.digits.len()).all(|d| piece.strides(d)[0] == 0)
            }),
        }
    }
}

/// How many elements a shape has, for measures.
pub(crate) fn count(shape: &[i64]) -> u64 {
    shape
        .iter()
        .map(|&n| n.unsigned_abs())
        .fold(1, u64::saturating_mul)
}

/// An index operand of a gather that has not been made yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PendingIndex {
    pub(crate) value: Value,
    pub(crate) outputs: Axes,
    pub(crate) wrap: bool,
    pub(crate) policy: Policy,
}

/// Where one coordinate of the data comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PendingCoordinate {
    Output(u8),
    Index(Box<PendingIndex>),
}

/// A gather that has not been made yet, and the views to apply to what it gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PendingGather {
    pub(crate) data: Value,
    pub(crate) coordinates: SmallVec<[PendingCoordinate; 3]>,
    pub(crate) shape: Shape,
    /// Applied from the last to the first.
    pub(crate) after: After,
}

/// Views that wait for what they are views of, last first.
pub(crate) type After = Vec<View>;

impl PendingGather {
    pub(crate) fn indices(&self) -> impl Iterator<Item = &PendingIndex> {
        self.coordinates.iter().filter_map(|c| match c {
            PendingCoordinate::Index(index) => Some(&**index),
            PendingCoordinate::Output(_) => None,
        })
    }

    pub(crate) fn indices_mut(&mut self) -> impl Iterator<Item = &mut PendingIndex> {
        self.coordinates.iter_mut().filter_map(|c| match c {
            PendingCoordinate::Index(index) => Some(&mut **index),
            PendingCoordinate::Output(_) => None,
        })
    }

    /// The axis of the data that follows this output axis directly.
    pub(crate) fn direct(&self, output: u8) -> Option<usize> {
        let names =
            |c: &PendingCoordinate| matches!(c, PendingCoordinate::Output(o) if *o == output);
        self.coordinates.iter().position(names)
    }
}
