//! The `restride` command: one subcommand a file, under `cmd`.

#![deny(unsafe_code)]

mod cmd;

use std::process::ExitCode;

use clap::Parser;

/// A compiler for moving tensor data.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: cmd::Command,
}

fn main() -> ExitCode {
    match cmd::run(Cli::parse().command) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
