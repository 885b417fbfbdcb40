//! `strided_slice`, `slice`, `reverse` and `roll`.

use super::ints;
use crate::{Graph, GraphError, Ints, Op, SliceDialect, StridedSliceDialect, ValueId};

impl Graph {
    /// A `strided_slice`, with TensorFlow's rules unless another dialect is chosen.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    ///
    /// let mut g = Graph::new("masks");
    /// let x = g.input("x", ElementType::F32, [8, 16, 32])?;
    /// // x[3, ..., tf.newaxis, ::-2]
    /// let y = g
    ///     .strided_slice(x)
    ///     .begin([3, 0, 0, 0])
    ///     .end([0, 0, 0, 0])
    ///     .strides([1, 1, 1, -2])
    ///     .shrink_axis(0)
    ///     .ellipsis(1)
    ///     .new_axis(2)
    ///     .whole_begin(3)
    ///     .whole_end(3)
    ///     .finish()?;
    /// assert_eq!(g.ty(y).shape(), [16, 1, 16]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn strided_slice(&mut self, x: ValueId) -> StridedSliceBuilder<'_> {
        StridedSliceBuilder {
            graph: self,
            x,
            dialect: StridedSliceDialect::TensorFlow,
            begin: Ints::new(),
            end: Ints::new(),
            strides: None,
            begin_mask: 0,
            end_mask: 0,
            ellipsis_mask: 0,
            new_axis_mask: 0,
            shrink_axis_mask: 0,
        }
    }

    /// A `slice` from `start` to `stop`, step 1 unless it says otherwise, with OpenVINO's words
    /// and rules unless another dialect is chosen.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, SliceDialect};
    ///
    /// let mut g = Graph::new("window");
    /// let x = g.input("x", ElementType::F32, [8, 16])?;
    /// let y = g.slice(x, [2], [-1]).axes([1]).step([3]).finish()?;
    /// assert_eq!(g.ty(y).shape(), [8, 5]);
    /// let z = g.slice(x, [0, 0], [4, i64::MAX]).dialect(SliceDialect::Onnx).finish()?;
    /// assert_eq!(g.ty(z).shape(), [4, 16]);
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn slice(
        &mut self,
        x: ValueId,
        start: impl AsRef<[i64]>,
        stop: impl AsRef<[i64]>,
    ) -> SliceBuilder<'_> {
        SliceBuilder {
            graph: self,
            x,
            dialect: SliceDialect::OpenVino,
            start: ints(start),
            stop: ints(stop),
            step: None,
            axes: None,
        }
    }

    /// Turns whole axes round.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("mirror");
    /// let x = g.input("x", ElementType::U8, [4, 6, 3])?;
    /// let y = g.reverse(x, [-2])?;
    /// assert_eq!(g.ty(y), g.ty(x));
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn reverse(&mut self, x: ValueId, axes: impl AsRef<[i64]>) -> Result<ValueId, GraphError> {
        let axes = ints(axes);
        self.push(Op::Reverse { x, axes })
    }

    /// Moves the elements of each axis by a shift, those that fall off coming in at the other end.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("ring");
    /// let x = g.input("x", ElementType::F32, [4, 6])?;
    /// let y = g.roll(x, [1, -2], [0, 1])?;
    /// assert_eq!(g.ty(y), g.ty(x));
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn roll(
        &mut self,
        x: ValueId,
        shift: impl AsRef<[i64]>,
        axes: impl AsRef<[i64]>,
    ) -> Result<ValueId, GraphError> {
        let (shift, axes) = (ints(shift), ints(axes));
        self.push(Op::Roll { x, shift, axes })
    }

    /// Per index of `batch_axis`, turns round the first `lengths[index]` elements of `seq_axis`.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    /// let mut g = Graph::new("sentences");
    /// let x = g.input("x", ElementType::F32, [2, 10, 64])?;
    /// let y = g.reverse_sequence(x, [7, 10], 0, 1)?;
    /// assert_eq!(g.ty(y), g.ty(x));
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn reverse_sequence(
        &mut self,
        x: ValueId,
        lengths: impl AsRef<[i64]>,
        batch_axis: i64,
        seq_axis: i64,
    ) -> Result<ValueId, GraphError> {
        self.push(Op::ReverseSequence {
            x,
            lengths: ints(lengths),
            batch_axis,
            seq_axis,
        })
    }
}

/// A `strided_slice` in the making: see [`Graph::strided_slice`].
///
/// Positions count from 0; a position beyond the 63 bits of a mask is ignored, as every bit beyond
/// the spec is.
#[derive(Debug)]
#[must_use = "nothing is added until `finish`"]
pub struct StridedSliceBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    dialect: StridedSliceDialect,
    begin: Ints,
    end: Ints,
    strides: Option<Ints>,
    begin_mask: i64,
    end_mask: i64,
    ellipsis_mask: i64,
    new_axis_mask: i64,
    shrink_axis_mask: i64,
}

