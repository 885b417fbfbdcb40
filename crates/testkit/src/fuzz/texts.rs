//! Hostile graph texts and canonical texts.

use restride_budget::{Budget, Meter};
use restride_canon::ir::Canonical;
use restride_canon::{CanonError, canonicalise, text};
use restride_graph::{Graph, Sample, ViewPolicy};
use restride_loops::verify;
use restride_lower::plain::{self, PlainError};
use restride_lower::plan::{PlanError, PlanOptions, plan};
use restride_lower::{LowerError, schedule};
use restride_moves::Target;

use super::{SMALL, agree, is_small};
use crate::generate::Case;
use crate::rungs::rungs;

/// A text of the tensor IR.
pub fn graph_text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(graph) = Graph::parse(text) else {
        return;
    };
    let printed = graph.to_string();
    assert!(
        Graph::parse(&printed).is_ok_and(|again| again == graph),
        "{printed}"
    );
    runs(graph);
}

/// What a graph may cost that every rung compiles.
const LITTLE: Budget = Budget {
    work: 20_000_000,
    bytes: 5_600_000,
};

/// All rungs agree on a graph that is small and costs little; of others, every stage answers.
pub(super) fn runs(graph: Graph) {
    if !is_small(&graph) || costs_more(&graph, LITTLE) {
        costs_more(&graph, Budget::default());
        return;
    }
    let inputs = (0..graph.inputs().len() as u32).map(Sample::Labels);
    let case = Case {
        inputs: inputs.collect(),
        refused: Vec::new(),
        graph,
    };
    agree(&case, &rungs());
}

/// Whether compiling a graph exceeds a budget. A kernel that the scheduler made is refused for its
/// size only.
fn costs_more(graph: &Graph, budget: Budget) -> bool {
    let meter = Meter::new(budget);
    let canonical = match canonicalise(graph, &meter, None) {
        Ok(canonical) => canonical,
        Err(error) => return matches!(error, CanonError::TooCostly(_)),
    };
    let plan = match plan(&canonical, PlanOptions::default(), &meter) {
        Ok(plan) => plan,
        Err(error) => return matches!(error, PlanError::TooCostly(_)),
    };
    let kernel = match schedule(&plan, &Target::default(), &meter) {
        Ok(scheduled) => scheduled.kernel,
        Err(error) => return matches!(error, LowerError::TooCostly(_)),
    };
    meter.things(kernel.statements(), 3000, 2000);
    if meter.check().is_err() {
        return true;
    }
    if let Err(rejected) = verify(kernel) {
        let rejected = rejected.to_string();
        assert!(rejected.contains(" bytes together"), "{rejected}\n{graph}");
    }
    false
}

/// A text of the canonical IR.
pub fn canonical_text(data: &[u8]) {
    let Ok(source) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(graph) = text::parse(source) else {
        return;
    };
    let printed = graph.to_string();
    assert!(
        text::parse(&printed).is_ok_and(|again| again == graph),
        "{printed}"
    );
    let Ok(plan) = plan(
        &graph,
        PlanOptions {
            views: ViewPolicy::Copy,
        },
        &Meter::new(Budget::default()),
    ) else {
        return;
    };
    let Some(inputs) = small_inputs(&graph) else {
        return;
    };
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let literal = plain::plan(&graph);
    let needed = literal.inputs.iter().zip(&inputs);
    let mut fits = needed.map(|((element, needed), bytes)| {
        let held = (bytes.len() / element.width()) as i64;
        *needed <= held
    });
    if !fits.all(|fits| fits) {
        return;
    }
    match (plain::run(&literal, &inputs), plain::run(&plan, &inputs)) {
        (Ok(meant), Ok(planned)) => assert!(meant == planned, "{printed}"),
        (Err(PlainError::OutOfRange { .. }), Err(PlainError::OutOfRange { .. })) => {}
        (meant, planned) => panic!("{printed}\nmeant {meant:?}\nplanned {planned:?}"),
    }
}

/// Buffers for the inputs, if everything is small.
fn small_inputs(graph: &Canonical) -> Option<Vec<Vec<u8>>> {
    let small = |(_, _, ty): (_, _, &restride_canon::ir::Type)| {
        usize::try_from(ty.count()).is_ok_and(|count| count <= SMALL)
    };
    if !graph.nodes().all(small) {
        return None;
    }
    let mut next = 0u8;
    Some(
        (0..graph.inputs().len())
            .map(|_| {
                let label = || {
                    next = next.wrapping_add(37);
                    next
                };
                std::iter::repeat_with(label).take(SMALL * 16).collect()
            })
            .collect(),
    )
}
