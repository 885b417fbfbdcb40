//! `restride verify`: the proof that a program's machine code does what its loops say.

use std::io::{self, Write};
use std::process::ExitCode;

use restride::Object;
use restride_check::{CallForm, Callee, CodeSubject, Limits, Processor, Report, Unproved, check};
use restride_graph::ViewPolicy;
use restride_jit::Features;
use restride_loops::Kernel;
use serde_json::json;

use crate::execute::{compiler, no_code};
use crate::failure::Failure;
use crate::listing::contract;
use crate::machine::MachineArgs;
use crate::say::plural;
use crate::source::INPUT_HELP;
use crate::stages::AnyProgram;
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
    #[command(flatten)]
    machine: MachineArgs,
    /// One JSON object a level.
    #[arg(long)]
    json: bool,
}

/// Compiles, proves and prints the report.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    if let (Some(name), Some(object)) = (&args.machine.target, args.machine.object()?) {
        return ahead(args, name, object);
    }
    let Some(processor) = Processor::host() else {
        return Err(Failure::Usage(
            "the machine code of this processor cannot be followed".into(),
        ));
    };
    let program = AnyProgram::open(&args.file)?;
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
        let mut compiler = compiler(level, args.self_contained)?;
        let native = compiler.compile(&kernel).map_err(no_code)?;
        let phases: Vec<usize> = native.phase_offsets().collect();
        let subject = CodeSubject {
            processor,
            code: native.code(),
            form: CallForm::Phases(&phases),
            kernel: &kernel,
            callees: native.callees(),
        };
        let code = CodeFacts {
            machine: format!("{level:?}"),
            bytes: native.code_bytes(),
            callees: native.callees(),
        };
        let report = followed(&subject, args.steps, &code.machine)?;
        proved &= report.is_ok();
        if args.json {
            writeln!(out, "{}", as_json(&code, &report, &views))?;
        } else {
            print(&mut out, &code, &report)?;
        }
    }
    Ok(match proved {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The same of the bytes that an object for some machine would have.
fn ahead(args: &Args, name: &str, mut object: Object) -> Result<ExitCode, Failure> {
    let processor = match object.target().processor {
        restride_moves::Processor::X86_64 => Processor::X86,
        restride_moves::Processor::Aarch64 => Processor::A64,
        _ => {
            let message = format!("the machine code of {name} cannot be followed");
            return Err(Failure::Usage(message));
        }
    };
    let program = AnyProgram::open(&args.file)?;
    let (kernel, _) = program.kernel_for(ViewPolicy::Copy, object.target())?;
    let function = object.code(&kernel);
    let function =
        function.map_err(|error| Failure::Internal(format!("generating code: {error}")))?;
    let subject = CodeSubject::ahead(processor, &kernel, &function);
    let code = CodeFacts {
        machine: name.into(),
        bytes: function.code,
        callees: &[],
    };
    let report = followed(&subject, args.steps, name)?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", as_json(&code, &report, &[]))?;
    } else {
        writeln!(out, "loops: {}", facts(&kernel))?;
        print(&mut out, &code, &report)?;
    }
    Ok(match report {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// Code that was looked at.
struct CodeFacts<'a> {
    /// What it is for.
    machine: String,
    bytes: usize,
    callees: &'a [Callee],
}

/// What was shown of code, or why nothing was; code that is wrong is a failure of this program.
fn followed(
    subject: &CodeSubject<'_>,
    steps: u64,
    machine: &str,
) -> Result<Result<Report, String>, Failure> {
    let mut limits = Limits::default();
    limits.steps = steps;
    limits.bytes = steps;
    match check(subject, &limits) {
        Ok(report) => Ok(Ok(report)),
        Err(Unproved::Wrong(violation)) => Err(Failure::Internal(format!(
            "the machine code for {machine} is wrong: {violation}"
        ))),
        Err(Unproved::Limit(limit)) => Ok(Err(format!("not followed to its end: {limit}"))),
        Err(unproved) => Ok(Err(unproved.to_string())),
    }
}

/// What was proved of the loops, in one line.
fn facts(kernel: &Kernel) -> String {
    let mut statements = 0;
    kernel.visit(|_| statements += 1);
    format!(
        "{} over {}; every address is inside its buffer, every element of an output is written \
         once, no scratch is read before it is written",
        plural(statements, "statement"),
        plural(kernel.buffers.len(), "buffer"),
    )
}

fn print(
    out: &mut impl Write,
    code: &CodeFacts<'_>,
    report: &Result<Report, String>,
) -> io::Result<()> {
    writeln!(out, "machine code: {}, {} bytes", code.machine, code.bytes)?;
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
    for callee in code.callees {
        writeln!(out, "    {}", contract(&callee.contract))?;
    }
    Ok(())
}

fn as_json(
    code: &CodeFacts<'_>,
    report: &Result<Report, String>,
    views: &[String],
) -> serde_json::Value {
    let level = &code.machine;
    match report {
        Ok(report) => json!({
            "level": level,
            "code_bytes": code.bytes,
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
            "code_bytes": code.bytes,
            "proved": false,
            "why": why,
            "views": views,
        }),
    }
}
