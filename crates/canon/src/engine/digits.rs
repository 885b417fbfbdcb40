//! A layout of one column taken apart, for rules that put digits together anew.

use super::Result;
use restride_layout::{Axes, Layout, RadixDigits};
use smallvec::SmallVec;

/// The digits of one axis as `(extent, stride)`, outermost first.
pub(crate) type AxisDigits = RadixDigits;

/// Offset and digits of a layout that is not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Digits {
    pub(crate) offset: i64,
    pub(crate) axes: SmallVec<[AxisDigits; 4]>,
}

impl Digits {
    /// The digits of a layout; `None` if it is empty.
    pub(crate) fn of(layout: &Layout) -> Option<Self> {
        let piece = layout.piece()?;
        let axis = |view: restride_layout::AxisView<'_>| -> AxisDigits {
            let digits = view.digits.iter().enumerate();
            digits
                .map(|(k, digit)| (digit.extent, piece.strides(view.first + k)[0]))
                .collect()
        };
        Some(Self {
            offset: piece.offset(0),
            axes: piece.axes().map(axis).collect(),
        })
    }

    /// The layout of these digits, in normal form.
    pub(crate) fn layout(&self) -> Result<Layout> {
        let mut groups = Axes::new();
        let mut sizes: SmallVec<[i64; 6]> = SmallVec::new();
        let mut strides: SmallVec<[i64; 6]> = SmallVec::new();
        for axis in &self.axes {
            groups.push(axis.len().max(1));
            if axis.is_empty() {
                sizes.push(1);
                strides.push(0);
            }
            for &(extent, stride) in axis {
                sizes.push(extent);
                strides.push(stride);
            }
        }
        let layout = Layout::strided(&sizes, &[self.offset], &strides)?;
        if groups.len() == sizes.len() {
            return Ok(layout);
        }
        Ok(layout.collapse(&groups)?)
    }
}

/// The same elements in row-major order, with one axis for each digit that they have in one
/// axis: the shape says nothing about how they were grouped. `None` if there are none.
pub(crate) fn flat(layout: &Layout) -> Result<Option<Layout>> {
    let rank = layout.shape().len();
    let joined = match rank {
        0 | 1 => layout.clone(),
        _ => layout.collapse(&[rank])?,
    };
    let Some(Digits { offset, axes }) = Digits::of(&joined) else {
        return Ok(None);
    };
    let apart = axes
        .iter()
        .flatten()
        .map(|&digit| AxisDigits::from_slice(&[digit]));
    let axes = apart.collect();
    Digits { offset, axes }.layout().map(Some)
}
