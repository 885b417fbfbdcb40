//! The end: values become nodes.
//!
//! Inputs come first, in their order. Then each node as late as its first user allows: depth
//! first, operands in order, from the obligations and then the outputs. What none of them needs
//! is never printed.

use super::base::{Base, BaseId, Held};
use super::memo::Memo;
use super::{Engine, PendingCoordinate, PendingGather, Result, Source, Value};
use crate::CanonError;
use crate::ir::{Builder, Canonical, Check, Coordinate, Index, IrError, NodeId};
use crate::rules::{dead_nodes, view_chain};
use crate::trace::few;
use restride_graph::ValueId;
use restride_layout::View;
use smallvec::SmallVec;

/// What is left to do for a root, last first: a stack instead of recursion, for chains may be as
/// long as the graph.
enum Task<'v> {
    /// The base of a value if it has no node yet, then its chain.
    Value(&'v Value),
    /// The operands of a base, then its node.
    Base(BaseId),
    /// The node of a base, of the operands that came last.
    Node(BaseId),
    /// The chain of a value whose base has its node.
    Chain(&'v Value),
}

struct Printer<'e, 't> {
    engine: &'e mut Engine<'t>,
    bases: &'e [Held],
    builder: Builder,
    /// The node of each base that has one.
    nodes: Vec<Option<NodeId>>,
    memo: Memo,
    /// Nodes of operands that wait for their user.
    operands: SmallVec<[NodeId; 8]>,
}

impl Engine<'_> {
    /// The finished graph, and whether a chain was cut on the way.
    pub(crate) fn finish(mut self) -> Result<(Canonical, bool)> {
        let bases = std::mem::take(&mut self.bases);
        let inputs = std::mem::take(&mut self.inputs);
        let checks = std::mem::take(&mut self.checks);
        let outputs = std::mem::take(&mut self.outputs);
        let cuts = self.cuts;
        let mut printer = Printer {
            engine: &mut self,
            bases: &bases,
            builder: Builder::new(),
            nodes: vec![None; bases.len()],
            memo: Memo::default(),
            operands: SmallVec::new(),
        };
        for (base, layout) in inputs {
            let ty = &bases[base.index()].ty;
            let node = printer.builder.input(ty.element, &ty.shape, layout)?;
            printer.nodes[base.index()] = Some(node);
        }
        for (value, demand) in &checks {
            let node = printer.root(value, ValueId::from_u32(demand.op))?;
            printer.builder.check(Check {
                node,
                limit: demand.limit,
                wrap: demand.wrap,
                op: demand.op,
                column: demand.column,
                columns: demand.columns,
            })?;
        }
        for output in &outputs {
            let node = printer.root(&output.value, output.on)?;
            let builder = &mut printer.builder;
            builder.output_as(node, output.layout.clone(), output.views)?;
        }
        Ok((printer.finished()?, cuts))
    }
}

