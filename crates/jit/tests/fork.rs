//! Code memory in forked children, and where the system refuses it. One test at a time: a fork is
//! noticed by every arena of the process.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use std::sync::{Arc, Mutex, PoisonError};

use restride_jit::{CodeMemory, CodeMemoryError, JitError};
use support::{arena, compile, compiler, fill_kernel, in_child, run_fill};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn a_forked_child_runs_what_it_inherits_and_compiles_its_own() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let memory = arena(|options| options.slab_bytes = 16 << 10);
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let mut inherited: Vec<_> = (0..20).map(|tag| compile(&mut native, tag)).collect();
    let (to_child, from_parent) = support::pipe();
    let (to_parent, from_child) = support::pipe();
    let child = in_child(|| {
        // The parent has its own share; the child begins with nothing.
        assert_eq!(memory.stats().slabs, 0);
        let own: Vec<_> = (100..120).map(|tag| compile(&mut native, tag)).collect();
        support::send(to_parent);
        support::receive(from_parent);
        // Meanwhile the parent has dropped its copies and compiled others.
        for (tag, kernel) in (0..).zip(&inherited).chain((100..).zip(&own)) {
            assert_eq!(run_fill(kernel), tag);
        }
        assert_eq!(memory.stats().kernels, 20);
        drop(own);
        drop(std::mem::take(&mut inherited));
        assert_eq!(memory.stats().kernels, 0);
    });
    support::receive(from_child);
    inherited.clear();
    assert!(memory.stats().kernels == 0 && memory.stats().slabs == 0);
    let fresh: Vec<_> = (200..300).map(|tag| compile(&mut native, tag)).collect();
    support::send(to_child);
    assert!(child.succeeded());
    for (tag, kernel) in (200..).zip(&fresh) {
        assert_eq!(run_fill(kernel), tag);
    }
}

#[test]
fn code_that_was_live_at_a_fork_is_not_reused() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let memory = arena(|options| {
        options.slab_bytes = 4096;
        options.limit_bytes = 8192;
    });
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let pinned = compile(&mut native, 1);
    let freed = compile(&mut native, 2);
    assert!(in_child(|| ()).succeeded());
    drop(freed);
    let stats = memory.stats();
    assert!(
        stats.retired_bytes > 0 && stats.quarantined_bytes == 0,
        "{stats:?}"
    );
    drop(pinned);
    assert_eq!(memory.stats().mapped_bytes, 0, "its slab went as a whole");
}

#[test]
fn refused_memory_is_an_error_and_not_a_crash() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
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
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
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
