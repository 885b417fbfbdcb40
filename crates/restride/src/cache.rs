//! A bounded map from keys to shared values, made once each.
//!
//! - Bounded by entries and by bytes; the least recently noticed goes first (CLOCK: every hit
//!   sets a bit, the hand clears bits until it finds one that is clear).
//! - Single-flight: while one thread makes a value, others that ask for it wait for that one.
//! - A hit takes a shared lock on one of sixteen shards and allocates nothing.
//! - What is evicted lives on for those who hold it, and is dropped outside of every lock.
//! - Shapes are what a model chooses. Keys are hashed with a secret of the cache's own, so that
//!   nobody can choose many that meet.

use crate::sync::{AtomicBool, AtomicU64, Mutex, OnceLock, Ordering, PoisonError, RwLock};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

const SHARDS: usize = 16;

/// Keys are flat lists of integers; a lookup borrows one from the stack.
pub(crate) type Key = [i64];

/// Two parts of a key, or two numbers that hide them.
type KeyPart = [u64; 2];

/// How keys are hashed, which nobody else can tell.
pub(crate) struct Secret(pub(crate) [KeyPart; 8]);

impl Secret {
    pub(crate) fn random() -> Self {
        let random = RandomState::new();
        Self(std::array::from_fn(|at| {
            [random.hash_one((at, 0)), random.hash_one((at, 1))]
        }))
    }

    /// A sum of products of parts and secret numbers, two by two, so that none waits for another.
    /// The standard library's hash takes as long as all the rest of a hit.
    pub(crate) fn hash(&self, key: &Key) -> u64 {
        let product = |[a, b]: KeyPart, hidden: &KeyPart| {
            u128::from(a.wrapping_add(hidden[0])) * u128::from(b.wrapping_add(hidden[1]))
        };
        let parts = 2 * self.0.len();
        key.chunks(parts).fold(key.len() as u64, |hash, parts| {
            let (pairs, rest) = parts.as_chunks::<2>();
            let mut hidden = self.0.iter();
            let mut sum = u128::from(hash);
            for ([a, b], hidden) in pairs.iter().zip(&mut hidden) {
                sum = sum.wrapping_add(product([*a as u64, *b as u64], hidden));
            }
            for (last, hidden) in rest.iter().zip(hidden) {
                sum = sum.wrapping_add(product([*last as u64, 0], hidden));
            }
            let last = product([sum as u64, (sum >> 64) as u64], &self.0[0]);
            last as u64 ^ (last >> 64) as u64
        })
    }
}

/// A value that is there, being made, or about to be.
struct Cell<V> {
    /// With it, so that it lies in no small block of its own.
    key: SmallVec<[i64; 16]>,
    value: OnceLock<V>,
    making: Mutex<()>,
}

struct Slot<V> {
    hash: u64,
    cell: Arc<Cell<V>>,
    bytes: usize,
    used: AtomicBool,
}

struct Shard<V> {
    /// Slots by the hash of their keys. Where two keys have one hash, the later has the place.
    at: FxHashMap<u64, usize>,
    slots: Vec<Slot<V>>,
    hand: usize,
    bytes: usize,
}

/// Counts since the cache was made.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) evictions: AtomicU64,
}

pub(crate) struct Cache<V> {
    secret: Secret,
    shards: [RwLock<Shard<V>>; SHARDS],
    entries_per_shard: usize,
    bytes_per_shard: usize,
    pub(crate) counts: Counts,
}

impl<V: Clone> Cache<V> {
    pub(crate) fn new(entries: usize, bytes: usize) -> Self {
        Self::with(Secret::random(), entries, bytes)
    }

    pub(crate) fn with(secret: Secret, entries: usize, bytes: usize) -> Self {
        let shard = || Shard {
            at: FxHashMap::default(),
            slots: Vec::new(),
            hand: 0,
            bytes: 0,
        };
        Self {
            secret,
            shards: std::array::from_fn(|_| RwLock::new(shard())),
            entries_per_shard: entries.div_ceil(SHARDS).max(1),
            bytes_per_shard: bytes.div_ceil(SHARDS),
            counts: Counts::default(),
        }
    }

    fn shard(&self, hash: u64) -> &RwLock<Shard<V>> {
        &self.shards[(hash >> 60) as usize % SHARDS]
    }

    /// The value of a key, if it has been made.
    #[inline]
    pub(crate) fn get(&self, key: &Key) -> Option<V> {
        let hash = self.secret.hash(key);
        let shard = self
            .shard(hash)
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let slot = shard.slots.get(shard.place(hash, key)?)?;
        let value = slot.cell.value.get()?.clone();
        if !slot.used.load(Ordering::Relaxed) {
            slot.used.store(true, Ordering::Relaxed);
        }
        drop(shard);
        self.counts.hits.fetch_add(1, Ordering::Relaxed);
        Some(value)
    }