impl<'e> Printer<'e, '_> {
    /// The node that holds a value.
    fn root(&mut self, value: &'e Value, on: ValueId) -> Result<NodeId> {
        let mut tasks: SmallVec<[Task<'e>; 8]> = SmallVec::new();
        tasks.push(Task::Value(value));
        while let Some(task) = tasks.pop() {
            self.engine.meter.check()?;
            match task {
                Task::Value(value) => {
                    tasks.push(Task::Chain(value));
                    if let Source::View { base, .. } = &value.source
                        && self.nodes[base.index()].is_none()
                    {
                        tasks.push(Task::Base(*base));
                    }
                }
                Task::Base(base) => {
                    tasks.push(Task::Node(base));
                    let first = tasks.len();
                    self.bases[base.index()].base.operands(|value| {
                        tasks.push(Task::Value(value));
                    });
                    tasks[first..].reverse();
                }
                Task::Node(base) => {
                    self.engine.turn_to(self.bases[base.index()].on);
                    let node = self.base(base)?;
                    self.nodes[base.index()] = Some(node);
                }
                Task::Chain(value) => {
                    let user = tasks.iter().rev().find_map(|task| match task {
                        Task::Node(base) => Some(self.bases[base.index()].on),
                        Task::Value(_) | Task::Base(_) | Task::Chain(_) => None,
                    });
                    self.engine.turn_to(user.unwrap_or(on));
                    let node = self.chain(value)?;
                    self.operands.push(node);
                }
            }
        }
        self.operands.pop().ok_or(CanonError::Operator {
            op: "output",
            what: "it has no node",
        })
    }

    /// The node of a base.
    fn base(&mut self, id: BaseId) -> Result<NodeId> {
        let Held { base, ty, .. } = &self.bases[id.index()];
        let mut count = 0;
        base.operands(|_| count += 1);
        let first = self.operands.len().saturating_sub(count);
        let operands: SmallVec<[NodeId; 8]> = self.operands.drain(first..).collect();
        match base {
            Base::Input(_) => self.nodes[id.index()].ok_or(CanonError::Operator {
                op: "input",
                what: "it is not among the graph's inputs",
            }),
            Base::Constant(bytes) => {
                self.cons(|b| b.constant(ty.element, &ty.shape, bytes.clone()))
            }
            Base::Gather(gather) => {
                let (data, coordinates) = named(gather, &operands)?;
                self.cons(|b| b.gather(data, &coordinates))
            }
            // An axis of a tensor: below 32.
            Base::Concat { axis, .. } => self.cons(|b| b.concat(&operands, *axis as u8)),
            Base::Cut(_) => Ok(*operands.first().ok_or(IrError::NoParts)?),
        }
    }

    /// The one chain of a value over the node of its base.
    fn chain(&mut self, value: &Value) -> Result<NodeId> {
        let (base, layout) = match &value.source {
            Source::Fill(fill) => {
                return self.cons(|b| b.fill(value.element, &fill.shape, fill.bits));
            }
            Source::View { base, layout } => (*base, layout),
        };
        let Some(mut node) = self.nodes[base.index()] else {
            return Err(CanonError::Operator {
                op: "view",
                what: "its base has no node",
            });
        };
        let chain = (self.engine).chain_of(layout, &self.bases[base.index()].ty.shape)?;
        if !chain.is_empty() {
            self.engine.note(view_chain::RULE.name, || {
                let views = few(chain.len() as u64, "view", "views");
                format!("{layout} over {node} is {views}")
            });
        }
        for step in &chain {
            node = self.cons(|b| emit(b, node, step))?;
        }
        Ok(node)
    }

    /// Makes a node, or finds the equal one that exists.
    fn cons(
        &mut self,
        make: impl FnOnce(&mut Builder) -> std::result::Result<NodeId, IrError>,
    ) -> Result<NodeId> {
        self.engine.meter.things(1, 500, 300);
        let node = make(&mut self.builder)?;
        let graph = self.builder.graph();
        let what = |place: u32| {
            let id = NodeId::from_u32(place);
            (graph.node(id), graph.ty(id))
        };
        match self.memo.find(node.index() as u32, what) {
            Some(known) => {
                self.builder.undo();
                Ok(NodeId::from_u32(known))
            }
            None => Ok(node),
        }
    }

    fn finished(self) -> Result<Canonical> {
        let dead = self.nodes.iter().filter(|node| node.is_none()).count() as u64;
        if dead > 0 {
            let all = self.nodes.len() as u64;
            self.engine
                .fired(&dead_nodes::RULE, [all, 0, 0], [all - dead, 0, 0], || {
                    let dead = few(dead, "value is used", "values are used");
                    format!("{dead} by no output and no obligation")
                })?;
        }
        Ok(self.builder.finish())
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

type Named = (NodeId, SmallVec<[Coordinate; 3]>);

/// A gather of nodes: the data, then the indices in order.
fn named(gather: &PendingGather, operands: &[NodeId]) -> std::result::Result<Named, IrError> {
    let mut operands = operands.iter().copied();
    let data = operands.next().ok_or(IrError::GatherWithoutIndex)?;
    let coordinate = |coordinate: &PendingCoordinate| {
        Ok(match coordinate {
            PendingCoordinate::Output(output) => Coordinate::Output(*output),
            PendingCoordinate::Index(index) => Coordinate::Index(Index {
                node: operands.next().ok_or(IrError::GatherWithoutIndex)?,
                outputs: index.outputs.clone(),
                wrap: index.wrap,
                policy: index.policy,
            }),
        })
    };
    let coordinates: std::result::Result<_, IrError> =
        gather.coordinates.iter().map(coordinate).collect();
    Ok((data, coordinates?))
}

/// The node of one view step.
fn emit(builder: &mut Builder, x: NodeId, step: &View) -> std::result::Result<NodeId, IrError> {
    // Ranks are at most 32, so axis numbers and counts fit a byte.
    let bytes = |list: &[usize]| -> SmallVec<[u8; 8]> { list.iter().map(|&n| n as u8).collect() };
    match step {
        View::Slice(spans) => builder.slice(x, spans),
        View::Permute(perm) => builder.permute(x, &bytes(perm)),
        View::Collapse { groups } => builder.collapse(x, &bytes(groups)),
        View::Expand { groups, sizes } => builder.expand(x, &bytes(groups), sizes),
        View::Broadcast { sizes } => builder.broadcast(x, sizes),
    }
}
