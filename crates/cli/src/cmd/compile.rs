//! `restride compile`: the code of a program, at the level asked for.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::ValueEnum;
use restride_jit::{CompileOptions, Compiler};
use restride_loops::Verified;

use crate::failure::Failure;
use crate::source::INPUT_HELP;
use crate::stages::Program;

/// The arguments of `restride compile`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Emit::Asm)]
    emit: Emit,
    /// Leave outputs out that are views of an input.
    #[arg(long)]
    views: bool,
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
    let kernel = Program::open(&args.file)?.kernel(!args.views)?;
    let mut out = io::stdout().lock();
    let wants = |emit| args.emit == emit || args.emit == Emit::All;
    if wants(Emit::Loops) {
        writeln!(out, "{}", kernel.to_string().trim_end())?;
    }
    if wants(Emit::Clif) {
        let listing = compiler()?.listing(&kernel).map_err(internal)?;
        writeln!(out, "{}", listing.clif.trim_end())?;
    }
    if wants(Emit::Asm) {
        let (assembly, bytes) = assembly(&kernel)?;
        writeln!(out, "; {bytes} bytes")?;
        writeln!(out, "{}", assembly.trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A compiler for this machine.
pub(crate) fn compiler() -> Result<Compiler, Failure> {
    Compiler::new(CompileOptions::default()).map_err(internal)
}

/// The machine code of a kernel, disassembled where there is a disassembler for it, and its size.
pub(crate) fn assembly(kernel: &Verified) -> Result<(String, usize), Failure> {
    let mut compiler = compiler()?;
    let listing = compiler.listing(kernel).map_err(internal)?;
    if !cfg!(target_arch = "x86_64") {
        return Ok((listing.assembly, listing.bytes));
    }
    // Without executable memory there is still the code generator's own listing.
    match compiler.compile(kernel) {
        Ok(native) => Ok((native.disassembly(), native.code_bytes())),
        Err(_) => Ok((listing.assembly, listing.bytes)),
    }
}

fn internal(error: restride_jit::JitError) -> Failure {
    Failure::Internal(format!("generating code: {error}"))
}
