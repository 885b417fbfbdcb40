//! `restride check`: is this text right, and if it is loops, are they proved?

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

use crate::failure::Failure;
use crate::source::{INPUT_HELP, Input, printable};
use crate::stages::{Program, lower, verified};

/// The arguments of `restride check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(required = true, help = INPUT_HELP)]
    files: Vec<String>,
    /// One JSON object a file.
    #[arg(long)]
    json: bool,
}

/// Checks every file, however many of them are wrong.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    let mut sound = true;
    for file in &args.files {
        let name = printable(file);
        match check(file) {
            Ok(verdict) if args.json => {
                writeln!(out, "{}", json!({"file": name, "ok": true, "is": verdict}))?;
            }
            Ok(verdict) => writeln!(out, "{name}: {verdict}")?,
            Err(failure @ (Failure::Internal(_) | Failure::Usage(_) | Failure::ClosedPipe)) => {
                return Err(failure);
            }
            Err(Failure::Input(message)) => {
                sound = false;
                if args.json {
                    let line = json!({"file": name, "ok": false, "error": message.trim_end()});
                    writeln!(out, "{line}")?;
                } else {
                    Failure::Input(message).report();
                }
            }
        }
    }
    Ok(match sound {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn check(file: &str) -> Result<String, Failure> {
    let program = Program::parse(&Input::open(file)?)?;
    let kernel = match &program {
        Program::Kernel(kernel) => verified(kernel)?,
        Program::Graph(_) | Program::Canonical(_) => match program.canonical()? {
            Some((canonical, _)) => lower(&canonical, false)?.kernel,
            None => return Err(Failure::Internal("a graph has no canonical form".into())),
        },
    };
    let mut statements = 0;
    kernel.visit(|_| statements += 1);
    Ok(format!(
        "a sound {}; its kernel of {statements} statements is proved",
        program.stage()
    ))
}
