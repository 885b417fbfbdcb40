//! `restride ladder`: do all stages agree on random graphs?

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use restride_testkit::generate::Kind;
use restride_testkit::ladder::{Options, Report, climb};
use serde_json::json;

use super::rungs::{compared, rungs_help};
use crate::failure::Failure;
use crate::say::progress;

/// The arguments of `restride ladder`.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  restride ladder --seed 7 --count 100000 --rung oracle,plan

Exit code 0 if all rungs agree on all cases, 1 if not. A case that fails is made small and printed
as a file that `restride bisect` reads.")]
pub(crate) struct Args {
    /// Names the run: the same seed gives the same cases.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many cases.
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// The number of the first case; with `--count 1`, one case again.
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// The most operators of a graph.
    #[arg(long, value_name = "K", default_value_t = 8)]
    max_ops: usize,
    #[arg(long, value_name = "RUNG", value_delimiter = ',', help = rungs_help("The rungs that must agree"))]
    rung: Vec<String>,
    /// The kind of all cases; a mix unless given.
    #[arg(long, value_parser = kind, value_name = "KIND")]
    kind: Option<Kind>,
    /// How many threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// How many failures to make small and print.
    #[arg(long, value_name = "N", default_value_t = 5)]
    failures: usize,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

fn kind(word: &str) -> Result<Kind, String> {
    let known = || Kind::ALL.map(Kind::name).join(", ");
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == word);
    kind.ok_or_else(|| format!("there is no kind `{word}`; there are {}", known()))
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let rungs = compared(&args.rung)?;
    let options = Options {
        seed: args.seed,
        first: args.first,
        count: args.count,
        max_ops: args.max_ops,
        kind: args.kind,
        threads: args.threads,
        keep: args.failures,
    };
    let started = Instant::now();
    let shown = AtomicU64::new(0);
    let watched = std::io::stderr().is_terminal();
    // A rung that panics is caught and reported as a failure of the rung.
    std::panic::set_hook(Box::new(|_| {}));
    let report = climb(&options, &rungs, |done| {
        let seconds = started.elapsed().as_secs();
        if watched
            && started.elapsed() > Duration::from_secs(1)
            && shown.swap(seconds, Ordering::Relaxed) < seconds
        {
            progress(format_args!("\r{done} of {}", args.count));
        }
    });
    drop(std::panic::take_hook());
    if shown.into_inner() > 0 {
        progress(format_args!("\n"));
    }
    let mut out = std::io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", as_json(&options, &report))?,
        false => write!(out, "{report}")?,
    }
    Ok(match report.failed {
        0 => ExitCode::SUCCESS,
        1.. => ExitCode::FAILURE,
    })
}

fn as_json(options: &Options, report: &Report) -> serde_json::Value {
    let shares = report.shares.iter().map(|(kind, share)| {
        let share =
            json!({"cases": share.cases, "no_temporary": share.fused, "views": share.views});
        (kind.name().to_owned(), share)
    });
    let breaks = report.breaks.iter().map(
        |((kind, reason), count)| json!({"kind": kind.name(), "reason": reason, "count": count}),
    );
    let failures = report.failures.iter().map(|failure| {
        json!({
            "case": failure.number,
            "rung": failure.rung,
            "message": failure.message,
            "text": failure.text,
        })
    });
    json!({
        "seed": options.seed,
        "first": options.first,
        "max_ops": options.max_ops,
        "rungs": report.rungs,
        "passed": report.passed,
        "failed": report.failed,
        "refused_runs": report.refused,
        "refused_operators": report.refused_ops,
        "shares": shares.collect::<serde_json::Map<_, _>>(),
        "breaks": breaks.collect::<Vec<_>>(),
        "disagreements": report.by_rung,
        "failures": failures.collect::<Vec<_>>(),
    })
}
