//! `restride bench`: real workloads, each checked and then timed beside a memcpy of its output.
//!
//! What times workloads is `restride-bench`; programs of one's own and templates are timed here.

mod first;
mod program;

use crate::budget;
use crate::data::inputs::SOURCE_HELP;
use crate::data::recipe::RECIPES;
use crate::failure::Failure;
use crate::say::{notice, plural};
use crate::source::{Input, printable};
use crate::views::Views;
use restride::{Code, Target};
use restride_bench::candidates::Subjects;
use restride_bench::memory::GAP;
use restride_bench::outcome::{Effort, Outcome};
use restride_bench::subject::Subject;
use restride_bench::table::Moved;
use restride_bench::then_read::ThenRead;
use restride_bench::versus::{Score, Scores};
use restride_bench::{candidates, compare, engine, peer, reference, svg, sweep, table, versus};
use restride_graph::ViewPolicy;
use restride_testkit::workloads::{STORED, Workload, read};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How long a slice lasts unless told otherwise.
const SLICE: Duration = Duration::from_millis(60);

/// The same in a sweep, which has many points.
const SWEEP_SLICE: Duration = Duration::from_millis(2);

/// The arguments of the command.
#[derive(clap::Args, Debug)]
#[command(after_help = help())]
pub(crate) struct Args {
    /// A program (a file, `-`, or an expression such as 'x: f32[4,6]; x[::-1]'), or a file of
    /// workloads [default: the one that WORKLOADS names, else the built-in ones]
    file: Option<String>,
    #[arg(long, short, value_name = "[NAME=]SOURCE", help = SOURCE_HELP)]
    input: Vec<String>,
    #[command(flatten)]
    views: Views,
    /// Only workloads (or points of the sweep) whose name or class contains this
    #[arg(long, default_value = "")]
    filter: String,
    /// How many threads share a call [default: BENCH_THREADS, else 1]
    #[arg(long)]
    threads: Option<usize>,
    /// Slices of time per workload
    #[arg(long, default_value_t = 5, value_parser = rounds, value_name = "N")]
    rounds: usize,
    /// Length of a slice in milliseconds [default: 60, in a sweep 2]
    #[arg(long, value_parser = milliseconds, value_name = "MS")]
    budget_ms: Option<Duration>,
    /// Write the measurements here, one JSON object a line
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Merge with results of other systems; may be repeated. Where a file has results of
    /// restride, those stand and nothing is run
    #[arg(long, value_name = "FILE")]
    versus: Vec<PathBuf>,
    /// Draw the merged results here
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Speak the line protocol of a benchmark driver on standard input and output
    #[arg(long, conflicts_with_all = ["sweep", "versus", "save", "svg"])]
    peer: bool,
    /// Search for cliffs: many variations of sizes, widths, steps, permutations, alignments
    #[arg(long, conflicts_with_all = ["file", "versus", "svg"])]
    sweep: bool,
    /// Specialise templates to shapes that never repeat: what the first call of a shape costs. FILE
    /// is a program of which --vary says what varies, or a file of templates [default: the built-in
    /// ones]
    #[arg(long, conflicts_with_all = [
        "sweep", "versus", "save", "svg", "peer", "reference", "candidates", "input", "threads",
        "rounds", "budget_ms",
    ])]
    first: bool,
    /// A size in the types of a program's inputs, and the values that it takes, each once
    #[arg(long, value_name = "NAME=FROM..TO[:STEP]", requires = "first", value_parser = first::Variable::parse)]
    vary: Vec<first::Variable>,
    /// Run the definition of the workloads in place of the compiler
    #[arg(long)]
    reference: bool,
    /// Hold the planner's choice against every other way that there is to move the same; of a sweep, list only what is notably
    /// faster in another
    #[arg(long, conflicts_with_all = ["versus", "save", "svg", "peer", "reference"])]
    candidates: bool,
    /// After every call, and after every memcpy beside it, read the whole output: what a pass costs
    /// together with whoever needs its result
    #[arg(long, conflicts_with_all = ["threads", "peer", "reference", "first"])]
    then_read: bool,
    /// Plan for this machine as a tenth of a second of measuring finds it, and print that
    #[arg(long, conflicts_with_all = ["reference", "first"])]
    calibrate: bool,
    /// Plan for a machine of which this says what differs from the default: `avx2 l2=524288`, or what
    /// --calibrate prints
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["reference", "first", "calibrate"])]
    target: Option<Target>,
    /// Run the generic executor in place of machine code
    #[arg(long, conflicts_with = "reference")]
    generic: bool,
    /// Run machine code that calls no precompiled moves
    #[arg(long, conflicts_with_all = ["reference", "generic", "candidates"])]
    self_contained: bool,
}

