//! Which forks lie between two moments.
//!
//! A fork is not a moment itself: handlers run, then memory is copied, then handlers run again,
//! and other threads go on all the while. What was made in between may or may not be in the copy,
//! so it belongs to no era.

use crate::sync::{AtomicU64, Ordering};

/// Counts forks. Every access is a read-modify-write, which sees the latest count.
#[derive(Debug, Default)]
pub(crate) struct Forks {
    /// Forks that have begun in this process or its ancestors.
    pub(super) begun: AtomicU64,
    /// Of these, the ones that are still under way.
    pub(super) under_way: AtomicU64,
}

/// The time between two forks; `None` is during one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Era(Option<u64>);

impl Forks {
    /// A fork begins.
    pub(crate) fn before(&self) {
        self.under_way.fetch_add(1, Ordering::SeqCst);
        self.begun.fetch_add(1, Ordering::SeqCst);
    }

    /// A fork has ended, in the process that forked.
    pub(crate) fn after_in_parent(&self) {
        self.under_way.fetch_sub(1, Ordering::SeqCst);
    }

    /// A fork has ended, in the child: no thread is left that could be forking.
    pub(crate) fn after_in_child(&self) {
        self.under_way.swap(0, Ordering::SeqCst);
    }

    /// The era at hand. If it is counted before the fork under way, that fork ends it.
    pub(crate) fn era(&self) -> Era {
        let begun = self.begun.fetch_add(0, Ordering::SeqCst);
        let still = self.under_way.fetch_add(0, Ordering::SeqCst) == 0;
        Era(still.then_some(begun))
    }

    /// Whether a child may have been made of what was there in an era.
    pub(crate) fn may_have_copied(&self, era: Era) -> bool {
        era.0 != Some(self.begun.fetch_add(0, Ordering::SeqCst))
    }
}
