//! `restride verify`: the proof that a program's machine code does what its loops say.

use std::io::{self, Write};
use std::process::ExitCode;

use restride_check::{Form, Limits, Processor, Report, Subject, Unproved, check};
use restride_jit::{CompileOptions, Compiler, Features, NativeKernel};
use restride_loops::{Kernel, Verified};
use serde_json::json;

use crate::failure::Failure;
use crate::listing::contract;
use crate::source::INPUT_HELP;
use crate::stages::Program;
use crate::views::{Views, notes};

/// The arguments of `restride verify`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    /// How many instructions, and elements moved by called functions, to follow at most.
    #[arg(long, default_value_t = 1 << 27, value_name = "N")]
    steps: u64,
    /// Prove the code for every level of the processor that this machine has.
    #[arg(long)]
    every_level: bool,
    /// Prove code that calls no precompiled moves.
    #[arg(long)]
    self_contained: bool,
    #[command(flatten)]
    views: Views,
    /// One JSON object a level.
    #[arg(long)]
    json: bool,
}

/// Compiles, proves and prints the report.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let Some(processor) = Processor::host() else {
        return Err(Failure::Usage(
            "the machine code of this processor cannot be followed".into(),
        ));
    };
    let program = Program::open(&args.file)?;
    let (kernel, plan) = program.kernel(args.views.policy())?;
    let mut out = io::stdout().lock();
    let views = plan.map_or_else(Vec::new, |plan| notes(&plan, &program, "proves"));
    if !args.json {
        for note in &views {
            writeln!(out, "{note}")?;
        }
        writeln!(out, "loops: {}", facts(&kernel))?;
    }
    let levels = Features::ALL
        .into_iter()
        .filter(|level| level.is_available());
    let levels: Vec<Features> = match args.every_level {
        true => levels.collect(),
        false => vec![Features::detect()],
    };
    let mut proved = true;
    for level in levels {
        let native = compiled(&kernel, level, args.self_contained)?;
        let phases: Vec<usize> = native.phase_offsets().collect();
        let subject = Subject {
            processor,
            code: native.code(),
            form: Form::Phases(&phases),
            kernel: &kernel,
            callees: native.callees(),
        };
        let mut limits = Limits::default();
        limits.steps = args.steps;
        limits.bytes = args.steps;
        let report = match check(&subject, &limits) {
            Ok(report) => Ok(report),
            Err(Unproved::Wrong(violation)) => {
                return Err(Failure::Internal(format!(
                    "the machine code for {level:?} is wrong: {violation}"
                )));
            }
            Err(Unproved::Limit(limit)) => Err(format!("not followed to its end: {limit}")),
            Err(unproved) => Err(unproved.to_string()),
        };
        proved &= report.is_ok();
        if args.json {
            writeln!(out, "{}", as_json(level, &native, &report, &views))?;
        } else {
            print(&mut out, level, &native, &report)?;
        }
    }
    Ok(match proved {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn compiled(
    kernel: &Verified,
    level: Features,
    self_contained: bool,
) -> Result<NativeKernel, Failure> {
    let mut options = CompileOptions::default();
    options.features = level;
    options.contracts = true;
    options.self_contained = self_contained;
    Compiler::new(options)
        .and_then(|mut compiler| compiler.compile(kernel))
        .map_err(|error| Failure::Internal(format!("generating code: {error}")))
}

/// What was proved of the loops, in one line.
fn facts(kernel: &Kernel) -> String {
    let mut statements = 0;
    kernel.visit(|_| statements += 1);
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let buffers = kernel.buffers.len();
    format!(
        "{statements} statement{} over {buffers} buffer{}; every address is inside its buffer, every \
         element of an output is written once, no scratch is read before it is written",
        plural(statements),
        plural(buffers),
    )
}

fn print(
    out: &mut impl Write,
    level: Features,
    native: &NativeKernel,
    report: &Result<Report, String>,
) -> io::Result<()> {
    writeln!(
        out,
        "machine code: {level:?}, {} bytes",
        native.code_bytes()
    )?;
    let report = match report {
        Ok(report) => report,
        Err(why) => return writeln!(out, "  {why}"),
    };
    let executed = report.executed.len();
    writeln!(out, "  runs          {}", report.runs)?;
    writeln!(
        out,
        "  instructions  {executed} different ones, {} steps in all",
        report.steps
    )?;
    writeln!(
        out,
        "  accesses      {} by the code itself, all inside",
        report.accesses
    )?;
    writeln!(out, "  output bytes  {}, each the right one", report.bytes)?;
    writeln!(out, "  calls         {}, by contract", report.calls)?;
    for callee in native.callees() {
        writeln!(out, "    {}", contract(&callee.contract))?;
    }
    Ok(())
}

fn as_json(
    level: Features,
    native: &NativeKernel,
    report: &Result<Report, String>,
    views: &[String],
) -> serde_json::Value {
    let level = format!("{level:?}");
    match report {
        Ok(report) => json!({
            "level": level,
            "code_bytes": native.code_bytes(),
            "proved": true,
            "runs": report.runs,
            "steps": report.steps,
            "instructions": report.executed.len(),
            "accesses": report.accesses,
            "output_bytes": report.bytes,
            "calls": report.calls,
            "views": views,
        }),
        Err(why) => json!({
            "level": level,
            "code_bytes": native.code_bytes(),
            "proved": false,
            "why": why,
            "views": views,
        }),
    }
}
