//! `restride run`: a program on data, on any rung.

use std::io::{self, Write};
use std::process::ExitCode;

use restride_graph::oracle::Tensor;
use serde_json::json;

use crate::data::{npy, recipe::Recipe, safetensors, show::show};
use crate::execute::{Rung, execute};
use crate::failure::Failure;
use crate::signature::{Signature, Slot};
use crate::source::{INPUT_HELP, printable};
use crate::stages::Program;

/// The arguments of `restride run`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    /// Where an input comes from: a .npy file, file.safetensors:tensor, or one of the recipes
    /// iota, iota1, hash, zeros, modN. Without a name it is for all inputs.
    #[arg(long, short, value_name = "[NAME=]SOURCE")]
    input: Vec<String>,
    /// Writes an output to a .npy file instead of printing it.
    #[arg(long, short, value_name = "[NAME=]FILE.npy")]
    output: Vec<String>,
    /// How to run it.
    #[arg(long, value_enum, default_value_t = Rung::Jit)]
    rung: Rung,
    /// One JSON object with the outputs' shapes and bytes (as hexadecimal digits).
    #[arg(long)]
    json: bool,
}

/// Runs, then prints or writes every output.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let program = Program::open(&args.file)?;
    let signature = Signature::of(&program)?;
    let inputs = inputs(&signature, &args.input)?;
    let files = files(&signature, &args.output)?;
    let outputs = execute(&program, &signature, &inputs, args.rung)?;
    let mut out = io::stdout().lock();
    let mut objects = Vec::new();
    for ((slot, tensor), file) in signature.outputs.iter().zip(&outputs).zip(files) {
        if let Some(file) = file {
            npy::write(file, tensor)?;
        } else if args.json {
            let hex: String = tensor.bytes().iter().map(|b| format!("{b:02x}")).collect();
            objects.push(json!({
                "name": slot.name,
                "element": tensor.element().name(),
                "shape": tensor.shape(),
                "bytes": hex,
            }));
        } else {
            writeln!(out, "{}: {}", slot.name, tensor.ty())?;
            writeln!(out, "{}", show(tensor))?;
        }
    }
    if args.json {
        writeln!(out, "{}", json!({ "outputs": objects }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The tensor of each input, in order.
fn inputs(signature: &Signature, sources: &[String]) -> Result<Vec<Tensor>, Failure> {
    let mut chosen: Vec<Option<&str>> = vec![None; signature.inputs.len()];
    let mut for_all = None;
    for source in sources {
        match split(&signature.inputs, source, "input")? {
            (Some(at), from) => chosen[at] = Some(from),
            (None, from) => for_all = Some(from),
        }
    }
    let slots = signature.inputs.iter().zip(chosen);
    slots
        .map(|(slot, source)| load(slot, source.or(for_all)))
        .collect()
}

fn load(slot: &Slot, source: Option<&str>) -> Result<Tensor, Failure> {
    let recipe = match source {
        // Indices that count up would soon be out of range.
        None => match slot.limit {
            Some(limit) if limit > 0 => Some(Recipe::Modulo(limit.unsigned_abs())),
            Some(_) | None => Some(Recipe::Iota),
        },
        Some(name) => Recipe::named(name),
    };
    if let Some(recipe) = recipe {
        return recipe
            .make(&slot.ty)
            .ok_or_else(|| Failure::Input(format!("{}: no memory for it", slot.name)));
    }
    let source = source.unwrap_or_default();
    let tensor = match source.rsplit_once(".safetensors:") {
        Some((file, name)) => safetensors::read(&format!("{file}.safetensors"), name)?,
        None if source.ends_with(".npy") => npy::read(source)?,
        None => {
            let message = format!(
                "`{}` is no source: name a .npy file, file.safetensors:tensor, iota, iota1, \
                 hash, zeros or modN",
                printable(source)
            );
            return Err(Failure::Usage(message));
        }
    };
    let expected = slot.ty.clone().without_layout();
    let same_bits = tensor.element().width() == expected.element().width();
    if tensor.shape() != expected.shape() || !same_bits {
        let message = format!(
            "{}: {} is {}, not {expected}",
            printable(source),
            slot.name,
            tensor.ty()
        );
        return Err(Failure::Input(message));
    }
    Tensor::new(expected, tensor.into_bytes())
        .map_err(|error| Failure::Internal(format!("{}: {error}", slot.name)))
}

/// The file of each output, if it has one.
fn files<'a>(
    signature: &Signature,
    outputs: &'a [String],
) -> Result<Vec<Option<&'a str>>, Failure> {
    let mut files = vec![None; signature.outputs.len()];
    for output in outputs {
        let at = match split(&signature.outputs, output, "output")? {
            (Some(at), file) => Some((at, file)),
            (None, file) => (signature.outputs.len() == 1).then_some((0, file)),
        };
        let Some((at, file)) = at else {
            let message = "there are several outputs: write `--output name=file.npy`";
            return Err(Failure::Usage(message.into()));
        };
        if !file.ends_with(".npy") {
            let message = format!("`{}`: outputs are written as .npy", printable(file));
            return Err(Failure::Usage(message));
        }
        files[at] = Some(file);
    }
    Ok(files)
}

/// `name=rest` as the slot of that name and the rest; without a `=` there is no slot.
fn split<'a>(
    slots: &[Slot],
    text: &'a str,
    kind: &str,
) -> Result<(Option<usize>, &'a str), Failure> {
    let Some((name, rest)) = text.split_once('=') else {
        return Ok((None, text));
    };
    let name = name.trim_start_matches('%');
    match slots.iter().position(|slot| slot.name == name) {
        Some(at) => Ok((Some(at), rest)),
        None => {
            let known: Vec<&str> = slots.iter().map(|slot| slot.name.as_str()).collect();
            let message = format!(
                "there is no {kind} `{}`; there are {}",
                printable(name),
                known.join(", ")
            );
            Err(Failure::Usage(message))
        }
    }
}
