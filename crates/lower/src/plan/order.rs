//! What is only written out needs no shape.
//!
//! A reshape keeps the row-major order of its elements. So a dense copy of a reshape is a dense
//! copy of its operand, which may be one piece where the reshape, cut at its new sizes, is many
//! or none at all.

use super::compose::Composer;
use super::value::Unmoved;
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
        match (ask(id, Need::Nothing), node) {
            (Need::Nothing, _) => {}
            // What lies in order is read where the layout of the view says.
            (_, Node::View { x, .. }) if dense_input(graph, *x).is_some() => {}
            (Need::Order, _) if let Some(x) = reshaped(graph, id) => {
                ask(x, Need::Order);
            }
            (Need::Order | Need::Shape, _) => node.operands(|x| {
                ask(x, Need::Shape);
            }),
        }
    }
    needs
}

/// The number of an input that lies in row-major order.
pub(super) fn dense_input(graph: &Canonical, id: NodeId) -> Option<u32> {
    match graph.node(id) {
        Node::Input { ordinal } => {
            let input = graph.inputs().get(*ordinal as usize)?;
            input.layout.is_none().then_some(*ordinal)
        }
        Node::Constant { .. }
        | Node::View { .. }
        | Node::Fill { .. }
        | Node::Concat { .. }
        | Node::Gather(_) => None,
    }
}

/// The operand of which a node has all elements in row-major order.
fn reshaped(graph: &Canonical, id: NodeId) -> Option<NodeId> {
    match graph.node(id) {
        Node::View { x, layout } => {
            let all = || graph.ty(*x).count() == graph.ty(id).count();
            (layout.is_dense() && all()).then_some(*x)
        }
        Node::Input { .. }
        | Node::Constant { .. }
        | Node::Fill { .. }
        | Node::Concat { .. }
        | Node::Gather(_) => None,
    }
}

impl Composer<'_> {
    /// The value of fewest pieces whose elements are, in row-major order, those of a node.
    pub(super) fn in_order(&self, mut id: NodeId) -> Result<&Unmoved, Break> {
        let mut best: Option<&Unmoved> = None;
        loop {
            for value in [self.composed(id), self.in_order.get(&id)] {
                if let Some(value) = value
                    && best.is_none_or(|best| value.parts().len() < best.parts().len())
                {
                    best = Some(value);
                }
            }
            match best {
                Some(best) if best.parts().len() <= 1 => return Ok(best),
                Some(_) | None => {}
            }
            match reshaped(self.graph, id) {
                Some(x) => id = x,
                None => return best.ok_or(Break::NoChain),
            }
        }
    }
}
