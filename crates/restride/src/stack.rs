//! The stack that is needed. A thread that runs off its stack ends the process, so compiling looks
//! at what is left first.

use crate::CompileError;

/// The bytes of stack that a compile needs; on a thread that has fewer left it is an error,
/// [`CompileError::StackTooSmall`]. No graph is known to take more than 40 KiB, and 250 in a build
/// without optimisation.
///
/// What is left is known on Linux, on stacks that the C library knows. Elsewhere, and on a stack of
/// the caller's own making, nothing is checked.
pub const COMPILE_STACK: usize = if cfg!(debug_assertions) {
    384 << 10
} else {
    48 << 10
};

/// The bytes of stack that a compile needs to make machine code, too. On a thread that has fewer
/// left the program runs generically, and [`Stats::refused`](crate::Stats::refused) counts it.
#[cfg(feature = "jit")]
pub const CODE_STACK: usize = restride_jit::CODE_STACK + (8 << 10);

/// The bytes of stack that running a program needs, native or generic. A call does not look.
/// Large transposes go through a buffer of 48 KiB on the stack, and past it where there is no room.
pub const RUN_STACK: usize = if cfg!(debug_assertions) {
    64 << 10
} else {
    32 << 10
};

/// Refuses to compile on too small a stack.
pub(crate) fn enough_to_compile() -> Result<(), CompileError> {
    match restride_leaves::stack_left() {
        Some(left) if left < COMPILE_STACK => Err(CompileError::StackTooSmall {
            need: COMPILE_STACK,
            left,
        }),
        Some(_) | None => Ok(()),
    }
}
