//! Noticing `fork`.
//!
//! An arena's pages are shared between parent and child, so both must know that a fork happened:
//! the child must not write into the parent's pages, and the parent must not reuse code that the
//! child may still call. One process-wide pair of counters, advanced by `pthread_atfork`, says
//! both; it belongs to the process, as forking does, and holds no other state. A child made by a
//! raw `clone` system call is still recognised by its process id; its parent is not told.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::CodeMemoryError;

/// Forks seen by this process or its ancestors, counted before each one happens.
static FORKS: AtomicU64 = AtomicU64::new(0);
/// How many ancestors this process was forked from since the handlers were registered.
static DEPTH: AtomicU64 = AtomicU64::new(0);

static REGISTER: Once = Once::new();
static REGISTER_ERROR: AtomicU64 = AtomicU64::new(0);

/// Identifies a process among its ancestors and descendants, process ids being reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pid: i32,
    depth: u64,
}

impl Process {
    pub(super) fn current() -> Self {
        Self {
            // SAFETY: getpid has no preconditions.
            pid: unsafe { libc::getpid() },
            depth: DEPTH.load(Ordering::Relaxed),
        }
    }
}

/// A moment between two forks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Era(u64);

impl Era {
    pub(super) fn current() -> Self {
        Self(FORKS.load(Ordering::SeqCst))
    }
}

extern "C" fn before_fork() {
    FORKS.fetch_add(1, Ordering::SeqCst);
}

extern "C" fn in_child() {
    DEPTH.fetch_add(1, Ordering::SeqCst);
}

/// Registers the handlers, once per process; a fork inherits them.
pub(super) fn watch() -> Result<(), CodeMemoryError> {
    REGISTER.call_once(|| {
        // SAFETY: the handlers only touch atomics.
        let status = unsafe { libc::pthread_atfork(Some(before_fork), None, Some(in_child)) };
        REGISTER_ERROR.store(u64::from(status.unsigned_abs()), Ordering::Relaxed);
    });
    match REGISTER_ERROR.load(Ordering::Relaxed) {
        0 => Ok(()),
        errno => Err(CodeMemoryError::Refused {
            call: "pthread_atfork",
            errno: i32::try_from(errno).unwrap_or(i32::MAX),
        }),
    }
}
