//! What the verifier says when it refuses.

use thiserror::Error;

use crate::ir::{BufferId, Form, IndexType, Var, Width};

/// Why a kernel was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Rejected {
    /// What is wrong.
    pub reason: Reason,
    /// The statement it is wrong in; nothing when it concerns a buffer as a whole.
    pub at: Option<Location>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its phase, then its position in each block down to it, all from 0.
    pub path: Vec<usize>,
    /// Its first line as printed.
    pub text: String,
}

impl std::fmt::Display for Rejected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(at) = &self.at else {
            return write!(f, "{}", self.reason);
        };
        write!(f, "{}, in phase", self.reason)?;
        for (depth, step) in at.path.iter().enumerate() {
            write!(f, "{}{step}", if depth == 0 { " " } else { "." })?;
        }
        write!(f, ": `{}`", at.text)
    }
}

/// What can be wrong with a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each says what its fields are")]
pub enum Reason {
    #[error("loops are nested deeper than {limit}")]
    TooDeep { limit: usize },
    #[error("a box of {dims} dimensions, the limit is {limit}")]
    TooManyDims { dims: usize, limit: usize },
    #[error("variable {var} is numbered past {limit}")]
    VarNumber { var: Var, limit: u32 },
    #[error("there is no buffer {buffer}, there are {count}")]
    UnknownBuffer { buffer: BufferId, count: usize },
    #[error("buffer {buffer} has {len} elements, it must have at least 0")]
    Length { buffer: BufferId, len: i64 },
    #[error("buffer {buffer} holds {bytes} bytes of data, its length asks for {expected}")]
    ConstData {
        buffer: BufferId,
        bytes: usize,
        expected: i128,
    },
    #[error("the buffers have {bytes} bytes together, the limit is {limit}")]
    TotalBytes { bytes: i128, limit: i128 },
    #[error("buffers {first} and {second} are both output {output}")]
    DuplicateOutput {
        output: u32,
        first: BufferId,
        second: BufferId,
    },
    #[error("the image of buffer {buffer} has an extent of {extent}, it must be at least 0")]
    ImageExtent { buffer: BufferId, extent: i64 },
    #[error("the image of buffer {buffer} reaches from {low} to {high}, outside 0..{len}")]
    ImageOutOfBounds {
        buffer: BufferId,
        low: i128,
        high: i128,
        len: i64,
    },
    #[error("the image of buffer {buffer} has an address more than once")]
    ImageRepeats { buffer: BufferId },
    #[error("an extent of {extent}, it must be at least 1")]
    Extent { extent: i64 },
    #[error("variable {var} is defined more than once")]
    Redefined { var: Var },
    #[error("variable {var} is not in scope")]
    UnknownVar { var: Var },
    #[error("variable {var} is in one address more than once")]
    RepeatedVar { var: Var },
    #[error("variable {var} has coefficient 0")]
    ZeroCoefficient { var: Var },
    #[error("a parallel loop inside another statement")]
    InnerParallel,
    #[error("index variable {var} in the address of a {what}")]
    IndexVarIn { var: Var, what: &'static str },
    #[error("buffer {buffer} is only read, yet written")]
    NotWritable { buffer: BufferId },
    #[error("buffer {buffer} is an output, yet read")]
    NotReadable { buffer: BufferId },
    #[error("from {src} of width {src_width} to {dst} of width {dst_width}")]
    Widths {
        dst: BufferId,
        dst_width: Width,
        src: BufferId,
        src_width: Width,
    },
    #[error("an index of type {ty} in buffer {buffer} of width {width}")]
    IndexWidth {
        buffer: BufferId,
        width: Width,
        ty: IndexType,
    },
    #[error("an index limit of {limit}, it must be at least {least}")]
    Limit { limit: i64, least: i64 },
    #[error("the box does not suit the form {form}")]
    Form { form: Form },
    #[error("a check in a parallel loop")]
    CheckInParallel,
    #[error("a check after an output was written")]
    CheckAfterWrite,
    #[error("a check in a loop that also writes an output")]
    CheckInWritingLoop,
    #[error("a check in a phase that has a parallel loop which writes an output")]
    CheckBesideParallel,
    #[error("a loop that neither writes nor checks anything")]
    Idle,
    #[error("checks look {again} times at indices they have seen, the limit is {limit}")]
    LooksAgain { again: i128, limit: i128 },
    #[error("addresses from {low} to {high} in buffer {buffer}, outside 0..{len}")]
    OutOfBounds {
        buffer: BufferId,
        low: i128,
        high: i128,
        len: i64,
    },
    #[error("an element of buffer {buffer} is written more than once by this statement")]
    WritesTwice { buffer: BufferId },
    #[error("an element of buffer {buffer} is written here and by `{other}`")]
    Overlap { buffer: BufferId, other: String },
    #[error("an element of buffer {buffer} outside its image is written")]
    OutsideImage { buffer: BufferId },
    #[error("{written} elements of buffer {buffer} are written, its image has {expected}")]
    NotCovered {
        buffer: BufferId,
        written: i128,
        expected: i128,
    },
    #[error("elements of scratch buffer {buffer} are read that no earlier statement surely wrote")]
    ReadBeforeWrite { buffer: BufferId },
    #[error("the writes of buffer {buffer} are too irregular to tell apart")]
    Undecided { buffer: BufferId },
}
