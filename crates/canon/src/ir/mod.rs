//! The canonical IR: what is left of a graph once its spelling is gone.
//!
//! A [`Canonical`] is an arena of nodes. Operands refer backwards only, so one pass in order sees
//! every operand before its user. There are six kinds of node and no more:
//!
//! | node | meaning |
//! |---|---|
//! | `input` | the n-th input of the call |
//! | `constant` | bytes known now |
//! | `view` | elements of another node, where a [`Layout`] says |
//! | `gather` | some axes of the data are chosen by index tensors, see [`Gather`] |
//! | `concat` | side by side along one axis |
//! | `fill` | the same bits everywhere |
//!
//! However many slices, transposes and reshapes led to a view, it is one layout. Its [text](crate::text)
//! is the chain of them that the layout stands for: [`Canonical::lines`] takes it apart for whoever
//! prints or draws, and nobody else does.
//!
//! Besides nodes there are obligations ([`Obligation`]): index tensors that must be wholly in range
//! before anything is written.
//!
//! Nodes are made by the checking constructors of [`Builder`] only, so a `Canonical` that is ill
//! formed cannot exist, and whoever reads one may rely on every fact stated at [`Node`]. Inputs
//! come first, in their order. Then each node as late as its first user allows, depth first,
//! operands in order, from the obligations and then the outputs: what none of them needs is not
//! there, and equal nodes are one.

mod build;
pub(crate) mod chain;
mod error;
mod lines;
mod order;

/// The most axes that a value may have. Views on the way from one tensor to another may need
/// more than a tensor may have: a repeated axis is two until they are joined.
pub const MAX_AXES: usize = 4 * restride_graph::MAX_RANK;

pub use build::Builder;
pub use chain::chain_of;
pub use error::IrError;
pub use lines::{Said, TextLine};
pub(crate) use order::Places;

pub use restride_layout::{Span, View};

use restride_graph::{ElementType, Shape, Strided, ViewPolicy};
use restride_layout::Layout;
use smallvec::SmallVec;
use std::sync::Arc;

/// A node of a [`Canonical`], printed `%0`, `%1`, ... in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// Its place in [`Canonical::nodes`].
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for NodeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// A list of axes or of counts of axes; ranks are at most 32.
pub type Axes = SmallVec<[u8; 8]>;

/// What a gather does with an index that is still outside the axis after wrapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// The element is zero bits.
    Zero,
    /// The nearest valid index is taken.
    Clamp,
}

impl Policy {
    /// The row of an axis of this size, at least 1, that an index names; nothing for zero bits.
    #[must_use]
    pub fn row(self, index: i128, size: i64, wrap: bool) -> Option<i64> {
        match (crate::scalar::normalise(index, size, wrap), self) {
            (None, Self::Clamp) if index < 0 => Some(0),
            (None, Self::Clamp) => Some(size - 1),
            (row, Self::Zero | Self::Clamp) => row,
        }
    }
}

/// An index tensor that chooses along one axis of the data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Index {
    /// The index tensor, of an integer type.
    pub node: NodeId,
    /// `outputs[j]` is the output axis that axis `j` of the index tensor follows; all distinct.
    pub outputs: Axes,
    /// Whether a negative index has the size of the axis added once.
    pub wrap: bool,
    /// What happens outside.
    pub policy: Policy,
}

/// Where the coordinate along one axis of the data comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Coordinate {
    /// From this output axis, which has the same size.
    Output(u8),
    /// From an index tensor; the axis of the data is not empty.
    Index(Index),
}

/// `out[o0, o1, ...] = data[c0, c1, ...]`, where each coordinate is an output axis or an index
/// that itself is read at some of the output axes. An element with an index outside its axis is
/// zero bits under [`Policy::Zero`].
///
/// Every output axis is used by a coordinate; no two coordinates name the same output axis
/// directly; at least one coordinate is an index. `gather`, `gather_elements`, `gather_nd` and
/// their batched forms differ in the lists of output axes only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gather {
    /// What is gathered from.
    pub data: NodeId,
    /// One coordinate per axis of the data.
    pub coordinates: SmallVec<[Coordinate; 3]>,
}

impl Gather {
    /// The index tensors in order.
    pub fn indices(&self) -> impl Iterator<Item = &Index> {
        self.coordinates.iter().filter_map(|c| match c {
            Coordinate::Index(index) => Some(index),
            Coordinate::Output(_) => None,
        })
    }
}