fn help() -> String {
    format!(
        "Columns:\n  \
         time      of a call, in the fastest sample\n  \
         GB/s      bytes read and bytes written, together, in that time\n  \
         vs memcpy speed beside a memcpy of the output's bytes in the same run: 1 is as fast\n  \
         median    the same by medians\n  \
         of limit  vs memcpy over what the cache lines that must be touched allow\n  \
         compile   from the graph to code\n\n\
         Columns of --first:\n  \
         subst.           shapes whose plan is that of others with their sizes in it\n  \
         new, p99, worst  specialising a shape that was never seen: in the median, the slowest of a hundred, the slowest\n  \
         first run, later calls of its program\n  \
         over             all first calls, from the shape on, over all later ones of 64 KB and more\n  \
         graph ... leaves the stages on that way, by themselves\n\n\
         {RECIPES}\n\
         Else an input of a program holds `hash`, and one that indexes `hashN` for its axis of N.\n\n\
         Examples:\n  \
         restride bench --copy-views 'x: f32[512,512]; x.T'\n  \
         restride bench --filter transpose\n  \
         restride bench --first --copy-views --vary s=17..517 'x: f16[1,s,8,64]; x.transpose(0,2,3,1)'\n  \
         restride bench --versus peers.jsonl --svg peers.svg"
    )
}

fn rounds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("nothing would be measured".into()),
        Ok(rounds) => Ok(rounds),
        Err(error) => Err(format!("{error}")),
    }
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|error| format!("{error}"))?;
    match Duration::try_from_secs_f64(number * 1e-3) {
        Ok(Duration::ZERO) => Err("nothing would be measured".into()),
        Ok(budget) => Ok(budget),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    match dispatch(args)? {
        0 => Ok(ExitCode::SUCCESS),
        failed => {
            notice(format_args!("{failed} failed"));
            Ok(ExitCode::FAILURE)
        }
    }
}

