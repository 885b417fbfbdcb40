//! What the tests share: tiny kernels, guarded buffers, child processes.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod guarded;
pub(crate) mod ladder;

use std::sync::Arc;

use restride_jit::{ArenaOptions, CodeArena, CodeMemory, CompileOptions, Compiler, NativeKernel};
use restride_loops::{Buffer, BufferId, Image, Kernel, Place, Role, Stmt, Verified, Width, verify};

/// A kernel that writes `tag` to its only output.
pub(crate) fn fill_kernel(tag: u64) -> Verified {
    fill_kernel_of(tag, 1)
}

/// As [`fill_kernel`], `copies` times over, each by a statement of its own.
pub(crate) fn fill_kernel_of(tag: u64, copies: usize) -> Verified {
    let len = copies as i64;
    let stmts = (0..len).map(|at| Stmt::Fill {
        dst: Place::at(BufferId(0), at),
        dims: [].into_iter().collect(),
        bits: (u128::from(tag) + at as u128) & u128::from(u64::MAX),
    });
    let kernel = Kernel {
        name: "fill".into(),
        buffers: vec![Buffer {
            role: Role::Out(0, Image::dense(len)),
            width: Width::W8,
            len,
        }],
        phases: vec![stmts.collect()],
    };
    verify(kernel).expect("a plain fill")
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

/// Asks the system to make the code of a kernel writable; whether it does.
pub(crate) fn make_writable(kernel: &NativeKernel) -> bool {
    let page = (kernel.code().as_ptr() as usize & !4095) as *mut libc::c_void;
    let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    // SAFETY: a mapping of this process; what is written there is nothing.
    unsafe { libc::mprotect(page, 4096, access) == 0 }
}

/// A process forked from this one.
pub(crate) struct Child(libc::pid_t);

impl Child {
    /// Waits for it; whether it ended well.
    pub(crate) fn succeeded(self) -> bool {
        let mut status = 0;
        // SAFETY: the pid is a child of this process.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        waited == self.0 && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}

/// Runs `body` in a forked child; a panic there makes it fail.
pub(crate) fn in_child(body: impl FnOnce()) -> Child {
    // SAFETY: the child only runs `body` and leaves without unwinding into the parent's frames.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork failed");
    if pid == 0 {
        // The usual hook takes locks that a thread left behind may have held.
        std::panic::set_hook(Box::new(|info| {
            let text = info.to_string();
            // SAFETY: the bytes are those of a live string.
            unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
        }));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        // SAFETY: ends the child at once, without the parent's exit handlers.
        unsafe { libc::_exit(i32::from(result.is_err())) };
    }
    Child(pid)
}

/// A pipe: where to send, where to receive.
pub(crate) fn pipe() -> (i32, i32) {
    let mut fds = [0; 2];
    // SAFETY: the array has room for both descriptors.
    assert_eq!(unsafe { libc::pipe(fds.as_mut_ptr()) }, 0);
    (fds[1], fds[0])
}

/// Sends one byte.
pub(crate) fn send(fd: i32) {
    // SAFETY: one byte is read from a live array.
    assert_eq!(unsafe { libc::write(fd, [1u8].as_ptr().cast(), 1) }, 1);
}

/// Waits for one byte.
pub(crate) fn receive(fd: i32) {
    let mut byte = [0u8];
    // SAFETY: one byte is written to a live array.
    assert_eq!(unsafe { libc::read(fd, byte.as_mut_ptr().cast(), 1) }, 1);
}

/// Lets this process map 64 MiB more and no more than that.
pub(crate) fn limit_address_space() {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("readable");
    let pages: u64 = statm
        .split_whitespace()
        .next()
        .and_then(|pages| pages.parse().ok())
        .expect("a number of pages");
    let limit = libc::rlimit {
        rlim_cur: pages * 4096 + (64 << 20),
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the struct is complete.
    let status = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
    assert_eq!(status, 0);
}

/// Forbids this process to make memory executable that was writable; whether the kernel can.
pub(crate) fn deny_write_execute() -> bool {
    const PR_SET_MDWE: libc::c_int = 65;
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    // SAFETY: a prctl of integers.
    unsafe { libc::prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) == 0 }
}
