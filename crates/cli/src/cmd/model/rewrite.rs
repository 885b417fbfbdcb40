//! `restride rewrite`: a model in which groups of movement are one node each, for a runtime that has
//! restride's operator.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use restride_graph::ViewPolicy;
use restride_import::{Group, Model, Program, rewrite_onnx};

use super::File;
use super::survey::{Kind, Survey};
use super::text::plural;
use crate::failure::Failure;
use crate::source::printable;

/// The arguments of `restride rewrite`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: File,
    /// The file to write; data in other files stays where it is, so keep it in the same folder
    #[arg(long, short, value_name = "FILE.onnx")]
    output: PathBuf,
    /// Also the groups that would gain nothing
    #[arg(long)]
    all: bool,
}

/// Rewrites the model and says what became of each group.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (model, sizes) = args.file.with_sizes()?;
    let Some(bytes) = sizes.source().onnx_bytes() else {
        let message = format!("{}: only ONNX files are rewritten", args.file.name());
        return Err(Failure::Input(message));
    };
    let bytes = bytes.to_vec();
    // A runtime hands dense memory to a node, so what would be a view is written.
    let mut survey = Survey::of(model, sizes, ViewPolicy::Copy)?;
    survey.sort();
    let mut stays: Vec<(usize, String)> = Vec::new();
    let mut chosen: Vec<(usize, &Group, &Program)> = Vec::new();
    for (at, kind) in survey.kinds.iter().enumerate() {
        match why_not(&survey, kind, args.all) {
            Some(why) => stays.push((at, why)),
            None => {
                let members = kind.members.iter();
                chosen.extend(members.map(|it| (at, &it.group, &it.program)));
            }
        }
    }
    // As they come in the file.
    chosen.sort_by_key(|(_, group, _)| group.nodes.first().copied());
    let groups: Vec<(&Group, &Program)> = chosen.iter().map(|&(_, g, p)| (g, p)).collect();
    let rewritten = rewrite_onnx(&bytes, &survey.model, &groups)
        .map_err(|error| Failure::Input(format!("{}: {error}", args.file.name())))?;
    let output = printable(&args.output.display().to_string());
    std::fs::write(&args.output, &rewritten.bytes)
        .map_err(|error| Failure::Input(format!("{output}: {error}")))?;
    let mut out = io::stdout().lock();
    let replaced = rewritten.stays.iter().filter(|why| why.is_none()).count();
    let are = if replaced == 1 { "is" } else { "are" };
    write!(
        out,
        "{output}: {replaced} of {} {are} one node each",
        plural(survey.groups(), "group")
    )?;
    match rewritten.dropped {
        0 => writeln!(out)?,
        dropped => {
            let nodes = plural(dropped, "node");
            writeln!(out, "; {nodes} of arithmetic on their parameters gone")?;
        }
    }
    for ((at, _, _), why) in chosen.iter().zip(&rewritten.stays) {
        if let Some(why) = why
            && stays.iter().all(|(other, _)| other != at)
        {
            stays.push((*at, (*why).to_owned()));
        }
    }
    for (at, why) in stays {
        let kind = &survey.kinds[at];
        let count = kind.members.len();
        let times = match count {
            1 => String::new(),
            _ => format!(", {count} times"),
        };
        let place = kind.place(&survey.model);
        writeln!(out, "  stays: {}, {place}{times}: {why}", kind.what)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Why the groups of a kind stay as they are.
fn why_not(survey: &Survey, kind: &Kind, all: bool) -> Option<String> {
    if let Err(why) = &kind.explanation {
        return Some(why.clone());
    }
    // A size that was given is meant; any other one may be another one when the model runs.
    let mut bound = kind.first().bound.iter();
    let bound = bound.find(|bound| !survey.dimensions[bound.dimension].given);
    if let Some(bound) = bound {
        let dimension = &survey.dimensions[bound.dimension];
        let (name, size) = (&dimension.name, dimension.size);
        return Some(format!("it is for {name} {size} only: {}", bound.why));
    }
    if all {
        return None;
    }
    if !kind.is_better_together() {
        return Some("nothing would be gained".to_owned());
    }
    feeds_products(&survey.model, kind)
        .then(|| "ONNX Runtime makes it a part of what reads it".to_owned())
}

/// Whether a kind copies in a Transpose alone, which a matrix product can take over.
fn feeds_products(model: &Model, kind: &Kind) -> bool {
    let copies = kind.alone.copies.len() == 1;
    let mut nodes = kind.first().group.nodes.iter().map(|&id| model.node(id));
    let turned = nodes.find(|node| node.op == "Transpose");
    let Some(turned) = turned.filter(|_| copies) else {
        return false;
    };
    let made = turned.outputs.first().copied().flatten();
    let readers = model.nodes.iter();
    let mut readers = readers
        .filter(|node| node.inputs.contains(&made))
        .peekable();
    readers.peek().is_some()
        && readers.all(|node| matches!(node.op.as_str(), "MatMul" | "Gemm" | "FusedMatMul"))
}
