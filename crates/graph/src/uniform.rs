//! Whether a graph does the same for every size of some axes.
//!
//! It is looked at on two sets of sizes. An axis whose size differs between them is *open*. Operators that
//! move an open axis, cut or join it by what divides it whatever its size, or turn all of it round, do not ask
//! how large it is. Others reach into it from its start or its end, by their ranges, lengths, shifts or rims: they
//! do the same wherever the axis is so long that what is reached from one end, by all of them together, never
//! meets what is reached from the other.

use crate::resolve::{self, AxisSpan};
use crate::{Graph, Op, PadMode, Shape};

/// On which sizes a graph does the same as on two sets of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uniform {
    /// The sizes that are reached into, on both sets.
    pub reached: Vec<[i64; 2]>,
    /// Each of them has to be larger than this.
    pub more_than: i64,
    /// Whether an open axis becomes part of another: then it may make a difference what divides it.
    pub mixes: bool,
}

impl Graph {
    /// Whether this graph and another, the same on inputs of other sizes, do the same but for the sizes of the
    /// open axes, and would on all sizes from two to those of either that are as large as the answer says.
    /// Numbers that both come to by one formula (without remainders) then follow it on all these sizes.
    ///
    /// "No" may be said where "yes" were right.
    ///
    /// ```
    /// use restride_graph::{ElementType, Graph};
    ///
    /// let turned = |rows, start, stop, axis| {
    ///     let mut g = Graph::new("turned");
    ///     let x = g.input("x", ElementType::F32, [rows, 6])?;
    ///     let some = g.slice(x, [start], [stop]).axes([axis]).finish()?;
    ///     let y = g.transpose(some, [1, 0])?;
    ///     g.output(y)?;
    ///     Ok::<_, restride_graph::GraphError>(g)
    /// };
    /// let uniform = turned(400, 1, 3, 1)?.uniform_with(&turned(500, 1, 3, 1)?);
    /// assert!(uniform.is_some_and(|it| it.reached.is_empty()));
    /// // Three elements of the open axis are left out: there have to be more.
    /// let uniform = turned(400, 1, -2, 0)?.uniform_with(&turned(500, 1, -2, 0)?);
    /// assert!(uniform.is_some_and(|it| it.reached == [[400, 500]] && it.more_than == 3));
    /// // It ends in the middle of one of them.
    /// assert!(turned(400, 1, 450, 0)?.uniform_with(&turned(500, 1, 450, 0)?).is_none());
    /// # Ok::<(), restride_graph::GraphError>(())
    /// ```
    #[must_use]
    pub fn uniform_with(&self, other: &Graph) -> Option<Uniform> {
        let ops = self.values().map(|id| self.op(id));
        if !ops.eq(other.values().map(|id| other.op(id))) {
            return None;
        }
        let of = |id| BothShapes {
            here: Shape::from_slice(self.ty(id).shape()),
            there: Shape::from_slice(other.ty(id).shape()),
        };
        let mut reach = Reach {
            constants: self
                .values()
                .any(|id| matches!(self.op(id), Op::Constant(_))),
            ..Reach::default()
        };
        for id in self.values() {
            let operands = self.op(id).operands();
            let operands = operands.iter().map(|&operand| of(operand));
            reach.operator(self.op(id), &operands.collect::<Vec<_>>(), &of(id))?;
            reach.sum = reach.sum.saturating_add(std::mem::take(&mut reach.most));
        }
        reach.uniform()
    }

    /// Sizes that differ by as much are alike to all ranges that take steps: the least multiple of these that is not
    /// large, or 1.
    #[must_use]
    pub fn step(&self) -> i64 {
        let mut steps = self.values().flat_map(|id| self.op(id).steps());
        let common = |all: i64, step: &i64| {
            let mut multiples = (1..=LARGEST_STEP / all).map(|times| times * all);
            multiples.find(|all| all.checked_rem(*step) == Some(0))
        };
        steps.try_fold(1, common).unwrap_or(1)
    }
}

/// Of more kinds of sizes hardly any come again.
const LARGEST_STEP: i64 = 16;

/// The shapes of a value on both sets of sizes.
struct BothShapes {
    here: Shape,
    there: Shape,
}

impl BothShapes {
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

    fn at(&self, axis: usize) -> [i64; 2] {
        [self.here[axis], self.there[axis]]
    }

    /// The sizes of the open axes, each with how many elements there are for one of its indices.
    fn open_places(&self) -> Vec<(i64, i64)> {
        let within = |axis: usize| {
            let sizes = self.here[axis + 1..].iter();
            sizes.fold(1, |n: i64, size| n.saturating_mul(*size))
        };
        self.open()
            .map(|axis| (self.here[axis], within(axis)))
            .collect()
    }
}

/// How far the operators of a graph reach into open axes.
#[derive(Default)]
struct Reach {
    /// Whether there are constants.
    constants: bool,
    /// Open axes that are reached into.
    reached: Vec<[i64; 2]>,
    /// Those that something is joined to, which makes no difference by itself.
    joined: Vec<[i64; 2]>,
    /// How far an operator does, in the axis where it is farthest; what is joined to one counts, too.
    most: i64,
    /// How far those before it do together.
    sum: i64,
    /// Whether open axes become part of others.
    mixes: bool,
}

