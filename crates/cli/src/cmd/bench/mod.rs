//! `restride bench`: real workloads, each checked and then timed beside a memcpy of its output.
//!
//! The harness knows workloads (from `restride-testkit`) and [`subject::Subject`]s; `engine` is
//! the only file that knows the compiler.

mod candidates;
pub(crate) mod clock;
mod compare;
mod crew;
mod engine;
mod memory;
mod outcome;
mod peer;
mod reference;
mod subject;
mod svg;
mod sweep;
mod system;
mod table;
mod trial;
mod versus;

use outcome::{Effort, Outcome};
use restride::Code;
use restride_testkit::workloads::{Workload, read};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use subject::Subject;
use versus::{Score, Scores};

/// The workloads that are run when no file is named.
const STORED: &str = include_str!("../../../../../tests/workloads/workloads.json");

/// How long a slice lasts unless told otherwise, in milliseconds.
const SLICE_MS: f64 = 60.0;

/// The same in a sweep, which has many points.
const SWEEP_SLICE_MS: f64 = 2.0;

/// The arguments of the command.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// File of workloads [default: the one that WORKLOADS names, else the built-in ones]
    file: Option<PathBuf>,
    /// Only workloads (or points of the sweep) whose name or class contains this
    #[arg(long, default_value = "")]
    filter: String,
    /// How many threads share a call [default: BENCH_THREADS, else 1]
    #[arg(long)]
    threads: Option<usize>,
    /// Slices of time per workload
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Length of a slice in milliseconds [default: 60, in a sweep 2]
    #[arg(long)]
    budget_ms: Option<f64>,
    /// Write the measurements here, one JSON object a line
    #[arg(long)]
    json: Option<PathBuf>,
    /// Merge with results of other systems; may be repeated. Where a file has results of
    /// restride, those stand and nothing is run
    #[arg(long)]
    versus: Vec<PathBuf>,
    /// Draw the merged results here
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Speak the line protocol of a benchmark driver on standard input and output
    #[arg(long, conflicts_with_all = ["sweep", "versus", "json", "svg"])]
    peer: bool,
    /// Search for cliffs: many variations of sizes, widths, steps, permutations, alignments
    #[arg(long, conflicts_with_all = ["file", "versus", "json", "svg"])]
    sweep: bool,
    /// Run the definition of the workloads in place of the compiler
    #[arg(long)]
    reference: bool,
    /// Hold the scheduler's choice of forms against every other form that fits
    #[arg(long, conflicts_with_all = ["sweep", "versus", "json", "svg", "peer", "reference"])]
    candidates: bool,
    /// Run the generic executor in place of machine code
    #[arg(long, conflicts_with = "reference")]
    generic: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    match dispatch(args)? {
        0 => Ok(ExitCode::SUCCESS),
        failed => {
            eprintln!("{failed} failed");
            Ok(ExitCode::FAILURE)
        }
    }
}

fn dispatch(args: &Args) -> Result<usize, String> {
    let subject: Box<dyn Subject> = match (args.reference, args.generic) {
        (true, _) => Box::new(reference::Reference),
        (false, true) => engine::subject(Code::Generic),
        (false, false) => engine::subject(Code::Native),
    };
    let effort = effort(args)?;
    let text = |e: io::Error| e.to_string();
    if args.sweep {
        return sweep::sweep(&*subject, &args.filter, &effort, &mut io::stdout()).map_err(text);
    }
    let (workloads, refused) = workloads(args)?;
    if args.peer {
        let (input, output) = (io::stdin().lock(), io::stdout().lock());
        peer::serve(&*subject, &workloads, effort.threads, input, output).map_err(text)?;
        return Ok(0);
    }
    if args.candidates {
        return Ok(refused + candidates::run(&workloads, &effort));
    }
    let mut scores = Scores::new();
    for path in &args.versus {
        let text = read_file(path)?;
        let merged = versus::merge(&mut scores, &text, effort.threads);
        merged.map_err(|problem| format!("{}: {problem}", path.display()))?;
    }
    let known = scores
        .values()
        .any(|peers| peers.contains_key(compare::OURS));
    let failed = if known {
        0
    } else {
        measure_all(args, &*subject, &workloads, &effort, &mut scores)?
    };
    if !args.versus.is_empty() || args.svg.is_some() {
        let rows = compare::rows(&workloads, &scores);
        let tables = [
            compare::by_workload(&rows),
            compare::by_class(&rows),
            compare::by_peer(&rows),
        ];
        println!("\n{}", tables.join("\n"));
        if let Some(path) = &args.svg {
            let threads = effort.threads;
            let subtitle = format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
            write_file(path, &svg::draw(&rows, &subtitle))?;
        }
    }
    Ok(failed + refused)
}

