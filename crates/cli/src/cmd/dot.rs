//! `restride dot`: the graph as a picture for graphviz.

use std::io::{self, Write};
use std::process::ExitCode;

use restride_canon::ir::Canonical;
use restride_graph::{Graph, Op};

use crate::failure::Failure;
use crate::source::INPUT_HELP;
use crate::stages::AnyProgram;

/// The arguments of `restride dot`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[arg(default_value = "-", help = INPUT_HELP)]
    file: String,
}

/// Prints it.
pub(crate) fn run(args: &Args) -> Result<ExitCode, Failure> {
    let picture = match AnyProgram::open(&args.file)? {
        AnyProgram::Graph(graph) => spelled(&graph),
        AnyProgram::Canonical(graph) => canonical(&graph),
        AnyProgram::Kernel(_) => {
            let message = "a kernel is no graph; `restride report` draws it";
            return Err(Failure::Usage(message.into()));
        }
    };
    io::stdout().lock().write_all(picture.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// A digraph that is being written.
struct Picture(String);

impl Picture {
    fn new(name: &str) -> Self {
        let heading = format!("digraph {} {{\n", quote(name));
        Self(heading + "  rankdir=TB;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n")
    }

    fn node(&mut self, id: &str, lines: &[&str], ends: bool) {
        let label = quote(&lines.join("\n"));
        let shape = if ends { ", style=rounded" } else { "" };
        self.0 += &format!("  {id} [label={label}{shape}];\n");
    }

    fn edge(&mut self, from: &str, to: &str) {
        self.0 += &format!("  {from} -> {to};\n");
    }

    fn finish(self) -> String {
        self.0 + "}\n"
    }
}

/// A string of the dot language. Line ends become its own.
fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

fn spelled(graph: &Graph) -> String {
    let mut picture = Picture::new(graph.name());
    for (value, live) in graph.values().zip(graph.live()) {
        let id = format!("v{}", value.index());
        let op = graph.op(value);
        let label = format!("{} = {}", graph.label(value), op.name());
        let ty = graph.ty(value).to_string();
        let unused = if live { "" } else { "unused" };
        let lines = [label.as_str(), ty.as_str(), unused];
        let lines = &lines[..if live { 2 } else { 3 }];
        picture.node(&id, lines, matches!(op, Op::Input | Op::Constant(_)));
        for operand in op.operands() {
            picture.edge(&format!("v{}", operand.index()), &id);
        }
    }
    for (at, output) in graph.outputs().iter().enumerate() {
        let id = format!("out{at}");
        let ty = graph.output_type(output).to_string();
        picture.node(&id, &[&format!("output {at}"), &ty], true);
        picture.edge(&format!("v{}", output.value.index()), &id);
    }
    picture.finish()
}

fn canonical(graph: &Canonical) -> String {
    let mut picture = Picture::new("canonical");
    let text = graph.to_string();
    let (lines, last) = graph.lines();
    let statements = text.lines().skip(1).map(str::trim);
    for ((at, line), statement) in lines.iter().enumerate().zip(statements) {
        let name = format!("v{at}");
        let label = statement.split(" : ").next().unwrap_or_default();
        let label: String = label.chars().take(80).collect();
        let ty = line.ty.to_string();
        picture.node(&name, &[&label, &ty], line.operands.is_empty());
        for operand in &line.operands {
            picture.edge(&format!("v{operand}"), &name);
        }
    }
    for (at, output) in graph.outputs().iter().enumerate() {
        let id = format!("out{at}");
        picture.node(&id, &[&format!("output {at}")], true);
        picture.edge(&format!("v{}", last[output.node.index()]), &id);
    }
    picture.finish()
}
