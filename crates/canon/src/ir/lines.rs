//! Nodes as the lines that they are printed, drawn and explained as.

use super::{Canonical, Node, NodeId, Type, chain::composed, chain_of};
use restride_budget::Meter;
use restride_graph::Shape;
use restride_layout::{Layout, View};
use smallvec::SmallVec;
use std::collections::HashMap;

/// A line of the text, named by its place.
#[derive(Clone, Debug)]
pub struct TextLine<'c> {
    /// What it says of its operands.
    pub said: Said<'c>,
    /// The lines of its operands, in order.
    pub operands: SmallVec<[usize; 4]>,
    /// The type of its value.
    pub ty: Type,
}

/// What a line says.
#[derive(Clone, Debug)]
pub enum Said<'c> {
    /// All of a node: it is no view, or a layout that is no chain, of which there is none.
    Node(&'c Node),
    /// A step of the chain that a view is.
    View(View),
    /// All of a view, which the steps that follow are not composed with.
    Whole,
}

/// The lines of a graph.
struct Listing<'c> {
    graph: &'c Canonical,
    lines: Vec<TextLine<'c>>,
    /// The last line of each node so far.
    last: Vec<usize>,
    /// Views of which chains begin alike begin with the same lines. Nothing for all of a view.
    known: HashMap<(usize, Option<View>), usize>,
}

impl Canonical {
    /// The lines of all nodes, and the last line of each node, which holds its value.
    #[must_use]
    pub fn lines(&self) -> (Vec<TextLine<'_>>, Vec<usize>) {
        let mut listing = Listing {
            graph: self,
            lines: Vec::new(),
            last: Vec::with_capacity(self.len()),
            known: HashMap::new(),
        };
        for (_, node, ty) in self.nodes() {
            let line = match node {
                Node::View { x, layout } => listing.view(*x, layout),
                Node::Input { .. }
                | Node::Constant { .. }
                | Node::Gather(_)
                | Node::Concat { .. }
                | Node::Fill { .. } => None,
            };
            let line = line.unwrap_or_else(|| {
                let mut operands = SmallVec::new();
                node.operands(|x| operands.push(listing.last[x.index()]));
                listing.push(Said::Node(node), operands, ty.clone())
            });
            listing.last.push(line);
        }
        (listing.lines, listing.last)
    }

    /// Whether the first step of a chain would be taken for one more of the view below it.
    fn goes_on(&self, below: NodeId, chain: &[View]) -> bool {
        let Node::View { x, layout } = self.node(below) else {
            return false;
        };
        let source = &self.ty(*x).shape;
        let first = chain.first();
        first.is_none_or(|step| composed(layout, source, step, &Meter::unlimited()).is_ok())
    }
}

impl<'c> Listing<'c> {
    /// The last line of a view of `x`.
    fn view(&mut self, x: NodeId, layout: &Layout) -> Option<usize> {
        let source = self.graph.ty(x);
        let chain = chain_of(layout, &source.shape, &Meter::unlimited()).ok()?;
        let mut line = self.last[x.index()];
        if self.graph.goes_on(x, &chain) {
            line = self.step(line, None, source.clone());
        }
        for step in chain {
            let shape = step.shape(&self.lines[line].ty.shape).ok()?;
            let ty = Type {
                element: source.element,
                shape: Shape::from_slice(&shape),
            };
            line = self.step(line, Some(step), ty);
        }
        Some(line)
    }

    fn step(&mut self, of: usize, step: Option<View>, ty: Type) -> usize {
        let key = (of, step);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let said = key.1.clone().map_or(Said::Whole, Said::View);
        let line = self.push(said, SmallVec::from_elem(of, 1), ty);
        self.known.insert(key, line);
        line
    }

    fn push(&mut self, said: Said<'c>, operands: SmallVec<[usize; 4]>, ty: Type) -> usize {
        self.lines.push(TextLine { said, operands, ty });
        self.lines.len() - 1
    }
}
