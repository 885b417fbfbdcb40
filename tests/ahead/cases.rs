//! What is compiled and run: random graphs of the ladder, golden cases, workloads, each with its answer.

use std::io::{self, Write};
use std::path::Path;

use restride::Graph;
use restride_graph::oracle::{self, Tensor};
use restride_testkit::conform::{self, spell};
use restride_testkit::generate::{self, Kind};
use restride_testkit::workloads::read;

use super::BEFORE;

/// A graph, what it reads, and what comes of it.
pub struct Case {
    /// Where it is from.
    pub name: String,
    /// The graph.
    pub graph: Graph,
    inputs: Vec<Vec<u8>>,
    /// Outputs as they are afterwards, gaps included; nothing where an index is refused.
    outputs: Option<Vec<Vec<u8>>>,
}

impl Case {
    /// A case whose answer is the oracle's, with buffers that end where their tensors do.
    fn asked(name: String, graph: Graph, mut inputs: Vec<Vec<u8>>) -> Option<Self> {
        for (&input, buffer) in graph.inputs().iter().zip(&mut inputs) {
            let ty = graph.ty(input);
            buffer.truncate(ty.required_elements() * ty.element().width());
        }
        let types = graph.inputs().iter().map(|&input| graph.ty(input));
        let tensors = types
            .zip(&inputs)
            .map(|(ty, bytes)| Tensor::read(ty, bytes));
        let tensors: Vec<Tensor> = tensors.collect::<Result<_, _>>().ok()?;
        let answer = oracle::eval(&graph, &tensors).ok();
        let outputs = answer.map(|answer| {
            let outputs = graph.outputs().iter().zip(&answer);
            let buffers = outputs.map(|(output, tensor)| {
                let ty = graph.output_type(output);
                let mut buffer = vec![BEFORE; ty.required_elements() * ty.element().width()];
                tensor.write_into(&ty, &mut buffer).map(|()| buffer)
            });
            buffers.collect::<Result<Vec<_>, _>>()
        });
        Some(Self {
            name,
            graph,
            inputs,
            outputs: outputs.transpose().ok()?,
        })
    }

    /// Whether an index is out of range.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.outputs.is_none()
    }

    /// How many bytes it writes.
    #[must_use]
    pub fn written(&self) -> usize {
        self.outputs.iter().flatten().map(Vec::len).sum()
    }

    /// As the program in C reads it.
    pub(crate) fn write(&self, number: u32, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&number.to_le_bytes())?;
        to.write_all(&u32::from(self.is_refused()).to_le_bytes())?;
        self.inputs
            .iter()
            .try_for_each(|bytes| to.write_all(bytes))?;
        match &self.outputs {
            Some(outputs) => outputs.iter().try_for_each(|bytes| to.write_all(bytes)),
            None => self.graph.outputs().iter().try_for_each(|output| {
                let ty = self.graph.output_type(output);
                to.write_all(&vec![BEFORE; ty.required_elements() * ty.element().width()])
            }),
        }
    }
}

/// So many random graphs.
#[must_use]
pub fn random(count: u64) -> Vec<Case> {
    let cases = (0..count).filter_map(|number| {
        let case = generate::case(2027, number, Kind::of_number(number), 8);
        let buffers = case.buffers();
        Case::asked(format!("case {number} of seed 2027"), case.graph, buffers)
    });
    cases.collect()
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every `nth` of the golden cases that a framework answers.
pub fn golden(nth: usize) -> io::Result<Vec<Case>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(here().join("golden"))? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|it| it == "jsonl"));
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file)?;
        for line in text.lines().step_by(nth.max(1)) {
            let Ok(case) = serde_json::from_str::<conform::GoldenCase>(line) else {
                continue;
            };
            let Ok(spelled) = spell(&case) else { continue };
            let inputs = spelled.inputs.into_iter().map(Tensor::into_bytes);
            cases.extend(Case::asked(case.id, spelled.graph, inputs.collect()));
        }
    }
    Ok(cases)
}

/// The workloads of a file that write at most so many bytes, and what their own definition says of them.
pub fn workloads(file: &str, most: usize) -> Result<Vec<Case>, String> {
    let path = here().join("workloads").join(file);
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut cases = Vec::new();
    for workload in read(&text).map_err(|error| error.to_string())? {
        let workload = workload.map_err(|error| error.to_string())?;
        if workload.output().byte_size() > most {
            continue;
        }
        let inputs = workload.tensors()?.into_iter();
        cases.push(Case {
            outputs: Some(vec![workload.evaluate()?]),
            inputs: inputs.map(Tensor::into_bytes).collect(),
            graph: workload.graph,
            name: workload.id,
        });
    }
    Ok(cases)
}
