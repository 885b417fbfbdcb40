//! The one order of nodes, which the text has as well.

use super::{Canonical, Node, NodeId, Type};
use crate::memo::Memo;
use restride_graph::{ElementType, Shape};
use smallvec::SmallVec;

/// The place that each node has come to, if it is needed.
pub(crate) type Places = SmallVec<[Option<NodeId>; 8]>;

type Order = SmallVec<[NodeId; 16]>;

impl Canonical {
    /// The same graph in order, equal nodes once, and where each node has come to.
    pub(super) fn in_order(mut self) -> (Canonical, Places) {
        let order = self.order();
        let made = order.iter().enumerate();
        let mut memo = Memo::default();
        if order.len() == self.nodes.len() && made.clone().all(|(place, id)| place == id.index()) {
            let at = |place: u32| &self.nodes[place as usize];
            let inputs = self.inputs.len() as u32;
            if (inputs..order.len() as u32).all(|place| memo.find(place, at).is_none()) {
                return (self, order.into_iter().map(Some).collect());
            }
            memo = Memo::default();
        }
        let mut places = Places::from_elem(None, self.nodes.len());
        let mut nodes: Vec<(Node, Type)> = Vec::with_capacity(order.len());
        for (at, id) in made {
            let shape = Shape::new();
            let (element, gone) = (ElementType::U8, Node::Fill { bits: 0 });
            let gone = (gone, Type { element, shape });
            let (mut node, ty) = std::mem::replace(&mut self.nodes[id.index()], gone);
            node.rename(|x| places[x.index()].unwrap_or(x));
            let new = nodes.len() as u32;
            nodes.push((node, ty));
            let known = match at < self.inputs.len() {
                true => None,
                false => memo.find(new, |place: u32| &nodes[place as usize]),
            };
            if known.is_some() {
                nodes.pop();
            }
            places[id.index()] = Some(NodeId(known.unwrap_or(new)));
        }
        self.nodes = nodes;
        let rename = |x: &mut NodeId| *x = places[x.index()].unwrap_or(*x);
        self.inputs.iter_mut().for_each(|it| rename(&mut it.node));
        self.checks.iter_mut().for_each(|it| rename(&mut it.node));
        self.outputs.iter_mut().for_each(|it| rename(&mut it.node));
        (self, places)
    }

    /// The nodes that are needed, and inputs, in order. A stack instead of recursion, for chains
    /// may be as long as the graph.
    fn order(&self) -> Order {
        let mut order = Order::new();
        let mut seen: SmallVec<[bool; 16]> = SmallVec::from_elem(false, self.nodes.len());
        for input in &self.inputs {
            seen[input.node.index()] = true;
            order.push(input.node);
        }
        let mut tasks: SmallVec<[NodeId; 8]> = SmallVec::new();
        let roots = self.checks.iter().map(|check| check.node);
        for root in roots.chain(self.outputs.iter().map(|output| output.node)) {
            tasks.push(root);
            while let Some(&id) = tasks.last() {
                let before = tasks.len();
                if !seen[id.index()] {
                    self.nodes[id.index()].0.operands(|x| {
                        if !seen[x.index()] {
                            tasks.push(x);
                        }
                    });
                    tasks[before..].reverse();
                }
                if tasks.len() == before {
                    tasks.pop();
                    if !std::mem::replace(&mut seen[id.index()], true) {
                        order.push(id);
                    }
                }
            }
        }
        order
    }
}

impl Node {
    /// Gives every operand another name.
    fn rename(&mut self, to: impl Fn(NodeId) -> NodeId) {
        match self {
            Self::Input { .. } | Self::Constant { .. } | Self::Fill { .. } => {}
            Self::View { x, .. } => *x = to(*x),
            Self::Gather(gather) => {
                gather.data = to(gather.data);
                for coordinate in &mut gather.coordinates {
                    if let super::Coordinate::Index(index) = coordinate {
                        index.node = to(index.node);
                    }
                }
            }
            Self::Concat { parts, .. } => parts.iter_mut().for_each(|x| *x = to(*x)),
        }
    }
}
