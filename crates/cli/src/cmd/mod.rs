//! The subcommands. Each has a file with its arguments and a `run`.

mod bench;
mod conform;

use std::process::ExitCode;

use clap::Subcommand;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run real workloads beside a memcpy of the same bytes.
    Bench(bench::Args),
    /// Run golden cases of real frameworks.
    Conform(conform::Args),
}

/// Does it. An error is a message about wrong use; a failed check is an exit code.
pub(crate) fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::Bench(args) => bench::run(&args),
        Command::Conform(args) => conform::run(&args),
    }
}
