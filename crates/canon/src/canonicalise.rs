//! From the spelled graph to its canonical form.

use crate::CanonError;
use crate::desugar;
use crate::engine::{Engine, Value};
use crate::ir::Canonical;
use crate::normalise;
use crate::trace::Trace;
use restride_budget::{Meter, Stage};
use restride_graph::Graph;
use smallvec::SmallVec;

/// The canonical form of a graph, if the meter lets it be made. Rewrites are told to `trace`, if
/// there is one.
///
/// Only values that an output depends on are looked at; their obligations are kept however little
/// of them is used. All inputs stay, used or not.
pub fn canonicalise<'t>(
    graph: &Graph,
    meter: &'t Meter,
    trace: Option<&'t mut (dyn Trace + 't)>,
) -> Result<Canonical, CanonError> {
    meter.enter(Stage::Canonicalise);
    meter.things(graph.len(), 200, 200);
    let first = desugared(graph, Engine::new(graph.len(), meter, trace))?;
    normalise::settled(first, meter)
}

/// A graph in canonical nodes, each operator spelled out and nothing simplified: what the
/// canonical form is to be no worse than.
pub fn spelled_out(graph: &Graph) -> Result<Canonical, CanonError> {
    let meter = Meter::unlimited();
    let (spelled, _) = desugared(graph, Engine::without_rules(&meter))?;
    Ok(spelled)
}

fn desugared(graph: &Graph, mut engine: Engine<'_>) -> Result<(Canonical, bool), CanonError> {
    let mut values: SmallVec<[Option<Value>; 8]> = SmallVec::from_elem(None, graph.len());
    for &input in graph.inputs() {
        engine.turn_to(input);
        let ty = graph.ty(input);
        values[input.index()] = Some(engine.input(ty.element(), ty.shape(), ty.layout())?);
    }
    let live = graph.live();
    for id in graph.values() {
        if live[id.index()] && values[id.index()].is_none() {
            engine.turn_to(id);
            let value = desugar::desugar(&mut engine, graph, id, &values)?;
            values[id.index()] = Some(value);
            engine.meter.check()?;
        }
    }
    for output in graph.outputs() {
        engine.turn_to(output.value);
        let value = desugar::operand(&values, output.value)?;
        engine.output(value, output.layout.as_ref(), output.views)?;
    }
    engine.finish()
}
