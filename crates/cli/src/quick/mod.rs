//! A language for trying an idea on the command line, in numpy's words.
//!
//! ```text
//! program   = statement {";" statement}
//! statement = input {"," input}
//!           | name "=" expr                       -- a name for a value
//!           | expr {"," expr}                     -- outputs
//! input     = name ":" type                       -- f32[8, 16], f32[8, 16] strides [32, 2]
//! expr      = (name | "(" expr ")" | ["np" "."] function "(" arguments ")" | list) {postfix}
//! postfix   = "[" index {"," index} "]" | "." name ["(" arguments ")"]
//! index     = int | [int] ":" [int] [":" [int]] | "..." | "newaxis" | "None" | list | name
//! arguments = [argument {"," argument}]
//! argument  = [name "="] (int | list | expr | word | string)
//! list      = "[" ... "]" | "(" ... ")"           -- of integers, may be nested
//! ```
//!
//! Indexing, methods and functions mean what they mean in numpy: indices wrap, and an index out of
//! range is an error. An index list, or the name of an integer tensor, gathers; one of them in a
//! pair of brackets. If no statement is an expression the last name given is the output.

mod arguments;
mod blocks;
mod index;
mod methods;
mod parser;

use restride_graph::Graph;
use restride_text::Diagnostic;

/// The language in short, for the command line.
pub(crate) const HELP: &str = include_str!("help.txt");

/// Reads a program; everything in it is checked.
pub(crate) fn parse(text: &str) -> Result<Graph, Diagnostic> {
    parser::ExpressionParser::new(text)?.program()
}

#[cfg(test)]
mod tests;
