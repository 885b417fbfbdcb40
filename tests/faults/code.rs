//! Code memory in forked children, and where the system refuses it: below the facade, where it is filled.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::children::{Child, Ending, alone, child, limit_address_space, refuse_exec_gain};
use restride_jit::{
    ArenaOptions, CodeArena, CodeMemory, CodeMemoryError, CompileOptions, Compiler, JitError,
    NativeKernel,
};
use restride_loops::{Verified, verify};

/// A kernel that writes `tag` to its only output.
fn fill_kernel(tag: u8) -> Verified {
    let text = format!("kernel \"fill\" {{ b0 = out 0 w1 [1]\nfill b0[0] <- {tag:#x} }}");
    verify(text.parse().expect("a kernel")).expect("a plain fill")
}

/// What a fill kernel writes.
fn written(kernel: &NativeKernel) -> u8 {
    let mut out = 255u8;
    let table = [&raw mut out];
    // SAFETY: fill kernels have one output of one byte.
    unsafe { kernel.call_raw(table.as_ptr()) }.expect("a fill has no checks");
    out
}

fn arena(slab_bytes: usize) -> Arc<CodeArena> {
    let mut options = ArenaOptions::default();
    options.slab_bytes = slab_bytes;
    Arc::new(CodeArena::new(options))
}

/// An arena whose slabs are pages.
fn small_arena() -> Arc<CodeArena> {
    arena(16 << 10)
}

fn compiler(memory: CodeMemory) -> Compiler {
    let mut options = CompileOptions::default();
    options.memory = memory;
    Compiler::new(options).expect("this machine has a code generator")
}

fn compile(compiler: &mut Compiler, tag: u8) -> NativeKernel {
    let made = compiler.compile(&fill_kernel(tag));
    made.expect("executable memory")
}

/// Asks the system to make the code of a kernel writable; whether it does.
fn make_writable(kernel: &NativeKernel) -> bool {
    let page = (kernel.code().as_ptr() as usize & !4095) as *mut libc::c_void;
    let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    // SAFETY: a mapping of this process; what is written there is nothing.
    unsafe { libc::mprotect(page, 4096, access) == 0 }
}

/// The process's memory map.
fn maps() -> String {
    std::fs::read_to_string("/proc/self/maps").expect("readable")
}

/// Waits until the other process has come as far.
fn meet(mut other: &UnixStream) {
    let met = other
        .write_all(&[1])
        .and_then(|()| other.read_exact(&mut [0]));
    met.expect("the other process is there");
}

#[test]
fn code_is_nowhere_writable() {
    if !alone() {
        return;
    }
    let before = maps();
    let mut native = compiler(CodeMemory::Arena(small_arena()));
    let in_arena = compile(&mut native, 1);
    let in_module = compile(&mut compiler(CodeMemory::Module), 2);
    assert_eq!((written(&in_arena), written(&in_module)), (1, 2));
    let maps = maps();
    let is_new = |line: &&str| !before.contains(*line);
    let mut writers = 0;
    for line in maps.lines().filter(is_new) {
        let protection = line.split_whitespace().nth(1).expect("a protection");
        let code = line.contains("restride-code") || protection.contains('x');
        assert!(!code || !protection.contains('w'), "{line}\n{maps}");
        writers += usize::from(protection == "---s");
    }
    assert_eq!(writers, 1, "{maps}");
    // Not even if it is asked for.
    assert!(!make_writable(&in_arena));
}

#[test]
fn a_forked_child_runs_what_it_inherits_and_compiles_its_own() {
    if !alone() {
        return;
    }
    let memory = small_arena();
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let mut inherited: Vec<_> = (0..20).map(|tag| compile(&mut native, tag)).collect();
    let (parents, childs) = UnixStream::pair().expect("two ends");
    let child = Child::new(|| {
        // What the parent was filling is the parent's.
        let slabs = memory.stats().slabs;
        let own: Vec<_> = (100..120).map(|tag| compile(&mut native, tag)).collect();
        meet(&childs);
        meet(&childs);
        // Meanwhile the parent has dropped its copies and compiled others.
        for (tag, kernel) in (0..).zip(&inherited).chain((100..).zip(&own)) {
            assert_eq!(written(kernel), tag);
        }
        assert_eq!(memory.stats().kernels, 40);
        assert!(memory.stats().slabs > slabs);
        drop(own);
        drop(std::mem::take(&mut inherited));
        assert_eq!(memory.stats().kernels, 0);
    });
    meet(&parents);
    inherited.clear();
    assert!(memory.stats().kernels == 0 && memory.stats().slabs == 1);
    let fresh: Vec<_> = (150..250).map(|tag| compile(&mut native, tag)).collect();
    meet(&parents);
    assert_eq!(child.ended(), Ending::Well);
    for (tag, kernel) in (150..).zip(&fresh) {
        assert_eq!(written(kernel), tag);
    }
}

fn open_code_files() -> usize {
    let files = std::fs::read_dir("/proc/self/fd").expect("readable");
    files
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok())
        .filter(|to| to.to_string_lossy().contains("restride-code"))
        .count()
}

/// A child that was taken over cannot reach the code of its parent.
#[test]
fn a_child_cannot_make_code_writable() {
    if !alone() {
        return;
    }
    let before = open_code_files();
    let inherited = compile(&mut compiler(CodeMemory::Arena(small_arena())), 1);
    assert!(child(|| {
        let maps = maps();
        let mut views = maps.lines().filter(|m| m.contains("restride-code"));
        assert!(views.all(|view| view.contains(" r-xs ")), "{maps}");
        assert_eq!(open_code_files(), before);
        assert!(!make_writable(&inherited));
    }));
    assert_eq!(written(&inherited), 1);
}

#[test]
fn refused_memory_is_an_error_and_not_a_crash() {
    if !alone() {
        return;
    }
    let mut options = ArenaOptions::default();
    options.slab_bytes = 1 << 30;
    options.limit_bytes = 1 << 40;
    let mut native = compiler(CodeMemory::Arena(Arc::new(CodeArena::new(options))));
    let kernel = fill_kernel(5);
    limit_address_space(64 << 20);
    let mut kept = Vec::new();
    let error = loop {
        match native.compile(&kernel) {
            Ok(kernel) => kept.push(kernel),
            Err(error) => break error,
        }
        assert!(kept.len() < 1_000_000);
    };
    assert!(matches!(error, JitError::CodeMemory(_)), "{error}");
}

#[test]
fn the_arena_works_where_memory_may_not_change_to_executable() {
    if !alone() || !refuse_exec_gain() {
        return;
    }
    let kernel = compile(&mut compiler(CodeMemory::Arena(small_arena())), 9);
    assert_eq!(written(&kernel), 9);
    let error = compiler(CodeMemory::Module).compile(&fill_kernel(1));
    assert!(matches!(
        error,
        Err(JitError::CodeMemory(CodeMemoryError::Module(_)))
    ));
    let either = compile(&mut compiler(CodeMemory::auto()), 10);
    assert_eq!(written(&either), 10);
}
