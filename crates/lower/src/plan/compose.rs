//! From the canonical graph to values made of pieces, and from those to stages.
//!
//! Nothing is moved until it must be: a view of what lies in memory is the piece that its layout
//! says, a view of anything else changes its pieces, a concat puts them side by side, a gather
//! gives them index columns. Only where that has no answer is the operand written to a temporary,
//! once, and then every later use reads that.

use super::order::{Need, dense_input, needs};
use super::value::{Reads, Unmoved, is_strided, kept};
use super::{Destination, IndexCheck, Plan, PlanConstant, Source, Stage};
use restride_budget::{Meter, Stage as Spender, TooCostly};
use restride_canon::ir::{Canonical, Node, NodeId, Obligation, chain_of};
use restride_graph::{ElementType, ViewPolicy};
use restride_layout::{Break, Cover, Layout, Piece, View};
use smallvec::SmallVec;
use std::collections::BTreeMap;

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
    let needs = needs(graph);
    composer.inputs(&needs)?;
    for (id, node, _) in graph.nodes().skip(graph.inputs().len()) {
        meter.check()?;
        let need = needs[id.index()];
        let value = composer.node(id, node, need);
        let value = value.map_err(|reason| PlanError::Node { node: id, reason })?;
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

pub(super) struct Composer<'g> {
    pub(super) graph: &'g Canonical,
    pub(super) plan: Plan,
    pub(super) meter: &'g Meter,
    values: Vec<Option<Unmoved>>,
    /// Values of fewer pieces than a node's own, of which the elements are its in row-major order.
    pub(super) in_order: BTreeMap<NodeId, Unmoved>,
}

impl<'g> Composer<'g> {
    fn new(graph: &'g Canonical, meter: &'g Meter) -> Self {
        Composer {
            graph,
            meter,
            plan: Plan {
                inputs: SmallVec::with_capacity(graph.inputs().len()),
                outputs: SmallVec::with_capacity(graph.outputs().len()),
                constants: Vec::new(),
                checks: Vec::with_capacity(graph.checks().len()),
                stages: SmallVec::with_capacity(graph.outputs().len()),
                answers: SmallVec::with_capacity(graph.outputs().len()),
            },
            values: std::iter::repeat_with(|| None).take(graph.len()).collect(),
            in_order: BTreeMap::new(),
        }
    }

    /// Counts pieces that a view takes or leaves: each is cut before it is known which.
    fn look_through(&self, value: &Unmoved) {
        let rank = value.shape().len() as u64;
        self.meter.things(value.parts().len(), 300 + 120 * rank, 0);
    }

    /// Counts pieces that were made, and looked through for some that go on where others end.
    pub(super) fn spend(&self, value: &Unmoved) {
        let pieces = value.parts().len();
        let looks = pieces.min(restride_layout::MAX_PIECES) as u64;
        let rank = value.shape().len() as u64;
        let work = 300 + 90 * rank + 8 * looks;
        self.meter.things(pieces, work, 330);
        // A digit or more an axis; and what gathers add to a piece: for each a stride of every digit, and
        // what is known of it.
        let through = |(piece, reads): &(Piece, Reads)| {
            let (digits, indices) = (piece.digits().len(), reads.indices().len());
            [digits.max(rank as usize), indices, digits * indices]
        };
        let sum = |all: [usize; 3], one: [usize; 3]| [0, 1, 2].map(|k| all[k] + one[k]);
        let [digits, indices, strides] = value.parts().iter().map(through).fold([0; 3], sum);
        self.meter.things(digits, 0, 80);
        self.meter.things(indices, 20, 200);
        self.meter.things(strides, 2, 16);
    }

    /// What is known of an operand. It has been composed: operands come before their users.
    pub(super) fn value(&self, id: NodeId) -> Result<&Unmoved, Break> {
        self.composed(id).ok_or(Break::NoChain)
    }

    /// What is known of a node that may be known by its operand only.
    pub(super) fn composed(&self, id: NodeId) -> Option<&Unmoved> {
        self.values[id.index()].as_ref()
    }

