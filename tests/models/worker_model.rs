//! The thread that compiles by and by, and the registry of what is alive:
//! `crates/restride/src/worker.rs` and `registry.rs`.

use crate::explore::schedules;
use crate::registry::Registry;
use crate::worker::Worker;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use std::sync::{Arc, Weak};

#[test]
fn every_job_is_done_before_the_engine_is_gone() {
    schedules("worker", 3, || {
        let (worker, done) = (Arc::new(Worker::new()), Arc::new(AtomicU64::new(0)));
        let push = |worker: &Worker<u64>, done: &Arc<AtomicU64>, job| {
            let done = done.clone();
            worker.push(job, move |job| {
                done.fetch_add(job, Ordering::Relaxed);
            });
        };
        let (other, count) = (worker.clone(), done.clone());
        let thread = thread::spawn(move || push(&other, &count, 1));
        push(&worker, &done, 10);
        thread.join().expect("no panic");
        worker.stop();
        assert_eq!(done.load(Ordering::Relaxed), 11);
    });
}

/// As `Jit::compile_later`: the jobs hold nothing alive but what they are doing.
#[test]
fn an_engine_is_dropped_while_its_worker_is_at_it() {
    struct Jit {
        worker: Worker<Weak<u64>>,
        done: AtomicU64,
    }
    schedules("worker, drop", 5, || {
        let jit = Arc::new(Jit {
            worker: Worker::new(),
            done: AtomicU64::new(0),
        });
        let kernel = Arc::new(5);
        let weak = Arc::downgrade(&jit);
        jit.worker.push(Arc::downgrade(&kernel), move |kernel| {
            if let (Some(jit), Some(kernel)) = (weak.upgrade(), kernel.upgrade()) {
                jit.done.fetch_add(*kernel, Ordering::Relaxed);
            }
        });
        let late = jit.clone();
        let thread = thread::spawn(move || {
            drop(kernel);
            late.worker.stop();
        });
        jit.worker.stop();
        thread.join().expect("no panic");
        let done = jit.done.load(Ordering::Relaxed);
        assert!(done == 0 || done == 5);
        assert_eq!(Arc::strong_count(&jit), 1);
    });
}

#[test]
fn equal_things_are_one_while_somebody_holds_them() {
    schedules("registry", 5, || {
        let registry = Arc::new(Registry::<u64>::new());
        let find = |registry: &Registry<u64>, content: u64| {
            registry.find_or_add(
                7,
                content,
                |known, content| known == content,
                |content| content,
            )
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
