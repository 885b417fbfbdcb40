//! From the canonical graph to values made of pieces, and from those to stages.
//!
//! Nothing is moved until it must be: a view changes the pieces of its operand, a concat puts
//! them side by side, a gather gives them index columns. Only where that has no answer is the
//! operand written to a temporary, once, and then every later use reads that.

use super::order::{Need, needs, reshaped};
use super::value::{Reads, Value, is_strided};
use super::{Destination, IndexCheck, Plan, PlanConstant, Source, Stage};
use restride_budget::{Meter, Stage as Spender, TooCostly};
use restride_canon::ir::{Canonical, Check, Node, NodeId, Type};
use restride_graph::ViewPolicy;
use restride_layout::{Axes, Break, Cover, Piece, Sizes, View};
use smallvec::SmallVec;

/// What a plan may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PlanOptions {
    /// Which views may answer an output, if the graph is content with them too.
    pub views: ViewPolicy,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It would take more than the compile may spend.
    #[error(transparent)]
    TooCostly(#[from] TooCostly),
    /// The layout of an input or output has addresses that do not fit.
    #[error("{what} {number}: {reason}")]
    Layout {
        /// "input" or "output".
        what: &'static str,
        /// Which.
        number: usize,
        /// What does not fit.
        reason: Break,
    },
    /// A node that has no pieces even over temporaries. No canonical graph leads here.
    #[error("{node}: {reason}")]
    Node {
        /// The node.
        node: NodeId,
        /// Why.
        reason: Break,
    },
}

/// Composes a canonical graph, if the meter lets it.
pub fn plan(graph: &Canonical, options: PlanOptions, meter: &Meter) -> Result<Plan, PlanError> {
    meter.enter(Spender::Plan);
    let mut composer = Composer::new(graph, meter);
    composer.inputs()?;
    let needs = needs(graph);
    for (id, node, _) in graph.nodes() {
        // Inputs are there.
        if composer.values[id.index()].is_some() {
            continue;
        }
        meter.check()?;
        let value = match (needs[id.index()], viewed(node, graph.ty(id))) {
            (Need::Nothing, _) => None,
            // Without pieces of its own it is written from those of what it is made of.
            (Need::Order, Some((x, view))) if reshaped(node).is_some() => {
                composer.composed(x).and_then(|x| x.view(&view).ok())
            }
            (Need::Order | Need::Shape, view) => {
                let value = match view {
                    Some((x, view)) => composer.view(x, &view),
                    None => composer.node(id, node),
                };
                Some(value.map_err(|reason| PlanError::Node { node: id, reason })?)
            }
        };
        if let Some(value) = &value {
            composer.spend(value);
        }
        composer.values[id.index()] = value;
    }
    for check in graph.checks() {
        composer.check(check)?;
        meter.check()?;
    }
    for (number, output) in graph.outputs().iter().enumerate() {
        let reason = |reason| PlanError::Layout {
            what: "output",
            number,
            reason,
        };
        composer.output(number, output, options).map_err(reason)?;
        meter.check()?;
    }
    Ok(composer.plan)
}

/// The operand of a view and the view, if a node is one.
fn viewed(node: &Node, ty: &Type) -> Option<(NodeId, View)> {
    let axes = |list: &[u8]| {
        let mut axes = Axes::new();
        list.iter().for_each(|&n| axes.push(n.into()));
        axes
    };
    match node {
        Node::Slice { x, spans } => Some((*x, View::Slice(SmallVec::from_slice(spans)))),
        Node::Permute { x, perm } => Some((*x, View::Permute(axes(perm)))),
        Node::Collapse { x, groups } => {
            let groups = axes(groups);
            Some((*x, View::Collapse { groups }))
        }
        Node::Expand { x, groups } => {
            let (groups, sizes) = (axes(groups), Sizes::from_slice(&ty.shape));
            Some((*x, View::Expand { groups, sizes }))
        }
        Node::Broadcast { x } => {
            let sizes = Sizes::from_slice(&ty.shape);
            Some((*x, View::Broadcast { sizes }))
        }
        Node::Input { .. }
        | Node::Constant { .. }
        | Node::Fill { .. }
        | Node::Concat { .. }
        | Node::Gather(_) => None,
    }
}

