//! Why a run ended early.

use thiserror::Error;

/// An index that a check refused. Nothing has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("check {code} failed: index {value} at position {position}")]
pub struct CheckFailure {
    /// The check's number.
    pub code: u32,
    /// Row-major position in the check's box, the loops around it counted as outer dimensions; of
    /// checks that are one, in their boxes side by side.
    pub position: u64,
    /// The index as stored.
    pub value: i128,
}

/// Why a call by addresses ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CallError {
    /// An index that a check refused.
    #[error(transparent)]
    Check(#[from] CheckFailure),
    /// There is no memory for the variables of a kernel that has very many.
    #[error("no memory for {bytes} bytes of variables")]
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: usize,
    },
}

impl From<CallError> for RunError {
    fn from(error: CallError) -> RunError {
        match error {
            CallError::Check(failure) => failure.into(),
            CallError::OutOfMemory { bytes } => RunError::OutOfMemory { bytes },
        }
    }
}

/// Why a call did not happen or ended early.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// An index that a check refused.
    #[error(transparent)]
    Check(#[from] CheckFailure),
    /// There are fewer inputs than the kernel has.
    #[error("input {input} is missing, there are {count}")]
    InputMissing {
        /// Its number.
        input: u32,
        /// How many there are.
        count: usize,
    },
    /// There are fewer outputs than the kernel has.
    #[error("output {output} is missing, there are {count}")]
    OutputMissing {
        /// Its number.
        output: u32,
        /// How many there are.
        count: usize,
    },
    /// An input is too short.
    #[error("input {input} has {bytes} bytes, the kernel asks for {expected}")]
    InputTooShort {
        /// Its number.
        input: u32,
        /// How many it has.
        bytes: usize,
        /// How many it needs.
        expected: usize,
    },
    /// An output is too short.
    #[error("output {output} has {bytes} bytes, the kernel asks for {expected}")]
    OutputTooShort {
        /// Its number.
        output: u32,
        /// How many it has.
        bytes: usize,
        /// How many it needs.
        expected: usize,
    },
    /// The memory that a call needs for itself cannot be had.
    #[error("no memory for {bytes} bytes")]
    OutOfMemory {
        /// How many bytes were asked for.
        bytes: usize,
    },
}
