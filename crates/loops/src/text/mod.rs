//! The text form: what is printed is what runs, and parses back to the same kernel.
//!
//! The grammar is in the documentation of the crate. Two things do not survive printing: quotes
//! and characters that cannot be seen in a kernel's name, and the difference between no phase and
//! one that is empty.

mod parse;
mod print;
