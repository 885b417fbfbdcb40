//! Scratch that calls borrow: `crates/restride/src/pool.rs`.

use crate::explore::schedules;
use crate::pool::{Lent, Pool};
use loom::thread;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks that somebody has, by their addresses, with their sizes. All threads of a model run on one
/// thread, so this orders nothing.
type Taken = Mutex<HashMap<usize, usize>>;

struct World<const PLACES: usize> {
    pool: Pool<PLACES>,
    taken: Taken,
}

impl<const PLACES: usize> World<PLACES> {
    fn new(most_kept: usize, most: usize) -> Arc<Self> {
        Arc::new(Self {
            pool: Pool::new(most_kept, most),
            taken: Taken::default(),
        })
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, HashMap<usize, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a block, has it to itself, gives it back; where it was found.
    fn borrow(&self, bytes: usize, near: usize) -> Option<usize> {
        let lent: Lent<'_, PLACES> = self.pool.take(bytes, near).ok()?;
        let start = lent.start() as usize;
        assert!(lent.bytes() >= bytes);
        let other = self.taken().insert(start, lent.bytes());
        assert!(other.is_none(), "two have one block");
        // SAFETY: it has so many bytes, and nobody else has it, as was just seen.
        unsafe { lent.start().write_bytes(7, bytes) };
        let place = lent.place;
        self.taken().remove(&start);
        place
    }

    /// What must hold when nobody has anything.
    fn at_rest(&self, most_kept: usize) {
        assert!(self.pool.held() <= most_kept, "{}", self.pool.held());
        self.pool.clear();
        assert_eq!(
            self.pool.held(),
            0,
            "everything has a place that can be freed"
        );
        // Nor has room been lost.
        assert!(self.borrow(most_kept, 0).is_some());
        assert_eq!(self.pool.held(), most_kept);
    }
}

/// Two threads that borrow, each as often as it has sizes. More places and more threads would only
/// make more schedules.
fn run<const PLACES: usize>(
    name: &str,
    [preemptions, most_kept, most]: [usize; 3],
    sizes: [&'static [usize]; 2],
) {
    schedules(name, preemptions, move || {
        let world = World::<PLACES>::new(most_kept, most);
        let threads = sizes.map(|sizes| {
            let world = world.clone();
            thread::spawn(move || {
                for bytes in sizes {
                    world.borrow(*bytes, 0);
                }
            })
        });
        for thread in threads {
            thread.join().expect("no panic");
        }
        world.at_rest(most_kept);
    });
}

#[test]
fn two_that_borrow_never_have_one_block() {
    run::<1>("pool", [2, 512, usize::MAX], [&[256, 256], &[256]]);
    run::<2>("pool, two places", [2, 512, usize::MAX], [&[256], &[256]]);
}

#[test]
fn blocks_give_way_to_others_while_they_are_taken() {
    run::<1>("pool, eviction", [2, 1024, usize::MAX], [&[512], &[1024]]);
}

#[test]
fn some_are_refused_and_nothing_is_lost() {
    run::<1>("pool, limit", [2, 512, 768], [&[512], &[256, 768]]);
}

#[test]
fn everything_is_freed_while_it_is_borrowed() {
    schedules("pool, clear", 3, || {
        let world = World::<1>::new(512, usize::MAX);
        let other = world.clone();
        let thread = thread::spawn(move || {
            other.borrow(256, 0);
            other.borrow(256, 0);
        });
        world.pool.clear();
        thread.join().expect("no panic");
        world.at_rest(512);
    });
}
