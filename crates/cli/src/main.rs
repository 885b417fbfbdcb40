//! The `restride` command: one subcommand a file, under `cmd`.

#![deny(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod budget;
mod cmd;
mod data;
mod execute;
mod explanation;
mod failure;
mod listing;
mod machine;
mod native;
mod quick;
mod say;
mod signature;
mod source;
mod stages;
mod style;
mod views;
mod ways;
mod written;

use std::io::Write;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser};

/// What `--version` says, beside the number of `-V`.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "
code        for x86-64, aarch64, and riscv64, with its vectors and without, as Cranelift makes it; kernels as object files for each
run here    x86-64 under Linux; the others under emulation only
leaves      precompiled moves are for x86-64: elsewhere an engine has code of its own, of vectors of 16 bytes, or moves
            without vectors what a leaf would move
proofs      of machine code, installed or in object files, are for x86-64 and aarch64: none for riscv64"
);

/// A compiler for moving tensor data.
///
/// Every command that takes a program takes a file, `-` for standard input, or an expression in
/// numpy's words, and says by the text's first word which stage it is at: `func`, `canonical` or
/// `kernel`.
#[derive(Parser)]
#[command(name = "restride", version, long_version = LONG_VERSION, after_help = failure::EXIT_CODES)]
pub(crate) struct Cli {
    /// When headings are coloured; auto is on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    color: style::Colour,
    /// What one compile may spend: so many times the default, or `unlimited`
    #[arg(long, global = true, value_name = "TIMES", value_parser = budget::parse)]
    budget: Option<restride::Budget>,
    #[command(subcommand)]
    command: cmd::Command,
}

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| suggesting(error).exit());
    cli.color.choose();
    budget::choose(cli.budget);
    match run(cli.command) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

/// A command that is misspelt, with the nearest one that there is.
fn suggesting(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    // A program, where a command should be.
    if word.contains([';', '[']) || std::path::Path::new(word).is_file() {
        let advice = "name a command before it, such as `restride run` or `restride explain`";
        let advice = ContextValue::StyledStrs(vec![advice.to_owned().into()]);
        error.insert(ContextKind::Suggested, advice);
        return error;
    }
    let command = Cli::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    if let Some(name) = restride_text::closest(word, names) {
        let name = ContextValue::Strings(vec![name.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, name);
    }
    error
}

/// What is still in a buffer counts: a command that could not write all of it has failed.
fn run(command: cmd::Command) -> Result<ExitCode, failure::Failure> {
    let code = cmd::run(command)?;
    std::io::stdout().lock().flush()?;
    Ok(code)
}
