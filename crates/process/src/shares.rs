//! What every process has for itself of a thing that its children inherit.
//!
//! A forked child inherits memory as it was at that moment, with locks held and changes half made
//! by threads that it does not have. It must neither wait for them nor look behind them. So the
//! shares of a process and of its ancestors hang in a list that is entered without a lock: a
//! child finds no share of its own, begins one, and leaves those of its ancestors alone.

use crate::sync::{AtomicPtr, Ordering};
use core::marker::PhantomData;
use core::ptr;
use std::alloc::{Layout, alloc};

/// Tells a process from those it was forked from and those it forks.
pub trait Identity: Copy + PartialEq {
    /// That of the process that asks.
    fn current() -> Self;
}

/// One `T` for each process, begun when it is first asked for.
pub struct PerProcess<K: Identity, T> {
    /// Shares of this process and of its ancestors, newest first.
    newest: AtomicPtr<Share<K, T>>,
    owns: PhantomData<Box<Share<K, T>>>,
}

struct Share<K, T> {
    owner: K,
    value: T,
    older: *mut Share<K, T>,
}

impl<K: Identity, T> Share<K, T> {
    fn new(value: T) -> Self {
        Self {
            owner: K::current(),
            value,
            older: ptr::null_mut(),
        }
    }

    fn try_new(value: impl FnOnce() -> T) -> Option<Box<Self>> {
        let layout = Layout::new::<Self>();
        // SAFETY: a share is larger than nothing.
        let place = unsafe { alloc(layout) }.cast::<Self>();
        if place.is_null() {
            return None;
        }
        let share = Self::new(value());
        // SAFETY: the place is as large and aligned as a share, which is what a box frees.
        Some(unsafe {
            place.write(share);
            Box::from_raw(place)
        })
    }
}

// SAFETY: shares are only reached through the atomic list, are not changed once they are in it,
// and live as long as it does; who may send or share the values may send or share the list.
unsafe impl<K: Identity + Send, T: Send> Send for PerProcess<K, T> {}
// SAFETY: as above; a thread that begins a share hands it to the others, hence `Send`.
unsafe impl<K: Identity + Send + Sync, T: Send + Sync> Sync for PerProcess<K, T> {}

impl<K: Identity, T> PerProcess<K, T> {
    /// Nothing for anybody yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            newest: AtomicPtr::new(ptr::null_mut()),
            owns: PhantomData,
        }
    }

    /// The share of this process, if it has begun one.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        self.find(self.newest.load(Ordering::Acquire))
    }

    /// The share of this process among some share and those older than it.
    #[inline]
    fn find(&self, mut at: *mut Share<K, T>) -> Option<&T> {
        let current = K::current();
        loop {
            // SAFETY: shares that were in the list once are freed only with it.
            let share = unsafe { at.as_ref() }?;
            if share.owner == current {
                return Some(&share.value);
            }
            at = share.older;
        }
    }

    /// The share of this process, begun if there is none. Two threads may both begin one; one of
    /// them is dropped again.
    pub fn get_or_begin<E>(&self, begin: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        match self.get() {
            Some(share) => Ok(share),
            None => {
                let value = begin()?;
                Ok(self.enter(Box::new(Share::new(value))))
            }
        }
    }

    /// The same; nothing if there is no memory for a share.
    pub fn try_get_or_begin(&self, begin: impl FnOnce() -> T) -> Option<&T> {
        match self.get() {
            Some(share) => Some(share),
            None => Some(self.enter(Share::try_new(begin)?)),
        }
    }

    /// Enters a share of this process, unless another thread has been first.
    fn enter(&self, fresh: Box<Share<K, T>>) -> &T {
        let fresh = Box::into_raw(fresh);
        let mut older = self.newest.load(Ordering::Acquire);
        loop {
            // What is searched and what the new share goes in front of must be one list, or another
            // thread's share could slip in between.
            if let Some(share) = self.find(older) {
                // SAFETY: `fresh` never entered the list.
                drop(unsafe { Box::from_raw(fresh) });
                return share;
            }
            // SAFETY: `fresh` is not shared yet.
            unsafe { (*fresh).older = older };
            match self
                .newest
                .compare_exchange(older, fresh, Ordering::AcqRel, Ordering::Acquire)
            {
                // SAFETY: the share is in the list now and lives as long as it.
                Ok(_) => return unsafe { &(*fresh).value },
                Err(other) => older = other,
            }
        }
    }

    /// Takes all shares out, newest first; `each` is told whether it is this process's own.
    pub fn drain(&mut self, mut each: impl FnMut(bool, T)) {
        let current = K::current();
        let mut at = self.newest.swap(ptr::null_mut(), Ordering::AcqRel);
        while !at.is_null() {
            // SAFETY: the list owns its shares, and nobody else has it.
            let share = *unsafe { Box::from_raw(at) };
            at = share.older;
            each(share.owner == current, share.value);
        }
    }
}

impl<K: Identity, T> Default for PerProcess<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Identity, T> core::fmt::Debug for PerProcess<K, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PerProcess").finish_non_exhaustive()
    }
}

impl<K: Identity, T> Drop for PerProcess<K, T> {
    /// A share that an ancestor began is not dropped: nobody knows in what state its threads left
    /// it. Its memory stays with the child.
    fn drop(&mut self) {
        self.drain(|own, value| {
            if own {
                drop(value);
            } else {
                core::mem::forget(value);
            }
        });
    }
}
