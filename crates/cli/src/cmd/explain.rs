//! `restride explain`: why the program is what it is, from its spelling to its loops.

use std::io::{self, Write};
use std::process::ExitCode;

use restride_loops::Kernel;
use serde_json::json;

use crate::explanation::Explanation;
use crate::failure::Failure;
use crate::listing::calls;
use crate::source::INPUT_HELP;
use crate::stages::Program;
use crate::style::Style;
use crate::views::Views;

/// The arguments of `restride explain`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    #[command(flatten)]
    views: Views,
    /// Say which way precompiled code moves each box on this machine, what that costs, and what the
    /// other ways would.
    #[arg(long)]
    ways: bool,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Explains.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let explanation = Explanation::of(&Program::open(&args.file)?, args.views.policy())?;
    let mut out = io::stdout().lock();
    let calls = calls(&explanation.lowered.kernel);
    if args.json {
        let mut object = explanation.json();
        object["calls"] = json!(calls);
        if args.ways {
            object["ways"] = explanation.ways.json();
        }
        writeln!(out, "{object}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let style = Style::of_stdout();
    let mut sections = sections(&explanation, calls.as_deref());
    if args.ways {
        sections.push(("ways", explanation.ways.lines().join("\n")));
    }
    if let Some(warning) = explanation.ways.warning() {
        sections.push(("slow", warning));
    }
    for (heading, text) in sections {
        writeln!(out, "{}", style.heading(heading))?;
        if text.is_empty() {
            writeln!(out, "  nothing")?;
        }
        for line in text.lines() {
            let indent = if line.is_empty() { "" } else { "  " };
            writeln!(out, "{indent}{line}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Headings and what stands under them, in the order of the pipeline.
fn sections(explanation: &Explanation, calls: Option<&[String]>) -> Vec<(&'static str, String)> {
    let lines = |items: Vec<String>| items.join("\n");
    let steps = explanation.rewrites.iter().map(ToString::to_string);
    let decisions = explanation.lowered.decisions.iter();
    vec![
        ("spelled", explanation.spelled.clone()),
        ("rewrites", lines(steps.collect())),
        ("canonical", explanation.canonical.to_string()),
        ("view or copy", lines(explanation.answers.clone())),
        ("stages", explanation.lowered.plan.to_string()),
        ("loops", explanation.lowered.kernel.to_string()),
        (
            "decisions",
            lines(decisions.map(ToString::to_string).collect()),
        ),
        ("code", code(&explanation.lowered.kernel, calls)),
        ("traffic", explanation.traffic.to_string()),
    ]
}

/// What is done in place, and what precompiled leaves do.
fn code(kernel: &Kernel, calls: Option<&[String]>) -> String {
    match calls {
        _ if kernel.phases.iter().all(Vec::is_empty) => String::new(),
        None => "no machine code here: leaves move everything".into(),
        Some([]) => "all inline".into(),
        Some(calls) => {
            let calls = calls.iter().map(|call| format!("by a leaf: {call}"));
            calls.collect::<Vec<_>>().join("\n")
        }
    }
}