fn effort(args: &Args) -> Result<Effort, String> {
    let stated = match (args.threads, std::env::var("BENCH_THREADS")) {
        (Some(threads), _) => threads,
        (None, Ok(text)) => match text.trim().parse() {
            Ok(threads) => threads,
            Err(_) => return Err(format!("BENCH_THREADS: {text:?} is no number")),
        },
        (None, Err(_)) => 1,
    };
    if !(1..=1024).contains(&stated) {
        return Err(format!("{stated} threads; 1 to 1024 are possible"));
    }
    let usual = if args.sweep { SWEEP_SLICE_MS } else { SLICE_MS };
    let budget = args.budget_ms.unwrap_or(usual);
    let budget = Duration::try_from_secs_f64(budget * 1e-3);
    Ok(Effort {
        rounds: args.rounds,
        budget: budget.map_err(|e| format!("--budget-ms: {e}"))?,
        threads: stated,
        compilations: if args.sweep { 1 } else { 5 },
    })
}

/// The workloads that are asked for, and how many entries of the file were refused.
fn workloads(args: &Args) -> Result<(Vec<Workload>, usize), String> {
    let named = args
        .file
        .clone()
        .or_else(|| std::env::var_os("WORKLOADS").map(PathBuf::from));
    let (name, text) = match named {
        Some(path) => (path.display().to_string(), read_file(&path)?),
        None => ("the built-in workloads".to_owned(), STORED.to_owned()),
    };
    let list = read(&text).map_err(|problem| format!("{name}: {problem}"))?;
    let (mut workloads, mut refused) = (Vec::new(), 0);
    for entry in list {
        match entry {
            Ok(workload) if selected(&workload, &args.filter) => workloads.push(workload),
            Ok(_) => {}
            Err(problem) => {
                refused += 1;
                eprintln!("{name}: {problem}");
            }
        }
    }
    Ok((workloads, refused))
}

fn selected(workload: &Workload, filter: &str) -> bool {
    workload.id.contains(filter) || workload.tags.values().any(|tag| tag.contains(filter))
}

/// Measures and prints every workload; returns how many failed.
fn measure_all(
    args: &Args,
    subject: &dyn Subject,
    workloads: &[Workload],
    effort: &Effort,
    scores: &mut Scores,
) -> Result<usize, String> {
    println!("{}", table::heading());
    let (mut measured, mut failed, mut json) = (Vec::new(), 0, String::new());
    for workload in workloads {
        match Outcome::measure(subject, workload, effort) {
            Ok(outcome) => {
                println!("{}", table::line(workload, &outcome));
                json.push_str(&format!("{}\n", outcome.to_json(workload)));
                let score = Score {
                    time: outcome.time(),
                    ratio: outcome.ratio(),
                    first: Some((outcome.build + outcome.first).as_secs_f64()),
                };
                versus::add(scores, &workload.id, compare::OURS, score);
                measured.push((workload, outcome));
            }
            Err(problem) => {
                failed += 1;
                println!("{:<24} FAILED: {problem}", workload.id);
            }
        }
        let _ = io::stdout().flush();
    }
    let measured: Vec<_> = measured
        .iter()
        .map(|(workload, outcome)| (*workload, outcome))
        .collect();
    println!("\n{}", table::means_table(&table::means(&measured)));
    if let Some(path) = &args.json {
        write_file(path, &json)?;
    }
    Ok(failed)
}

fn read_file(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn write_file(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}
