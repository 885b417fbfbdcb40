//! The text form: [`Graph`](crate::Graph) prints itself, [`Graph::parse`](crate::Graph::parse)
//! reads it back.
//!
//! - `signature` lists what every operator's statement may say,
//! - `attributes` reads a statement into a bag of spanned attributes,
//! - `operator` makes the operator of a bag,
//! - `data` reads types, layouts and constants,
//! - `scope` knows what labels stand for,
//! - `parse` reads the function around the statements and recovers from errors,
//! - `print` writes it all,
//! - `remarks` finds what comments belong to.

mod attributes;
mod data;
mod operator;
mod parse;
mod print;
mod remarks;
mod scope;
mod signature;

pub(crate) use data::{Said, sample as read_sample};
