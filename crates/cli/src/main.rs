//! The `restride` command: one subcommand a file, under `cmd`.

#![deny(unsafe_code)]

mod cmd;
mod data;
mod execute;
mod explanation;
mod failure;
mod native;
mod quick;
mod signature;
mod source;
mod stages;
mod style;

use std::process::ExitCode;

use clap::Parser;

/// A compiler for moving tensor data.
///
/// Every command that takes a program takes a file, `-` for standard input, or an expression in
/// numpy's words, and says by the text's first word which stage it is at: `func`, `canonical` or
/// `kernel`.
#[derive(Parser)]
#[command(name = "restride", version, about, after_help = failure::EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: cmd::Command,
}

fn main() -> ExitCode {
    match cmd::run(Cli::parse().command) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}
