//! The plan: what remains of a graph once whole chains are composed.
//!
//! A plan is a list of stages. A stage writes one dense value (a temporary or an output) as a
//! set of disjoint pieces that together cover it exactly. A piece is a mixed-radix odometer: a
//! list of digits, each with one stride per column, so that the place an element goes to, the
//! place it comes from and the place each index is read from are all linear in the same digits.
//! There is no mask, no division and no remainder anywhere in it.

mod axis_addresses;
mod columns;
mod compose;
mod display;
mod family;
mod finish;
mod gather;
mod known;
mod obligations;
mod order;
mod table;
mod value;

pub use compose::{PlanError, PlanOptions, plan};
pub use family::PlanFamily;

use restride_graph::{ElementType, Shape, Strided};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Where bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The n-th input of the graph, addressed in elements from the start of its buffer.
    Input(u32),
    /// The n-th constant of the plan.
    Constant(u32),
    /// What the n-th stage wrote (that stage comes earlier and is no output).
    Stage(u32),
}

/// One digit of a piece: `extent >= 2` and a stride per column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PieceDigit {
    /// How many values it takes.
    pub extent: i64,
    /// Stride in the value that the stage writes, in elements of its destination buffer.
    pub dst: i64,
    /// Stride in the source (0 for fills).
    pub src: i64,
    /// Stride in each index column, in the order of the `indices` of [`Body::Copy`].
    pub indices: SmallVec<[i64; 1]>,
}

/// The digits of a piece; most have no more.
pub type Digits = SmallVec<[PieceDigit; 4]>;

/// An index that takes part in a source address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexColumn {
    /// The tensor that the index is read from.
    pub source: Source,
    /// Its integer type.
    pub element: ElementType,
    /// Address of the index at digit values 0.
    pub offset: i64,
    /// Elements of source per unit of index; 0 for an index that only moves others.
    pub coeff: i64,
    /// Size of the axis that it selects from; at least 1.
    pub limit: i64,
    /// Whether a negative value has `limit` added once.
    pub wrap: bool,
    /// Outside the axis: clamped if set, otherwise the element is zero bits.
    pub clamp: bool,
    /// `(earlier column, stride)`: what other indices add to the address of this one, which is
    /// how an index looks into a table. Where one of those is outside, so is this.
    pub through: SmallVec<[(u32, i64); 1]>,
}

/// What a piece holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    /// The same bits everywhere.
    Fill(u128),
    /// Elements of a source.
    Copy {
        /// Which.
        source: Source,
        /// Source address at digit values 0 and indices 0.
        offset: i64,
        /// Indices that move the address, if any.
        indices: SmallVec<[IndexColumn; 1]>,
    },
}

impl Body {
    /// The indices that move its address.
    #[must_use]
    pub fn indices(&self) -> &[IndexColumn] {
        match self {
            Body::Fill(_) => &[],
            Body::Copy { indices, .. } => indices,
        }
    }
}

/// A part of a stage: disjoint from all other parts of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Destination address at digit values 0.
    pub dst: i64,
    /// The digits, outermost destination stride first; merged where every column allows it.
    pub digits: Digits,
    /// What it holds.
    pub body: Body,
}

/// What a stage writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// Scratch of the kernel's own, dense, with this many elements.
    Scratch,
    /// The n-th output of the graph, in that output's layout.
    Output(u32),
}

/// One pass over memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stage {
    /// What it writes.
    pub destination: Destination,
    /// Element type written.
    pub element: ElementType,
    /// How many elements it writes.
    pub count: i64,
    /// The pieces; empty when `count` is 0.
    pub pieces: Vec<Piece>,
    /// For a temporary, the break that it is there for.
    pub reason: Option<String>,
}

