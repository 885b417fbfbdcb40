//! `pad` and `center_crop_pad`.

use super::ints;
use crate::{Graph, GraphError, Ints, Op, PadMode, ValueId};

impl Graph {
    /// A `pad`: a rim of zero bits unless it says otherwise; negative amounts crop.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, PadMode};
    ///
    /// let mut g = Graph::new("rim");
    /// let x = g.input("x", ElementType::F32, [4, 6])?;
    /// let y = g.pad(x, [1, 0], [1, -2]).mode(PadMode::Edge).finish()?;
    /// assert_eq!(g.ty(y).shape(), [6, 4]);
    /// let ones = g.pad(x, [1, 1], [1, 1]).constant(u128::from(1f32.to_bits())).finish()?;
    /// assert_eq!(g.ty(ones).shape(), [6, 8]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn pad(
        &mut self,
        x: ValueId,
        low: impl AsRef<[i64]>,
        high: impl AsRef<[i64]>,
    ) -> PadBuilder<'_> {
        PadBuilder {
            graph: self,
            x,
            low: ints(low),
            high: ints(high),
            mode: PadMode::Constant(0),
        }
    }

    /// A `center_crop_pad`: axes are cropped or zero-padded about their centre to a shape.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("fit");
    /// let x = g.input("x", ElementType::U8, [480, 640, 3])?;
    /// let y = g.center_crop_pad(x, [512, 512]).axes([0, 1]).finish()?;
    /// assert_eq!(g.ty(y).shape(), [512, 512, 3]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn center_crop_pad(
        &mut self,
        x: ValueId,
        shape: impl AsRef<[i64]>,
    ) -> CenterCropPadBuilder<'_> {
        CenterCropPadBuilder {
            graph: self,
            x,
            shape: ints(shape),
            axes: None,
        }
    }
}

/// A `pad` in the making: see [`Graph::pad`].
#[derive(Debug)]
#[must_use = "nothing is added until `finish`"]
pub struct PadBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    low: Ints,
    high: Ints,
    mode: PadMode,
}

impl PadBuilder<'_> {
    /// What fills the rim.
    pub fn mode(mut self, mode: PadMode) -> Self {
        self.mode = mode;
        self
    }

    /// Fills the rim with these bits.
    pub fn constant(self, bits: u128) -> Self {
        self.mode(PadMode::Constant(bits))
    }

    /// Adds it to the graph.
    pub fn finish(self) -> Result<ValueId, GraphError> {
        self.graph.push(Op::Pad {
            x: self.x,
            low: self.low,
            high: self.high,
            mode: self.mode,
        })
    }
}

/// A `center_crop_pad` in the making: see [`Graph::center_crop_pad`].
#[derive(Debug)]
#[must_use = "nothing is added until `finish`"]
pub struct CenterCropPadBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    shape: Ints,
    axes: Option<Ints>,
}

impl CenterCropPadBuilder<'_> {
    /// The axis of each size; all axes in order if not given.
    pub fn axes(mut self, axes: impl AsRef<[i64]>) -> Self {
        self.axes = Some(ints(axes));
        self
    }

    /// Adds it to the graph.
    pub fn finish(self) -> Result<ValueId, GraphError> {
        self.graph.push(Op::CenterCropPad {
            x: self.x,
            shape: self.shape,
            axes: self.axes,
        })
    }
}