fn dispatch(args: &Args) -> Result<usize, Failure> {
    let code = match (args.generic, args.self_contained) {
        (true, _) => Code::Generic,
        (_, true) => Code::SelfContained,
        _ => Code::Native,
    };
    if args.first {
        let input = args.file.as_deref().map(Input::open).transpose()?;
        let options = first::TemplateOptions {
            vary: &args.vary,
            filter: &args.filter,
            views: args.views.policy(),
            code,
        };
        return first::run(input.as_ref(), &options, &mut io::stdout().lock());
    }
    let target = match (&args.target, args.calibrate) {
        (Some(target), _) => target.clone(),
        (None, true) => restride::calibrate(&Target::host()),
        (None, false) => Target::default(),
    };
    if args.calibrate {
        notice(format_args!("{target}"));
    }
    let subject: Box<dyn Subject> = match args.reference {
        true => Box::new(reference::Reference),
        false => engine::subject(code, budget::chosen(), &target),
    };
    let subject = match args.then_read {
        true => Box::new(ThenRead(subject)),
        false => subject,
    };
    let effort = effort(args)?;
    let mut out = io::stdout().lock();
    // A file that cannot be written is better known before all is measured.
    let mut json = args.save.as_deref().map(Written::create).transpose()?;
    let candidates = |workloads: &[Workload], out: &mut dyn Write| {
        let subjects = Subjects::new(budget::chosen(), &target, args.then_read);
        candidates::run((workloads, args.sweep), &subjects, &effort, out)
    };
    if args.sweep && args.candidates {
        let (workloads, failed) = sound(sweep::workloads(&args.filter));
        if workloads.is_empty() && failed == 0 {
            return Err(nothing(args));
        }
        return Ok(failed + candidates(&workloads, &mut out)?);
    }
    if args.sweep {
        let swept = sweep::sweep(&*subject, &args.filter, &effort, &mut out)?;
        if let Some(file) = &mut json {
            file.write(&swept.json)?;
        }
        return found(&swept, args);
    }
    let given = given(args)?;
    let mut svg = args.svg.as_deref().map(Written::create).transpose()?;
    let (workloads, refused) = match given {
        Given::Program(input) => {
            for (used, option) in [
                (!args.filter.is_empty(), "--filter"),
                (!args.versus.is_empty(), "--versus"),
                (svg.is_some(), "--svg"),
                (args.peer, "--peer"),
                (args.reference, "--reference"),
                (args.then_read, "--then-read"),
            ] {
                if used {
                    let message = format!("{option} is for workloads, and this is a program");
                    return Err(Failure::Usage(message));
                }
            }
            if args.candidates {
                return Ok(candidates(&[program::workload(&input)?], &mut out)?);
            }
            let options = program::ProgramOptions {
                sources: &args.input,
                views: args.views.policy(),
                code,
                target,
            };
            let line = program::run(&input, &options, &effort, &mut out)?;
            if let Some(file) = &mut json {
                file.write(&line)?;
            }
            return Ok(0);
        }
        Given::Workloads(workloads, refused) => (workloads, refused),
    };
    if !args.input.is_empty() || args.views.policy() != ViewPolicy::Any {
        let message = "--input and --copy-views are for programs: workloads state both themselves";
        return Err(Failure::Usage(message.into()));
    }
    if workloads.is_empty() && refused == 0 {
        return Err(nothing(args));
    }
    if args.peer {
        peer::serve(
            &*subject,
            &workloads,
            effort.threads,
            io::stdin().lock(),
            out,
        )?;
        return Ok(0);
    }
    if args.candidates {
        return Ok(refused + candidates(&workloads, &mut out)?);
    }
    let mut scores = Scores::new();
    for path in &args.versus {
        let text = std::fs::read_to_string(path).map_err(Failure::of_file(path))?;
        let merged = versus::merge(&mut scores, &text, effort.threads);
        merged.map_err(Failure::of_file(path))?;
    }
    let known = scores
        .values()
        .any(|peers| peers.contains_key(compare::OURS));
    let failed = if known {
        0
    } else {
        measure_all(
            &mut json,
            &*subject,
            &workloads,
            &effort,
            &mut scores,
            &mut out,
        )?
    };
    if !args.versus.is_empty() || svg.is_some() {
        let rows = compare::rows(&workloads, &scores);
        let tables = [
            compare::by_workload(&rows),
            compare::by_class(&rows),
            compare::by_peer(&rows),
        ];
        writeln!(out, "\n{}", tables.join("\n"))?;
        if let Some(file) = &mut svg {
            file.write(&svg::draw(&rows, &plural(effort.threads, "thread")))?;
        }
    }
    Ok(failed + refused)
}

/// How many points of a sweep failed; an error if there was none.
fn found(swept: &sweep::Swept, args: &Args) -> Result<usize, Failure> {
    match swept.points {
        0 => Err(nothing(args)),
        _ => Ok(swept.failed),
    }
}

fn nothing(args: &Args) -> Failure {
    Failure::Usage(match args.filter.as_str() {
        "" => "there are no workloads in it".into(),
        filter => format!("no name or class contains `{}`", printable(filter)),
    })
}

