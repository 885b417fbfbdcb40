//! Code memory (`crates/jit/src/memory/arena.rs`), alone and behind the cache.

use crate::cache::Cache;
use crate::cache_model::KEYS;
use crate::error::CodeMemoryError;
use crate::explore::schedules;
use crate::memory::{ArenaCode, ArenaOptions, CodeArena, execute};
use crate::process::forks;
use crate::world;
use loom::sync::Arc as Shared;
use loom::thread;
use std::sync::Arc;

/// Two of these fill an arena.
const HALF: usize = 2048;

fn arena(poison: bool) -> Arc<CodeArena> {
    Arc::new(CodeArena::new(ArenaOptions {
        slab_bytes: 2 * HALF,
        limit_bytes: 2 * HALF,
        poison,
    }))
}

/// Code that somebody holds. The world knows from when until when it may be called.
struct Held {
    code: ArenaCode,
    line: u64,
    tag: u8,
}

impl Held {
    fn install(arena: &Arc<CodeArena>, tag: u8, len: usize) -> Result<Self, CodeMemoryError> {
        let code = arena.install(&vec![tag; len])?;
        let (line, _) = execute(code.start());
        world::with(|world| world.can_be_called(line));
        Ok(Self { code, line, tag })
    }

    fn call(&self) {
        assert_eq!(execute(self.code.start()), (self.line, self.tag.into()));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        world::with(|world| world.given_up(self.line));
    }
}

/// Installs, calls and drops a few times. An arena whose other half is taken may be full.
fn come_and_go(arena: &Arc<CodeArena>, tags: [u8; 2]) {
    for tag in tags {
        Held::install(arena, tag, HALF)
            .expect("half of the arena")
            .call();
    }
}

fn is_empty(arena: &CodeArena) {
    let stats = arena.stats();
    assert_eq!((stats.kernels, stats.live_bytes), (0, 0), "{stats:?}");
}

#[test]
fn ranges_are_reused_after_a_barrier_by_two_threads() {
    for poison in [false, true] {
        schedules("arena, reuse", 3, move || {
            let arena = arena(poison);
            let other = arena.clone();
            let thread = thread::spawn(move || come_and_go(&other, [1, 2]));
            come_and_go(&arena, [3, 4]);
            thread.join().expect("no panic");
            is_empty(&arena);
        });
    }
}

#[test]
fn the_last_of_two_holders_frees() {
    schedules("arena, two holders", 5, || {
        let arena = arena(true);
        let held = Shared::new(Held::install(&arena, 1, 2 * HALF).expect("room"));
        let shared = held.clone();
        let other = arena.clone();
        let thread = thread::spawn(move || {
            shared.call();
            drop(shared);
            // Full as long as anybody holds the first.
            if let Ok(second) = Held::install(&other, 2, 2 * HALF) {
                second.call();
            }
        });
        held.call();
        drop(held);
        thread.join().expect("no panic");
        is_empty(&arena);
    });
}

#[test]
fn code_is_evicted_while_it_runs() {
    schedules("cache and arena", 3, || {
        let arena = arena(true);
        let cache = Arc::new(Cache::<Shared<Held>>::new(1, 1 << 20));
        let ask = |arena: &Arc<CodeArena>, cache: &Cache<Shared<Held>>, key: usize| {
            let make = || Held::install(arena, key as u8, HALF).map(Shared::new);
            match cache.get_or_make(&KEYS[key], make, |_| 1) {
                Ok(held) => {
                    assert_eq!(usize::from(held.tag), key);
                    held.call();
                }
                Err(error) => assert!(matches!(error, CodeMemoryError::Full { .. })),
            }
        };
        let threads = [[1, 2], [0, 1]].map(|keys| {
            let (arena, cache) = (arena.clone(), cache.clone());
            thread::spawn(move || keys.into_iter().for_each(|key| ask(&arena, &cache, key)))
        });
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert!(cache.size().0 <= 1);
        drop(cache);
        is_empty(&arena);
    });
}

/// A fork as the handlers see it: they run, memory is copied, they run again.
fn fork() {
    forks().before();
    world::with(|world| world.copy());
    forks().after_in_parent();
}

#[test]
fn what_a_child_may_call_is_never_written_again() {
    for poison in [false, true] {
        schedules("arena, fork", 3, move || {
            let arena = Arc::new(CodeArena::new(ArenaOptions {
                slab_bytes: 2 * HALF,
                limit_bytes: 8 * HALF,
                poison,
            }));
            let other = arena.clone();
            let thread = thread::spawn(move || come_and_go(&other, [1, 2]));
            let kept = Held::install(&arena, 3, HALF).expect("room");
            fork();
            kept.call();
            drop(kept);
            come_and_go(&arena, [4, 5]);
            thread.join().expect("no panic");
            is_empty(&arena);
        });
    }
}
