//! Code memory: freed, reused, quarantined, shared.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use std::sync::Arc;

use restride_jit::{CodeMemory, CodeMemoryError, JitError, NativeKernel};
use support::{arena, compile, compiler, fill_kernel, run_fill};

/// Lines of the process's memory map.
fn maps() -> usize {
    std::fs::read_to_string("/proc/self/maps")
        .expect("readable")
        .lines()
        .count()
}

#[test]
fn no_page_is_writable_and_executable() {
    let memory = arena(|_| {});
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let in_arena = compile(&mut native, 1);
    let in_module = compile(&mut compiler(CodeMemory::Module), 2);
    assert_eq!((run_fill(&in_arena), run_fill(&in_module)), (1, 2));
    let maps = std::fs::read_to_string("/proc/self/maps").expect("readable");
    let protections: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert!(protections.iter().any(|p| p.starts_with("r-x")));
    assert!(!protections.iter().any(|p| p.starts_with("rwx")), "{maps}");
}

#[test]
fn freed_code_is_reused_after_one_barrier() {
    let memory = arena(|options| {
        options.slab_bytes = 4096;
        options.limit_bytes = 4096;
    });
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let mut kept = Vec::new();
    let full = loop {
        match native.compile(&fill_kernel(kept.len() as u64)) {
            Ok(kernel) => kept.push(kernel),
            Err(error) => break error,
        }
    };
    assert!(matches!(
        full,
        JitError::CodeMemory(CodeMemoryError::Full { limit: 4096, .. })
    ));
    let before = memory.stats();
    assert_eq!(before.kernels, kept.len());
    assert_eq!(before.barriers, 0, "never-used code needs no barrier");
    kept.remove(3);
    kept.remove(10);
    assert!(memory.stats().quarantined_bytes > 0);
    let third = compile(&mut native, 1003);
    assert_eq!(memory.stats().barriers, 1);
    assert_eq!(memory.stats().quarantined_bytes, 0);
    let tenth = compile(&mut native, 1010);
    assert_eq!(memory.stats().barriers, 1, "one barrier served both");
    assert_eq!((run_fill(&third), run_fill(&tenth)), (1003, 1010));
    for (at, kernel) in kept.iter().enumerate() {
        let tag = at as u64 + u64::from(at >= 3) + u64::from(at >= 10);
        assert_eq!(run_fill(kernel), tag);
    }
    drop((kept, third, tenth));
    let empty = memory.stats();
    assert_eq!((empty.kernels, empty.live_bytes), (0, 0));
}

#[test]
fn twenty_thousand_kernels_live_in_few_mappings() {
    let memory = arena(|_| {});
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let first = compile(&mut native, 0);
    let before = maps();
    let kernels: Vec<_> = (0..20_000).map(|tag| compile(&mut native, tag)).collect();
    let stats = memory.stats();
    assert_eq!(stats.kernels, 20_001);
    assert!(stats.live_bytes <= 20_001 * 1024, "{stats:?}");
    let grown = maps().saturating_sub(before);
    assert!(
        grown <= 2 * stats.slabs + 8,
        "{grown} mappings more, {stats:?}"
    );
    for (tag, kernel) in (0..).zip(&kernels) {
        assert_eq!(run_fill(kernel), tag);
    }
    drop(kernels);
    assert_eq!(
        memory.stats().live_bytes,
        first.code_bytes().next_multiple_of(64)
    );
}

#[test]
fn slots_of_all_sizes_come_and_go() {
    let memory = arena(|options| {
        options.slab_bytes = 64 << 10;
        options.limit_bytes = 256 << 10;
    });
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let mut live: Vec<(u64, NativeKernel)> = Vec::new();
    let mut seed = 7u64;
    for tag in 0..3000u64 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        if live.len() > 200 {
            let (tag, kernel) = live.swap_remove(seed as usize % live.len());
            assert_eq!(run_fill(&kernel), tag);
        }
        let copies = 1 + seed as usize % 12;
        let kernel = native
            .compile(&support::fill_kernel_of(tag, copies))
            .expect("the arena is large enough");
        live.push((tag, kernel));
    }
    for (tag, kernel) in &live {
        assert_eq!(run_fill(kernel), *tag);
    }
    let stats = memory.stats();
    assert!(
        stats.mapped_bytes <= 256 << 10 && stats.barriers > 0,
        "{stats:?}"
    );
}

#[test]
fn threads_compile_run_and_drop_together() {
    let memory = arena(|options| {
        options.slab_bytes = 64 << 10;
        options.limit_bytes = 1 << 20;
    });
    std::thread::scope(|scope| {
        for thread in 0..6u64 {
            let memory = Arc::clone(&memory);
            scope.spawn(move || {
                let mut native = compiler(CodeMemory::Arena(memory));
                let mut live = std::collections::VecDeque::new();
                for round in 0..600 {
                    let tag = thread << 32 | round;
                    live.push_back((tag, compile(&mut native, tag)));
                    for (tag, kernel) in &live {
                        assert_eq!(run_fill(kernel), *tag);
                    }
                    if live.len() > 20 {
                        live.pop_front();
                    }
                }
            });
        }
    });
    assert_eq!(memory.stats().kernels, 0);
}

#[test]
fn a_full_arena_gives_way_to_a_module() {
    let memory = arena(|options| options.limit_bytes = 0);
    let mut native = compiler(CodeMemory::ArenaOrModule(Arc::clone(&memory)));
    assert_eq!(run_fill(&compile(&mut native, 77)), 77);
    assert_eq!(memory.stats().kernels, 0);
}
