//! `restride import`: a model that only moves data, as a program.

use std::io::{self, Write};
use std::process::ExitCode;

use super::model::File;
use crate::failure::Failure;

/// The arguments of `restride import`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: File,
}

/// Prints the program.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let model = args.file.open()?;
    let program = model.whole().map_err(Failure::of_file(args.file.path()))?;
    io::stdout()
        .lock()
        .write_all(program.graph.to_string().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