    /// The value of a key; `make` runs for one caller at a time, without any lock of the cache
    /// but the key's own. `bytes` weighs what was made. A failure goes to the caller and is not
    /// kept: whoever waited for it tries again. To be called when [`Cache::get`] had none.
    pub(crate) fn get_or_make<E>(
        &self,
        key: &Key,
        make: impl FnOnce() -> Result<V, E>,
        bytes: impl FnOnce(&V) -> usize,
    ) -> Result<V, E> {
        let hash = self.secret.hash(key);
        let cell = self.cell(key, hash);
        let _flight = cell.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = cell.value.get() {
            self.counts.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(value.clone());
        }
        self.counts.misses.fetch_add(1, Ordering::Relaxed);
        match make() {
            Ok(value) => {
                let _ = cell.value.set(value.clone());
                self.weigh(hash, &cell, bytes(&value));
                Ok(value)
            }
            Err(error) => {
                self.forget(hash, &cell);
                Err(error)
            }
        }
    }

    /// The cell of a key, made if absent, with room made for it.
    fn cell(&self, key: &Key, hash: u64) -> Arc<Cell<V>> {
        let mut shard = self
            .shard(hash)
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = shard.place(hash, key) {
            let slot = &shard.slots[at];
            slot.used.store(true, Ordering::Relaxed);
            return slot.cell.clone();
        }
        let mut evicted = Vec::new();
        if let Some(&other) = shard.at.get(&hash) {
            evicted.push(shard.remove(other));
        }
        while shard.slots.len() >= self.entries_per_shard {
            evicted.push(self.evict(&mut shard));
        }
        let cell = Arc::new(Cell {
            key: key.into(),
            value: OnceLock::new(),
            making: Mutex::new(()),
        });
        let at = shard.slots.len();
        shard.at.insert(hash, at);
        let slot = Slot {
            hash,
            cell: cell.clone(),
            bytes: 0,
            used: AtomicBool::new(true),
        };
        shard.slots.push(slot);
        drop(shard);
        drop(evicted);
        cell
    }

    /// Enters what a value weighs and evicts until the shard is within its bytes. The new value
    /// itself may go if it alone is too heavy; its maker has it all the same.
    fn weigh(&self, hash: u64, cell: &Arc<Cell<V>>, bytes: usize) {
        let mut shard = self
            .shard(hash)
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = shard.find(hash, cell) {
            let before = std::mem::replace(&mut shard.slots[at].bytes, bytes);
            shard.bytes = shard.bytes - before + bytes;
        }
        let mut evicted = Vec::new();
        while shard.bytes > self.bytes_per_shard && !shard.slots.is_empty() {
            evicted.push(self.evict(&mut shard));
        }
        drop(shard);
        drop(evicted);
    }

    fn forget(&self, hash: u64, cell: &Arc<Cell<V>>) {
        let mut shard = self
            .shard(hash)
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let forgotten = shard.find(hash, cell).map(|at| shard.remove(at));
        drop(shard);
        drop(forgotten);
    }

    fn evict(&self, shard: &mut Shard<V>) -> Slot<V> {
        self.counts.evictions.fetch_add(1, Ordering::Relaxed);
        // Two rounds at most: the first clears every bit.
        for _ in 0..2 * shard.slots.len() {
            shard.hand = (shard.hand + 1) % shard.slots.len();
            let hand = shard.hand;
            if !shard.slots[hand].used.swap(false, Ordering::Relaxed) {
                break;
            }
        }
        let hand = shard.hand.min(shard.slots.len().saturating_sub(1));
        shard.remove(hand)
    }

    /// How many entries there are, and their bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        self.shards.iter().fold((0, 0), |(entries, bytes), shard| {
            let shard = shard.read().unwrap_or_else(PoisonError::into_inner);
            (entries + shard.slots.len(), bytes + shard.bytes)
        })
    }

    /// Drops every entry.
    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            let mut shard = shard.write().unwrap_or_else(PoisonError::into_inner);
            shard.at.clear();
            let forgotten = std::mem::take(&mut shard.slots);
            shard.bytes = 0;
            drop(shard);
            drop(forgotten);
        }
    }
}

impl<V> Shard<V> {
    fn place(&self, hash: u64, key: &Key) -> Option<usize> {
        let at = *self.at.get(&hash)?;
        (*self.slots.get(at)?.cell.key == *key).then_some(at)
    }

    fn find(&self, hash: u64, cell: &Arc<Cell<V>>) -> Option<usize> {
        let at = *self.at.get(&hash)?;
        let slot = self.slots.get(at)?;
        Arc::ptr_eq(&slot.cell, cell).then_some(at)
    }

    fn remove(&mut self, at: usize) -> Slot<V> {
        let slot = self.slots.swap_remove(at);
        self.at.remove(&slot.hash);
        self.bytes -= slot.bytes;
        if let Some(moved) = self.slots.get(at) {
            self.at.insert(moved.hash, at);
        }
        slot
    }
}
