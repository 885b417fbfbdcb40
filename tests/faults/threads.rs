//! Other threads: that compile while the process forks, change indices, evict, drop engines.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use crate::children::child;
use crate::guarded::{Against, Guarded};
use crate::support::{engines, graph, iota, run};
use restride::{
    Code, Config, Engine, InputShape, RunError, Template, TensorMut, TensorRef, ViewPolicy,
};

fn node() -> Template {
    let text = "func @f(%x: u8[2, 3]) { %y = transpose %x perm [1, 0] return %y }";
    Template::new(graph(text).expect("a graph"))
}

/// Asks for a shape and runs it.
fn ask(engine: &Engine, node: &Template, rows: u8, columns: u8) {
    let shape = [i64::from(rows), i64::from(columns)];
    let program = engine.specialise(node, &[InputShape::dense(&shape)]);
    let program = program.expect("a program");
    let x = iota(rows * columns);
    let wanted: Vec<u8> = (0..columns)
        .flat_map(|column| (0..rows).map(move |row| row * columns + column))
        .collect();
    assert_eq!(run(&program, &[&x]), Ok(vec![wanted]));
}

fn small_cache(code: Code) -> Engine {
    Engine::new(Config {
        code,
        cache_entries: 16,
        cache_bytes: 1 << 16,
        native_after_calls: Some(0),
        views: ViewPolicy::Copy,
        ..Config::default()
    })
}

/// The child runs what it inherits, and compiles with engines of its own and with those that it
/// inherits.
#[test]
fn fork_while_others_compile() {
    if !crate::children::alone() {
        return;
    }
    let busy = small_cache(Code::Native);
    let text = "func @f(%x: u8[4], %i: i64[5]) {
        %j = roll %i shift [1] axes [0]
        %y = gather %x, %j axis 0 out_of_range error return %y }";
    let inherited = busy
        .compile(&graph(text).expect("a graph"))
        .expect("a program");
    let i = crate::support::indices(&[1, 3, 0, 0, 2]);
    // By scratch, which other threads may have when the process is forked.
    let works = || run(&inherited, &[&[5, 6, 7, 8], &i]) == Ok(vec![vec![7, 6, 8, 5, 5]]);
    assert!(works());
    assert!(busy.stats().scratch_bytes > 0, "{inherited:?}");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3u8 {
            let (busy, stop, works) = (&busy, &stop, &works);
            scope.spawn(move || {
                let node = node();
                let mut n = 0u8;
                while !stop.load(Ordering::Relaxed) {
                    n = n.wrapping_add(1);
                    ask(busy, &node, 1 + (n ^ thread) % 15, 1 + n % 13);
                    assert!(works());
                }
            });
        }
        let worked = (0..25).all(|_| {
            child(|| {
                assert_eq!(busy.stats().scratch_bytes, 0);
                assert!(works());
                assert!(busy.stats().scratch_bytes > 0);
                let own = small_cache(Code::Native);
                let node = node();
                (1..20).for_each(|n| ask(&own, &node, n, 3));
                assert!(own.stats().compiled > 0);
                // An inherited engine begins again: whatever its threads held when the process
                // was forked, nobody waits for them.
                (1..16).for_each(|n| ask(&busy, &node, n, 13 - n % 13));
                assert!(busy.stats().compiled > 0 && busy.stats().entries <= 16);
                drop(busy.clone());
            })
        });
        stop.store(true, Ordering::Relaxed);
        assert!(worked);
    });
}

