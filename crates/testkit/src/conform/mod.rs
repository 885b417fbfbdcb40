//! The conformance reader: golden cases, each the answer of a real framework.
//!
//! A file holds one JSON object a line ([`GoldenCase`]). A case names a framework, one of its operators,
//! inputs and what came out. It is spelled as a graph in that framework's dialect ([`spell`]), with
//! every check that the framework makes before its operator runs, and then holds on a rung if the
//! rung gives exactly the expected shapes and bits, or refuses what the framework refused. Inputs
//! that parametrise become attributes; data and the indices of gathers are inputs of the graph.
//!
//! A line may also be a test of a whole ONNX model ([`ModelCase`]).
//!
//! Nothing here knows a case, a file or a count.

mod case;
mod check;
mod model;
mod spell;
mod values;

#[cfg(test)]
mod tests;

pub use case::{Array, ArrayOut, Expect, GoldenCase, Values};
pub use check::{FileReport, Holds, Miss, check_case, check_lines};
pub use model::{ModelCase, check_model};
pub use restride_import::spell::SpellError;
pub use spell::{SpelledCase, spell};
