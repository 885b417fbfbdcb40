//! Code memory: filled, shared, freed.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod support;

use std::sync::Arc;

use restride_jit::{CodeMemory, CodeMemoryError, JitError, NativeKernel};
use restride_loops::Random;
use support::{arena, compile, compiler, fill_kernel, run_fill};

/// How many mappings the process has.
fn maps() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("readable");
    maps.lines().count()
}

#[test]
fn a_slab_is_filled_and_unmapped_with_its_last_kernel() {
    let memory = arena(|options| options.limit_bytes = 2 * 4096);
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let mut kept = std::collections::VecDeque::new();
    let full = loop {
        match native.compile(&fill_kernel(kept.len() as u64)) {
            Ok(kernel) => kept.push_back(kernel),
            Err(error) => break error,
        }
    };
    assert!(matches!(
        full,
        JitError::CodeMemory(CodeMemoryError::Full { limit: 8192, .. })
    ));
    let stats = memory.stats();
    assert_eq!((stats.kernels, stats.slabs), (kept.len(), 2));
    assert!(stats.live_bytes > 2 * 4096 - 128, "{stats:?}");
    // The first slab holds on to its last kernel, and the second is still full.
    let in_first = kept.len() / 2;
    let last = kept.drain(..in_first).next_back().expect("many");
    assert!(native.compile(&fill_kernel(0)).is_err());
    assert_eq!(run_fill(&last), in_first as u64 - 1);
    drop(last);
    assert_eq!(memory.stats().slabs, 1);
    let again = compile(&mut native, 1003);
    assert_eq!(
        (run_fill(&again), run_fill(&kept[0])),
        (1003, in_first as u64)
    );
    drop((kept, again));
    let stats = memory.stats();
    assert_eq!((stats.kernels, stats.live_bytes, stats.slabs), (0, 0, 1));
    drop(native);
    assert_eq!(memory.stats(), Default::default());
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
    assert!(grown <= stats.slabs + 8, "{grown} mappings more, {stats:?}");
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
fn kernels_of_all_sizes_come_and_go() {
    let memory = arena(|options| options.limit_bytes = 512 << 10);
    let mut native = compiler(CodeMemory::Arena(Arc::clone(&memory)));
    let mut live: Vec<(u64, NativeKernel)> = Vec::new();
    let mut random = Random::new(7);
    for tag in 0..3000u64 {
        if live.len() > 200 {
            let (tag, kernel) = live.swap_remove(random.below(live.len()));
            assert_eq!(run_fill(&kernel), tag);
        }
        let copies = 1 + random.below(12);
        let kernel = native
            .compile(&support::fill_kernel_of(tag, copies))
            .expect("the arena is large enough");
        live.push((tag, kernel));
    }
    for (tag, kernel) in &live {
        assert_eq!(run_fill(kernel), *tag);
    }
    println!("{:?}", memory.stats());
    drop((live, native));
    assert_eq!(memory.stats(), Default::default());
}

#[test]
fn threads_compile_run_and_drop_together() {
    let memory = arena(|options| options.limit_bytes = 1 << 20);
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
    assert_eq!(memory.stats(), Default::default());
}

#[test]
fn a_full_arena_gives_way_to_a_module() {
    let memory = arena(|options| options.limit_bytes = 0);
    let mut native = compiler(CodeMemory::ArenaOrModule(Arc::clone(&memory)));
    assert_eq!(run_fill(&compile(&mut native, 77)), 77);
    assert_eq!(memory.stats().kernels, 0);
}
