//! The `restride` command.

mod cmd;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// A compiler for moving tensor data.
#[derive(Parser, Debug)]
#[command(name = "restride", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    Bench(cmd::bench::BenchArgs),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Bench(args) => cmd::bench::run(&args),
    }
}
