//! Whether a graph does the same for every size of some axes.
//!
//! It is looked at on two sets of sizes. An axis whose size differs between them is *open*. The answer
//! is yes if no operator asks how large an open axis is: it moves it, cuts or joins it by what divides it
//! whatever its size, or turns all of it round. Attributes that reach into an open axis from its
//! start or its end (ranges, lengths, shifts, rims) ask, so the answer is no.

use crate::resolve::{self, AxisAction, AxisSpan, PadAxis};
use crate::{Graph, Op, Shape};

impl Graph {
    /// Whether this graph and another, the same on inputs of other sizes, do the same but for the sizes of the
    /// open axes, and would on all sizes from two to those of either. Numbers that both come to by one
    /// formula (of products, without remainders) then follow it on all these sizes.
    ///
    /// "No" may be said where "yes" were right.
    ///
    /// ```
    /// use restride_graph::{ElementType, Graph};
    ///
    /// let turned = |rows, stop| {
    ///     let mut g = Graph::new("turned");
    ///     let x = g.input("x", ElementType::F32, [rows, 6])?;
    ///     let some = g.slice(x, [1], [stop]).axes([1]).finish()?;
    ///     let y = g.transpose(some, [1, 0])?;
    ///     g.output(y)?;
    ///     Ok::<_, restride_graph::GraphError>(g)
    /// };
    /// assert!(turned(4, 3)?.is_uniform_with(&turned(5, 3)?));
    /// // One index chooses along the open axis.
    /// let first = |rows| {
    ///     let mut g = Graph::new("first");
    ///     let x = g.input("x", ElementType::F32, [rows, 6])?;
    ///     let y = g.slice(x, [0], [1]).axes([0]).finish()?;
    ///     g.output(y)?;
    ///     Ok::<_, restride_graph::GraphError>(g)
    /// };
    /// assert!(!first(4)?.is_uniform_with(&first(5)?));
    /// # Ok::<(), restride_graph::GraphError>(())
    /// ```
    #[must_use]
    pub fn is_uniform_with(&self, other: &Graph) -> bool {
        let ops = |g: &Graph| g.values().map(|id| g.op(id).clone()).collect::<Vec<_>>();
        let constants = self
            .values()
            .any(|id| matches!(self.op(id), Op::Constant(_)));
        ops(self) == ops(other)
            && self.values().all(|id| {
                let operands = self.op(id).operands();
                let operands = operands.iter().map(|&operand| Operand {
                    here: Shape::from_slice(self.ty(operand).shape()),
                    there: Shape::from_slice(other.ty(operand).shape()),
                });
                is_uniform(self.op(id), &operands.collect::<Vec<_>>(), constants)
            })
    }
}

/// The shapes of an operand on both sets of sizes.
struct Operand {
    here: Shape,
    there: Shape,
}

impl Operand {
    fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.here.len()).filter(|&axis| self.here[axis] != self.there[axis])
    }

    /// Whether the axis of an attribute is open; negative ones count from the end.
    fn is_open_at(&self, axis: i64) -> bool {
        let rank = self.here.len() as i64;
        self.open()
            .any(|open| open as i64 == axis || open as i64 - rank == axis)
    }

    fn is_closed(&self) -> bool {
        self.here == self.there
    }

    /// Whether all open axes are taken whole, in order or turned round, on both sets. What reaches
    /// both ends of a long axis reaches those of a shorter one.
    fn whole<E>(&self, spans: impl Fn(&[i64]) -> Result<Vec<Option<AxisSpan>>, E>) -> bool {
        [&self.here, &self.there].into_iter().all(|shape| {
            spans(shape).is_ok_and(|spans| {
                self.open().all(|axis| {
                    let turned = AxisSpan {
                        start: shape[axis] - 1,
                        len: shape[axis],
                        step: -1,
                    };
                    let span = spans.get(axis).copied().flatten();
                    span == Some(AxisSpan::full(shape[axis])) || span == Some(turned)
                })
            })
        })
    }
}

fn is_uniform(op: &Op, operands: &[Operand], constants: bool) -> bool {
    let Some(x) = operands.first() else {
        return true;
    };
    match op {
        // What they do to one axis they do to every size of it, or they refuse sizes that do not divide.
        Op::Input
        | Op::Constant(_)
        | Op::Identity { .. }
        | Op::Reshape { .. }
        | Op::Transpose { .. }
        | Op::Squeeze { .. }
        | Op::Unsqueeze { .. }
        | Op::Flatten { .. }
        | Op::Broadcast { .. }
        | Op::Reverse { .. }
        | Op::Concat { .. }
        | Op::Tile { .. }
        | Op::DepthToSpace { .. }
        | Op::SpaceToDepth { .. }
        | Op::ShuffleChannels { .. } => true,
        Op::StridedSlice { .. } => x.whole(|shape| {
            let spec = op.strided_slice_spec().ok_or(())?;
            let actions = resolve::strided_slice(&spec, shape).map_err(|_| ())?;
            let axis = |action: &AxisAction| match action {
                AxisAction::Range(span) => Some(Some(*span)),
                AxisAction::Shrink(_) => Some(None),
                AxisAction::NewAxis => None,
            };
            Ok::<_, ()>(actions.iter().filter_map(axis).collect())
        }),
        Op::Slice {
            x: _,
            dialect,
            start,
            stop,
            step,
            axes,
        } => x.whole(|shape| {
            let spans = resolve::slice(*dialect, shape, start, stop, step, axes.as_deref())?;
            Ok::<_, crate::Refusal>(spans.iter().copied().map(Some).collect())
        }),
        // Whether indices that are known are in range depends on the size.
        Op::Gather { axis, .. } => !(constants && x.is_open_at(*axis)),
        Op::Roll { x: _, shift, axes } => {
            let mut shifts = axes.iter().zip(shift);
            shifts.all(|(axis, shift)| *shift == 0 || !x.is_open_at(*axis))
        }
        Op::Pad {
            x: _,
            low,
            high,
            mode,
        } => {
            let stays = |axis: &PadAxis| axis.low == 0 && axis.high == 0;
            resolve::pad(&x.here, low, high, *mode)
                .is_ok_and(|axes| x.open().all(|axis| stays(&axes[axis])))
        }
        Op::Split { axis, .. } => !x.is_open_at(*axis),
        Op::GatherElements { .. }
        | Op::GatherNd { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice { .. }
        | Op::SpaceToBatch { .. }
        | Op::BatchToSpace { .. }
        | Op::CenterCropPad { .. }
        | Op::ReverseSequence { .. } => operands.iter().all(Operand::is_closed),
    }
}
