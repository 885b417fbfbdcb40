//! The thread that compiles by and by, and the registry of what is alive:
//! `crates/restride/src/worker.rs` and `registry.rs`.

use crate::explore::schedules;
use crate::registry::Registry;
use crate::worker::Worker;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use std::sync::Arc;

/// Something to work on, and how often that was done.
type Thing = AtomicU64;

fn push(worker: &Worker<Thing>, thing: &Arc<Thing>) {
    worker.push(thing, |thing| {
        thing.fetch_add(1, Ordering::Relaxed);
    });
}

fn things<const N: usize>() -> [Arc<Thing>; N] {
    std::array::from_fn(|_| Arc::new(Thing::new(0)))
}

/// Who waits for the thread finds that each thing was worked on once, in order, or dropped.
#[test]
fn nothing_is_worked_on_twice_or_after_the_end() {
    schedules("worker", 3, || {
        let worker = Arc::new(Worker::new());
        let [first, second, other] = things();
        let (shared, thing) = (worker.clone(), other.clone());
        let thread = thread::spawn(move || push(&shared, &thing));
        push(&worker, &first);
        push(&worker, &second);
        if let Some(thread) = worker.stop() {
            thread.join().expect("no panic");
        }
        let done = || [&first, &second, &other].map(|thing| thing.load(Ordering::Relaxed));
        let before = done();
        thread.join().expect("no panic");
        assert_eq!(done(), before);
        assert!(before.iter().all(|times| *times <= 1), "{before:?}");
        assert!(before[1] <= before[0], "{before:?}");
    });
}

/// A thread that is left alone ends: every thread of a model has to.
#[test]
fn nobody_waits_for_a_thread_that_is_told_to_stop() {
    schedules("worker, stop", 5, || {
        let worker = Arc::new(Worker::new());
        let [thing] = things();
        push(&worker, &thing);
        let other = worker.clone();
        let thread = thread::spawn(move || drop(other.stop()));
        drop(worker.stop());
        drop(worker);
        assert!(thing.load(Ordering::Relaxed) <= 1);
        thread.join().expect("no panic");
    });
}

/// As `Jit::improve_later`: what waits holds nothing alive, and the thread only what it works on.
#[test]
fn an_engine_is_dropped_while_its_worker_is_at_it() {
    struct Jit {
        worker: Worker<Thing>,
        done: AtomicU64,
    }
    impl Drop for Jit {
        fn drop(&mut self) {
            drop(self.worker.stop());
        }
    }
    schedules("worker, drop", 5, || {
        let jit = Arc::new(Jit {
            worker: Worker::new(),
            done: AtomicU64::new(0),
        });
        let [kernel] = things();
        let weak = Arc::downgrade(&jit);
        jit.worker.push(&kernel, move |kernel| {
            if let Some(jit) = weak.upgrade() {
                kernel.fetch_add(1, Ordering::Relaxed);
                jit.done.fetch_add(1, Ordering::Release);
            }
        });
        let kept = kernel.clone();
        let thread = thread::spawn(move || drop(kernel));
        let done = jit.done.load(Ordering::Acquire);
        drop(jit);
        assert!(done <= kept.load(Ordering::Relaxed));
        thread.join().expect("no panic");
    });
}

#[test]
fn equal_things_are_one_while_somebody_holds_them() {
    schedules("registry", 5, || {
        let registry = Arc::new(Registry::<u64>::new());
        let find = |registry: &Registry<u64>, content: u64| {
            let same = |known: &u64| *known == content;
            let known = registry.find(7, same);
            known.unwrap_or_else(|| registry.find_or_add(7, Arc::new(content), same))
        };
        let other = registry.clone();
        let thread = thread::spawn(move || {
            // Another content of the same hash comes and goes.
            assert_eq!(*find(&other, 2), 2);
            find(&other, 1)
        });
        let first = find(&registry, 1);
        let second = thread.join().expect("no panic");
        assert_eq!((*first, *second), (1, 1));
        let third = find(&registry, 1);
        assert!(Arc::ptr_eq(&third, &first) || Arc::ptr_eq(&third, &second));
    });
}
