//! Cases as text: a graph with what its inputs hold in comments before it.
//!
//! ```text
//! // input %x0 = labels 0
//! // input %i1 = bits [0x0, 0xff]
//! func @case(%x0: f32[4], %i1: i8[2]) { … }
//! ```
//! An input without a line holds labels.

use restride_graph::Graph;
use restride_text::Source;

use crate::generate::{Case, Recipe};

/// Writes a case, with remarks before it.
#[must_use]
pub fn write(case: &Case, remarks: &str) -> String {
    let mut text = String::new();
    for line in remarks.lines() {
        text += &format!("// {line}\n");
    }
    for (&input, recipe) in case.graph.inputs().iter().zip(&case.inputs) {
        let label = case.graph.label(input);
        text += &match recipe {
            Recipe::Labels(first) => format!("// input {label} = labels {first}\n"),
            Recipe::Bits(bits) => {
                let bits: Vec<String> = bits.iter().map(|bits| format!("{bits:#x}")).collect();
                format!("// input {label} = bits [{}]\n", bits.join(", "))
            }
        };
    }
    for op in &case.refused {
        text += &format!("// refused: {op:?}\n");
    }
    text += &case.graph.to_string();
    text
}

/// Reads a case.
pub fn read(name: &str, text: &str) -> Result<Case, String> {
    let graph = Graph::parse(text).map_err(|errors| errors.render(&Source::new(name, text)))?;
    let mut inputs: Vec<Recipe> = (0..graph.inputs().len() as u32)
        .map(Recipe::Labels)
        .collect();
    for (label, recipe) in stated(text) {
        let label = format!("%{label}");
        let inputs_of = graph.inputs().iter();
        let Some(at) = inputs_of
            .clone()
            .position(|&input| graph.label(input).to_string() == label)
        else {
            return Err(format!("{name}: there is no input {label}"));
        };
        inputs[at] = self::recipe(recipe).ok_or_else(|| {
            format!("{name}: `{recipe}` is no recipe: `labels N` or `bits [N, ..]`")
        })?;
    }
    Ok(Case {
        graph,
        inputs,
        refused: Vec::new(),
    })
}

/// What the comments of a text say that inputs hold: `(name, recipe)`, the name without its mark.
pub fn stated(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (name, recipe) = line.trim().strip_prefix("// input %")?.split_once('=')?;
        Some((name.trim(), recipe.trim()))
    })
}

/// Reads `labels N` or `bits [N, ..]`; a negative number stands for the low bits of it.
#[must_use]
pub fn recipe(text: &str) -> Option<Recipe> {
    if let Some(first) = text.strip_prefix("labels") {
        return first.trim().parse().ok().map(Recipe::Labels);
    }
    let list = text
        .strip_prefix("bits")?
        .trim()
        .strip_prefix('[')?
        .strip_suffix(']')?;
    let entries = list
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    entries.map(bits).collect::<Option<_>>().map(Recipe::Bits)
}

fn bits(entry: &str) -> Option<u128> {
    match entry.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => entry
            .parse::<i128>()
            .ok()
            .map(|value| value as u128)
            .or_else(|| entry.parse().ok()),
    }
}