impl Reach {
    /// One more operator; nothing if it may do different things.
    fn operator(&mut self, op: &Op, operands: &[BothShapes], result: &BothShapes) -> Option<()> {
        let Some(x) = operands.first() else {
            return Some(());
        };
        match op {
            // What they do to one axis they do to every size of it, or they refuse sizes that do not divide.
            Op::Input
            | Op::Constant(_)
            | Op::Identity { .. }
            | Op::Transpose { .. }
            | Op::Squeeze { .. }
            | Op::Unsqueeze { .. }
            | Op::Reverse { .. } => Some(()),
            Op::Reshape { .. }
            | Op::Flatten { .. }
            | Op::Broadcast { .. }
            | Op::Tile { .. }
            | Op::DepthToSpace { .. }
            | Op::SpaceToDepth { .. }
            | Op::ShuffleChannels { .. } => {
                self.mixes |= x.open_places() != result.open_places();
                Some(())
            }
            Op::Concat { axis, .. } => {
                let (axis, _) = resolve::concat(
                    &operands.iter().map(|x| &x.here[..]).collect::<Vec<_>>(),
                    *axis,
                )
                .ok()?;
                if operands.iter().any(|x| x.open().any(|open| open == axis)) {
                    let sizes = operands.iter().map(|x| x.at(axis));
                    let (closed, open): (Vec<_>, Vec<_>) = sizes.partition(|[a, b]| a == b);
                    let closed = closed.iter().map(|[size, _]| *size);
                    self.most = closed.fold(0, i64::saturating_add);
                    self.joined.extend(open);
                }
                Some(())
            }
            Op::StridedSlice { .. } | Op::Slice { .. } => {
                // A range may end that much behind its last element.
                let step = op.steps().iter().map(|step| step.saturating_abs()).max();
                self.ranges(op, x, step.map_or(0, |step| step - 1))
            }
            Op::Split { lengths, .. } => {
                // An axis may not be shorter than all parts together.
                let all = lengths.iter().map(|length| (*length).max(0));
                self.ranges(op, x, all.fold(0, i64::saturating_add))
            }
            // Whether indices that are known are in range depends on the size.
            Op::Gather { axis, .. } => (!(self.constants && x.is_open_at(*axis))).then_some(()),
            Op::Roll { x: _, shift, axes } => {
                let here = resolve::roll(&x.here, shift, axes).ok()?;
                let there = resolve::roll(&x.there, shift, axes).ok()?;
                for axis in x.open() {
                    let shift = [here[axis], there[axis]];
                    if shift != [0, 0] {
                        let [start, end] = reach(shift, x.at(axis))?;
                        self.reaches(x.at(axis), start.max(end));
                    }
                }
                Some(())
            }
            Op::Pad {
                x: _,
                low,
                high,
                mode,
            } => {
                let axes = resolve::pad(&x.here, low, high, *mode).ok()?;
                for axis in x.open() {
                    let (low, high) = (axes[axis].low, axes[axis].high);
                    if (low, high) != (0, 0) {
                        // What comes round again may be cut where a divisor of the size is.
                        if *mode == PadMode::Wrap {
                            return None;
                        }
                        let all = low.saturating_abs().saturating_add(high.saturating_abs());
                        self.reaches(x.at(axis), all);
                    }
                }
                Some(())
            }
            Op::GatherElements { .. }
            | Op::GatherNd { .. }
            | Op::DynamicSlice { .. }
            | Op::DynamicUpdateSlice { .. }
            | Op::SpaceToBatch { .. }
            | Op::BatchToSpace { .. }
            | Op::CenterCropPad { .. }
            | Op::ReverseSequence { .. } => {
                operands.iter().all(BothShapes::is_closed).then_some(())
            }
        }
    }

    fn reaches(&mut self, axis: [i64; 2], elements: i64) {
        self.most = self.most.max(elements);
        self.reached.push(axis);
    }

    /// An operator that takes ranges of the axes of its operand, and asks for so many elements more. What reaches
    /// both ends of a long axis reaches those of a shorter one.
    fn ranges(&mut self, op: &Op, x: &BothShapes, more: i64) -> Option<()> {
        let (here, there) = (op.spans(&x.here)?, op.spans(&x.there)?);
        for axis in x.open() {
            let (sizes, [here, there]) = (x.at(axis), [*here.get(axis)?, *there.get(axis)?]);
            // In order or turned round.
            let whole = |span: AxisSpan, size: i64| span.len == size && span.step.abs() == 1;
            if whole(here, sizes[0]) && whole(there, sizes[1]) {
                continue;
            }
            if here.len == 0 || there.len == 0 || here.step != there.step {
                return None;
            }
            let last = |span: AxisSpan| span.start + (span.len - 1) * span.step;
            let low = |span: AxisSpan| span.start.min(last(span));
            let high = |span: AxisSpan| span.start.max(last(span)) + 1;
            let low = reach([low(here), low(there)], sizes)?;
            let high = reach([high(here), high(there)], sizes)?;
            // What is reached from one end is the farthest of it.
            let ends = low[0].max(high[0]).saturating_add(low[1].max(high[1]));
            self.reaches(sizes, ends.saturating_add(more));
        }
        Some(())
    }

    /// What has to be known of sizes.
    fn uniform(mut self) -> Option<Uniform> {
        let mixes = self.mixes;
        if self.reached.is_empty() {
            return Some(Uniform {
                mixes,
                ..Uniform::default()
            });
        }
        // Then places in an axis are no longer so far from its ends.
        if mixes {
            return None;
        }
        self.reached.append(&mut self.joined);
        self.reached.sort_unstable();
        self.reached.dedup();
        Some(Uniform {
            reached: self.reached,
            more_than: self.sum,
            mixes,
        })
    }
}

/// How many elements lie before a place in an axis of either size, or how many behind it: one of these is 0.
/// Nothing if the place is as far neither from the start nor from the end.
fn reach([here, there]: [i64; 2], sizes: [i64; 2]) -> Option<[i64; 2]> {
    let behind = [sizes[0] - here, sizes[1] - there];
    if here == there {
        return Some([here, 0]);
    }
    (behind[0] == behind[1]).then_some([0, behind[0]])
}
