//! Shares of processes: `crates/process/src/shares.rs`.

use crate::explore::schedules;
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
