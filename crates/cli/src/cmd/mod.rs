//! The subcommands. Each has a file with its arguments and a `run`.

mod bench;
mod bisect;
mod check;
mod compile;
mod completions;
mod conform;
mod dot;
mod explain;
mod folders;
mod import;
mod ladder;
mod model;
mod object;
mod opt;
pub(crate) mod report;
mod run;
mod rungs;
mod verify;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;
use crate::quick;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Take a program through the stages: text in, text out.
    #[command(
        after_help = "Example:\n  restride opt chain.mv | restride opt --pass lower --explain"
    )]
    Opt(opt::Args),
    /// Say how a program is compiled, and why so.
    #[command(
        after_help = "Example:\n  restride explain 'x: f32[8,16,32]; x[1, ..., ::-2, newaxis]'"
    )]
    Explain(explain::Args),
    /// Print the loops, the intermediate code or the machine code of a program, or make an object file of many.
    #[command(
        after_help = "Examples:\n  restride compile --copy-views 'x: f32[64,64]; x.T'\n  restride compile --emit obj --target aarch64-unknown-linux-gnu kernels.mv -o k.o --header k.h"
    )]
    Compile(compile::Args),
    /// Write a page that shows a program at every stage.
    #[command(
        after_help = "Example:\n  restride report --copy-views 'x: f32[16,16]; x.T' -o transpose.html"
    )]
    Report(report::Args),
    /// Draw a graph in the dot language.
    #[command(after_help = "Example:\n  restride dot chain.mv | dot -Tsvg > chain.svg")]
    Dot(dot::Args),
    /// Check programs: that they parse, and that their loops are proved.
    #[command(after_help = "Example:\n  restride check *.mv")]
    Check(check::Args),
    /// Prove the machine code of a program, instruction by instruction.
    #[command(after_help = "Example:\n  restride verify --copy-views 'x: f32[64,64]; x.T'")]
    Verify(verify::Args),
    /// Run a program on data: files, recipes or numbers that count up.
    Run(run::Args),
    /// Time a program, or real workloads, beside a memcpy of the same bytes.
    Bench(bench::Args),
    /// Say what a model spends on moving data: ONNX or OpenVINO IR.
    #[command(after_help = "Example:\n  restride model yolo.onnx --shape images=1,3,640,640")]
    Model(model::Args),
    /// Put one node in the place of each group of a model's movement, for ONNX Runtime or OpenVINO.
    #[command(after_help = "Example:\n  restride rewrite swin.onnx -o fused.onnx")]
    Rewrite(model::rewrite::Args),
    /// Print a model that only moves data as a program.
    #[command(after_help = "Example:\n  restride import patches.onnx | restride explain")]
    Import(import::Args),
    /// Name the first rung that disagrees on a graph.
    Bisect(bisect::Args),
    /// Run golden cases of real frameworks.
    #[command(
        after_help = "Example:\n  restride conform tests/golden/*.jsonl\n  restride conform test_slice  # has model.onnx and test_data_set_0"
    )]
    Conform(conform::Args),
    /// Run random graphs through every stage of the compiler and compare.
    Ladder(ladder::Args),
    /// Say how expressions are written, in numpy's words.
    #[command(after_long_help = quick::HELP)]
    Quick,
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  restride completions bash > ~/.local/share/bash-completion/completions/restride"
    )]
    Completions(completions::Args),
}

/// Does it. A failed check is an exit code, everything else that goes wrong a failure.
pub(crate) fn run(command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Bisect(args) => bisect::run(&args),
        Command::Ladder(args) => ladder::run(&args),
        Command::Opt(args) => opt::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Compile(args) => compile::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Dot(args) => dot::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Model(args) => model::run(&args),
        Command::Rewrite(args) => model::rewrite::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Conform(args) => conform::run(&args),
        Command::Quick => {
            io::stdout().lock().write_all(quick::HELP.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Completions(args) => completions::run(&args),
    }
}
