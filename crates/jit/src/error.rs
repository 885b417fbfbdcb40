//! What can go wrong between a verified kernel and callable code.

use thiserror::Error;

/// Why a kernel could not be turned into native code. None of these says anything about the
/// kernel itself: a caller falls back to the generic executor and goes on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JitError {
    /// The code generator has no backend for this machine, or lacks a needed feature of it.
    #[error("no code generator for this target: {0}")]
    Target(String),
    /// The calling thread has too little stack left for the code generator.
    #[error("making machine code needs {need} bytes of stack, {left} are left")]
    StackTooSmall {
        /// How many are needed.
        need: usize,
        /// How many there are.
        left: usize,
    },
    /// The operating system refused executable memory.
    #[error("executable memory: {0}")]
    CodeMemory(#[from] CodeMemoryError),
    /// The kernel would take more instructions than [`CompileOptions`](crate::CompileOptions)
    /// allow: register allocation takes time that grows faster than the code.
    #[error("machine code of more than {limit} instructions")]
    TooLarge {
        /// How many are allowed.
        limit: usize,
    },
    /// The code generator rejected its input or panicked; a defect, reported instead of raised.
    #[error("code generation failed: {0}")]
    Internal(String),
}

/// Why code could not be placed in executable memory.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CodeMemoryError {
    /// A system call failed.
    #[error("{call} failed with errno {errno}")]
    Refused {
        /// The call.
        call: &'static str,
        /// What the system said.
        errno: i32,
    },
    /// The arena is at its limit.
    #[error("{requested} bytes do not fit: {in_use} of at most {limit} bytes of code are in use")]
    Full {
        /// Bytes asked for.
        requested: usize,
        /// Bytes that are live or cannot be reused.
        in_use: usize,
        /// The configured limit.
        limit: usize,
    },
    /// The module's memory provider failed.
    #[error("module memory: {0}")]
    Module(String),
    /// This platform has no such memory.
    #[error("this platform has no {0}")]
    Unsupported(&'static str),
}

/// Why a call of a kernel ended without doing its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// An index lies outside its range. Nothing was written.
    #[error("check {code}: {found}")]
    Check {
        /// The code of the check statement.
        code: u32,
        /// Which index.
        found: BadIndex,
    },
}

/// The first index of a check, in row-major order of its box, that is outside its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadIndex {
    /// Found again by the scan after the failure.
    At {
        /// Its row-major position in the box of the check, loops around it counted as outer
        /// dimensions.
        position: u64,
        /// Its value.
        value: i128,
    },
    /// The index tensor was changed by another thread before the scan could find it again.
    Changed,
}

impl core::fmt::Display for BadIndex {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::At { position, value } => {
                write!(f, "index {value} at position {position} is out of range")
            }
            Self::Changed => f.write_str("an index was out of range and has changed since"),
        }
    }
}
