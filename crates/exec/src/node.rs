//! A prepared kernel: loops, and leaves in place of boxes.

use restride_leaves::{GatherLeaf, Leaf};
use restride_loops::Norm;
use smallvec::SmallVec;

use crate::frame::Address;

/// The nodes of each phase.
pub(crate) type Phases = SmallVec<[Vec<PreparedStmt>; 3]>;

/// A statement, prepared.
pub(crate) enum PreparedStmt {
    Loop {
        slot: usize,
        extent: i64,
        parallel: bool,
        body: Vec<PreparedStmt>,
        /// All of a parallel loop as one leaf, where that can be.
        whole: Option<Box<PreparedStmt>>,
    },
    Index {
        slot: usize,
        place: Address,
        norm: Norm,
    },
    Check(Box<PreparedCheck>),
    Move {
        leaf: Leaf,
        /// Writes zeros where the source mentions an index out of range.
        zero: Option<Box<Leaf>>,
        dst: Address,
        src: Address,
    },
    Gather(Box<GatherNode>),
    /// Several moves that are made in one pass.
    Woven(Box<WovenNode>),
    Fill {
        leaf: Leaf,
        dst: Address,
    },
}

impl PreparedStmt {
    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let beside = match self {
            PreparedStmt::Loop { body, whole, .. } => {
                let whole = whole.as_ref().map_or(0, |whole| whole.bytes());
                whole + body.iter().map(PreparedStmt::bytes).sum::<usize>()
            }
            PreparedStmt::Index { .. } => 0,
            PreparedStmt::Check(check) => size_of::<PreparedCheck>() + size_of_val(&*check.loops),
            PreparedStmt::Move { leaf, zero, .. } => {
                let zero = zero.as_ref();
                leaf.bytes() + zero.map_or(0, |it| size_of::<Leaf>() + it.bytes())
            }
            PreparedStmt::Gather(gather) => {
                let zero = gather.zero.as_ref().map_or(0, Leaf::bytes);
                size_of::<GatherNode>() + gather.leaf.bytes() + zero
            }
            PreparedStmt::Woven(woven) => size_of::<WovenNode>() + woven.leaf.bytes(),
            PreparedStmt::Fill { leaf, .. } => leaf.bytes(),
        };
        size_of::<PreparedStmt>() + beside
    }
}

/// A check, and the loops around it, whose iterations count in the position it reports.
pub(crate) struct PreparedCheck {
    pub(crate) index: Address,
    /// What it looks at, outermost first. Dimensions of stride 0 are left out: the indices are
    /// the same again, and the first position of each is what counts.
    pub(crate) dims: SmallVec<[CheckDim; 6]>,
    /// How many positions there are, those of stride 0 among them.
    pub(crate) count: u64,
    pub(crate) norm: Norm,
    pub(crate) code: u32,
    pub(crate) loops: Vec<(usize, i64)>,
}

/// One dimension of a check.
#[derive(Clone, Copy)]
pub(crate) struct CheckDim {
    pub(crate) extent: i64,
    /// In bytes.
    pub(crate) stride: isize,
    /// Positions per step.
    pub(crate) weight: u64,
}

/// A gather.
pub(crate) struct GatherNode {
    pub(crate) leaf: GatherLeaf,
    pub(crate) zero: Option<Leaf>,
    pub(crate) dst: Address,
    pub(crate) src: Address,
    pub(crate) index: Address,
}

/// Moves that are made in one pass.
pub(crate) struct WovenNode {
    pub(crate) leaf: Leaf,
    /// Where the first goes.
    pub(crate) dst: Address,
    pub(crate) src: SmallVec<[Address; 2]>,
}
