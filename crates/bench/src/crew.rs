//! Threads that stand ready, as an engine's pool would.
//!
//! Waking a sleeping thread takes longer than many kernels do, so the crew spins between tasks,
//! for as long as [`with_crew`] lasts, each thread on a processor of its own.

use super::system::Processors;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Spins before the processor is offered to others.
const PATIENCE: u32 = 1 << 12;

struct Post {
    /// Counts tasks; a member that sees it move does its share.
    task: AtomicUsize,
    /// The argument of the current task.
    phase: AtomicUsize,
    /// Shares done since the beginning.
    done: AtomicUsize,
    dismissed: AtomicBool,
}

/// Sends the crew home, also when the body panics.
struct Dismiss<'a>(&'a Post);

impl Drop for Dismiss<'_> {
    fn drop(&mut self) {
        self.0.dismissed.store(true, Ordering::Release);
    }
}

/// Keeps the calling thread on one processor until dropped.
struct Stay(Option<Processors>);

impl Stay {
    fn on(all: Option<Processors>, rank: usize) -> Self {
        if let Some(one) = all.and_then(|all| all.only(rank)) {
            one.keep();
        }
        Self(all)
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        if let Some(all) = &self.0 {
            all.keep();
        }
    }
}

fn wait_until(ready: impl Fn() -> bool) {
    let mut spins = 0;
    while !ready() {
        spins += 1;
        if spins % PATIENCE == 0 {
            std::thread::yield_now();
        }
        std::hint::spin_loop();
    }
}

/// Runs `body` with a function that does `job(phase, share)` for every share in `0..threads`, at
/// the same time, share 0 on the calling thread, and returns when all are done.
pub(crate) fn with_crew<R>(
    threads: usize,
    job: &(dyn Fn(usize, usize) + Sync),
    body: impl FnOnce(&dyn Fn(usize)) -> R,
) -> R {
    let post = Post {
        task: AtomicUsize::new(0),
        phase: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        dismissed: AtomicBool::new(false),
    };
    let processors = Processors::of_this_thread();
    std::thread::scope(|scope| {
        for share in 1..threads {
            let post = &post;
            scope.spawn(move || {
                let _stay = Stay::on(processors, share);
                let mut seen = 0;
                loop {
                    wait_until(|| {
                        post.task.load(Ordering::Acquire) != seen
                            || post.dismissed.load(Ordering::Acquire)
                    });
                    if post.dismissed.load(Ordering::Acquire) {
                        return;
                    }
                    seen = seen.wrapping_add(1);
                    job(post.phase.load(Ordering::Relaxed), share);
                    post.done.fetch_add(1, Ordering::Release);
                }
            });
        }
        let _dismiss = Dismiss(&post);
        let _stay = Stay::on(processors, 0);
        body(&|phase| {
            let before = post.done.load(Ordering::Relaxed);
            post.phase.store(phase, Ordering::Relaxed);
            post.task.fetch_add(1, Ordering::Release);
            job(phase, 0);
            let after = before.wrapping_add(threads.saturating_sub(1));
            wait_until(|| post.done.load(Ordering::Acquire) == after);
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn the_caller_may_go_anywhere_afterwards() {
        let places = || std::thread::available_parallelism().ok();
        let before = places();
        with_crew(2, &|_, _| {}, |go| go(0));
        assert_eq!(places(), before);
    }

    #[test]
    fn every_share_of_every_phase_is_done_once_and_in_order() {
        for threads in [1, 2, 3] {
            let log = Mutex::new(Vec::new());
            let job = |phase, share| {
                log.lock().expect("no share panics").push((phase, share));
            };
            with_crew(threads, &job, |go| (0..50).for_each(go));
            let mut log = log.into_inner().expect("no share panics");
            for (phase, shares) in log.chunks_mut(threads).enumerate() {
                shares.sort_unstable();
                let expected: Vec<_> = (0..threads).map(|share| (phase, share)).collect();
                assert_eq!(shares, expected);
            }
            assert_eq!(log.len(), 50 * threads);
        }
    }
}
