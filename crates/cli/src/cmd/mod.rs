//! The subcommands. Each has a file with its arguments and a `run`.

mod bench;
mod bisect;
mod conform;
mod ladder;
mod rungs;

use std::process::ExitCode;

use clap::Subcommand;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run real workloads beside a memcpy of the same bytes.
    Bench(bench::Args),
    /// Name the first rung that disagrees on a graph.
    Bisect(bisect::Args),
    /// Run golden cases of real frameworks.
    Conform(conform::Args),
    /// Run random graphs through every stage of the compiler and compare.
    Ladder(ladder::Args),
}

/// Does it. An error is a message about wrong use; a failed check is an exit code.
pub(crate) fn run(command: Command) -> Result<ExitCode, String> {
    match command {
        Command::Bench(args) => bench::run(&args),
        Command::Bisect(args) => bisect::run(&args),
        Command::Conform(args) => conform::run(&args),
        Command::Ladder(args) => ladder::run(&args),
    }
}