fn effort(args: &Args) -> Result<Effort, Failure> {
    let stated = match (args.threads, std::env::var("BENCH_THREADS")) {
        (Some(threads), _) => threads,
        (None, Ok(text)) => match text.trim().parse() {
            Ok(threads) => threads,
            Err(_) => {
                let message = format!("BENCH_THREADS: {text:?} is no number");
                return Err(Failure::Usage(message));
            }
        },
        (None, Err(_)) => 1,
    };
    if !(1..=1024).contains(&stated) {
        let message = format!("{stated} threads; 1 to 1024 are possible");
        return Err(Failure::Usage(message));
    }
    let usual = if args.sweep { SWEEP_SLICE } else { SLICE };
    Ok(Effort {
        rounds: args.rounds,
        budget: args.budget_ms.unwrap_or(usual),
        threads: stated,
        compilations: if args.sweep { 1 } else { 5 },
        gap: GAP,
    })
}

/// What is to be measured.
enum Given {
    /// A program of one's own.
    Program(Input),
    /// Workloads that are asked for, and how many entries of the file were refused.
    Workloads(Vec<Workload>, usize),
}

/// A file of workloads is an object of JSON; all else is a program.
fn given(args: &Args) -> Result<Given, Failure> {
    let named = match (&args.file, std::env::var_os("WORKLOADS")) {
        (Some(file), _) => Some(Input::open(file)?),
        (None, Some(path)) => Some(Input::open(&path.to_string_lossy())?),
        (None, None) => None,
    };
    let (name, text) = match &named {
        Some(input) if input.text().trim_start().starts_with('{') => (input.name(), input.text()),
        Some(input) => return Ok(Given::Program(input.clone())),
        None => ("the built-in workloads", STORED),
    };
    let list = read(text).map_err(|problem| Failure::Input(format!("{name}: {problem}")))?;
    let list = list.into_iter();
    let (mut workloads, refused) =
        sound(list.map(|entry| entry.map_err(|problem| format!("{name}: {problem}"))));
    workloads.retain(|workload| selected(workload, &args.filter));
    Ok(Given::Workloads(workloads, refused))
}

/// Those that can be run; what is wrong with others is said, and how many these are.
fn sound(all: impl IntoIterator<Item = Result<Workload, String>>) -> (Vec<Workload>, usize) {
    let mut refused = 0;
    let found = all.into_iter().filter_map(|entry| {
        let entry = entry.inspect_err(|problem| notice(format_args!("{problem}")));
        refused += usize::from(entry.is_err());
        entry.ok()
    });
    (found.collect(), refused)
}

fn selected(workload: &Workload, filter: &str) -> bool {
    workload.id.contains(filter) || workload.tags.values().any(|tag| tag.contains(filter))
}

/// Measures and prints every workload; returns how many failed.
fn measure_all(
    file: &mut Option<Written>,
    subject: &dyn Subject,
    workloads: &[Workload],
    effort: &Effort,
    scores: &mut Scores,
    out: &mut dyn Write,
) -> Result<usize, Failure> {
    writeln!(out, "{}", table::heading())?;
    let (mut measured, mut failed, mut json) = (Vec::new(), 0, String::new());
    for workload in workloads {
        match Outcome::measure(subject, workload, effort) {
            Ok(outcome) => {
                writeln!(out, "{}", table::line(&Moved::by(workload), &outcome))?;
                json.push_str(&format!("{}\n", outcome.to_json(&workload.id)));
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
                writeln!(out, "{:<24} FAILED: {problem}", workload.id)?;
            }
        }
        out.flush()?;
    }
    let measured: Vec<_> = measured
        .iter()
        .map(|(workload, outcome)| (*workload, outcome))
        .collect();
    writeln!(out, "\n{}", table::means_table(&table::means(&measured)))?;
    if let Some(file) = file {
        file.write(&json)?;
    }
    Ok(failed)
}

/// A file of results.
struct Written {
    path: PathBuf,
    file: File,
}

impl Written {
    /// Makes the file; one that is there is kept until something is written.
    fn create(path: &Path) -> Result<Self, Failure> {
        let path = path.to_owned();
        let opened = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let file = opened.map_err(Failure::of_file(&path))?;
        Ok(Self { path, file })
    }

    /// Writes all of it.
    fn write(&mut self, text: &str) -> Result<(), Failure> {
        // What is no plain file, such as a pipe, has no length.
        let _ = self.file.set_len(0);
        self.file
            .write_all(text.as_bytes())
            .map_err(Failure::of_file(&self.path))
    }
}
