//! One case on all rungs.

use std::panic::{AssertUnwindSafe, catch_unwind};

use restride_graph::oracle::{self, OpError, Tensor};
use restride_graph::{Graph, Op, TensorType};
use restride_lower::plan::Answer;

use super::compare::difference;
use crate::generate::Case;
use crate::rungs::{Outcome, Rung, RungError, Subject};

/// A rung that does not agree with the oracle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// Its name; `text` and `inference` are held against the graph itself.
    pub rung: &'static str,
    /// What differs.
    pub message: String,
}

/// What a case that holds was like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The run was refused, by all rungs alike.
    pub refused: bool,
    /// Operators that inference and definition refused alike.
    pub refused_ops: usize,
    /// How many stages the plan has.
    pub stages: usize,
    /// How many outputs are views.
    pub views: usize,
    /// Why the plan needs temporaries.
    pub breaks: Vec<String>,
}

/// Runs a case on these rungs and holds each against the oracle.
pub fn check(case: &Case, rungs: &[&dyn Rung]) -> Result<Facts, Disagreement> {
    let failed = |rung, message: String| Disagreement { rung, message };
    let tensors = case.tensors();
    let tensors = tensors.map_err(|error| failed("inputs", error.to_string()))?;
    let graph = &case.graph;
    let printed = graph.to_string();
    match Graph::parse(&printed) {
        Ok(parsed) if parsed == *graph => {}
        Ok(parsed) => return Err(failed("text", format!("reads back as\n{parsed}"))),
        Err(error) => return Err(failed("text", error.to_string())),
    }
    for op in &case.refused {
        if let Some(message) = accepted(graph, op) {
            return Err(failed("inference", message));
        }
    }
    let subject = Subject::in_buffers(graph, &tensors, case.buffers());
    let mut wanted: Option<Outcome> = None;
    for rung in rungs {
        let outcome = guarded(*rung, &subject);
        if let Err(RungError::Broken(message)) = &outcome {
            return Err(failed(rung.name(), message.clone()));
        }
        match &wanted {
            None => wanted = Some(outcome),
            Some(wanted) => {
                if let Some(message) = difference(wanted, &outcome) {
                    return Err(failed(rung.name(), message));
                }
            }
        }
    }
    Ok(facts(&subject, case, wanted))
}

/// A rung's outcome; a panic is a rung that is broken.
pub fn guarded(rung: &dyn Rung, subject: &Subject<'_>) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| rung.run(subject))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(RungError::Broken(format!("panic: {}", text.unwrap_or("?"))))
    })
}

/// What the definition makes of an operator that inference refused: nothing, it is to be hoped.
fn accepted(graph: &Graph, op: &Op) -> Option<String> {
    let zeros = |ty: &TensorType| Tensor::new(ty.clone(), vec![0; ty.byte_size()]);
    let operands = op.operands();
    let operands = operands.iter().map(|&operand| zeros(graph.ty(operand)));
    let operands: Vec<Tensor> = operands.collect::<Result<_, _>>().ok()?;
    let operands: Vec<&Tensor> = operands.iter().collect();
    match oracle::eval_op(op, &operands) {
        Ok(result) => Some(format!("refuses {op:?}, which gives {}", result.ty())),
        // The operator has a meaning, on other indices.
        Err(OpError::OutOfRange { .. }) => Some(format!("refuses {op:?}, which has a meaning")),
        Err(_) => None,
    }
}

fn facts(subject: &Subject<'_>, case: &Case, outcome: Option<Outcome>) -> Facts {
    let mut facts = Facts {
        refused: outcome.is_some_and(|outcome| outcome.is_err()),
        refused_ops: case.refused.len(),
        ..Facts::default()
    };
    if let Ok(plan) = subject.plan() {
        facts.stages = plan.stages.len();
        let views = plan.answers.iter();
        facts.views = views
            .filter(|answer| matches!(answer, Answer::View { .. }))
            .count();
        let temporaries = plan.stages.iter();
        facts.breaks = temporaries
            .filter_map(|stage| stage.reason.clone())
            .collect();
    }
    facts
}
