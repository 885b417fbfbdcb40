//! `restride conform`: do the rungs agree with the frameworks?

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use restride_testkit::conform::{FileReport, check_lines};
use restride_testkit::rungs::named;
use serde_json::{Value, json};

use super::rungs::{all_rungs, rungs_help};
use crate::cmd::folders;
use crate::failure::Failure;

/// The arguments of `restride conform`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of cases, one JSON object a line, and folders of ONNX backend tests
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[arg(long, value_name = "RUNG", value_delimiter = ',', help = rungs_help("The rungs on which a case must hold"))]
    rung: Vec<String>,
    /// How many failures, and how many refusals, to print in full.
    #[arg(long, value_name = "N", default_value_t = 10)]
    failures: usize,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// The exit code if restride gives no wrong answer, but refuses some cases.
const REFUSED: u8 = 4;

/// Prints a line a file, the first failures, and the totals.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let rungs = named(&all_rungs(), &args.rung).map_err(Failure::Usage)?;
    let mut out = io::stdout().lock();
    let mut total = FileReport::default();
    let mut files = Vec::new();
    for path in &args.files {
        // A file that cannot be read fails like a case does, and the others still run.
        let report = match path.is_dir() {
            true => folders::check(path, &rungs),
            false => match std::fs::read_to_string(path) {
                Ok(text) => check_lines(&text, &rungs),
                Err(error) => FileReport {
                    failures: vec![format!("cannot be read: {error}")],
                    ..FileReport::default()
                },
            },
        };
        match args.json {
            true => files.push(object(Some(path), &report)),
            false => say(&path.display().to_string(), &report, &total, args, &mut out)?,
        }
        total.extend(report);
    }
    if args.json {
        let mut all = object(None, &total);
        all["files"] = files.into();
        writeln!(out, "{all}")?;
    } else {
        writeln!(out, "{}", counts(&total))?;
    }
    Ok(match (total.failures.len(), total.refusals.len()) {
        (0, 0) => ExitCode::SUCCESS,
        (0, _) => ExitCode::from(REFUSED),
        _ => ExitCode::FAILURE,
    })
}

fn counts(report: &FileReport) -> String {
    let (failed, refused) = (report.failures.len(), report.refusals.len());
    match refused {
        0 => format!("{} passed, {failed} failed", report.passed),
        _ => format!(
            "{} passed, {failed} failed, {refused} refused",
            report.passed
        ),
    }
}

/// One file's counts, and what is wrong; of `before` as much has been said already.
fn say(
    name: &str,
    report: &FileReport,
    before: &FileReport,
    args: &Args,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{name}: {}", counts(report))?;
    let of = |list: &[String], said: &[String], what: &str| -> Vec<String> {
        let list = list.iter().take(args.failures.saturating_sub(said.len()));
        list.map(|it| format!("{what}{}", it.trim_end().replace('\n', "\n    ")))
            .collect()
    };
    let wrong = of(&report.failures, &before.failures, "");
    let refused = of(&report.refusals, &before.refusals, "refused: ");
    for line in wrong.iter().chain(&refused) {
        writeln!(out, "  {line}")?;
    }
    Ok(())
}

fn object(file: Option<&Path>, report: &FileReport) -> Value {
    let mut object = json!({
        "passed": report.passed,
        "failed": report.failures.len(),
        "refused": report.refusals.len(),
    });
    if let Some(file) = file {
        object["file"] = file.display().to_string().into();
        object["failures"] = report.failures.clone().into();
        object["refusals"] = report.refusals.clone().into();
    }
    object
}
