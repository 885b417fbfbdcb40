//! What the tests share: tiny kernels, guarded buffers.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod guarded;
pub(crate) mod ladder;

use std::sync::Arc;

use restride_jit::{ArenaOptions, CodeArena, CodeMemory, CompileOptions, Compiler, NativeKernel};
use restride_loops::{Verified, verify};

/// A kernel that writes `tag` to its only output.
pub(crate) fn fill_kernel(tag: u64) -> Verified {
    fill_kernel_of(tag, 1)
}

/// As [`fill_kernel`], `copies` times over, each by a statement of its own.
pub(crate) fn fill_kernel_of(tag: u64, copies: usize) -> Verified {
    let fill = |at: u64| format!("fill b0[{at}] <- {:#x}\n", tag.wrapping_add(at));
    let fills: String = (0..copies as u64).map(fill).collect();
    let text = format!("kernel \"fill\" {{ b0 = out 0 w8 [{copies}]\n{fills}}}");
    verify(text.parse().expect("a kernel")).expect("a plain fill")
}

/// The first value a fill kernel writes.
pub(crate) fn run_fill(kernel: &NativeKernel) -> u64 {
    let mut out = [u64::MAX; 16];
    let table = [out.as_mut_ptr().cast::<u8>()];
    // SAFETY: fill kernels have one output of at most 16 elements.
    unsafe { kernel.call_raw(table.as_ptr()) }.expect("a fill has no checks");
    out[0]
}

/// Code memory of these sizes.
pub(crate) fn arena(change: impl FnOnce(&mut ArenaOptions)) -> Arc<CodeArena> {
    let mut options = ArenaOptions::default();
    change(&mut options);
    Arc::new(CodeArena::new(options))
}

/// A compiler into this memory.
pub(crate) fn compiler(memory: CodeMemory) -> Compiler {
    let mut options = CompileOptions::default();
    options.memory = memory;
    Compiler::new(options).expect("this machine has a code generator")
}

/// Compiles a kernel that writes `tag`.
pub(crate) fn compile(compiler: &mut Compiler, tag: u64) -> NativeKernel {
    compiler
        .compile(&fill_kernel(tag))
        .expect("executable memory")
}
