//! `restride report`: one page that shows a program at every stage.

mod page;
mod picture;
mod timing;
mod walk;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use restride_graph::oracle::Tensor;
use restride_loops::Verified;
use restride_lower::plan::Answer;

use crate::data::recipe::Recipe;
use crate::execute::{bind, input_buffers};
use crate::explanation::Explanation;
use crate::failure::Failure;
use crate::native::Bound;
use crate::signature::{Signature, Slot};
use crate::source::{INPUT_HELP, Input, printable};
use crate::stages::{Program, verified};

use page::Page;

/// The arguments of `restride report`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    /// Where the page goes.
    #[arg(long, short, value_name = "FILE.html")]
    output: String,
    /// Leave the times out.
    #[arg(long)]
    no_times: bool,
}

/// Writes the page.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let input = Input::open(&args.file)?;
    let program = Program::parse(&input)?;
    let explanation = match &program {
        Program::Kernel(_) => None,
        Program::Graph(_) | Program::Canonical(_) => Some(Explanation::of(&program, true)?),
    };
    let viewing = match &program {
        Program::Kernel(_) => None,
        Program::Graph(_) | Program::Canonical(_) => Some(Explanation::of(&program, false)?),
    };
    let kernel = match (&explanation, &program) {
        (Some(explanation), _) => explanation.lowered.kernel.clone(),
        (None, Program::Kernel(kernel)) => verified(kernel)?,
        (None, Program::Graph(_) | Program::Canonical(_)) => program.kernel(true)?,
    };
    let signature = Signature::of(&program)?;
    let inputs = signature.inputs.iter().map(made_up);
    let inputs = input_buffers(&signature, &inputs.collect::<Result<Vec<_>, _>>()?)?;

    let mut page = Page::new(&format!("restride: {}", title(&program, &input)));
    stages(
        &mut page,
        &program,
        explanation.as_ref().zip(viewing.as_ref()),
        &kernel,
    );
    memory(&mut page, &kernel, &inputs);
    match bind(&kernel, &signature, inputs) {
        Ok(mut bound) => {
            code(&mut page, &kernel, &bound);
            if !args.no_times {
                if io::stderr().is_terminal() {
                    eprintln!("timing ...");
                }
                times(&mut page, &mut bound);
            }
        }
        Err(_) => page.paragraph("There is no machine code on this machine."),
    }
    std::fs::write(&args.output, page.finish())
        .map_err(|error| Failure::Input(format!("{}: {error}", printable(&args.output))))?;
    writeln!(io::stdout().lock(), "{}", printable(&args.output))?;
    Ok(ExitCode::SUCCESS)
}

fn title(program: &Program, input: &Input) -> String {
    match program {
        Program::Graph(graph) if graph.name() != "quick" => graph.name().to_owned(),
        Program::Graph(_) => input.text().chars().take(120).collect(),
        Program::Canonical(_) => "a canonical graph".into(),
        Program::Kernel(kernel) => kernel.name.clone(),
    }
}

fn made_up(slot: &Slot) -> Result<Tensor, Failure> {
    let recipe = match slot.limit {
        Some(limit) if limit > 0 => Recipe::Modulo(limit.unsigned_abs()),
        Some(_) | None => Recipe::Iota,
    };
    let made = recipe.make(&slot.ty);
    made.ok_or_else(|| Failure::Input(format!("{}: no memory for it", slot.name)))
}

fn stages(
    page: &mut Page,
    program: &Program,
    explanations: Option<(&Explanation, &Explanation)>,
    kernel: &Verified,
) {
    page.section("stages", "Stages");
    let (spelled, loops) = (program.text(), kernel.to_string());
    let Some((explanation, viewing)) = explanations else {
        page.columns([("loops", loops.as_str())]);
        return;
    };
    let canonical = explanation.canonical.to_string();
    let plan = explanation.lowered.plan.to_string();
    page.columns([
        ("spelled", spelled.as_str()),
        ("canonical", canonical.as_str()),
        ("plan", plan.as_str()),
        ("loops", loops.as_str()),
    ]);
    page.section("views", "View or copy");
    page.list(viewing.answers.iter().cloned());
    let mut answers = viewing.lowered.plan.answers.iter();
    if answers.any(|answer| matches!(answer, Answer::View { .. })) {
        page.paragraph("All else on this page is the copy that is made where a copy is asked for.");
    }
    page.section("rewrites", "Rewrites");
    page.list(explanation.rewrites.iter().map(ToString::to_string));
    page.section("decisions", "Decisions");
    page.list(
        explanation
            .lowered
            .decisions
            .iter()
            .map(ToString::to_string),
    );
    page.list(explanation.traffic.to_string().lines().map(str::to_owned));
}

fn memory(page: &mut Page, kernel: &Verified, inputs: &[Vec<u8>]) {
    let walk = walk::walk(kernel, inputs);
    page.section("memory", "Memory, in the order of the kernel");
    if walk.cut {
        let moved = walk.touches.len();
        page.paragraph(&format!("The first {moved} elements that it moves."));
    }
    page.scale();
    for picture in picture::pictures(kernel, &walk) {
        page.markup(&picture);
    }
    page.section("lines", "Cache lines");
    let heading = ["buffer", "lines touched", "visits", "bytes of them used"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for line in picture::line_use(kernel, &walk) {
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
fn code(page: &mut Page, kernel: &Verified, bound: &Bound) {
    let native = bound.code();
    page.section("code", "Machine code");
    page.paragraph(&format!("{} bytes.", native.code_bytes()));
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    let listing = native.disassembly();
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
        phase = phase_of(line).unwrap_or(phase);
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

fn times(page: &mut Page, bound: &mut Bound) {
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
