//! Shares of processes: `crates/jit/src/process/shares.rs`, alone and under code memory.

use crate::explore::schedules;
use crate::memory::{ArenaOptions, CodeArena};
use crate::process::{PerProcess, Process};
use crate::world;
use loom::thread;
use std::convert::Infallible;
use std::sync::Arc;

type Shares = PerProcess<Process, u32>;

fn begin(shares: &Shares, value: u32) -> &u32 {
    let begun: Result<_, Infallible> = shares.get_or_begin(|| Ok(value));
    begun.expect("never fails")
}

#[test]
fn two_threads_begin_one_share_and_their_child_another() {
    schedules("shares", 5, || {
        let shares = Arc::new(Shares::new());
        let (second, child) = (shares.clone(), shares.clone());
        let second = thread::spawn(move || *begin(&second, 2));
        let child = thread::spawn(move || {
            world::become_child();
            assert_eq!(*begin(&child, 10), 10);
            assert_eq!(child.get(), Some(&10));
        });
        let first = *begin(&shares, 1);
        assert_eq!(shares.get(), Some(&first));
        assert_eq!(second.join().expect("no panic"), first);
        child.join().expect("no panic");
    });
}

#[test]
fn a_child_neither_waits_for_its_parents_share_nor_writes_to_it() {
    schedules("arena, child", 5, || {
        let arena = Arc::new(CodeArena::new(ArenaOptions {
            slab_bytes: 4096,
            limit_bytes: 4096,
            poison: true,
        }));
        let inherited = arena.install(&[1; 4096]).expect("room");
        let other = arena.clone();
        let child = thread::spawn(move || {
            world::become_child();
            assert_eq!(other.stats().slabs, 0);
            // The parent's half is full; this one is not.
            let own = other.install(&[2; 4096]).expect("room");
            assert_eq!(other.stats().kernels, 1);
            drop(own);
            assert_eq!(other.stats().kernels, 0);
        });
        assert_eq!(arena.stats().kernels, 1);
        drop(inherited);
        assert_eq!(arena.stats().kernels, 0);
        child.join().expect("no panic");
    });
}
