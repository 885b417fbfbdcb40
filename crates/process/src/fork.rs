//! Noticing `fork`.
//!
//! A child inherits an engine whose locks may be held by threads that it does not have, and
//! compilers whose pages are its parent's. A process-wide counter, advanced in children by
//! `pthread_atfork`, tells a process from its ancestors for the price of a load. It belongs to the
//! process, as forking does, and holds no other state.

#[cfg(unix)]
use std::sync::Once;
#[cfg(unix)]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Identity;

/// How many ancestors this process was forked from since the handlers were registered.
static DEPTH: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
static REGISTER: Once = Once::new();
#[cfg(unix)]
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// How often this process and its ancestors were forked from one another: tells a process from
/// all that it shares memory with, for the price of one load. [`watch_forks`] makes it count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation(u64);

impl Identity for Generation {
    #[inline]
    fn current() -> Self {
        Self(DEPTH.load(Ordering::Relaxed))
    }
}

/// Identifies a process among its ancestors and descendants: those made by a raw `clone` as well,
/// which run no handlers, and in spite of process ids that are used again.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    pid: i32,
    generation: Generation,
}

#[cfg(target_os = "linux")]
impl Identity for Process {
    fn current() -> Self {
        Self {
            // SAFETY: getpid has no preconditions.
            pid: unsafe { libc::getpid() },
            generation: Generation::current(),
        }
    }
}

#[cfg(unix)]
extern "C" fn in_child() {
    DEPTH.fetch_add(1, Ordering::SeqCst);
}

/// Makes [`Generation`] count from now on. Whether it does: there are systems without forks, and
/// some that have no memory to register a handler.
pub fn watch_forks() -> bool {
    #[cfg(unix)]
    {
        REGISTER.call_once(|| {
            // SAFETY: the handler only touches an atomic.
            let status = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
            REGISTERED.store(status == 0, Ordering::Relaxed);
        });
        REGISTERED.load(Ordering::Relaxed)
    }
    #[cfg(not(unix))]
    return false;
}
