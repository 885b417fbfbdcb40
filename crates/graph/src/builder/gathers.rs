//! The gather family. What an index out of range does is a parameter of each: it is never guessed.

use super::ints;
use crate::{Graph, GraphError, IndexRule, Op, OutOfRange, ValueId};

impl IndexRule {
    /// OpenVINO Gather-8: negatives wrap, what is out of range reads zero.
    pub const OPENVINO: IndexRule = IndexRule {
        out_of_range: OutOfRange::Zero,
        wrap: true,
    };
    /// ONNX: negatives wrap, what is out of range fails.
    pub const ONNX: IndexRule = IndexRule {
        out_of_range: OutOfRange::Error,
        wrap: true,
    };
    /// TensorFlow: whatever is outside the axis, negatives included, fails.
    pub const TENSORFLOW: IndexRule = IndexRule {
        out_of_range: OutOfRange::Error,
        wrap: false,
    };
    /// XLA: whatever is outside the axis is clamped into it.
    pub const XLA: IndexRule = IndexRule {
        out_of_range: OutOfRange::Clamp,
        wrap: false,
    };
}

impl Graph {
    /// A `gather` of whole slices of `x` along one axis: axis 0 and no batch axes unless it says
    /// otherwise.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, IndexRule};
    ///
    /// let mut g = Graph::new("lookup");
    /// let table = g.input("table", ElementType::F16, [2, 1000, 64])?;
    /// let tokens = g.input("tokens", ElementType::I32, [2, 7])?;
    /// let y = g.gather(table, tokens, IndexRule::OPENVINO).axis(1).batch_dims(1).finish()?;
    /// assert_eq!(g.ty(y).shape(), [2, 7, 64]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn gather(&mut self, x: ValueId, indices: ValueId, rule: IndexRule) -> GatherBuilder<'_> {
        GatherBuilder {
            graph: self,
            x,
            indices,
            rule,
            axis: 0,
            batch_dims: 0,
        }
    }

    /// `out[i] = x[i with i[axis] := indices[i]]`.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, IndexRule};
    /// let mut g = Graph::new("pick");
    /// let x = g.input("x", ElementType::F32, [4, 9])?;
    /// let best = g.input("best", ElementType::I64, [4, 1])?;
    /// let y = g.gather_elements(x, best, 1, IndexRule::ONNX)?;
    /// assert_eq!(g.ty(y).shape(), [4, 1]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn gather_elements(
        &mut self,
        x: ValueId,
        indices: ValueId,
        axis: i64,
        rule: IndexRule,
    ) -> Result<ValueId, GraphError> {
        self.push(Op::GatherElements {
            x,
            indices,
            axis,
            rule,
        })
    }

    /// A `gather_nd`: the last axis of the indices addresses several axes of `x`.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, IndexRule};
    /// let mut g = Graph::new("points");
    /// let x = g.input("x", ElementType::F32, [2, 8, 8, 3])?;
    /// let points = g.input("points", ElementType::I32, [2, 100, 2])?;
    /// let y = g.gather_nd(x, points, IndexRule::TENSORFLOW).batch_dims(1).finish()?;
    /// assert_eq!(g.ty(y).shape(), [2, 100, 3]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn gather_nd(
        &mut self,
        x: ValueId,
        indices: ValueId,
        rule: IndexRule,
    ) -> GatherNdBuilder<'_> {
        GatherNdBuilder {
            graph: self,
            x,
            indices,
            rule,
            batch_dims: 0,
        }
    }

    /// A region of `sizes` whose place is read when it runs: a start for each of `axes`.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, OutOfRange};
    /// let mut g = Graph::new("window");
    /// let x = g.input("x", ElementType::F32, [1, 4096, 64])?;
    /// let at = g.input("at", ElementType::I64, [1])?;
    /// let y = g.dynamic_slice(x, at, [128], [1], OutOfRange::Clamp)?;
    /// assert_eq!(g.ty(y).shape(), [1, 128, 64]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn dynamic_slice(
        &mut self,
        x: ValueId,
        starts: ValueId,
        sizes: impl AsRef<[i64]>,
        axes: impl AsRef<[i64]>,
        out_of_range: OutOfRange,
    ) -> Result<ValueId, GraphError> {
        self.push(Op::DynamicSlice {
            x,
            starts,
            sizes: ints(sizes),
            axes: Some(ints(axes)),
            out_of_range,
        })
    }

    /// `x` with a region replaced, at a place that is read when it runs.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, OutOfRange};
    /// let mut g = Graph::new("append");
    /// let x = g.input("x", ElementType::F32, [1, 4096, 64])?;
    /// let new = g.input("new", ElementType::F32, [1, 1, 64])?;
    /// let at = g.input("at", ElementType::I64, [1])?;
    /// let y = g.dynamic_update_slice(x, new, at, [1], OutOfRange::Clamp)?;
    /// assert_eq!(g.ty(y), g.ty(x));
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn dynamic_update_slice(
        &mut self,
        x: ValueId,
        update: ValueId,
        starts: ValueId,
        axes: impl AsRef<[i64]>,
        out_of_range: OutOfRange,
    ) -> Result<ValueId, GraphError> {
        self.push(Op::DynamicUpdateSlice {
            x,
            update,
            starts,
            axes: Some(ints(axes)),
            out_of_range,
        })
    }
}

/// A `gather` in the making: see [`Graph::gather`].
#[derive(Debug)]
#[must_use = "nothing is added until `finish`"]
pub struct GatherBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    indices: ValueId,
    rule: IndexRule,
    axis: i64,
    batch_dims: i64,
}

impl GatherBuilder<'_> {
    /// The axis of `x` that the indices address.
    pub fn axis(mut self, axis: i64) -> Self {
        self.axis = axis;
        self
    }

    /// How many leading axes `x` and the indices share; negative ones count from the indices' rank.
    pub fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.batch_dims = batch_dims;
        self
    }

    /// Adds it to the graph.
    pub fn finish(self) -> Result<ValueId, GraphError> {
        self.graph.push(Op::Gather {
            x: self.x,
            indices: self.indices,
            axis: self.axis,
            batch_dims: self.batch_dims,
            rule: self.rule,
        })
    }
}

/// A `gather_nd` in the making: see [`Graph::gather_nd`].
#[derive(Debug)]
#[must_use = "nothing is added until `finish`"]
pub struct GatherNdBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    indices: ValueId,
    rule: IndexRule,
    batch_dims: i64,
}

impl GatherNdBuilder<'_> {
    /// How many leading axes `x` and the indices share.
    pub fn batch_dims(mut self, batch_dims: i64) -> Self {
        self.batch_dims = batch_dims;
        self
    }

    /// Adds it to the graph.
    pub fn finish(self) -> Result<ValueId, GraphError> {
        self.graph.push(Op::GatherNd {
            x: self.x,
            indices: self.indices,
            batch_dims: self.batch_dims,
            rule: self.rule,
        })
    }
}
