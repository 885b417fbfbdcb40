//! Noticing `fork`.
//!
//! An arena's pages are shared between parent and child, so both must know that a fork happened:
//! the child must not write into the parent's pages, and the parent must not reuse code that the
//! child may still call. Process-wide counters, advanced by `pthread_atfork`, say both; they belong
//! to the process, as forking does, and hold no other state. A child made by a raw `clone` system
//! call is still recognised by an arena, by its process id; its parent is not told.

#[cfg(unix)]
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Identity;
#[cfg(unix)]
use super::forks::Forks;
#[cfg(target_os = "linux")]
use crate::error::CodeMemoryError;

#[cfg(unix)]
static FORKS: Forks = Forks {
    begun: AtomicU64::new(0),
    under_way: AtomicU64::new(0),
};
/// How many ancestors this process was forked from since the handlers were registered.
static DEPTH: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
static REGISTER: Once = Once::new();
#[cfg(unix)]
static REGISTER_ERROR: AtomicU64 = AtomicU64::new(0);

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

/// Identifies a process among its ancestors and descendants, process ids being reused.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
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

/// The forks of this process, for those who must know what a child may have copied.
#[cfg(target_os = "linux")]
pub(crate) fn forks() -> &'static Forks {
    &FORKS
}

#[cfg(unix)]
extern "C" fn before_fork() {
    FORKS.before();
}

#[cfg(unix)]
extern "C" fn in_parent() {
    FORKS.after_in_parent();
}

#[cfg(unix)]
extern "C" fn in_child() {
    FORKS.after_in_child();
    DEPTH.fetch_add(1, Ordering::SeqCst);
}

/// Registers the handlers, once per process; a fork inherits them. The error number if the system
/// has no memory for them.
#[cfg(unix)]
fn register() -> Result<(), u64> {
    REGISTER.call_once(|| {
        // SAFETY: the handlers only touch atomics.
        let status =
            unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
        REGISTER_ERROR.store(u64::from(status.unsigned_abs()), Ordering::Relaxed);
    });
    match REGISTER_ERROR.load(Ordering::Relaxed) {
        0 => Ok(()),
        errno => Err(errno),
    }
}

/// Makes [`Generation`] count from now on. Whether it does: there are systems without forks, and
/// some that have no memory to register a handler.
pub fn watch_forks() -> bool {
    #[cfg(unix)]
    return register().is_ok();
    #[cfg(not(unix))]
    return false;
}

/// As [`watch_forks`]; code memory is refused without it.
#[cfg(target_os = "linux")]
pub(crate) fn watch() -> Result<(), CodeMemoryError> {
    register().map_err(|errno| CodeMemoryError::Refused {
        call: "pthread_atfork",
        errno: i32::try_from(errno).unwrap_or(i32::MAX),
    })
}
