//! An allocator that knows what each thread asks for, and how much of it is in use at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counted.
pub struct Counting;

thread_local! {
    /// Bytes in use; a thread may free what another asked for.
    static HELD: Cell<i64> = const { Cell::new(0) };
    static MOST: Cell<i64> = const { Cell::new(0) };
    static ASKED: Cell<u64> = const { Cell::new(0) };
    static TIMES: Cell<u64> = const { Cell::new(0) };
}

fn more(bytes: usize) {
    let held = HELD.get() + bytes as i64;
    HELD.set(held);
    MOST.set(MOST.get().max(held));
    ASKED.set(ASKED.get() + bytes as u64);
    TIMES.set(TIMES.get() + 1);
}

fn less(bytes: usize) {
    HELD.set(HELD.get() - bytes as i64);
}

// SAFETY: all is done by the system's allocator. The counters allocate nothing and have no drop.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        less(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) };
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks may be there for a moment.
        more(size);
        less(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// What some work on this thread took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The most bytes in use at once, beyond those before.
    pub most: u64,
    /// Bytes asked for, in all.
    pub asked: u64,
    /// How often some were asked for.
    pub times: u64,
}

/// Does some work and counts what it takes; nothing if [`Counting`] is not this process's allocator.
pub fn counted<T>(work: impl FnOnce() -> T) -> (T, Memory) {
    let (held, asked, times) = (HELD.get(), ASKED.get(), TIMES.get());
    MOST.set(held);
    let done = work();
    let memory = Memory {
        most: (MOST.get() - held) as u64,
        asked: ASKED.get() - asked,
        times: TIMES.get() - times,
    };
    (done, memory)
}