fn set(mask: &mut i64, position: usize) {
    let bit = u32::try_from(position)
        .ok()
        .and_then(|k| 1i64.checked_shl(k));
    *mask |= bit.unwrap_or(0);
}

impl StridedSliceBuilder<'_> {
    /// Whose rules hold.
    pub fn dialect(mut self, dialect: StridedSliceDialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// The first index per position.
    pub fn begin(mut self, begin: impl AsRef<[i64]>) -> Self {
        self.begin = ints(begin);
        self
    }

    /// The end (not included) per position.
    pub fn end(mut self, end: impl AsRef<[i64]>) -> Self {
        self.end = ints(end);
        self
    }

    /// The step per position; 1 everywhere if not given.
    pub fn strides(mut self, strides: impl AsRef<[i64]>) -> Self {
        self.strides = Some(ints(strides));
        self
    }

    /// Ignores the begin at a position.
    pub fn whole_begin(mut self, position: usize) -> Self {
        set(&mut self.begin_mask, position);
        self
    }

    /// Ignores the end at a position.
    pub fn whole_end(mut self, position: usize) -> Self {
        set(&mut self.end_mask, position);
        self
    }

    /// Lets a position stand for all axes not named.
    pub fn ellipsis(mut self, position: usize) -> Self {
        set(&mut self.ellipsis_mask, position);
        self
    }

    /// Inserts an axis of size 1 at a position.
    pub fn new_axis(mut self, position: usize) -> Self {
        set(&mut self.new_axis_mask, position);
        self
    }

    /// Picks one index at a position and drops the axis.
    pub fn shrink_axis(mut self, position: usize) -> Self {
        set(&mut self.shrink_axis_mask, position);
        self
    }

    /// All begin bits at once.
    pub fn begin_mask(mut self, mask: i64) -> Self {
        self.begin_mask = mask;
        self
    }

    /// All end bits at once.
    pub fn end_mask(mut self, mask: i64) -> Self {
        self.end_mask = mask;
        self
    }

    /// All ellipsis bits at once (at most one may be set).
    pub fn ellipsis_mask(mut self, mask: i64) -> Self {
        self.ellipsis_mask = mask;
        self
    }

    /// All new-axis bits at once.
    pub fn new_axis_mask(mut self, mask: i64) -> Self {
        self.new_axis_mask = mask;
        self
    }

    /// All shrink bits at once.
    pub fn shrink_axis_mask(mut self, mask: i64) -> Self {
        self.shrink_axis_mask = mask;
        self
    }

    /// Adds it to the graph.
    pub fn finish(self) -> Result<ValueId, GraphError> {
        let ones = || Ints::from_elem(1, self.begin.len());
        self.graph.push(Op::StridedSlice {
            x: self.x,
            dialect: self.dialect,
            strides: self.strides.unwrap_or_else(ones),
            begin: self.begin,
            end: self.end,
            begin_mask: self.begin_mask,
            end_mask: self.end_mask,
            ellipsis_mask: self.ellipsis_mask,
            new_axis_mask: self.new_axis_mask,
            shrink_axis_mask: self.shrink_axis_mask,
        })
    }
}

/// A `slice` in the making: see [`Graph::slice`].
#[derive(Debug)]
#[must_use = "nothing is added until `finish`"]
pub struct SliceBuilder<'g> {
    graph: &'g mut Graph,
    x: ValueId,
    dialect: SliceDialect,
    start: Ints,
    stop: Ints,
    step: Option<Ints>,
    axes: Option<Ints>,
}

impl SliceBuilder<'_> {
    /// Whose words and rules hold.
    pub fn dialect(mut self, dialect: SliceDialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// The step per entry.
    pub fn step(mut self, step: impl AsRef<[i64]>) -> Self {
        self.step = Some(ints(step));
        self
    }

    /// The axis of each entry; the first axes in order if not given.
    pub fn axes(mut self, axes: impl AsRef<[i64]>) -> Self {
        self.axes = Some(ints(axes));
        self
    }

    /// Adds it to the graph.
    pub fn finish(self) -> Result<ValueId, GraphError> {
        let ones = || Ints::from_elem(1, self.start.len());
        self.graph.push(Op::Slice {
            x: self.x,
            dialect: self.dialect,
            step: self.step.unwrap_or_else(ones),
            start: self.start,
            stop: self.stop,
            axes: self.axes,
        })
    }
}