    /// Inputs come before all other nodes. Those that are dense may be needed by none but views.
    fn inputs(&mut self, needs: &[Need]) -> Result<(), PlanError> {
        for (number, input) in self.graph.inputs().iter().enumerate() {
            let reason = |reason| PlanError::Layout {
                what: "input",
                number,
                reason,
            };
            let ty = self.graph.ty(input.node);
            if needs[input.node.index()] == Need::Nothing && input.layout.is_none() {
                self.plan.inputs.push((ty.element, ty.count()));
                continue;
            }
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

    /// What a node is, if it is pieces: what only its elements are wanted of need not be.
    fn node(&mut self, id: NodeId, node: &Node, need: Need) -> Result<Option<Unmoved>, Break> {
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
            Node::View { x, layout } => {
                let below = self.composed(*x).and_then(Cover::dense_body).cloned();
                let input = || dense_input(self.graph, *x).map(Source::Input);
                return match below.or_else(|| input().map(Reads::plainly)) {
                    Some(reads) => Ok(Some(Cover::of_layout(layout, reads))),
                    None => self.view(id, *x, layout, need),
                };
            }
        }
        .map(Some)
    }

    /// A view of what is not a dense tensor, step by step. Steps at the end that keep the order of
    /// the elements may break where only that is wanted.
    fn view(
        &mut self,
        id: NodeId,
        x: NodeId,
        layout: &Layout,
        need: Need,
    ) -> Result<Option<Unmoved>, Break> {
        let element = self.graph.ty(x).element;
        let chain = chain_of(layout, &self.graph.ty(x).shape, self.meter)?;
        let reshapes = |step: &&View| matches!(step, View::Collapse { .. } | View::Expand { .. });
        let last = chain.len() - chain.iter().rev().take_while(reshapes).count();
        // What the steps so far show: of fewest pieces in this order, and last. Nothing for `x`.
        let (mut fewest, mut value): (Option<Unmoved>, Option<Unmoved>) = (None, None);
        for (at, step) in chain.iter().enumerate() {
            let next = match value.as_ref().or(self.composed(x)) {
                Some(of) => {
                    self.look_through(of);
                    of.view(step)
                }
                None => Err(Break::NoChain),
            };
            let next = match next {
                Ok(next) => next,
                Err(_) if at >= last && need == Need::Order => {
                    let fewest = fewer(fewest, value);
                    self.in_order.extend(fewest.map(|fewest| (id, fewest)));
                    return Ok(None);
                }
                Err(reason) => {
                    let reason = || format!("a view of it has {reason}");
                    fewest = None;
                    match value.take() {
                        None => {
                            self.materialise(x, reason)?;
                            self.value(x)?.view(step)?
                        }
                        Some(of) => {
                            self.spend(&of);
                            let of = self.temporary(element, &of, of.shape(), reason)?;
                            of.view(step)?
                        }
                    }
                }
            };
            // What the last step shows is counted where all values are.
            if at + 1 < chain.len() {
                self.spend(&next);
            }
            let before = value.replace(next);
            if at >= last {
                fewest = fewer(fewest, before);
            }
        }
        let Some(value) = value else {
            return self.value(x).cloned().map(Some);
        };
        let fewer = fewest.filter(|fewest| fewest.parts().len() < value.parts().len());
        self.in_order.extend(fewer.map(|fewest| (id, fewest)));
        Ok(Some(value))
    }

    fn concat(&mut self, parts: &[NodeId], axis: usize) -> Result<Unmoved, Break> {
        loop {
            let mut values: SmallVec<[&Unmoved; 4]> = SmallVec::new();
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

    /// As [`materialise`](Self::materialise), or else what it shows windows of, which has far fewer
    /// elements.
    pub(super) fn settle(
        &mut self,
        id: NodeId,
        reason: impl FnOnce() -> String,
    ) -> Result<(), Break> {
        if let Node::View { x, layout } = self.graph.node(id)
            && layout.overlaps()
            && (self.composed(*x)).is_some_and(|of| of.dense_body().is_none())
        {
            self.materialise(*x, reason)?;
            if let Some(reads) = self.value(*x)?.dense_body().cloned() {
                self.values[id.index()] = Some(Cover::of_layout(layout, reads));
            }
            return Ok(());
        }
        self.materialise(id, reason)
    }

    /// Writes a value to a temporary; from now on it is read from there.
    pub(super) fn materialise(
        &mut self,
        id: NodeId,
        reason: impl FnOnce() -> String,
    ) -> Result<(), Break> {
        let ty = self.graph.ty(id);
        let in_order = self.in_order(id)?.clone();
        self.spend(&in_order);
        let value = self.temporary(ty.element, &in_order, &ty.shape, reason)?;
        self.values[id.index()] = Some(value);
        Ok(())
    }

    /// A temporary of this shape that holds the elements of a value in order.
    fn temporary(
        &mut self,
        element: ElementType,
        in_order: &Unmoved,
        shape: &[i64],
        reason: impl FnOnce() -> String,
    ) -> Result<Unmoved, Break> {
        let stage = Stage {
            destination: Destination::Scratch,
            element,
            count: shape.iter().product(),
            pieces: super::finish::pieces(in_order, None)?,
            reason: Some(kept(reason())),
        };
        let source = Source::Stage(self.plan.stages.len() as u32);
        self.plan.stages.push(stage);
        Cover::dense(shape, Reads::plainly(source))
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

    fn check(&mut self, check: &Obligation) -> Result<(), PlanError> {
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

/// The one of fewer pieces, or the second.
fn fewer(a: Option<Unmoved>, b: Option<Unmoved>) -> Option<Unmoved> {
    match (&a, &b) {
        (Some(one), Some(other)) if one.parts().len() < other.parts().len() => a,
        (_, Some(_)) => b,
        (_, None) => a,
    }
}
