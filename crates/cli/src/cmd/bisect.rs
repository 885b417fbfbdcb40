//! `restride bisect`: the first rung that disagrees on a graph.

use std::io::{self, Write};
use std::process::ExitCode;

use restride_graph::oracle::Tensor;
use restride_graph::{Graph, Sample, ValueId};
use restride_testkit::ladder::{difference, guarded};
use restride_testkit::rungs::{RungError, Subject};

use super::rungs::{compared, rungs_help};
use crate::data::inputs::{SOURCE_HELP, inputs};
use crate::data::recipe::{RECIPES, Recipe};
use crate::failure::Failure;
use crate::signature::{Signature, Slot};
use crate::source::INPUT_HELP;
use crate::stages::AnyProgram;

/// The arguments of `restride bisect`.
#[derive(clap::Args)]
#[command(after_help = help())]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    #[arg(long, short, value_name = "[NAME=]SOURCE", help = SOURCE_HELP)]
    input: Vec<String>,
    #[arg(long, value_name = "RUNG", value_delimiter = ',', help = rungs_help("The rungs to compare, the first of them with the others"))]
    rung: Vec<String>,
}

fn help() -> String {
    format!(
        "{RECIPES}\n\
         Else it holds labels; one that indexes counts up within the axis that it selects from.\n\n\
         Exit code 0 if all rungs agree, 1 if not.\n\n\
         Example:\n  restride bisect graph.mv --input 'i=bits [0, -1, 7]'"
    )
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let rungs = compared(&args.rung)?;
    let program = AnyProgram::open(&args.file)?;
    let AnyProgram::Graph(graph) = &program else {
        let message = format!(
            "the rungs climb from a graph; this is a {}",
            program.stage()
        );
        return Err(Failure::Usage(message));
    };
    let signature = Signature::of(&program)?;
    let tensors = inputs(&signature, &args.input, |at, slot| match slot.limit {
        Some(limit) if limit > 0 => Recipe::Modulo(limit.unsigned_abs()),
        Some(_) | None => Recipe::Said(labels(at)),
    })?;
    let slots = signature.inputs.iter().zip(&tensors).enumerate();
    let buffers = slots.map(|(at, (slot, tensor))| buffer(at, slot, tensor));
    let buffers = buffers.collect::<Result<Vec<_>, Failure>>()?;
    let subject = Subject::in_buffers(graph, &tensors, buffers);
    let mut out = io::stdout().lock();
    let mut wanted = None;
    for rung in rungs {
        let outcome = guarded(rung, &subject);
        let wrong = match (&outcome, &wanted) {
            (Err(RungError::Broken(message)), _) => Some(message.clone()),
            (_, None) => None,
            (outcome, Some(wanted)) => difference(wanted, outcome),
        };
        if let Some(message) = wrong {
            writeln!(out, "{}: {message}", rung.name())?;
            return Ok(ExitCode::FAILURE);
        }
        let summary = match &outcome {
            Ok(outputs) if outputs.len() == 1 => "1 output".into(),
            Ok(outputs) => format!("{} outputs", outputs.len()),
            Err(error) => refusal(error, graph),
        };
        writeln!(out, "{}: {summary}", rung.name())?;
        wanted.get_or_insert(outcome);
    }
    writeln!(out, "all rungs agree")?;
    Ok(ExitCode::SUCCESS)
}

fn labels(input: usize) -> Sample {
    Sample::Labels(u32::try_from(input).unwrap_or(0))
}

/// The memory of an input: labels between the elements too, so that who reads there is noticed.
fn buffer(at: usize, slot: &Slot, tensor: &Tensor) -> Result<Vec<u8>, Failure> {
    let mut memory = restride_testkit::generate::buffer(&labels(at), &slot.ty);
    tensor
        .write_into(&slot.ty, &mut memory)
        .map_err(|error| Failure::Input(format!("{}: {error}", slot.name)))?;
    Ok(memory)
}

/// Why a rung gives nothing, in the names of the graph.
fn refusal(error: &RungError, graph: &Graph) -> String {
    let bad = match error {
        RungError::OutOfRange(bad) => bad,
        other => return other.to_string(),
    };
    let value = ValueId::from_u32(bad.op);
    let op = match graph.get(value) {
        Some((op, _)) => format!("{} {}", op.name(), graph.label(value)),
        None => value.to_string(),
    };
    let (value, position) = (bad.value, bad.position);
    format!("{op}: index {value} at position {position} is outside its axis")
}
