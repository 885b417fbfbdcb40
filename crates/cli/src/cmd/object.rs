//! `restride compile --emit obj`: programs as an object file and a C header.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use restride::{CompileError, ObjectError};

use crate::budget;
use crate::failure::Failure;
use crate::machine::MachineArgs;
use crate::stages::AnyProgram;

/// What `--emit obj` needs beside programs.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    /// Of `--emit obj`: where the object file goes
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Of `--emit obj`: where the C header goes
    #[arg(long, value_name = "FILE")]
    header: Option<PathBuf>,
}

impl Args {
    /// Whether something is asked for that only an object has.
    pub(crate) fn is_used(&self) -> bool {
        self.machine.target.is_some() || self.output.is_some() || self.header.is_some()
    }
}

/// Compiles all programs of all arguments, and writes the files.
pub(crate) fn run(arguments: &[String], args: &Args) -> Result<ExitCode, Failure> {
    let wanted = |what: &str| Failure::Usage(format!("`--emit obj` wants {what}"));
    let object = args.machine.object()?;
    let object = object.ok_or_else(|| wanted("`--target`, such as aarch64-unknown-linux-gnu"))?;
    let output = args.output.as_ref();
    let output = output.ok_or_else(|| wanted("`-o FILE`, for the object file"))?;
    let mut object = object.within(budget::chosen());
    for argument in arguments {
        for (input, program) in AnyProgram::all(argument)? {
            let AnyProgram::Graph(graph) = program else {
                let stage = program.stage();
                let title = input.title();
                return Err(Failure::Input(format!(
                    "{title}: an object is made of graphs, and this is a {stage}"
                )));
            };
            let name = identifier(graph.name());
            let added = object.add(&name, &graph);
            added.map_err(|error| refused(&input.title(), error))?;
        }
    }
    let bytes = object.bytes();
    let bytes = bytes.map_err(|error| Failure::Usage(error.to_string()))?;
    fs::write(output, bytes).map_err(Failure::of_file(output))?;
    if let Some(header) = &args.header {
        fs::write(header, object.header()).map_err(Failure::of_file(header))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A program's name as C may have it: what it may not have is `_`.
fn identifier(name: &str) -> String {
    let known = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    name.chars().map(known).collect()
}

fn refused(title: &str, error: ObjectError) -> Failure {
    match error {
        ObjectError::Compile(CompileError::TooCostly(spent)) => budget::refused(spent),
        ObjectError::Name(_) | ObjectError::Taken(_) => Failure::Input(format!("{title}: {error}")),
        error => Failure::Internal(format!("{title}: {error}")),
    }
}
