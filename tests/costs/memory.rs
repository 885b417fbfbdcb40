//! An allocator that knows how much is in use, and how much was at most.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn more(bytes: usize) {
    let held = HELD.fetch_add(bytes, Relaxed) + bytes;
    MOST.fetch_max(held, Relaxed);
}

fn less(bytes: usize) {
    HELD.fetch_sub(bytes, Relaxed);
}

// SAFETY: all is done by the system's allocator.
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

/// What some work took of memory and of the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Nanoseconds.
    pub(crate) time: u64,
    /// The most bytes in use at once, beyond those before.
    pub(crate) bytes: u64,
}

/// From how long on work is measured by the clock of the processor, which may tick in steps of some
/// milliseconds.
const LONG: Duration = Duration::from_millis(40);

/// Does some work and measures it, several times if it is short and `again` says so. The shortest
/// time is the one that others disturbed least.
pub(crate) fn measured<T>(again: bool, mut work: impl FnMut() -> T) -> (T, Spent) {
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    let (busy, begun) = (processor_time(), Instant::now());
    let done = work();
    let elapsed = begun.elapsed();
    let bytes = MOST.load(Relaxed).saturating_sub(before) as u64;
    let mut time = elapsed.as_nanos() as u64;
    if elapsed > LONG {
        time = time.min(processor_time() - busy);
    } else if again {
        for _ in 0..4 {
            let begun = Instant::now();
            drop(work());
            time = time.min(begun.elapsed().as_nanos() as u64);
        }
    }
    (done, Spent { time, bytes })
}

fn processor_time() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the place is one for a time.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
