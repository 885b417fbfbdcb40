//! The end: what nobody uses is dropped, and nodes are numbered in the one order.
//!
//! Inputs come first, in their order. Then each node as late as its first user allows: depth
//! first, operands in order, from the obligations and then the outputs.

use super::{Engine, Result};
use crate::ir::{Builder, Canonical, Check, Coordinate, Gather, Index, IrError, Node, NodeId};
use crate::rules::dead_nodes;
use smallvec::SmallVec;

impl Engine<'_> {
    /// The finished graph, and whether a chain was cut on the way.
    pub(crate) fn finish(mut self) -> Result<(Canonical, bool)> {
        let cuts = self.cuts;
        Ok((self.numbered()?, cuts))
    }

    fn numbered(&mut self) -> Result<Canonical> {
        let builder = std::mem::take(&mut self.builder);
        let draft = builder.finish();
        let order = order(&draft);
        let dead = draft.len() - order.len();
        if dead > 0 {
            let (before, after) = (draft.len() as u64, order.len() as u64);
            self.fired(&dead_nodes::RULE, [before, 0, 0], [after, 0, 0], || {
                format!("{dead} nodes are used by no output and no obligation")
            })?;
        }
        let sorted = order
            .iter()
            .enumerate()
            .all(|(at, node)| node.index() == at);
        if dead == 0 && sorted {
            return Ok(draft);
        }
        Ok(renumber(&draft, &order)?)
    }
}

fn order(draft: &Canonical) -> Vec<NodeId> {
    let mut order = Vec::with_capacity(draft.len());
    let mut seen = vec![false; draft.len()];
    for input in draft.inputs() {
        seen[input.node.index()] = true;
        order.push(input.node);
    }
    let checks = draft.checks().iter().map(|check| check.node);
    let outputs = draft.outputs().iter().map(|output| output.node);
    // A stack instead of recursion: chains may be as long as the graph. A node is pushed once to
    // be opened and once more, below its operands, to be numbered.
    let mut stack: SmallVec<[(NodeId, bool); 16]> = SmallVec::new();
    for root in checks.chain(outputs) {
        stack.push((root, false));
        while let Some((node, opened)) = stack.pop() {
            if opened {
                order.push(node);
            } else if !seen[node.index()] {
                seen[node.index()] = true;
                stack.push((node, true));
                let first = stack.len();
                draft.node(node).operands(|operand| {
                    if !seen[operand.index()] {
                        stack.push((operand, false));
                    }
                });
                stack[first..].reverse();
            }
        }
    }
    order
}

fn renumber(draft: &Canonical, order: &[NodeId]) -> std::result::Result<Canonical, IrError> {
    let mut builder = Builder::new();
    let mut new: Vec<Option<NodeId>> = vec![None; draft.len()];
    let of = |new: &[Option<NodeId>], node: NodeId| {
        new[node.index()].ok_or(IrError::NoSuchNode { node })
    };
    for &node in order {
        let ty = draft.ty(node);
        let made = match draft.node(node) {
            Node::Input { ordinal } => {
                let layout = draft.inputs()[*ordinal as usize].layout.clone();
                builder.input(ty.element, &ty.shape, layout)
            }
            Node::Constant { bytes } => builder.constant(ty.element, &ty.shape, bytes.clone()),
            Node::Slice { x, spans } => builder.slice(of(&new, *x)?, spans),
            Node::Permute { x, perm } => builder.permute(of(&new, *x)?, perm),
            Node::Collapse { x, groups } => builder.collapse(of(&new, *x)?, groups),
            Node::Expand { x, groups } => builder.expand(of(&new, *x)?, groups, &ty.shape),
            Node::Broadcast { x } => builder.broadcast(of(&new, *x)?, &ty.shape),
            Node::Gather(gather) => {
                let (data, coordinates) = renamed(gather, |node| of(&new, node))?;
                builder.gather(data, &coordinates)
            }
            Node::Concat { parts, axis } => {
                let parts: std::result::Result<SmallVec<[_; 4]>, _> =
                    parts.iter().map(|part| of(&new, *part)).collect();
                builder.concat(&parts?, *axis)
            }
            Node::Fill { bits } => builder.fill(ty.element, &ty.shape, *bits),
        };
        new[node.index()] = Some(made?);
    }
    for check in draft.checks() {
        let node = of(&new, check.node)?;
        builder.check(Check {
            node,
            ..check.clone()
        })?;
    }
    for output in draft.outputs() {
        builder.output(of(&new, output.node)?, output.layout.clone())?;
    }
    Ok(builder.finish())
}

type Renamed = (NodeId, SmallVec<[Coordinate; 3]>);

fn renamed(
    gather: &Gather,
    of: impl Fn(NodeId) -> std::result::Result<NodeId, IrError>,
) -> std::result::Result<Renamed, IrError> {
    let rename = |coordinate: &Coordinate| {
        Ok(match coordinate {
            Coordinate::Output(output) => Coordinate::Output(*output),
            Coordinate::Index(index) => Coordinate::Index(Index {
                node: of(index.node)?,
                ..index.clone()
            }),
        })
    };
    let coordinates: std::result::Result<_, IrError> =
        gather.coordinates.iter().map(rename).collect();
    Ok((of(gather.data)?, coordinates?))
}
