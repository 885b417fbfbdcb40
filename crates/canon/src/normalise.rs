//! From a canonical graph to its normal form.
//!
//! What the canonicaliser makes is in normal form already, so this changes nothing there; a graph
//! that was written by hand, or read from text, may not be.

use crate::CanonError;
use crate::engine::{Demand, Engine, PendingCoordinate, PendingGather, PendingIndex, Value};
use crate::ir::{Canonical, Coordinate, Gather, Node, NodeId, Type};
use crate::trace::Trace;
use restride_budget::{Meter, Stage};
use restride_graph::ValueId;

/// How often a graph with cut chains is gone over again.
const ROUNDS: usize = 4;

/// The normal form of a canonical graph. Rewrites are told to `trace`, if there is one; the value
/// they are about is the one of the same number in the text.
pub fn normalise<'t>(
    graph: &Canonical,
    meter: &'t Meter,
    trace: Option<&'t mut (dyn Trace + 't)>,
) -> Result<Canonical, CanonError> {
    meter.enter(Stage::Canonicalise);
    settled(once(graph, meter, trace)?, meter)
}

/// Where a chain is cut depends on what was known when it broke; gone over again, with all known,
/// it may be cut elsewhere. Graphs without cuts are settled at once.
pub(crate) fn settled(
    (mut graph, mut cuts): (Canonical, bool),
    meter: &Meter,
) -> Result<Canonical, CanonError> {
    for _ in 0..ROUNDS {
        if !cuts {
            break;
        }
        let (next, again) = once(&graph, meter, None)?;
        if next == graph {
            break;
        }
        (graph, cuts) = (next, again);
    }
    Ok(graph)
}

fn once<'t>(
    graph: &Canonical,
    meter: &'t Meter,
    trace: Option<&'t mut (dyn Trace + 't)>,
) -> Result<(Canonical, bool), CanonError> {
    let mut engine = Engine::new(graph.len(), meter, trace);
    let mut values: Vec<Value> = Vec::with_capacity(graph.len());
    let lines = match engine.traces() {
        true => graph.lines().1,
        false => Vec::new(),
    };
    let named = |node: NodeId| {
        let line = lines.get(node.index()).copied();
        ValueId::from_u32(line.unwrap_or_default() as u32)
    };
    for (id, node, ty) in graph.nodes() {
        engine.turn_to(named(id));
        let value = replay(&mut engine, graph, node, ty, &values)?;
        values.push(value);
        meter.check()?;
    }
    for check in graph.checks() {
        engine.turn_to(ValueId::from_u32(check.op));
        let demand = Demand {
            limit: check.limit,
            wrap: check.wrap,
            op: check.op,
            column: check.column,
            columns: check.columns,
        };
        engine.check(&values[check.node.index()], demand)?;
    }
    for output in graph.outputs() {
        engine.turn_to(named(output.node));
        let value = &values[output.node.index()];
        engine.output(value, output.layout.as_ref(), output.views)?;
    }
    engine.finish()
}

fn replay(
    engine: &mut Engine<'_>,
    graph: &Canonical,
    node: &Node,
    ty: &Type,
    values: &[Value],
) -> Result<Value, CanonError> {
    match node {
        Node::Input { ordinal } => {
            let layout = graph.inputs()[*ordinal as usize].layout.as_ref();
            engine.input(ty.element, &ty.shape, layout)
        }
        Node::Constant { bytes } => engine.constant(ty.element, &ty.shape, bytes),
        Node::View { x, layout } => engine.through(&values[x.index()], layout),
        Node::Gather(gather) => engine.gather(pending(gather, ty, values)),
        Node::Concat { parts, axis } => {
            let parts = parts.iter().map(|part| values[part.index()].clone());
            engine.concat(parts.collect(), usize::from(*axis))
        }
        Node::Fill { bits } => Ok(Value::fill(ty.element, &ty.shape, *bits)),
    }
}

fn pending(gather: &Gather, ty: &Type, values: &[Value]) -> PendingGather {
    let coordinate = |coordinate: &Coordinate| match coordinate {
        Coordinate::Output(output) => PendingCoordinate::Output(*output),
        Coordinate::Index(index) => PendingCoordinate::Index(Box::new(PendingIndex {
            value: values[index.node.index()].clone(),
            outputs: index.outputs.clone(),
            wrap: index.wrap,
            policy: index.policy,
        })),
    };
    PendingGather {
        data: values[gather.data.index()].clone(),
        coordinates: gather.coordinates.iter().map(coordinate).collect(),
        shape: ty.shape.clone(),
        after: Vec::new(),
    }
}