/// An index tensor that must be wholly in range before anything is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexCheck {
    /// The index values as a dense or strided box of a source: `(extent, stride)`, row-major
    /// order of the original index tensor, so that the first failure is the one reported.
    pub source: Source,
    /// Its integer type.
    pub element: ElementType,
    /// Address of the first.
    pub offset: i64,
    /// The box.
    pub dims: SmallVec<[(i64, i64); 6]>,
    /// Size of the axis; 0 fails unless the box is empty.
    pub limit: i64,
    /// Whether negatives wrap.
    pub wrap: bool,
    /// Which gather of the spelled graph it stands for, for the message.
    pub op: u32,
    /// Element `i` of the box stood at `i * columns + column` of that gather's index tensor.
    pub column: u32,
    /// How many columns that tensor has; more than 1 only for `gather_nd`.
    pub columns: u32,
}

impl IndexCheck {
    /// Which of a plan's checks a failed check of its kernel is, and where the index stood in the
    /// index tensor of its operator. The kernel tests the columns of an operator as one.
    #[must_use]
    pub fn failed(checks: &[IndexCheck], code: u32, position: u64) -> Option<(usize, u64)> {
        let first = code as usize;
        let op = checks.get(first)?.op;
        let columns = checks[first..].iter().take_while(|check| check.op == op);
        let columns = columns.count() as u64;
        let at = first + (position % columns) as usize;
        let check = &checks[at];
        let row = (position / columns).wrapping_mul(check.columns.into());
        Some((at, row.wrapping_add(check.column.into())))
    }
}

/// How one output of the graph is answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A strided view of an input: nothing moves.
    View {
        /// Which input.
        input: u32,
        /// Where it lies in that input's buffer.
        layout: Strided,
    },
    /// Written by a stage; `why` says what keeps it from being a view.
    Computed {
        /// The stage.
        stage: u32,
        /// Why it is not a view.
        why: Cow<'static, str>,
    },
}

/// A constant the stages read, dense row-major.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlanConstant {
    /// Element type.
    pub element: ElementType,
    /// Its bytes.
    pub bytes: std::sync::Arc<[u8]>,
}

/// A whole graph, composed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// Type of each input: element, and the number of elements its buffer must have.
    pub inputs: SmallVec<[(ElementType, i64); 4]>,
    /// Type of each output: element, shape, and layout if not dense.
    pub outputs: SmallVec<[(ElementType, Shape, Option<Strided>); 1]>,
    /// Constants.
    pub constants: Vec<PlanConstant>,
    /// Obligations.
    pub checks: Vec<IndexCheck>,
    /// Stages in order.
    pub stages: SmallVec<[Stage; 1]>,
    /// One answer per output.
    pub answers: SmallVec<[Answer; 1]>,
}

impl Piece {
    /// How many bytes it has elsewhere: digits and indices that it has no room for.
    fn elsewhere(&self) -> usize {
        fn outside<A: smallvec::Array>(list: &SmallVec<A>) -> usize {
            match list.spilled() {
                true => list.capacity() * size_of::<A::Item>(),
                false => 0,
            }
        }
        let digits = self.digits.iter().map(|digit| outside(&digit.indices));
        let indices = match &self.body {
            Body::Fill(_) => 0,
            Body::Copy { indices, .. } => {
                let through = indices.iter().map(|column| outside(&column.through));
                outside(indices) + through.sum::<usize>()
            }
        };
        outside(&self.digits) + digits.sum::<usize>() + indices
    }
}

impl Stage {
    /// How many bytes its pieces have elsewhere.
    pub(crate) fn pieces_elsewhere(&self) -> usize {
        self.pieces.iter().map(Piece::elsewhere).sum()
    }
}

impl Plan {
    /// About how many bytes it has elsewhere, but for constants.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let pieces = |stage: &Stage| {
            size_of_val(&*stage.pieces)
                + stage.pieces_elsewhere()
                + stage.reason.as_ref().map_or(0, String::capacity)
        };
        size_of_val(&*self.inputs)
            + size_of_val(&*self.outputs)
            + size_of_val(&*self.checks)
            + size_of_val(&*self.stages)
            + size_of_val(&*self.answers)
            + self.stages.iter().map(pieces).sum::<usize>()
    }
}
