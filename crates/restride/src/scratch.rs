//! Scratch for the programs of an engine, and what a call has of it.

use crate::RunError;
use crate::pool::{Pool, Refused};
use restride_process::{Generation, PerProcess};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that run programs with scratch at the same time and find theirs again; more of them are
/// served, and allocate.
const PLACES: usize = 32;

/// What an engine and its programs share, and what of them is left when the engine is gone. A forked
/// child begins with none: what was lent when it was forked is nobody's in the child.
pub(crate) struct Scratch {
    most_kept: usize,
    most: Option<usize>,
    pools: PerProcess<Generation, Pool<PLACES>>,
}

/// Bytes to write to and read from.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    pub(crate) start: *mut u8,
    pub(crate) bytes: usize,
}

impl Region {
    pub(crate) const NONE: Self = Self {
        start: std::ptr::null_mut(),
        bytes: 0,
    };

    pub(crate) fn of(bytes: &mut [u8]) -> Self {
        Self {
            start: bytes.as_mut_ptr(),
            bytes: bytes.len(),
        }
    }
}

impl Scratch {
    pub(crate) fn new(most_kept: usize, most: Option<usize>) -> Self {
        Self {
            most_kept,
            most,
            pools: PerProcess::new(),
        }
    }

    /// The pool of this process; nothing if there is no memory to begin one.
    #[inline]
    fn pool(&self) -> Option<&Pool<PLACES>> {
        match self.pools.get() {
            Some(pool) => Some(pool),
            None => self.begin(),
        }
    }

    /// Begins the pool of this process, so that no call has to.
    #[cold]
    pub(crate) fn begin(&self) -> Option<&Pool<PLACES>> {
        let most = self.most.unwrap_or(usize::MAX);
        let pool = || Pool::new(self.most_kept, most);
        self.pools.try_get_or_begin(pool)
    }

    /// Lends so many bytes for one call; `near` is where the caller last found some.
    #[inline]
    pub(crate) fn with<T>(
        &self,
        bytes: usize,
        near: &AtomicUsize,
        work: impl FnOnce(Region) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let place = near.load(Ordering::Relaxed);
        let pool = self.pool().ok_or(RunError::OutOfMemory { bytes })?;
        let lent = match pool.take(bytes, place) {
            Ok(lent) => lent,
            Err(refused) => return Err(self.error(refused, bytes)),
        };
        if let Some(found) = lent.place.filter(|found| *found != place) {
            near.store(found, Ordering::Relaxed);
        }
        work(Region {
            start: lent.start(),
            bytes: lent.bytes(),
        })
    }

    #[cold]
    fn error(&self, refused: Refused, bytes: usize) -> RunError {
        match (refused, self.most) {
            (Refused::OverBudget, Some(limit)) => RunError::ScratchOverBudget { bytes, limit },
            (Refused::OverBudget, None) | (Refused::OutOfMemory, _) => {
                RunError::OutOfMemory { bytes }
            }
        }
    }

    /// How many bytes this process has allocated: kept for later and lent.
    pub(crate) fn held(&self) -> usize {
        self.pools.get().map_or(0, Pool::held)
    }

    /// Frees what is not lent.
    pub(crate) fn clear(&self) {
        if let Some(pool) = self.pools.get() {
            pool.clear();
        }
    }
}
