//! Code memory (`crates/jit/src/memory/arena.rs`), alone and behind the cache.

use crate::cache::Cache;
use crate::cache_model::{KEYS, cache};
use crate::error::CodeMemoryError;
use crate::explore::schedules;
use crate::memory::{ArenaCode, ArenaOptions, ArenaStats, ArenaWriter, CodeArena, execute};
use crate::world;
use loom::sync::Arc;
use loom::thread;

/// Two of these fill a slab.
const HALF: usize = 2048;

/// An arena of so many slabs at most.
fn arena(slabs: usize) -> Arc<CodeArena> {
    Arc::new(CodeArena::new(ArenaOptions {
        slab_bytes: 2 * HALF,
        limit_bytes: slabs * 2 * HALF,
    }))
}

/// A compiler's place for code.
struct Compiler {
    arena: Arc<CodeArena>,
    writer: ArenaWriter,
}

/// Code that somebody holds. The world knows from when until when it may be called.
struct Held {
    code: ArenaCode,
    line: u64,
    tag: u8,
}

impl Compiler {
    fn new(arena: &Arc<CodeArena>) -> Self {
        Self {
            arena: arena.clone(),
            writer: ArenaWriter::default(),
        }
    }

    fn install(&mut self, tag: u8) -> Result<Held, CodeMemoryError> {
        let code = self.writer.install(&self.arena, &vec![tag; HALF])?;
        let (line, _) = execute(code.start());
        world::with(|world| world.can_be_called(line));
        Ok(Held { code, line, tag })
    }

    /// Installs and calls; what was installed before is dropped then.
    fn come_and_go(&mut self, tags: [u8; 3]) {
        let mut held = None;
        for tag in tags {
            let next = self.install(tag).expect("room");
            next.call();
            drop(held.replace(next));
        }
    }
}

impl Held {
    fn call(&self) {
        assert_eq!(execute(self.code.start()), (self.line, self.tag.into()));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        world::with(|world| world.given_up(self.line));
    }
}

fn is_empty(arena: &CodeArena) {
    assert_eq!(arena.stats(), ArenaStats::default());
}

#[test]
fn two_compilers_fill_slabs_of_their_own() {
    schedules("arena, two compilers", 2, || {
        let arena = arena(4);
        let mut other = Compiler::new(&arena);
        let thread = thread::spawn(move || other.come_and_go([1, 2, 3]));
        Compiler::new(&arena).come_and_go([4, 5, 6]);
        thread.join().expect("no panic");
        is_empty(&arena);
    });
}

#[test]
fn two_compilers_compete_for_the_last_slab() {
    schedules("arena, limit", 5, || {
        let arena = arena(1);
        let mut other = Compiler::new(&arena);
        let thread = thread::spawn(move || other.install(1).map(|held| held.call()).is_ok());
        let first = Compiler::new(&arena).install(2);
        assert!(arena.stats().mapped_bytes <= 2 * HALF);
        let second = thread.join().expect("no panic");
        assert!(first.is_ok() || second);
        drop(first);
        is_empty(&arena);
    });
}

#[test]
fn the_last_of_two_holders_frees() {
    schedules("arena, two holders", 5, || {
        let arena = arena(1);
        let held = Arc::new(Compiler::new(&arena).install(1).expect("room"));
        let shared = held.clone();
        let mut other = Compiler::new(&arena);
        let thread = thread::spawn(move || {
            shared.call();
            drop(shared);
            // Full as long as anybody holds the first.
            if let Ok(second) = other.install(2) {
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
        let arena = arena(4);
        let cache = std::sync::Arc::new(cache::<Arc<Held>>(1, 1 << 20));
        let ask = |compiler: &mut Compiler, cache: &Cache<Arc<Held>>, key: usize| {
            let make = || compiler.install(key as u8).map(Arc::new);
            let held = cache.get_or_make(&KEYS[key], make, |_| 1).expect("room");
            assert_eq!(usize::from(held.tag), key);
            held.call();
        };
        let threads = [[1, 2], [0, 1]].map(|keys| {
            let (mut compiler, cache) = (Compiler::new(&arena), cache.clone());
            thread::spawn(move || {
                keys.into_iter()
                    .for_each(|key| ask(&mut compiler, &cache, key))
            })
        });
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert!(cache.size().0 <= 1);
        drop(cache);
        is_empty(&arena);
    });
}

/// A child has a copy of everything: what it fills and what it frees is its own.
#[test]
fn a_child_never_writes_what_its_parent_was_filling() {
    schedules("arena, fork", 2, || {
        let arena = arena(4);
        let mut compiler = Compiler::new(&arena);
        let inherited = compiler.install(1).expect("room");
        let child = thread::spawn(move || {
            world::become_child();
            inherited.call();
            compiler.install(2).expect("room").call();
            drop(inherited);
            compiler.install(3).expect("room").call();
        });
        Compiler::new(&arena).come_and_go([4, 5, 6]);
        child.join().expect("no panic");
        is_empty(&arena);
    });
}
