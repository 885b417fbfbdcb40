//! Graphs over arrays of numpy: operators by numpy's axes, whatever an element consists of.
//!
//! Where an element is several units, every tensor of the graph has one axis more, at the end, which
//! no operator touches. All axes that are given here have been counted from 0.

use crate::failure::Failure;
use crate::layout::{Layout, Numbers};
use restride::{Graph, IndexRule, PadMode, Strided, TensorType, ValueId, ViewPolicy};

/// A graph in the making.
pub(crate) struct Steps {
    pub(crate) graph: Graph,
    /// How many units an element has, if it is not one.
    tail: Option<i64>,
}

impl Steps {
    /// An empty graph, for elements of so many units.
    pub(crate) fn new(name: &str, units: i64) -> Self {
        Self {
            graph: Graph::new(name),
            tail: (units != 1).then_some(units),
        }
    }

    /// An input; the name may be empty.
    pub(crate) fn input(&mut self, name: &str, layout: &Layout) -> Result<ValueId, Failure> {
        let strided = Strided {
            offset: layout.offset,
            strides: layout.strides.iter().copied().collect(),
        };
        let ty = TensorType::dense(layout.unit, &layout.shape)
            .and_then(|ty| ty.with_layout(strided))
            .map_err(Failure::Type)?;
        Ok(self.graph.typed_input(name, ty)?)
    }

    /// The sizes of a value, of whole elements.
    pub(crate) fn shape(&self, x: ValueId) -> &[i64] {
        let shape = self.graph.ty(x).shape();
        match self.tail {
            Some(_) => shape.split_last().map_or(shape, |(_, rest)| rest),
            None => shape,
        }
    }

    fn with_tail(&self, numbers: &[i64], last: i64) -> Numbers {
        numbers
            .iter()
            .copied()
            .chain(self.tail.map(|_| last))
            .collect()
    }

    /// The same elements under other sizes.
    pub(crate) fn reshape(&mut self, x: ValueId, shape: &[i64]) -> Result<ValueId, Failure> {
        let shape = self.with_tail(shape, self.tail.unwrap_or(1));
        Ok(self.graph.reshape(x, shape).finish()?)
    }

    /// All elements in a row.
    pub(crate) fn flat(&mut self, x: ValueId) -> Result<ValueId, Failure> {
        let count = self.shape(x).iter().product();
        self.reshape(x, &[count])
    }

    /// Axis `k` of the result is axis `axes[k]`.
    pub(crate) fn transpose(&mut self, x: ValueId, axes: &[i64]) -> Result<ValueId, Failure> {
        // An empty list would turn them round.
        if axes.len() < 2 {
            return Ok(x);
        }
        let axes = self.with_tail(axes, axes.len() as i64);
        Ok(self.graph.transpose(x, axes)?)
    }

    /// Axes of size 1 repeated up to a shape, lined up on the right.
    pub(crate) fn broadcast(&mut self, x: ValueId, shape: &[i64]) -> Result<ValueId, Failure> {
        let shape = self.with_tail(shape, self.tail.unwrap_or(1));
        Ok(self.graph.broadcast(x, shape).finish()?)
    }

    /// Whole axes repeated; as many repeats as axes.
    pub(crate) fn tile(&mut self, x: ValueId, repeats: &[i64]) -> Result<ValueId, Failure> {
        let repeats = self.with_tail(repeats, 1);
        Ok(self.graph.tile(x, repeats)?)
    }

    /// Each index along an axis repeated in its place.
    pub(crate) fn repeat(
        &mut self,
        x: ValueId,
        count: i64,
        axis: usize,
    ) -> Result<ValueId, Failure> {
        let mut sizes: Numbers = self.shape(x).iter().copied().collect();
        sizes.insert(axis + 1, 1);
        let spread = self.reshape(x, &sizes)?;
        sizes[axis + 1] = count;
        let wide = self.broadcast(spread, &sizes)?;
        sizes.remove(axis + 1);
        sizes[axis] = sizes[axis].saturating_mul(count);
        self.reshape(wide, &sizes)
    }

    /// A rim of so many elements before and behind.
    pub(crate) fn pad(
        &mut self,
        x: ValueId,
        low: &[i64],
        high: &[i64],
        mode: PadMode,
    ) -> Result<ValueId, Failure> {
        let (low, high) = (self.with_tail(low, 0), self.with_tail(high, 0));
        Ok(self.graph.pad(x, low, high).mode(mode).finish()?)
    }

    /// The slices along an axis that the indices name.
    pub(crate) fn gather(
        &mut self,
        x: ValueId,
        indices: ValueId,
        axis: usize,
        rule: IndexRule,
    ) -> Result<ValueId, Failure> {
        let gather = self.graph.gather(x, indices, rule);
        Ok(gather.axis(axis as i64).finish()?)
    }

    /// Elements of `x`, whose place along an axis is what the indices say once they fill a shape.
    pub(crate) fn gather_elements(
        &mut self,
        x: ValueId,
        indices: ValueId,
        shape: &[i64],
        axis: usize,
    ) -> Result<ValueId, Failure> {
        let mut indices = indices;
        if self.tail.is_some() {
            let sizes: Numbers = self
                .graph
                .ty(indices)
                .shape()
                .iter()
                .copied()
                .chain([1])
                .collect();
            indices = self.graph.reshape(indices, sizes).finish()?;
        }
        let shape = self.with_tail(shape, self.tail.unwrap_or(1));
        let indices = self.graph.broadcast(indices, shape).finish()?;
        let axis = axis as i64;
        Ok(self
            .graph
            .gather_elements(x, indices, axis, IndexRule::ONNX)?)
    }

    /// From one index to another in steps, for each axis.
    pub(crate) fn slice(
        &mut self,
        x: ValueId,
        starts: &[i64],
        stops: &[i64],
        steps: &[i64],
    ) -> Result<ValueId, Failure> {
        if starts.is_empty() {
            return Ok(x);
        }
        let axes: Numbers = (0..starts.len() as i64).collect();
        Ok(self
            .graph
            .slice(x, starts, stops)
            .step(steps)
            .axes(axes)
            .finish()?)
    }

    /// Operands side by side along an axis.
    pub(crate) fn concat(&mut self, parts: &[ValueId], axis: usize) -> Result<ValueId, Failure> {
        Ok(self.graph.concat(parts, axis as i64)?)
    }

    /// The elements of each axis moved round by a shift.
    pub(crate) fn roll(
        &mut self,
        x: ValueId,
        shifts: &[i64],
        axes: &[i64],
    ) -> Result<ValueId, Failure> {
        Ok(self.graph.roll(x, shifts, axes)?)
    }

    /// Hands a value out: written to a buffer that is dense, or laid out like this; or as a view if one
    /// is possible and asked for.
    pub(crate) fn output(
        &mut self,
        y: ValueId,
        into: Option<&Layout>,
        views: bool,
    ) -> Result<(), Failure> {
        match into {
            None if views => self.graph.output(y)?,
            None => self.graph.output_as(y, ViewPolicy::Copy)?,
            Some(layout) => {
                let strides = layout.strides.iter().copied().collect();
                let offset = layout.offset;
                self.graph.strided_output(y, Strided { offset, strides })?;
            }
        }
        Ok(())
    }
}
