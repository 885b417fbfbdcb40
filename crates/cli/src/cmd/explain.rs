//! `restride explain`: why the program is what it is, from its spelling to its loops.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::explanation::Explanation;
use crate::failure::Failure;
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
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Explains.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let explanation = Explanation::of(&Program::open(&args.file)?, args.views.copy_views)?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", explanation.json())?;
        return Ok(ExitCode::SUCCESS);
    }
    let style = Style::of_stdout();
    for (heading, text) in sections(&explanation) {
        writeln!(out, "{}", style.heading(heading))?;
        if text.is_empty() {
            writeln!(out, "  nothing")?;
        }
        for line in text.lines() {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Headings and what stands under them, in the order of the pipeline.
pub(crate) fn sections(explanation: &Explanation) -> Vec<(&'static str, String)> {
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
        ("traffic", explanation.traffic.to_string()),
    ]
}
