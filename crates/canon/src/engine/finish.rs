//! The end: values become nodes.

use super::base::{Base, Held};
use super::{Demand, Engine, PendingCoordinate, PendingGather, Result, Value, ValueSource};
use crate::CanonError;
use crate::ir::{Builder, Canonical, Coordinate, Index, IrError, Node, NodeId, Obligation, Places};
use crate::rules::{dead_nodes, view_chain};
use crate::trace::few;
use restride_graph::ValueId;
use smallvec::SmallVec;

type Flags = SmallVec<[bool; 16]>;

struct Finish<'e, 't> {
    engine: &'e mut Engine<'t>,
    builder: Builder,
    /// The node of each base that is needed.
    nodes: SmallVec<[Option<NodeId>; 16]>,
    /// The views that were made, and what for: kept for the trace.
    views: Vec<(NodeId, ValueId)>,
}

impl Engine<'_> {
    /// The finished graph, and whether a chain was cut on the way.
    pub(crate) fn finish(mut self) -> Result<(Canonical, bool)> {
        let bases = std::mem::take(&mut self.bases);
        let inputs = std::mem::take(&mut self.inputs);
        let checks = std::mem::take(&mut self.checks);
        let outputs = std::mem::take(&mut self.outputs);
        let cuts = self.cuts;
        let of_checks = checks.iter().map(|(value, _)| value);
        let roots = of_checks.chain(outputs.iter().map(|output| &output.value));
        let needed = needed(&bases, inputs.len(), roots);
        let mut finish = Finish {
            engine: &mut self,
            builder: Builder::new(),
            nodes: SmallVec::from_elem(None, bases.len()),
            views: Vec::new(),
        };
        for (base, layout) in inputs {
            let ty = &bases[base.index()].ty;
            let node = finish.builder.input(ty.element, &ty.shape, layout)?;
            finish.nodes[base.index()] = Some(node);
        }
        for (place, held) in bases.iter().enumerate() {
            if needed[place] && finish.nodes[place].is_none() {
                finish.nodes[place] = Some(finish.base(&bases, held)?);
            }
        }
        for (value, demand) in &checks {
            let &Demand {
                limit,
                wrap,
                op,
                column,
                columns,
            } = demand;
            let node = finish.node(&bases, value, ValueId::from_u32(op))?;
            finish.builder.check(Obligation {
                node,
                limit,
                wrap,
                op,
                column,
                columns,
            })?;
        }
        for output in &outputs {
            let node = finish.node(&bases, &output.value, output.on)?;
            let (layout, views) = (output.layout.clone(), output.views);
            finish.builder.output_as(node, layout, views)?;
        }
        let unneeded = needed.iter().filter(|needed| !**needed).count();
        let (graph, places) = finish.builder.finished();
        let mut views = finish.views;
        views.sort_by_key(|(made, _)| places[made.index()]);
        self.tell(&graph, &views, &places);
        if unneeded > 0 {
            let (all, dead) = (bases.len() as u64, unneeded as u64);
            let why = || {
                let dead = few(dead, "value is used", "values are used");
                format!("{dead} by no output and no obligation")
            };
            self.fired(&dead_nodes::RULE, [all, 0, 0], [all - dead, 0, 0], why)?;
        }
        Ok((graph, cuts))
    }

    /// Tells the trace which views are left.
    fn tell(&mut self, graph: &Canonical, views: &[(NodeId, ValueId)], places: &Places) {
        if views.is_empty() {
            return;
        }
        let (on_last, (_, last)) = (self.on, graph.lines());
        for &(made, on) in views {
            let Some(Node::View { x, layout }) = places[made.index()].map(|id| graph.node(id))
            else {
                continue;
            };
            let Ok(chain) = self.chain_of(layout, &graph.ty(*x).shape) else {
                continue;
            };
            self.turn_to(on);
            self.note(view_chain::RULE.name, || {
                let views = few(chain.len() as u64, "view", "views");
                format!("{layout} over %{} is {views}", last[x.index()])
            });
        }
        self.turn_to(on_last);
    }
}

