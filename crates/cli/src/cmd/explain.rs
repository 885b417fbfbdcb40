//! `restride explain`: why the program is what it is, from its spelling to its loops.

use std::io::{self, Write};
use std::process::ExitCode;

use restride::Object;
use restride_graph::{Graph, ViewPolicy};
use restride_loops::Kernel;
use restride_moves::{Shuffles, Target};
use serde_json::json;

use crate::budget;
use crate::explanation::Explanation;
use crate::failure::Failure;
use crate::listing::calls;
use crate::machine::MachineArgs;
use crate::source::INPUT_HELP;
use crate::stages::AnyProgram;
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
    #[command(flatten)]
    machine: MachineArgs,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Explains.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let program = AnyProgram::open(&args.file)?;
    let object = args.machine.object()?;
    let target = args.machine.planned_for()?;
    // An object has every output written.
    let views = match object {
        Some(_) => ViewPolicy::Copy,
        None => args.views.policy(),
    };
    let explanation = Explanation::of_machine(&program, views, &target)?;
    let mut out = io::stdout().lock();
    let calls = match (&object, &program) {
        (None, _) => calls(&explanation.lowered.kernel),
        (Some(_), _) => Some(Vec::new()),
    };
    if args.json {
        let mut object = explanation.json();
        object["calls"] = json!(calls);
        if args.ways || !target.precompiled {
            object["ways"] = explanation.ways.json();
            object["instructions"] = json!(explanation.ways.instructions());
        }
        writeln!(out, "{object}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let style = Style::of_stdout();
    let mut sections = sections(&explanation, calls.as_deref());
    if let (Some(object), AnyProgram::Graph(graph)) = (object, &program) {
        sections.push(("machine", about(&target, object, graph)?));
    }
    if args.ways || !target.precompiled {
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

/// What is known of a machine, and how large the function of a graph is there.
fn about(target: &Target, object: Object, graph: &Graph) -> Result<String, Failure> {
    let mut object = object.within(budget::chosen());
    let added = object.add("program", graph);
    added.map_err(|error| Failure::Internal(error.to_string()))?;
    let of = |(_, code, constants): (&str, usize, usize)| (code, constants);
    let (code, constants) = object.functions().next().map(of).unwrap_or_default();
    let Target {
        line,
        l1,
        l1_way,
        l2,
        last,
        ..
    } = target;
    let vectors = match target.processor.shuffles(target.features) {
        None => "words of 8 bytes, no vectors",
        Some(Shuffles::Words) => "vectors of 16 bytes, shuffles of words",
        Some(Shuffles::Bytes) => "vectors of 16 bytes, shuffles of bytes",
        Some(Shuffles::Tables) => "vectors of 16 bytes, shuffles by tables in registers",
    };
    Ok(format!(
        "{:?}: {vectors}\nlines of {line}, caches of {l1} in ways of {l1_way}, {l2} and {last} bytes\n\
         {code} bytes of code, {constants} of constants; no calls, one thread",
        target.processor
    ))
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
