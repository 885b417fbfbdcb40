//! Views as answers: one flag for all commands, and what is said where an output needs no code.

use restride_graph::{Graph, ViewPolicy};
use restride_lower::plan::{Answer, Plan};

use crate::stages::AnyProgram;

/// Whether an output may be answered by a view of an input, which is what an engine does.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(crate) struct Views {
    /// Write every output, also one that a view of an input would answer
    #[arg(long)]
    pub(crate) copy_views: bool,
}

impl Views {
    /// For all outputs.
    pub(crate) fn policy(self) -> ViewPolicy {
        match self.copy_views {
            true => ViewPolicy::Copy,
            false => ViewPolicy::Any,
        }
    }
}

/// For each output that is a view, which one it is, and that a copy can be had.
pub(crate) fn notes(plan: &Plan, program: &AnyProgram, verb: &str) -> Vec<String> {
    let views = answers(plan, program).into_iter().zip(&plan.answers);
    let views = views.filter(|(_, answer)| matches!(answer, Answer::View { .. }));
    views
        .map(|(text, _)| format!("{text}; --copy-views {verb} the copy"))
        .collect()
}

/// View or copy, an output each.
pub(crate) fn answers(plan: &Plan, program: &AnyProgram) -> Vec<String> {
    let graph = match program {
        AnyProgram::Graph(graph) => Some(graph),
        AnyProgram::Canonical(_) | AnyProgram::Kernel(_) => None,
    };
    let answers = plan.answers.iter().enumerate();
    answers
        .map(|(at, answer)| match answer {
            Answer::View { input, layout } => format!(
                "output {at} is a view of {}: {layout}: nothing moves",
                input_name(graph, *input)
            ),
            Answer::Computed { stage, why } => {
                format!("output {at} is copied by stage {stage}: {why}")
            }
        })
        .collect()
}

fn input_name(graph: Option<&Graph>, input: u32) -> String {
    let value = graph.and_then(|graph| {
        let value = *graph.inputs().get(input as usize)?;
        Some(format!("input {}", graph.label(value)))
    });
    value.unwrap_or_else(|| format!("input {input}"))
}
