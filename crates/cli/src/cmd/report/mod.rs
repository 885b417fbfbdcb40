//! `restride report`: one page that shows a program at every stage.

pub(crate) mod page;
mod picture;
mod timing;
mod walk;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use restride_loops::Verified;
use restride_lower::plan::Answer;

use crate::data::inputs::{SOURCE_HELP, counting, inputs};
use crate::execute::{bind, input_buffers};
use crate::explanation::Explanation;
use crate::failure::Failure;
use crate::listing::disassembly;
use crate::native::BoundKernel;
use crate::say::notice;
use crate::signature::Signature;
use crate::source::{INPUT_HELP, Input, printable};
use crate::stages::AnyProgram;
use crate::views::{Views, notes};

use page::Page;
use walk::MemoryWalk;

/// The arguments of `restride report`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    /// Where the page goes.
    #[arg(long, short, value_name = "FILE.html")]
    output: String,
    #[arg(long, short, value_name = "[NAME=]SOURCE", help = SOURCE_HELP)]
    input: Vec<String>,
    #[command(flatten)]
    views: Views,
    /// Leave the times out.
    #[arg(long)]
    no_times: bool,
}

/// Writes the page.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = Input::open(&args.file)?;
    let program = AnyProgram::parse(&input)?;
    let views = args.views.policy();
    let explanation = match &program {
        AnyProgram::Kernel(_) => None,
        AnyProgram::Graph(_) | AnyProgram::Canonical(_) => Some(Explanation::of(&program, views)?),
    };
    let kernel = match &explanation {
        Some(explanation) => explanation.lowered.kernel.clone(),
        None => program.kernel(views)?.0,
    };
    let signature = Signature::of(&program)?;
    let tensors = inputs(&signature, &args.input, |_, slot| counting(slot))?;
    let buffers = input_buffers(&signature, &tensors)?;

    let mut page = Page::new(&format!("restride: {}", title(&program, &input)));
    stages(&mut page, &program, explanation.as_ref());
    let walk = walk::walk(&kernel, &buffers);
    memory(&mut page, &kernel, &walk);
    if let Some(explanation) = &explanation {
        write_views(&mut page, explanation, &signature);
    }
    lines(&mut page, &kernel, &walk);
    match bind(&kernel, &signature, buffers) {
        Ok(mut bound) => {
            code(&mut page, &kernel, &bound);
            if !args.no_times && !kernel.buffers.is_empty() {
                if io::stderr().is_terminal() {
                    notice(format_args!("timing ..."));
                }
                times(&mut page, &mut bound);
            }
        }
        Err(_) => {
            page.section("code", "Loops");
            page.paragraph("There is no machine code on this machine.");
            page.columns([("loops", kernel.to_string().as_str())]);
        }
    }
    std::fs::write(&args.output, page.finish()).map_err(Failure::of_file(&args.output))?;
    writeln!(io::stdout().lock(), "{}", printable(&args.output))?;
    Ok(ExitCode::SUCCESS)
}

fn title(program: &AnyProgram, input: &Input) -> String {
    match program {
        AnyProgram::Graph(graph) if graph.name() != "quick" => graph.name().to_owned(),
        AnyProgram::Graph(_) => input.text().chars().take(120).collect(),
        AnyProgram::Canonical(_) => "a canonical graph".into(),
        AnyProgram::Kernel(kernel) => kernel.name.to_string(),
    }
}

/// What the program is at each stage, and why. The loops stand beside their code.
fn stages(page: &mut Page, program: &AnyProgram, explanation: Option<&Explanation>) {
    page.section("stages", "Stages");
    let spelled = program.text();
    let Some(explanation) = explanation else {
        page.paragraph("Loops, as they were given: they stand beside their code.");
        return;
    };
    let canonical = explanation.canonical.to_string();
    let plan = explanation.lowered.plan.to_string();
    page.columns([
        ("spelled", spelled.as_str()),
        ("canonical", canonical.as_str()),
        ("plan", plan.as_str()),
    ]);
    page.section("views", "View or copy");
    page.list(explanation.answers.iter().cloned());
    if !notes(&explanation.lowered.plan, program, "shows").is_empty() {
        page.paragraph("With --copy-views this page shows the copy of what is a view.");
    }
    page.section("rewrites", "Rewrites");
    page.list(explanation.rewrites.iter().map(ToString::to_string));
    page.section("decisions", "Decisions");
    let decisions = explanation.lowered.decisions.iter();
    page.list(decisions.map(ToString::to_string));
    page.list(explanation.traffic.to_string().lines().map(str::to_owned));
}

