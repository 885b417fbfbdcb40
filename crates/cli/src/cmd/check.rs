//! `restride check`: is this text right, and if it is loops, are they proved?

use restride_graph::ViewPolicy;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::failure::{Failure, Spot};
use crate::say::plural;
use crate::source::{INPUT_HELP, Input, printable};
use crate::stages::AnyProgram;

/// The arguments of `restride check`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(required = true, help = INPUT_HELP)]
    files: Vec<String>,
    /// One JSON object a program.
    #[arg(long)]
    json: bool,
}

/// Checks every program, however many of them are wrong.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    let mut sound = true;
    let programs = args.files.iter().flat_map(|file| {
        let name = printable(file);
        match Input::open(file).and_then(|input| input.programs()) {
            Err(failure) => vec![(name, Err(failure))],
            Ok(all) if all.len() == 1 => all.iter().map(|it| (name.clone(), check(it))).collect(),
            Ok(all) => all.iter().map(|it| (it.title(), check(it))).collect(),
        }
    });
    for (name, checked) in programs {
        match checked {
            Ok(verdict) if args.json => {
                writeln!(out, "{}", json!({"file": name, "ok": true, "is": verdict}))?;
            }
            Ok(verdict) => writeln!(out, "{name}: {verdict}")?,
            Err(failure @ (Failure::Internal(_) | Failure::Usage(_) | Failure::ClosedPipe)) => {
                return Err(failure);
            }
            Err(failure @ (Failure::Input(_) | Failure::Text(_))) => {
                sound = false;
                if args.json {
                    let errors = errors(&failure);
                    writeln!(
                        out,
                        "{}",
                        json!({"file": name, "ok": false, "errors": errors})
                    )?;
                } else {
                    failure.report();
                }
            }
        }
    }
    Ok(match sound {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// What is wrong, for programs: a place has a line and a column.
fn errors(failure: &Failure) -> Vec<Value> {
    match failure {
        Failure::Text(wrong) => {
            let places = wrong.places.iter();
            let as_json = |place: &Spot| {
                let mut error = json!({
                    "line": place.line,
                    "column": place.column,
                    "message": place.message,
                });
                if let Some(help) = &place.help {
                    error["help"] = json!(help);
                }
                error
            };
            places.map(as_json).collect()
        }
        Failure::Input(message) | Failure::Usage(message) | Failure::Internal(message) => {
            vec![json!({"message": message.trim_end()})]
        }
        Failure::ClosedPipe => Vec::new(),
    }
}

fn check(input: &Input) -> Result<String, Failure> {
    let program = AnyProgram::parse(input)?;
    let (kernel, _) = program.kernel(ViewPolicy::Any)?;
    let mut statements = 0;
    kernel.visit(|_| statements += 1);
    let (stage, statements) = (program.stage(), plural(statements, "statement"));
    Ok(format!(
        "a sound {stage}; its kernel of {statements} is proved"
    ))
}
