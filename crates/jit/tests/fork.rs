//! Code memory in forked children, and where the system refuses it.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use std::sync::Arc;

use restride_jit::{CodeMemory, CodeMemoryError, JitError};
use support::{arena, compile, compiler, fill_kernel, in_child, make_writable, run_fill};

#[test]
fn a_forked_child_runs_what_it_inherits_and_compiles_its_own() {
    let memory = arena(|options| options.slab_bytes = 16 << 10);
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let mut inherited: Vec<_> = (0..20).map(|tag| compile(&mut native, tag)).collect();
    let (to_child, from_parent) = support::pipe();
    let (to_parent, from_child) = support::pipe();
    let child = in_child(|| {
        // What the parent was filling is the parent's.
        let slabs = memory.stats().slabs;
        let own: Vec<_> = (100..120).map(|tag| compile(&mut native, tag)).collect();
        support::send(to_parent);
        support::receive(from_parent);
        // Meanwhile the parent has dropped its copies and compiled others.
        for (tag, kernel) in (0..).zip(&inherited).chain((100..).zip(&own)) {
            assert_eq!(run_fill(kernel), tag);
        }
        assert_eq!(memory.stats().kernels, 40);
        assert!(memory.stats().slabs > slabs);
        drop(own);
        drop(std::mem::take(&mut inherited));
        assert_eq!(memory.stats().kernels, 0);
    });
    support::receive(from_child);
    inherited.clear();
    assert!(memory.stats().kernels == 0 && memory.stats().slabs == 1);
    let fresh: Vec<_> = (200..300).map(|tag| compile(&mut native, tag)).collect();
    support::send(to_child);
    assert!(child.succeeded());
    for (tag, kernel) in (200..).zip(&fresh) {
        assert_eq!(run_fill(kernel), tag);
    }
}

fn open_code_files() -> usize {
    let files = std::fs::read_dir("/proc/self/fd").expect("readable");
    files
        .filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok())
        .filter(|to| to.to_string_lossy().contains("restride-code"))
        .count()
}

/// A child that was taken over cannot reach the code of its parent. Both are made here, so that no
/// other test is mapping code meanwhile.
#[test]
fn a_child_cannot_make_code_writable() {
    let parent = in_child(|| {
        let before = open_code_files();
        let mut native = compiler(CodeMemory::Arena(arena(|_| {})));
        let inherited = compile(&mut native, 1);
        let child = in_child(|| {
            let maps = std::fs::read_to_string("/proc/self/maps").expect("readable");
            let mut views = maps.lines().filter(|m| m.contains("restride-code"));
            assert!(views.all(|view| view.contains(" r-xs ")), "{maps}");
            assert_eq!(open_code_files(), before);
            assert!(!make_writable(&inherited));
        });
        assert!(child.succeeded());
        assert_eq!(run_fill(&inherited), 1);
    });
    assert!(parent.succeeded());
}

#[test]
fn refused_memory_is_an_error_and_not_a_crash() {
    let refused = |memory: fn() -> CodeMemory| {
        in_child(move || {
            let mut native = compiler(memory());
            let kernel = fill_kernel(5);
            support::limit_address_space();
            let mut kept = Vec::new();
            let error = loop {
                match native.compile(&kernel) {
                    Ok(kernel) => kept.push(kernel),
                    Err(error) => break error,
                }
                assert!(kept.len() < 1_000_000);
            };
            assert!(matches!(error, JitError::CodeMemory(_)), "{error}");
        })
        .succeeded()
    };
    assert!(refused(|| {
        CodeMemory::Arena(arena(|options| {
            options.slab_bytes = 1 << 30;
            options.limit_bytes = 1 << 40;
        }))
    }));
}

#[test]
fn the_arena_works_where_memory_may_not_change_to_executable() {
    let child = in_child(|| {
        if !support::deny_write_execute() {
            return;
        }
        let kernel = compile(&mut compiler(CodeMemory::Arena(arena(|_| {}))), 9);
        assert_eq!(run_fill(&kernel), 9);
        let error = compiler(CodeMemory::Module).compile(&fill_kernel(1));
        assert!(matches!(
            error,
            Err(JitError::CodeMemory(CodeMemoryError::Module(_)))
        ));
        let either = compile(&mut compiler(CodeMemory::auto()), 10);
        assert_eq!(run_fill(&either), 10);
    });
    assert!(child.succeeded());
}