fn memory(page: &mut Page, kernel: &Verified, walk: &MemoryWalk) {
    page.section("memory", "Memory, in the order of the loops");
    if walk.cut {
        let moved = walk.touches.len();
        page.paragraph(&format!("The first {moved} elements that it moves."));
    }
    page.scale();
    for picture in picture::pictures(kernel, walk) {
        page.markup(&picture);
    }
}

/// What is a view is drawn where it lies, in the order of its own elements.
fn write_views(page: &mut Page, explanation: &Explanation, signature: &Signature) {
    let answers = explanation.lowered.plan.answers.iter();
    for (at, (answer, output)) in answers.zip(&signature.outputs).enumerate() {
        let Answer::View { input, layout } = answer else {
            continue;
        };
        if let Some(input) = signature.inputs.get(*input as usize) {
            let title = format!("{}: where output {at}, a view, lies", input.name);
            let walk = walk::of_view(output.ty.shape(), layout);
            let len = input.ty.required_elements();
            let width = input.ty.element().width();
            page.markup(&picture::of_view(&title, len, width, &walk));
        }
    }
}

fn lines(page: &mut Page, kernel: &Verified, walk: &MemoryWalk) {
    page.section("lines", "Cache lines");
    page.paragraph(
        "A visit is a turn to another line, counted element by element in the order of the boxes. \
         A form that moves a box in tiles, such as transpose, turns less often than that.",
    );
    let heading = ["buffer", "lines touched", "visits", "bytes of them used"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for line in picture::line_use(kernel, walk) {
        rows.push(vec![
            line.buffer,
            line.lines.to_string(),
            line.visits.to_string(),
            format!("{:.0} %", 100.0 * line.used),
        ]);
    }
    page.table(&rows);
}

/// Loops beside the code that was made from them, a phase at a time.
fn code(page: &mut Page, kernel: &Verified, bound: &BoundKernel) {
    let native = bound.code();
    page.section("code", "Machine code");
    page.paragraph(&format!("{} bytes.", native.code_bytes()));
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let listing = disassembly(native);
    let starts: Vec<usize> = native.phase_offsets().collect();
    // Every line begins with its offset.
    let phase_of = |line: &str| {
        let offset = line.split_whitespace().next()?;
        let offset = usize::from_str_radix(offset, 16).ok()?;
        starts.iter().rposition(|start| *start <= offset)
    };
    let mut parts = vec![String::new(); starts.len().max(1)];
    let mut phase = 0;
    for line in listing.lines() {
        // The heading of a phase says which.
        let heading = line
            .strip_prefix("; phase ")
            .and_then(|rest| rest.split(':').next());
        let headed = heading.and_then(|number| number.parse().ok());
        phase = headed.or_else(|| phase_of(line)).unwrap_or(phase);
        if let Some(part) = parts.get_mut(phase) {
            part.push_str(line);
            part.push('\n');
        }
    }
    let loops = kernel.to_string();
    let mut bodies = loops.split("\n  barrier\n");
    for (at, part) in parts.iter().enumerate() {
        let body = bodies.next().unwrap_or_default();
        let headings = (format!("phase {at}: loops"), format!("phase {at}: code"));
        page.columns([(headings.0.as_str(), body), (headings.1.as_str(), part)]);
    }
}

fn times(page: &mut Page, bound: &mut BoundKernel) {
    page.section("times", "Times");
    match timing::time(bound) {
        None => page.paragraph("The call fails on these inputs."),
        Some(timing) => {
            page.table(&[
                ["", "nanoseconds, median"].map(str::to_owned).to_vec(),
                vec!["a call".into(), format!("{:.1}", timing.kernel)],
                vec![
                    "memcpy of the outputs' bytes".into(),
                    format!("{:.1}", timing.memcpy),
                ],
            ]);
            let ratio = format!(
                "{:.2} times the speed of memcpy, in the same run.",
                timing.ratio
            );
            page.paragraph(&ratio);
        }
    }
}
