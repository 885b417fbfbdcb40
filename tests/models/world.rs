//! What a model's machine has done in the schedule at hand. All threads of a schedule run on one
//! thread of the test, so this is plain data; a counter that every look advances tells loom that
//! the order of looks matters.

use loom::sync::atomic::{AtomicU64, Ordering};
use std::cell::RefCell;
use std::collections::HashSet;
use std::ops::Range;

thread_local! {
    static WORLD: RefCell<World> = RefCell::default();
}

#[derive(Default)]
pub(crate) struct World {
    lines: u64,
    /// Lines that have been written.
    written: HashSet<u64>,
    /// Lines of code that somebody may call.
    callable: HashSet<u64>,
    /// Threads that belong to another process.
    children: Vec<loom::thread::ThreadId>,
}

loom::lazy_static! {
    static ref LOOKS: AtomicU64 = AtomicU64::new(0);
}

/// Looks at the world of this schedule. Relaxed, so that it orders nothing else.
pub(crate) fn with<T>(look: impl FnOnce(&mut World) -> T) -> T {
    LOOKS.fetch_add(1, Ordering::Relaxed);
    WORLD.with_borrow_mut(look)
}

/// A new schedule.
pub(crate) fn begin() {
    WORLD.set(World::default());
}

/// The process of the thread that asks.
pub(crate) fn process() -> u32 {
    let id = loom::thread::current().id();
    WORLD.with_borrow(|world| u32::from(world.children.contains(&id)))
}

/// A number for so many new lines; the first of them.
pub(crate) fn new_lines(count: u64) -> u64 {
    WORLD.with_borrow_mut(|world| {
        world.lines += count;
        world.lines - count
    })
}

/// The thread that asks is that of a forked child.
pub(crate) fn become_child() {
    let id = loom::thread::current().id();
    WORLD.with_borrow_mut(|world| world.children.push(id));
}

impl World {
    pub(crate) fn can_be_called(&mut self, line: u64) {
        assert!(self.callable.insert(line), "one line, two owners");
    }

    pub(crate) fn given_up(&mut self, line: u64) {
        assert!(self.callable.remove(&line));
    }

    /// Lines are written once: not while, and not after somebody may call them.
    pub(crate) fn written(&mut self, lines: Range<u64>) {
        for line in lines {
            assert!(self.written.insert(line), "code is overwritten");
        }
    }

    pub(crate) fn unmapped(&self, lines: Range<u64>) {
        for line in lines {
            assert!(!self.callable.contains(&line), "live code is unmapped");
        }
    }
}
