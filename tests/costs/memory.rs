//! What some work takes of memory and of the processor.

use std::time::{Duration, Instant};

use restride_tests::memory::{Counting, counted};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What some work took of memory and of the processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Nanoseconds.
    pub(crate) time: u64,
    /// The most bytes in use at once, beyond those before.
    pub(crate) bytes: u64,
    /// Bytes asked for, in all.
    pub(crate) asked: u64,
    /// How often some were asked for.
    pub(crate) allocations: u64,
}

/// From how long on work is measured by the clock of the processor, which may tick in steps of some
/// milliseconds.
const LONG: Duration = Duration::from_millis(40);

/// Does some work and measures it, several times if it is short and `again` says so. The shortest
/// time is the one that others disturbed least.
pub(crate) fn measured<T>(again: bool, mut work: impl FnMut() -> T) -> (T, Spent) {
    let (busy, begun) = (processor_time(), Instant::now());
    let (done, memory) = counted(&mut work);
    let elapsed = begun.elapsed();
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
    let spent = Spent {
        time,
        bytes: memory.most,
        asked: memory.asked,
        allocations: memory.times,
    };
    (done, spent)
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
