//! Verified kernels to machine code with Cranelift, and the memory that holds it.
//!
//! A [`Compiler`] takes a [`Verified`](restride_loops::Verified) kernel, so nothing can be wrong
//! with what it is given: every address is in range and every output element is written once. It
//! emits one function per phase (`emit`), with inline code for the boxes that are planned to have it
//! and calls of precompiled leaves for the others, and installs the bytes in [`CodeMemory`]. The result is a
//! [`NativeKernel`]: `Send`, `Sync`, and freed with its last owner.
//!
//! The only things that can fail are the operating system, when it refuses executable memory, and
//! a machine without a code generator; both are a [`JitError`], and a panic of the code generator
//! is one too.

mod ahead;
mod attach;
mod checks;
mod compiler;
mod cpu;
mod emit;
mod error;
mod isa;
mod kernel;
mod listing;
mod memory;
mod sync;

pub use compiler::{CODE_STACK, CompileOptions, Compiler};
pub use cpu::processor;
pub use error::{BadIndex, CodeMemoryError, JitError, RunError};
pub use isa::Paranoia;
pub use kernel::NativeKernel;
pub use listing::Listing;
pub use memory::CodeMemory;
#[cfg(target_os = "linux")]
pub use memory::{ArenaOptions, ArenaStats, CodeArena};
pub use restride_loops::Standalone;
pub use restride_moves::{Features, Processor};
pub use target_lexicon::{self as machine, Triple};

#[cfg(target_os = "linux")]
use restride_process as process;

const _: () = {
    const fn shared<T: Send + Sync>() {}
    const fn sent<T: Send>() {}
    shared::<NativeKernel>();
    shared::<CodeMemory>();
    sent::<Compiler>();
};
