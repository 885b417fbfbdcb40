//! `restride conform`: do the rungs agree with the frameworks?

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use restride_testkit::conform::check_lines;
use restride_testkit::rungs::{Rung, named};

use super::rungs::all_rungs;
use crate::cmd::folders;
use crate::failure::Failure;

/// The arguments of `restride conform`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of cases, one JSON object a line, and folders of ONNX backend tests
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The rungs on which a case must hold; all that exist unless named.
    #[arg(long, value_name = "RUNG", value_delimiter = ',')]
    rung: Vec<String>,
    /// How many failures to print in full.
    #[arg(long, value_name = "N", default_value_t = 10)]
    failures: usize,
}

/// Prints a line a file, the first failures, and the totals.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let rungs = named(&all_rungs(), &args.rung).map_err(Failure::Usage)?;
    Ok(report(args, &rungs, &mut io::stdout().lock())?)
}

fn report(args: &Args, rungs: &[&dyn Rung], out: &mut impl Write) -> io::Result<ExitCode> {
    let (mut passed, mut failed, mut shown) = (0, 0, 0);
    for path in &args.files {
        let name = path.display();
        // A file that cannot be read fails like a case does, and the others still run.
        let report = match path.is_dir() {
            true => Ok(folders::check(path, rungs)),
            false => std::fs::read_to_string(path).map(|text| check_lines(&text, rungs)),
        };
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                failed += 1;
                writeln!(out, "{name}: cannot be read: {error}")?;
                continue;
            }
        };
        writeln!(
            out,
            "{name}: {} passed, {} failed",
            report.passed,
            report.failures.len()
        )?;
        for failure in report.failures.iter().take(args.failures - shown) {
            writeln!(out, "  {}", failure.trim_end().replace('\n', "\n    "))?;
            shown += 1;
        }
        passed += report.passed;
        failed += report.failures.len();
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
