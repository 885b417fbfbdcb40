//! Things that are alive, so that equal ones are one.

use crate::sync::{Mutex, MutexGuard, PoisonError};
use rustc_hash::FxHashMap;
use std::hash::{BuildHasher as _, Hash, Hasher, RandomState};
use std::sync::{Arc, Weak};

/// Finds the thing with some content while anybody holds it.
pub(crate) struct Registry<T> {
    /// Contents are what models choose, so nobody knows how they are hashed.
    secret: Mixed,
    alive: Mutex<Alive<T>>,
}

struct Alive<T> {
    /// By a hash that is secret already.
    by_hash: FxHashMap<u64, Weak<T>>,
    /// The number of entries at which those that have died are swept out.
    sweep_at: usize,
}

/// A hash of many small numbers, each multiplied into it. Whoever does not know the keys cannot
/// choose contents with one hash; and those that have one all the same are compared.
#[derive(Clone, Copy)]
struct Mixed {
    keys: [u64; 2],
    state: u64,
}

impl Mixed {
    fn random() -> Self {
        let random = RandomState::new();
        Self {
            keys: [random.hash_one(0), random.hash_one(1) | 1],
            state: random.hash_one(2),
        }
    }
}

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.state
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words
            .iter()
            .for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, n: u64) {
        let product = u128::from(self.state ^ n ^ self.keys[0]) * u128::from(self.keys[1]);
        self.state = (product as u64 ^ (product >> 64) as u64).wrapping_add(n);
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }
}

impl<T> Registry<T> {
    pub(crate) fn new() -> Self {
        Self {
            secret: Mixed::random(),
            alive: Mutex::new(Alive {
                by_hash: FxHashMap::default(),
                sweep_at: 64,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Alive<T>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What contents are found by.
    pub(crate) fn hash(&self, content: &impl Hash) -> u64 {
        let mut mixed = self.secret;
        content.hash(&mut mixed);
        mixed.finish()
    }

    /// The thing that is alive and the `same` as what is looked for.
    pub(crate) fn find(&self, hash: u64, same: impl FnOnce(&T) -> bool) -> Option<Arc<T>> {
        let known = self.lock().by_hash.get(&hash).and_then(Weak::upgrade);
        known.filter(|known| same(known))
    }

    /// The thing that is alive and the `same` as what was made, else that in its place. Of two that
    /// differ and have one hash, the later is found.
    pub(crate) fn find_or_add(
        &self,
        hash: u64,
        made: Arc<T>,
        same: impl FnOnce(&T) -> bool,
    ) -> Arc<T> {
        let mut alive = self.lock();
        let known = alive.by_hash.get(&hash).and_then(Weak::upgrade);
        if let Some(known) = known.as_ref().filter(|known| same(known)) {
            return known.clone();
        }
        if alive.by_hash.len() >= alive.sweep_at {
            alive.by_hash.retain(|_, weak| weak.strong_count() > 0);
            alive.sweep_at = alive.by_hash.len() * 5 / 4 + 64;
        }
        alive.by_hash.insert(hash, Arc::downgrade(&made));
        // Before what was known, of which this may be the last holder.
        drop(alive);
        made
    }
}
