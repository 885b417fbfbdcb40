//! Compiled programs as files: an object that a linker takes, and the C header that goes with it.
//!
//! What is in an object needs nothing: no library, no start-up, no memory of its own. Each [`Function`] is code
//! and constants in a section of its own, so that a linker may leave out what nobody calls, and there is no
//! relocation in any of them. The bytes follow from the functions and the machine alone.

#![forbid(unsafe_code)]

mod file;
mod header;
mod name;

pub use name::{BadName, check_name};

use restride_graph::ElementType;
use restride_jit::{Standalone, Triple};

/// A program that was compiled for some machine, and what a caller has to know of it.
#[derive(Clone, Debug)]
pub struct Function {
    /// What it is called: a name of C, which [`check_name`] accepts.
    pub name: String,
    /// The code.
    pub code: Standalone,
    /// The program as text.
    pub text: String,
    /// What it reads, in order.
    pub inputs: Vec<FunctionBuffer>,
    /// What it writes, in order.
    pub outputs: Vec<FunctionBuffer>,
    /// What it returns when an index is out of range, each with what is wrong then.
    pub refusals: Vec<(u64, String)>,
}

/// Memory that a function reads or writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionBuffer {
    /// What it is called and its type, for readers.
    pub label: String,
    /// What its elements are.
    pub element: ElementType,
    /// How many there are from its first byte to its last, gaps included.
    pub length: usize,
}

impl FunctionBuffer {
    fn bytes(&self) -> usize {
        self.length.saturating_mul(self.element.width())
    }
}

/// Why there is no object file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// There is no format known for this machine.
    #[error("no object files are known for {0}")]
    Machine(String),
    /// The writer refused.
    #[error("the object file: {0}")]
    Writer(String),
}

/// The object file of some functions, for the machine they were compiled for.
pub fn object(machine: &Triple, functions: &[Function]) -> Result<Vec<u8>, FileError> {
    file::write(machine, functions)
}

/// The C header of some functions.
#[must_use]
pub fn header(machine: &Triple, functions: &[Function]) -> String {
    header::write(machine, functions)
}
