//! Cases as text: a graph that says what its inputs hold. An input of which nothing is said holds
//! labels.

use restride_graph::{Graph, Sample};
use restride_text::Source;

use crate::generate::Case;

/// Writes a case, with remarks before it.
#[must_use]
pub fn write(case: &Case, remarks: &str) -> String {
    let mut text = String::new();
    for line in remarks.lines() {
        text += &format!("// {line}\n");
    }
    for op in &case.refused {
        text += &format!("// refused: {op:?}\n");
    }
    let mut graph = case.graph.clone();
    for (&input, sample) in case.graph.inputs().iter().zip(&case.inputs) {
        graph.set_sample(input, sample.clone());
    }
    text += &graph.to_string();
    text
}

/// Reads a case.
pub fn read(name: &str, text: &str) -> Result<Case, String> {
    let graph = Graph::parse(text).map_err(|errors| errors.render(&Source::new(name, text)))?;
    let samples = graph.inputs().iter().zip(0..);
    let sample = |(&input, at)| graph.sample(input).cloned().unwrap_or(Sample::Labels(at));
    Ok(Case {
        inputs: samples.map(sample).collect(),
        graph,
        refused: Vec::new(),
    })
}
