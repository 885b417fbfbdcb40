//! `restride compile`: the code of a program, at the level asked for, or of many as an object file.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::ValueEnum;

use super::object;
use crate::failure::Failure;
use crate::listing::commented;
use crate::source::INPUT_HELP;
use crate::stages::AnyProgram;
use crate::views::{Views, notes};

/// The arguments of `restride compile`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    files: Vec<String>,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Emit::Asm)]
    emit: Emit,
    /// Code that calls no precompiled moves.
    #[arg(long)]
    self_contained: bool,
    #[command(flatten)]
    views: Views,
    #[command(flatten)]
    object: object::Args,
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
    /// An object file of one function for each program, and a C header. Every output is written.
    Obj,
}

/// Compiles and prints.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if args.emit == Emit::Obj {
        return object::run(&args.files, &args.object);
    }
    if args.object.is_used() {
        let message = "`--target`, `-o` and `--header` are for `--emit obj`";
        return Err(Failure::Usage(message.into()));
    }
    let [file] = args.files.as_slice() else {
        let message = "one program is wanted; only `--emit obj` takes several";
        return Err(Failure::Usage(message.into()));
    };
    let program = AnyProgram::open(file)?;
    let (kernel, plan) = program.kernel(args.views.policy())?;
    let mut out = io::stdout().lock();
    // A comment in the language of what follows it.
    let comment = match args.emit {
        Emit::Loops | Emit::All => "//",
        Emit::Clif | Emit::Asm | Emit::Obj => ";",
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