pub(super) struct Composer<'g> {
    pub(super) graph: &'g Canonical,
    pub(super) plan: Plan,
    pub(super) meter: &'g Meter,
    values: Vec<Option<Value>>,
}

impl<'g> Composer<'g> {
    fn new(graph: &'g Canonical, meter: &'g Meter) -> Self {
        Composer {
            graph,
            meter,
            plan: Plan {
                inputs: Vec::with_capacity(graph.inputs().len()),
                outputs: Vec::with_capacity(graph.outputs().len()),
                constants: Vec::new(),
                checks: Vec::with_capacity(graph.checks().len()),
                stages: Vec::with_capacity(graph.outputs().len()),
                answers: Vec::with_capacity(graph.outputs().len()),
            },
            values: std::iter::repeat_with(|| None).take(graph.len()).collect(),
        }
    }

    /// Counts pieces that were made, and looked through for some that go on where others end.
    pub(super) fn spend(&self, value: &Value) {
        let pieces = value.parts().len();
        let looks = pieces.min(restride_layout::MAX_PIECES) as u64;
        let rank = value.shape().len() as u64;
        let work = 150 + 40 * rank + 4 * looks;
        self.meter.things(pieces, work, 250 + 60 * rank);
        // What gathers add to a piece: for each a stride of every digit, and what is known of it.
        let through = |(piece, reads): &(Piece, Reads)| {
            let indices = reads.indices().len();
            (indices, piece.digits().len() * indices)
        };
        let sum = |(indices, strides), (i, s)| (indices + i, strides + s);
        let (indices, strides) = value.parts().iter().map(through).fold((0, 0), sum);
        self.meter.things(indices, 20, 200);
        self.meter.things(strides, 2, 16);
    }

    /// What is known of an operand. It has been composed: operands come before their users.
    pub(super) fn value(&self, id: NodeId) -> Result<&Value, Break> {
        self.composed(id).ok_or(Break::NoChain)
    }

    /// What is known of a node that may be known by its operand only.
    pub(super) fn composed(&self, id: NodeId) -> Option<&Value> {
        self.values[id.index()].as_ref()
    }

    fn inputs(&mut self) -> Result<(), PlanError> {
        for (number, input) in self.graph.inputs().iter().enumerate() {
            let reason = |reason| PlanError::Layout {
                what: "input",
                number,
                reason,
            };
            let ty = self.graph.ty(input.node);
            let reads = Reads::plainly(Source::Input(number as u32));
            let value = match &input.layout {
                None => Cover::dense(&ty.shape, reads),
                Some(at) => Cover::strided(&ty.shape, at.offset, &at.strides, reads),
            }
            .map_err(reason)?;
            let needed = match value.parts() {
                [(piece, _), ..] => piece.range(0).and_then(|(low, high)| match low >= 0 {
                    true => high.checked_add(1).ok_or(Break::Overflow),
                    false => Err(Break::Overflow),
                }),
                [] => Ok(0),
            }
            .map_err(reason)?;
            self.plan.inputs.push((ty.element, needed));
            self.values[input.node.index()] = Some(value);
        }
        Ok(())
    }

    fn node(&mut self, id: NodeId, node: &Node) -> Result<Value, Break> {
        let ty = self.graph.ty(id);
        match node {
            Node::Input { .. } => self.value(id).cloned(),
            Node::Constant { bytes } => {
                let source = Source::Constant(self.plan.constants.len() as u32);
                self.plan.constants.push(PlanConstant {
                    element: ty.element,
                    bytes: bytes.clone(),
                });
                Cover::dense(&ty.shape, Reads::plainly(source))
            }
            Node::Fill { bits } => Cover::points(&ty.shape, Reads::Fill(*bits)),
            Node::Concat { parts, axis } => self.concat(parts, usize::from(*axis)),
            Node::Gather(gather) => self.gather(gather, &ty.shape),
            Node::Slice { .. }
            | Node::Permute { .. }
            | Node::Collapse { .. }
            | Node::Expand { .. }
            | Node::Broadcast { .. } => Err(Break::NoChain),
        }
    }

