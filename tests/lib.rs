//! The home of the tests that span crates: file tests, golden cases, the ladder.

pub mod ahead;
pub mod answer;
#[path = "fuzz/bodies.rs"]
pub mod fuzz;
pub mod memory;
pub mod structured;

/// The functions of a text that holds several, each from its `func` to the next.
#[must_use]
pub fn functions(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text.match_indices("func @").map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| text[*start..end].trim())
        .collect()
}
