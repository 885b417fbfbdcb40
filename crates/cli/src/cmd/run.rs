//! `restride run`: a program on data, on any rung.

use std::io::{self, Write};
use std::process::ExitCode;

use restride::{InputShape, Template};
use serde_json::json;

use crate::data::inputs::{SOURCE_HELP, counting, inputs, named, shapes};
use crate::data::recipe::RECIPES;
use crate::data::{npy, show::show};
use crate::execute::{Rung, execute};
use crate::failure::Failure;
use crate::signature::Signature;
use crate::source::{INPUT_HELP, printable};
use crate::stages::AnyProgram;

/// The arguments of `restride run`.
#[derive(clap::Args)]
#[command(after_help = concat_help())]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
    #[arg(long, short, value_name = "[NAME=]SOURCE", help = SOURCE_HELP)]
    input: Vec<String>,
    /// Writes an output to a .npy file instead of printing it.
    #[arg(long, short, value_name = "[NAME=]FILE.npy")]
    output: Vec<String>,
    /// The program's own shapes are samples: take those of the files that its inputs come from.
    #[arg(long)]
    template: bool,
    /// How to run it.
    #[arg(long, value_enum, default_value_t = Rung::Jit)]
    rung: Rung,
    /// One JSON object with the outputs' shapes and bytes (as hexadecimal digits).
    #[arg(long)]
    json: bool,
}

/// Runs, then prints or writes every output.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let mut program = AnyProgram::open(&args.file)?;
    let mut signature = Signature::of(&program)?;
    if args.template {
        program = specialised(&program, &shapes(&signature, &args.input)?)?;
        signature = Signature::of(&program)?;
    }
    let inputs = inputs(&signature, &args.input, |_, slot| counting(slot))?;
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

/// A graph at other shapes of its inputs.
fn specialised(program: &AnyProgram, shapes: &[Vec<i64>]) -> Result<AnyProgram, Failure> {
    let AnyProgram::Graph(graph) = program else {
        let message = format!("only graphs are templates, this is a {}", program.stage());
        return Err(Failure::Usage(message));
    };
    let inputs: Vec<InputShape<'_>> = shapes.iter().map(|it| InputShape::dense(it)).collect();
    let template = Template::new(graph.clone());
    let mut new = template
        .specialised(&inputs)
        .map_err(|error| Failure::Input(error.to_string()))?;
    for value in graph.values() {
        if let Some(name) = graph.value_name(value) {
            // An input has its name already.
            let _ = new.set_name(value, name);
        }
    }
    Ok(AnyProgram::Graph(new))
}

/// The file of each output, if it has one.
fn files<'a>(
    signature: &Signature,
    outputs: &'a [String],
) -> Result<Vec<Option<&'a str>>, Failure> {
    let mut files = vec![None; signature.outputs.len()];
    for output in outputs {
        let at = match named(&signature.outputs, output, "output")? {
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
        if files[at].replace(file).is_some() {
            let name = &signature.outputs[at].name;
            return Err(Failure::Usage(format!("{name} is to be written twice")));
        }
    }
    Ok(files)
}

fn concat_help() -> String {
    format!(
        "{RECIPES}\n\
         Else it counts up from 0; one that indexes does so within the axis that it selects from.\n\n\
         Example:\n  restride run 'x: f32[2,3]; x.T' --input x=a.npy --output y.npy"
    )
}