/// Every row that comes out is a row of the data or zero bits, whatever the indices are meanwhile.
#[test]
fn indices_that_change_during_a_gather() {
    if !crate::children::alone() {
        return;
    }
    const VALUES: [i64; 7] = [3, -1, 49, 50, i64::MAX, i64::MIN, 7];
    const COUNT: usize = 64;
    let data: Vec<u8> = (1..=50u8).flat_map(|row| [row; 12]).collect();
    for policy in ["zero", "zero wrap", "clamp", "error", "error wrap"] {
        let text = format!(
            "func @f(%x: u32[50, 3], %i: i64[{COUNT}]) {{
                %y = gather %x, %i axis 0 out_of_range {policy} return %y }}"
        );
        let graph = graph(&text).expect("a graph");
        for engine in engines() {
            let program = engine.compile(&graph).expect("a program");
            let x = Guarded::new(&data, Against::Back(0), true);
            let mut y = Guarded::new(&[0; COUNT * 12], Against::Back(0), false);
            let indices: Vec<AtomicI64> = (0..COUNT).map(|_| AtomicI64::new(0)).collect();
            // SAFETY: the memory lives as long as `indices`. That another thread changes it is
            // what this test is about: the loads are machine loads of a few bytes.
            let i = unsafe { std::slice::from_raw_parts(indices.as_ptr().cast::<u8>(), COUNT * 8) };
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let mut round = 0usize;
                    while !stop.load(Ordering::Relaxed) {
                        round += 1;
                        for (at, index) in indices.iter().enumerate() {
                            index.store(VALUES[(round * 5 + at) % 7], Ordering::Relaxed);
                        }
                    }
                });
                for _ in 0..3_000 {
                    let done = program.run(
                        &[TensorRef::from_bytes(x.bytes()), TensorRef::from_bytes(i)],
                        &mut [TensorMut::from_bytes(y.bytes_mut())],
                    );
                    assert!(
                        matches!(done, Ok(()) | Err(RunError::Index { .. })),
                        "{done:?}"
                    );
                    assert!(policy.starts_with("error") || done.is_ok());
                    for row in y.bytes().chunks(12) {
                        assert!(row[0] <= 50 && row.iter().all(|b| *b == row[0]), "{row:?}");
                    }
                }
                stop.store(true, Ordering::Relaxed);
            });
            assert!(y.is_intact());
        }
    }
}

/// Kernels run on while the cache forgets them and their engines are dropped.
#[test]
fn eviction_while_kernels_run_and_engines_come_and_go() {
    if !crate::children::alone() {
        return;
    }
    for code in [Code::Native, Code::Generic, Code::Background] {
        let shared = small_cache(code);
        std::thread::scope(|scope| {
            for thread in 0..4u8 {
                let shared = &shared;
                scope.spawn(move || {
                    let node = node();
                    let own = small_cache(code);
                    for n in 0..400u32 {
                        let rows = 1 + (n as u8).wrapping_mul(7 + thread) % 15;
                        ask(shared, &node, rows, 1 + n as u8 % 16);
                        ask(&own, &node, rows, 1 + thread);
                        if n % 37 == u32::from(thread) {
                            shared.clear();
                        }
                        if n % 50 == 0 {
                            let brief = small_cache(code);
                            ask(&brief, &node, rows, 5);
                        }
                    }
                });
            }
        });
        let stats = shared.stats();
        assert!(stats.evictions > 0 && stats.entries <= 16, "{stats:?}");
    }
}

/// A caller's loop that calls back into the engine on the same thread.
#[test]
fn an_engine_is_used_inside_of_its_own_run() {
    if !crate::children::alone() {
        return;
    }
    struct Nested<'a>(&'a Engine, &'a Template);
    impl restride::ParallelFor for Nested<'_> {
        fn width(&self) -> usize {
            3
        }
        fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
            for n in (0..count).rev() {
                ask(self.0, self.1, n as u8 + 2, 9);
                body(n);
            }
        }
    }
    for engine in engines() {
        let node = node();
        let text = "func @f(%x: u32[700, 900]) { %y = transpose %x perm [1, 0] return %y }";
        let program = engine
            .compile(&graph(text).expect("a graph"))
            .expect("a program");
        let x: Vec<u32> = (0..630_000).collect();
        let mut y = vec![0u32; x.len()];
        let done = program.run_on(
            &Nested(&engine, &node),
            &[TensorRef::new(&x)],
            &mut [TensorMut::new(&mut y)],
        );
        assert_eq!(done, Ok(()));
        assert!((0..x.len()).all(|at| y[at] as usize == at % 700 * 900 + at / 700));
    }
}
