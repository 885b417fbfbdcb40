//! Graphs that ask for more than they look like: families of texts that grow with a number, and
//! random graphs whose statements repeat.

mod families;
mod genome;
mod operators;

pub use families::{FAMILIES, Family};
pub use genome::Genome;
