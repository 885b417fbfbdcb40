//! `restride compile`: the code of a program, at the level asked for.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::ValueEnum;

use crate::failure::Failure;
use crate::listing::commented;
use crate::source::INPUT_HELP;
use crate::stages::Program;
use crate::views::{Views, notes};

/// The arguments of `restride compile`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Emit::Asm)]
    emit: Emit,
    /// Code that calls no precompiled moves.
    #[arg(long)]
    self_contained: bool,
    #[command(flatten)]
    views: Views,
}

/// What can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Emit {
    /// The loops that are compiled.
    Loops,
    /// The code generator's intermediate code.
    Clif,
    /// Machine code, disassembled.
    Asm,
    /// All of these.
    All,
}

/// Compiles and prints.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let program = Program::open(&args.file)?;
    let (kernel, plan) = program.kernel(args.views.policy())?;
    let mut out = io::stdout().lock();
    // A comment in the language of what follows it.
    let comment = match args.emit {
        Emit::Loops | Emit::All => "//",
        Emit::Clif | Emit::Asm => ";",
    };
    for note in plan
        .iter()
        .flat_map(|plan| notes(plan, &program, "compiles"))
    {
        writeln!(out, "{comment} {note}")?;
    }
    let wants = |emit| args.emit == emit || args.emit == Emit::All;
    if wants(Emit::Loops) {
        writeln!(out, "{}", kernel.to_string().trim_end())?;
    }
    if args.emit == Emit::Loops {
        return Ok(ExitCode::SUCCESS);
    }
    if kernel.phases.iter().all(Vec::is_empty) {
        writeln!(out, "; no code: nothing is moved")?;
        return Ok(ExitCode::SUCCESS);
    }
    let code = commented(&kernel, args.self_contained)?;
    writeln!(out, "; {}", code.summary)?;
    if wants(Emit::Clif) {
        writeln!(out, "{}", code.clif.trim_end())?;
    }
    if wants(Emit::Asm) {
        writeln!(out, "{}", code.assembly.trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}
