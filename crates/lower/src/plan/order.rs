//! What is only written out needs no shape.
//!
//! A reshape keeps the row-major order of its elements. So a dense copy of a reshape is a dense
//! copy of its operand, which may be one piece where the reshape, cut at its new sizes, is many
//! or none at all.

use super::compose::Composer;
use super::value::Value;
use restride_canon::ir::{Canonical, Node, NodeId};
use restride_layout::Break;
use smallvec::SmallVec;

/// What the users of a node ask of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    /// Nobody uses it.
    Nothing,
    /// Its elements in row-major order.
    Order,
    /// Elements by their coordinates.
    Shape,
}

/// What the outputs and obligations of a graph need of each node.
pub(super) fn needs(graph: &Canonical) -> SmallVec<[Need; 16]> {
    let mut needs = SmallVec::from_elem(Need::Nothing, graph.len());
    let mut ask = |node: NodeId, need: Need| {
        let known: &mut Need = &mut needs[node.index()];
        *known = need.max(*known);
        *known
    };
    for check in graph.checks() {
        ask(check.node, Need::Order);
    }
    for output in graph.outputs() {
        let need = match output.layout {
            None => Need::Order,
            Some(_) => Need::Shape,
        };
        ask(output.node, need);
    }
    // Operands come before their users, so one backward pass sees every user first.
    for (id, node, _) in graph.nodes().rev() {
        match (ask(id, Need::Nothing), reshaped(node)) {
            (Need::Nothing, _) => {}
            (Need::Order, Some(x)) => {
                ask(x, Need::Order);
            }
            (Need::Order | Need::Shape, _) => node.operands(|x| {
                ask(x, Need::Shape);
            }),
        }
    }
    needs
}

/// The operand of a node that keeps the row-major order of its elements.
pub(super) fn reshaped(node: &Node) -> Option<NodeId> {
    match node {
        Node::Collapse { x, .. } | Node::Expand { x, .. } => Some(*x),
        Node::Input { .. }
        | Node::Constant { .. }
        | Node::Fill { .. }
        | Node::Slice { .. }
        | Node::Permute { .. }
        | Node::Broadcast { .. }
        | Node::Concat { .. }
        | Node::Gather(_) => None,
    }
}

impl Composer<'_> {
    /// The value of fewest pieces whose elements are, in row-major order, those of a node.
    pub(super) fn in_order(&self, mut id: NodeId) -> Result<&Value, Break> {
        let mut best: Option<&Value> = None;
        loop {
            if let Some(value) = self.composed(id)
                && best.is_none_or(|best| value.parts().len() < best.parts().len())
            {
                best = Some(value);
            }
            match reshaped(self.graph.node(id)) {
                Some(x) if best.is_none_or(|best| best.parts().len() > 1) => id = x,
                Some(_) | None => return best.ok_or(Break::NoChain),
            }
        }
    }
}