/// A node without its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The n-th input.
    Input {
        /// Which.
        ordinal: u32,
    },
    /// A dense row-major constant; exactly as many bytes as its type takes.
    Constant {
        /// Its bytes, little-endian elements.
        bytes: Arc<[u8]>,
    },
    /// The elements of a node at the addresses of its dense row-major order that a layout says.
    View {
        /// Of what. It is no fill; it is a view where the two are no one layout.
        x: NodeId,
        /// Of one column, inside `x`, not empty, and with a chain of views that it prints as.
        layout: Arc<Layout>,
    },
    /// Elements named by index tensors.
    Gather(Gather),
    /// Side by side; same element type, same sizes but along `axis`; at least one part.
    Concat {
        /// The parts in order.
        parts: SmallVec<[NodeId; 4]>,
        /// Along which axis.
        axis: u8,
    },
    /// The same bits everywhere.
    Fill {
        /// The low bytes of it, as many as an element has; the rest is 0.
        bits: u128,
    },
}

impl Node {
    /// Calls `see` with every operand, in order.
    pub fn operands(&self, mut see: impl FnMut(NodeId)) {
        match self {
            Self::Input { .. } | Self::Constant { .. } | Self::Fill { .. } => {}
            Self::View { x, .. } => see(*x),
            Self::Gather(gather) => {
                see(gather.data);
                gather.indices().for_each(|index| see(index.node));
            }
            Self::Concat { parts, .. } => parts.iter().copied().for_each(see),
        }
    }
}

/// A node's element type and shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// What an element is.
    pub element: ElementType,
    /// The size of each axis, outermost first.
    pub shape: Shape,
}

impl Type {
    /// How many elements. No node has so many that it or its bytes overflow.
    #[must_use]
    pub fn count(&self) -> i64 {
        self.shape.iter().product()
    }

    /// The rank.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }
}

/// An input of the call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// Its node. The n-th input's node has ordinal n.
    pub node: NodeId,
    /// Where its elements lie in the caller's buffer; absent means dense row-major.
    pub layout: Option<Strided>,
}

/// An output of the call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CanonicalOutput {
    /// What it holds.
    pub node: NodeId,
    /// Where its elements go in the caller's buffer; absent means dense row-major.
    pub layout: Option<Strided>,
    /// Which views may answer it.
    pub views: ViewPolicy,
}

/// An index tensor that must be wholly in range before anything is written.
///
/// Obligations are evaluated in order; within the obligations of one operator the failure that
/// comes first in row-major order of its original index tensor is the one to report: element `i`
/// of `node` stood at flat position `i * columns + column` there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Obligation {
    /// The index values, in the order of the original index tensor.
    pub node: NodeId,
    /// Size of the axis they choose from; 0 fails unless the node is empty.
    pub limit: i64,
    /// Whether `-limit..0` is in range too.
    pub wrap: bool,
    /// Which value of the spelled graph demands it.
    pub op: u32,
    /// Which column of that operator's index tensor this is.
    pub column: u32,
    /// How many columns it has (1 but for `gather_nd`).
    pub columns: u32,
}

/// A canonical graph. Made by a [`Builder`] only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Canonical {
    nodes: Vec<(Node, Type)>,
    inputs: Vec<Input>,
    outputs: Vec<CanonicalOutput>,
    checks: Vec<Obligation>,
}

impl Canonical {
    /// All nodes in order.
    pub fn nodes(
        &self,
    ) -> impl ExactSizeIterator<Item = (NodeId, &Node, &Type)> + DoubleEndedIterator {
        let nodes = self.nodes.iter().enumerate();
        nodes.map(|(i, (node, ty))| (NodeId(i as u32), node, ty))
    }

    /// How many nodes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// One node. Ids come from this graph; one from another may give any node or panic.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()].0
    }

    /// The type of a node.
    #[must_use]
    pub fn ty(&self, id: NodeId) -> &Type {
        &self.nodes[id.index()].1
    }

    /// The inputs in order.
    #[must_use]
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The outputs in order.
    #[must_use]
    pub fn outputs(&self) -> &[CanonicalOutput] {
        &self.outputs
    }

    /// The obligations in order.
    #[must_use]
    pub fn checks(&self) -> &[Obligation] {
        &self.checks
    }
}
