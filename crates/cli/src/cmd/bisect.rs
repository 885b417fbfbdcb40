//! `restride bisect`: the first rung that disagrees on a graph.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use restride_testkit::ladder::{difference, guarded, read, recipe};
use restride_testkit::rungs::{RungError, Subject, named};

use super::rungs::all_rungs;

/// The arguments of `restride bisect`.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  restride bisect graph.mv --input 'i=bits [0, -1, 7]'

Inputs hold labels, every element another, unless a comment in the file (`// input %i = bits [..]`)
or an option says what they hold. Exit code 0 if all rungs agree, 1 if not.")]
pub(crate) struct Args {
    /// The graph as text; `-` is standard input.
    file: PathBuf,
    /// What an input holds: `NAME=labels N` or `NAME=bits [N, ..]`.
    #[arg(long, value_name = "NAME=RECIPE")]
    input: Vec<String>,
    /// The rungs to compare with the first; all that exist unless named.
    #[arg(long, value_name = "RUNG", value_delimiter = ',')]
    rung: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    let rungs = named(&all_rungs(), &args.rung)?;
    let name = args.file.display().to_string();
    let text = match name.as_str() {
        "-" => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map(|_| text)
        }
        _ => std::fs::read_to_string(&args.file),
    };
    let text = text.map_err(|error| format!("{name}: {error}"))?;
    let mut case = read(&name, &text)?;
    for given in &args.input {
        let (input, what) = given
            .split_once('=')
            .ok_or_else(|| format!("`{given}` is no NAME=RECIPE"))?;
        let label = format!("%{}", input.trim().trim_start_matches('%'));
        let inputs = case.graph.inputs().iter();
        let at = { inputs }.position(|&input| case.graph.label(input).to_string() == label);
        let at = at.ok_or_else(|| format!("{name} has no input {label}"))?;
        case.inputs[at] = recipe(what.trim()).ok_or_else(|| {
            format!(
                "`{}` is no recipe: `labels N` or `bits [N, ..]`",
                what.trim()
            )
        })?;
    }
    let tensors = case.tensors().map_err(|error| error.to_string())?;
    let subject = Subject::in_buffers(&case.graph, &tensors, case.buffers());
    let mut out = std::io::stdout().lock();
    let mut say = |line: String| writeln!(out, "{line}").map_err(|error| error.to_string());
    let mut wanted = None;
    for rung in rungs {
        let outcome = guarded(rung, &subject);
        let wrong = match (&outcome, &wanted) {
            (Err(RungError::Broken(message)), _) => Some(message.clone()),
            (_, None) => None,
            (outcome, Some(wanted)) => difference(wanted, outcome),
        };
        if let Some(message) = wrong {
            say(format!("{}: {message}", rung.name()))?;
            return Ok(ExitCode::FAILURE);
        }
        let summary = match &outcome {
            Ok(outputs) => format!("{} outputs", outputs.len()),
            Err(error) => error.to_string(),
        };
        say(format!("{}: {summary}", rung.name()))?;
        wanted.get_or_insert(outcome);
    }
    say("all rungs agree".to_owned())?;
    Ok(ExitCode::SUCCESS)
}
