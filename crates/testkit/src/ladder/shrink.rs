//! Making a failing case small: outputs, operators, layouts and extents are left out as long as
//! the same rung still disagrees.

use restride_graph::{Graph, Op, Output, Sample, TensorType, ValueId};

use super::check::{Disagreement, check};
use crate::generate::{Case, renamed};
use crate::rungs::Rung;

/// How many smaller cases are tried.
const TRIES: usize = 1500;

/// The smallest case found, and what is wrong with it.
#[must_use]
pub fn shrink(case: Case, found: Disagreement, rungs: &[&dyn Rung]) -> (Case, Disagreement) {
    let (mut case, mut found) = (case, found);
    let mut tries = 0;
    while let Some(smaller) = step(&case, &found, rungs, &mut tries) {
        (case, found) = smaller;
    }
    (case, found)
}

/// The first smaller case on which the same rung disagrees.
fn step(
    case: &Case,
    found: &Disagreement,
    rungs: &[&dyn Rung],
    tries: &mut usize,
) -> Option<(Case, Disagreement)> {
    for candidate in candidates(case) {
        *tries += 1;
        if *tries > TRIES {
            return None;
        }
        match check(&candidate, rungs) {
            Err(other) if other.rung == found.rung => return Some((candidate, other)),
            Err(_) | Ok(_) => {}
        }
    }
    None
}

/// A change of a case: what it reads, what it hands out, what stands for what.
struct Edit<'c> {
    case: &'c Case,
    types: Vec<TensorType>,
    outputs: Vec<Output>,
    /// A value and the earlier value that takes its place.
    replace: Option<(ValueId, ValueId)>,
    /// A value and another operator to make it.
    instead: Option<(ValueId, Op)>,
    samples: Vec<Sample>,
}

impl<'c> Edit<'c> {
    fn new(case: &'c Case) -> Edit<'c> {
        let graph = &case.graph;
        Edit {
            case,
            types: graph
                .inputs()
                .iter()
                .map(|&input| graph.ty(input).clone())
                .collect(),
            outputs: graph.outputs().to_vec(),
            replace: None,
            instead: None,
            samples: case.inputs.clone(),
        }
    }

    /// The case after the change, live values only, if there is one.
    fn apply(self) -> Option<Case> {
        let old = &self.case.graph;
        let stands_for = |value: ValueId| match self.replace {
            Some((from, to)) if from == value => to,
            Some(_) | None => value,
        };
        let op = |value: ValueId| match &self.instead {
            Some((changed, op)) if *changed == value => renamed(op, stands_for),
            Some(_) | None => renamed(old.op(value), stands_for),
        };
        let mut live = vec![false; old.len()];
        for output in &self.outputs {
            live[stands_for(output.value).index()] = true;
        }
        for value in old.values().rev() {
            if live[value.index()] {
                for operand in op(value).operands() {
                    live[operand.index()] = true;
                }
            }
        }
        let mut graph = Graph::new(old.name());
        let mut names = vec![None; old.len()];
        let mut inputs = Vec::new();
        for ((&input, ty), sample) in old.inputs().iter().zip(self.types).zip(self.samples) {
            if live[input.index()] {
                let name = old.value_name(input).unwrap_or("");
                names[input.index()] = Some(graph.typed_input(name, ty).ok()?);
                inputs.push(sample);
            }
        }
        for value in old.values() {
            let op = op(value);
            if !live[value.index()] || matches!(op, Op::Input) {
                continue;
            }
            if op
                .operands()
                .iter()
                .any(|operand| names[operand.index()].is_none())
            {
                return None;
            }
            let op = renamed(&op, |operand| names[operand.index()].unwrap_or(operand));
            names[value.index()] = Some(graph.push(op).ok()?);
        }
        for output in self.outputs {
            let value = names[stands_for(output.value).index()]?;
            graph.output_like(value, &output).ok()?;
        }
        Some(Case {
            graph,
            inputs,
            refused: Vec::new(),
        })
    }
}

fn candidates(case: &Case) -> impl Iterator<Item = Case> + '_ {
    let graph = &case.graph;
    let fresh = move || Edit::new(case);
    let mut edits: Vec<Edit<'_>> = Vec::new();
    let outputs = graph.outputs();
    for (k, output) in outputs.iter().enumerate() {
        if outputs.len() > 1 {
            let mut alone = fresh();
            alone.outputs = vec![alone.outputs.swap_remove(k)];
            edits.push(alone);
            let mut without = fresh();
            without.outputs.remove(k);
            edits.push(without);
        }
        // What the last operator reads, instead of what it makes.
        for operand in graph.op(output.value).operands() {
            let mut earlier = fresh();
            earlier.outputs[k].value = operand;
            earlier.outputs[k].layout = None;
            edits.push(earlier);
        }
        if output.layout.is_some() {
            let mut dense = fresh();
            dense.outputs[k].layout = None;
            edits.push(dense);
        }
    }
    for value in graph.values().rev() {
        for operand in graph.op(value).operands() {
            let mut skipped = fresh();
            skipped.replace = Some((value, operand));
            // Outputs laid out for the old shape.
            for output in &mut skipped.outputs {
                if output.value == value {
                    output.layout = None;
                }
            }
            edits.push(skipped);
        }
        if let Op::Concat { parts, axis } = graph.op(value)
            && parts.len() > 1
        {
            for k in 0..parts.len() {
                let mut parts = parts.clone();
                parts.remove(k);
                let mut fewer = fresh();
                fewer.instead = Some((value, Op::Concat { parts, axis: *axis }));
                edits.push(fewer);
            }
        }
    }
    for (k, &input) in graph.inputs().iter().enumerate() {
        let ty = graph.ty(input);
        if ty.layout().is_some() {
            let mut dense = fresh();
            dense.types[k] = ty.clone().without_layout();
            edits.push(dense);
        }
        for axis in 0..ty.rank() {
            for size in [1, ty.shape()[axis] / 2, ty.shape()[axis] - 1] {
                if size < 1 || size >= ty.shape()[axis] {
                    continue;
                }
                let mut shape: Vec<i64> = ty.shape().to_vec();
                shape[axis] = size;
                if let Ok(smaller) = TensorType::dense(ty.element(), shape) {
                    let mut shrunk = fresh();
                    shrunk.types[k] = match ty.layout() {
                        Some(layout) => smaller
                            .clone()
                            .with_layout(layout.clone())
                            .unwrap_or(smaller),
                        None => smaller,
                    };
                    edits.push(shrunk);
                }
            }
        }
        if let Sample::Bits(bits) = &case.inputs[k] {
            for at in 0..bits.len().min(16) {
                if bits[at] != 0 {
                    let mut tamer = fresh();
                    let mut bits = bits.clone();
                    bits[at] = 0;
                    tamer.samples[k] = Sample::Bits(bits);
                    edits.push(tamer);
                }
            }
        }
    }
    edits.into_iter().filter_map(Edit::apply)
}
