//! What can go wrong in a run.

use thiserror::Error;

use crate::ir::{BufferId, IndexType, Var, Width};

/// Why a run ended early. All but [`Fault::CheckFailed`] and the faults of the call itself
/// (inputs, limits of the interpreter) mean that the kernel is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each says what its fields are")]
pub enum Fault {
    #[error("check {code} failed: index {value} at position {position}")]
    CheckFailed {
        code: u32,
        /// Row-major position in the check's box, the loops around it counted as outer dimensions.
        position: u64,
        value: i128,
    },
    #[error("input {input} is missing, there are {count}")]
    InputMissing { input: u32, count: usize },
    #[error("input {input} has {bytes} bytes, the kernel asks for {expected}")]
    InputTooShort {
        input: u32,
        bytes: usize,
        expected: usize,
    },
    #[error("the buffers have more than {limit} bytes together")]
    TooLarge { limit: usize },
    #[error("more than {limit} steps")]
    TooLong { limit: u64 },
    #[error("loops are nested deeper than {limit}")]
    TooDeep { limit: usize },
    #[error("buffer {buffer} has length {len}")]
    Length { buffer: BufferId, len: i64 },
    #[error("the data of constant buffer {buffer} does not have its length")]
    ConstData { buffer: BufferId },
    #[error("the image of buffer {buffer} leaves it or has an address twice")]
    Image { buffer: BufferId },
    #[error("there is no buffer {buffer}")]
    UnknownBuffer { buffer: BufferId },
    #[error("variable {var} is not in scope")]
    UnknownVar { var: Var },
    #[error("an extent of {extent}")]
    Extent { extent: i64 },
    #[error("an index limit of {limit}")]
    Limit { limit: i64 },
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
    #[error("address {address} of buffer {buffer} is outside 0..{len}")]
    OutOfBounds {
        buffer: BufferId,
        address: i128,
        len: i64,
    },
    #[error("buffer {buffer} is written, yet may only be read")]
    NotWritable { buffer: BufferId },
    #[error("buffer {buffer} is read, yet is an output")]
    NotReadable { buffer: BufferId },
    #[error("address {address} of buffer {buffer} is read before it is written")]
    Uninitialised { buffer: BufferId, address: i128 },
    #[error("address {address} of buffer {buffer} is written twice")]
    WrittenTwice { buffer: BufferId, address: i128 },
    #[error("address {address} of buffer {buffer} is written, yet is no part of its image")]
    OutsideImage { buffer: BufferId, address: i128 },
    #[error("address {address} of buffer {buffer} is never written")]
    NotWritten { buffer: BufferId, address: i128 },
    #[error("a write to an address that depends on an index out of range, in buffer {buffer}")]
    LostDestination { buffer: BufferId },
    #[error("check {code} comes after an output was written")]
    CheckAfterWrite { code: u32 },
}