    fn view(&mut self, x: NodeId, view: &View) -> Result<Value, Break> {
        match self.value(x)?.view(view) {
            Ok(value) => Ok(value),
            Err(reason) => {
                self.materialise(x, || format!("a view of it has {reason}"))?;
                self.value(x)?.view(view)
            }
        }
    }

    fn concat(&mut self, parts: &[NodeId], axis: usize) -> Result<Value, Break> {
        loop {
            let mut values: SmallVec<[&Value; 4]> = SmallVec::new();
            for &part in parts {
                values.push(self.value(part)?);
            }
            let reason = match Cover::concat(&values, axis) {
                Ok(value) => return Ok(value),
                Err(reason) => reason,
            };
            let most = parts
                .iter()
                .zip(&values)
                .filter(|(_, v)| v.parts().len() > 1)
                .max_by_key(|(_, v)| v.parts().len())
                .map(|(&part, _)| part);
            drop(values);
            let Some(part) = most else { return Err(reason) };
            self.materialise(part, || format!("a concat of it has {reason}"))?;
        }
    }

    /// Writes a value to a temporary; from now on it is read from there.
    pub(super) fn materialise(
        &mut self,
        id: NodeId,
        reason: impl FnOnce() -> String,
    ) -> Result<(), Break> {
        let ty = self.graph.ty(id);
        let in_order = self.in_order(id)?;
        self.spend(in_order);
        let stage = Stage {
            destination: Destination::Scratch,
            element: ty.element,
            count: ty.count(),
            pieces: super::finish::pieces(in_order, None)?,
            reason: Some(reason()),
        };
        let source = Source::Stage(self.plan.stages.len() as u32);
        self.plan.stages.push(stage);
        self.values[id.index()] = Some(Cover::dense(&ty.shape, Reads::plainly(source))?);
        Ok(())
    }

    /// Lets what is filled be read, from constants of one element, so that it can be read or not.
    pub(super) fn read_fills(&mut self, id: NodeId) -> Result<(), Break> {
        let element = self.graph.ty(id).element;
        let value = self.value(id)?.clone();
        let mut parts: SmallVec<[_; 1]> = SmallVec::new();
        for (piece, reads) in value.parts() {
            let Reads::Fill(bits) = reads else {
                parts.push((piece.clone(), reads.clone()));
                continue;
            };
            let source = Source::Constant(self.plan.constants.len() as u32);
            let bytes = bits.to_le_bytes()[..element.width()].into();
            self.plan.constants.push(PlanConstant { element, bytes });
            // One column, which no digit moves.
            let piece = piece.with_sums(&[[]])?;
            parts.push((piece, Reads::plainly(source)));
        }
        self.values[id.index()] = Some(Cover::of_parts(value.shape(), parts)?);
        Ok(())
    }

    fn check(&mut self, check: &Check) -> Result<(), PlanError> {
        let fail = |reason| PlanError::Node {
            node: check.node,
            reason,
        };
        let value = self.in_order(check.node).map_err(fail)?;
        let whole = super::value::single(value).is_some_and(|(p, _)| p.is_total(value.shape()));
        if !whole && !value.parts().is_empty() {
            self.materialise(check.node, || {
                "an index check needs the whole tensor".into()
            })
            .map_err(fail)?;
        }
        let element = self.graph.ty(check.node).element;
        let value = self.in_order(check.node).map_err(fail)?;
        // Nothing to look at is always in range.
        let Some((piece, source)) = super::value::single(value) else {
            return Ok(());
        };
        // The digits of a whole piece stand in row-major order.
        let digits = piece.digits().iter().enumerate();
        let check = IndexCheck {
            source,
            element,
            offset: piece.offset(0),
            dims: digits
                .map(|(d, g)| (g.extent, piece.strides(d)[0]))
                .collect(),
            limit: check.limit,
            wrap: check.wrap,
            op: check.op,
            column: check.column,
            columns: check.columns,
        };
        self.plan.checks.push(check);
        Ok(())
    }

    /// Whether materialising a value would change how it can be read.
    pub(super) fn can_settle(&self, id: NodeId) -> Result<bool, Break> {
        Ok(!is_strided(self.value(id)?))
    }
}
