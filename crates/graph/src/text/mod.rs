//! The text form: [`Graph`](crate::Graph) prints itself, [`Graph::parse`](crate::Graph::parse)
//! reads it back. What a statement may say stands in the [table of operators](crate::OPERATORS).
//!
//! - `attributes` reads a statement into a bag of spanned attributes,
//! - `spelling` makes the fields of an operator of a bag, and writes them,
//! - `data` reads types, layouts and constants,
//! - `scope` knows what labels stand for,
//! - `parse` reads the function around the statements and recovers from errors,
//! - `print` writes it all,
//! - `remarks` finds what comments belong to.

mod attributes;
mod data;
mod parse;
mod print;
mod remarks;
mod scope;
mod spelling;

pub(crate) use attributes::{AttributeKind, Attributes};
pub(crate) use data::{Said, sample as read_sample};
pub(crate) use spelling::{
    BY_THE_WORDS, LENGTHS, LINED_UP, PART, RIM, RULE, Spelling, Words, ZEROS, int, int_or_zero,
    ints, ints_if, mask, slice_ints, word, word_or_first,
};
