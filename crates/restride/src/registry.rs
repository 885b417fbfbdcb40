//! Things that are alive, so that equal ones are one.

use crate::sync::{Mutex, PoisonError};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Weak};

/// Finds the thing with some content while anybody holds it.
pub(crate) struct Registry<T> {
    alive: Mutex<Alive<T>>,
}

struct Alive<T> {
    by_hash: FxHashMap<u64, Weak<T>>,
    /// The number of entries at which those that have died are swept out.
    sweep_at: usize,
}

impl<T> Registry<T> {
    pub(crate) fn new() -> Self {
        Self {
            alive: Mutex::new(Alive {
                by_hash: FxHashMap::default(),
                sweep_at: 64,
            }),
        }
    }

    /// The thing that is alive if it has the `same` content, else a new one in its place. Of two
    /// that differ and have one hash, the later is found.
    pub(crate) fn find_or_add<C>(
        &self,
        hash: u64,
        content: C,
        same: impl FnOnce(&T, &C) -> bool,
        make: impl FnOnce(C) -> T,
    ) -> Arc<T> {
        let mut guard = self.alive.lock().unwrap_or_else(PoisonError::into_inner);
        let alive = &mut *guard;
        let known = alive.by_hash.get(&hash).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|known| same(known, &content)) {
            return known;
        }
        if alive.by_hash.len() >= alive.sweep_at {
            alive.by_hash.retain(|_, weak| weak.strong_count() > 0);
            alive.sweep_at = alive.by_hash.len() * 5 / 4 + 64;
        }
        let made = Arc::new(make(content));
        alive.by_hash.insert(hash, Arc::downgrade(&made));
        made
    }
}
