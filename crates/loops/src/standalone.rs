//! What a kernel is as one function: what makes such code and what checks it agree on this.

use crate::ir::BufferId;

/// A kernel as one function of C,
/// `int function(const void *const inputs[], void *const outputs[], void *scratch)`.
///
/// It runs all phases, without a call. Inputs and outputs are found by their numbers, each with any alignment,
/// and scratch buffers where [`Kernel::scratch_layout`](crate::Kernel::scratch_layout) puts them at multiples of
/// [`ALIGN`](Self::ALIGN). It returns 0, or one more than the code of the check that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standalone {
    /// The function, which begins with the first byte, and what it reads beside its arguments. They may lie
    /// anywhere, together, at a multiple of [`ALIGN`](Self::ALIGN).
    pub bytes: Vec<u8>,
    /// How many of them are the function; the others are the constants of the kernel.
    pub code: usize,
    /// Where each constant of the kernel begins.
    pub constants: Vec<(BufferId, usize)>,
    /// How many bytes of scratch it needs.
    pub scratch: usize,
}

impl Standalone {
    /// What the function is aligned to, and scratch should be: a cache line.
    pub const ALIGN: usize = 64;
}