/// Which bases an output or an obligation needs; inputs are kept in any case. Operands of bases
/// come before them.
fn needed<'v>(bases: &[Held], inputs: usize, roots: impl Iterator<Item = &'v Value>) -> Flags {
    let mut needed = Flags::from_elem(false, bases.len());
    let need = |needed: &mut Flags, value: &Value| {
        if let ValueSource::View { base, .. } = &value.source {
            needed[base.index()] = true;
        }
    };
    needed[..inputs].fill(true);
    roots.for_each(|value| need(&mut needed, value));
    for (place, held) in bases.iter().enumerate().rev() {
        if needed[place] {
            held.base.operands(|value| need(&mut needed, value));
        }
    }
    needed
}

impl Finish<'_, '_> {
    /// The node of a base whose operands have theirs.
    fn base(&mut self, bases: &[Held], held: &Held) -> Result<NodeId> {
        self.engine.meter.things(1, 500, 300);
        self.engine.meter.check()?;
        let Held { base, ty, on } = held;
        let node = match base {
            Base::Input(_) => {
                return Err(CanonError::Operator {
                    op: "input",
                    what: "it is not among the graph's inputs",
                });
            }
            Base::Constant(bytes) => {
                let bytes = bytes.clone();
                self.builder.constant(ty.element, &ty.shape, bytes)?
            }
            Base::Gather(gather) => {
                let data = self.node(bases, &gather.data, *on)?;
                let coordinates = self.coordinates(bases, gather, *on)?;
                self.builder.gather(data, &coordinates)?
            }
            Base::Concat { parts, axis } => {
                let mut operands: SmallVec<[NodeId; 8]> = SmallVec::new();
                for part in parts {
                    operands.push(self.node(bases, part, *on)?);
                }
                // An axis of a tensor: below 32.
                self.builder.concat(&operands, *axis as u8)?
            }
            Base::Cut(value) => self.node(bases, value, *on)?,
        };
        Ok(node)
    }

    fn coordinates(
        &mut self,
        bases: &[Held],
        gather: &PendingGather,
        on: ValueId,
    ) -> Result<SmallVec<[Coordinate; 3]>> {
        let coordinate = |coordinate: &PendingCoordinate| {
            Ok(match coordinate {
                PendingCoordinate::Output(output) => Coordinate::Output(*output),
                PendingCoordinate::Index(index) => Coordinate::Index(Index {
                    node: self.node(bases, &index.value, on)?,
                    outputs: index.outputs.clone(),
                    wrap: index.wrap,
                    policy: index.policy,
                }),
            })
        };
        gather.coordinates.iter().map(coordinate).collect()
    }

    /// The node of a value that `on` uses, whose base has its node.
    fn node(&mut self, bases: &[Held], value: &Value, on: ValueId) -> Result<NodeId> {
        let meter = self.engine.meter;
        meter.things(1, 300, 200);
        meter.check()?;
        let (base, layout) = match &value.source {
            ValueSource::Fill(fill) => {
                let node = self.builder.fill(value.element, &fill.shape, fill.bits)?;
                return Ok(node);
            }
            ValueSource::View { base, layout } => (*base, layout),
        };
        let below = self.nodes[base.index()].ok_or(IrError::NoParts)?;
        let Held { base, ty, .. } = &bases[base.index()];
        let mut node = below;
        match base {
            // What composes with the first part of a cut chain belongs to it.
            Base::Cut(_) => {
                for step in self.engine.chain_of(layout, &ty.shape)? {
                    node = self.builder.view_within(node, &step, meter)?;
                }
            }
            Base::Input(_) | Base::Constant(_) | Base::Gather(_) | Base::Concat { .. } => {
                node = self.builder.shown(node, layout.clone())?;
            }
        }
        if self.engine.traces() {
            self.remember(node, on);
        }
        Ok(node)
    }

    /// Keeps a view for the trace, after those below it.
    fn remember(&mut self, node: NodeId, on: ValueId) {
        if let Node::View { x, .. } = self.builder.graph().node(node) {
            let below = *x;
            let is_view = matches!(self.builder.graph().node(below), Node::View { .. });
            if is_view && !self.views.iter().any(|(known, _)| *known == below) {
                self.remember(below, on);
            }
            self.views.push((node, on));
        }
    }
}

impl Base {
    /// Calls `see` with every operand, in order.
    fn operands<'b>(&'b self, mut see: impl FnMut(&'b Value)) {
        match self {
            Self::Input(_) | Self::Constant(_) => {}
            Self::Gather(gather) => {
                see(&gather.data);
                gather.indices().for_each(|index| see(&index.value));
            }
            Self::Concat { parts, .. } => parts.iter().for_each(see),
            Self::Cut(value) => see(value),
        }
    }
}
