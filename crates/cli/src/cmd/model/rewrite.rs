//! `restride rewrite`: a model in which groups of movement are one node each, for a runtime that has
//! restride's operator.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use restride_graph::ViewPolicy;
use restride_import::{GroupProgram, NodeGroup};

use super::survey::{GroupKind, Survey};
use super::text::hidden;
use super::{File, runtime};
use crate::failure::Failure;
use crate::say::plural;
use crate::source::printable;

/// The arguments of `restride rewrite`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: File,
    /// The file to write. The weights of an IR are copied; data that an ONNX model has in other files
    /// stays where it is, so keep it in the same folder
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Also the groups that would gain nothing
    #[arg(long)]
    all: bool,
}

/// Rewrites the model and says what became of each group.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let (model, mut sizes) = match args.all {
        true => args.file.with_sizes()?,
        false => args.file.for_runtime()?,
    };
    // A runtime hands dense memory to a node, so what would be a view is written.
    let mut survey = Survey::of(model, &mut sizes, ViewPolicy::Copy)?;
    survey.sort();
    let mut stays: Vec<(usize, String)> = Vec::new();
    let mut chosen: Vec<(usize, &NodeGroup, &GroupProgram)> = Vec::new();
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
    let groups: Vec<(&NodeGroup, &GroupProgram)> = chosen.iter().map(|&(_, g, p)| (g, p)).collect();
    let rewritten = sizes.source().rewrite(&survey.model, &groups);
    let rewritten = rewritten.map_err(Failure::of_file(args.file.path()))?;
    std::fs::write(&args.output, &rewritten.bytes).map_err(Failure::of_file(&args.output))?;
    let (from, to) = (
        args.file.path().with_extension("bin"),
        args.output.with_extension("bin"),
    );
    if sizes.source().is_ir() && from != to && from.exists() {
        std::fs::copy(&from, &to).map_err(Failure::of_file(&to))?;
    }
    let output = printable(&args.output.display().to_string());
    let mut out = io::stdout().lock();
    let replaced = rewritten.stays.iter().filter(|why| why.is_none()).count();
    let now = match replaced {
        1 => "is one node",
        _ => "are one node each",
    };
    let groups = plural(survey.groups(), "group");
    write!(out, "{output}: {replaced} of {groups} {now}")?;
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
    hidden(&survey, &mut out)?;
    Ok(ExitCode::SUCCESS)
}

/// Why the groups of a kind stay as they are.
fn why_not(survey: &Survey, kind: &GroupKind, all: bool) -> Option<String> {
    if let Err(why) = &kind.explanation {
        return Some(why.clone());
    }
    let mut nodes = kind.first().group.nodes.iter();
    if nodes.any(|&id| survey.model.node(id).is_program()) {
        return Some("it is one already".to_owned());
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
    runtime::has_better(&survey.model, kind).map(str::to_owned)
}
