//! A bounded map from keys to shared values, made once each.
//!
//! - Bounded by entries and by bytes; the least recently noticed goes first (CLOCK: every hit
//!   sets a bit, the hand clears bits until it finds one that is clear).
//! - Single-flight: while one thread makes a value, others that ask for it wait for that one.
//! - A hit takes a shared lock on one of sixteen shards and allocates nothing.
//! - What is evicted lives on for those who hold it, and is dropped outside of every lock.

use crate::sync::{AtomicBool, AtomicU64, Mutex, OnceLock, Ordering, PoisonError, RwLock};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;
use std::sync::Arc;

const SHARDS: usize = 16;

/// Keys are flat lists of integers; a lookup borrows one from the stack.
pub(crate) type Key = [i64];

/// A value that is there, being made, or about to be.
struct Cell<V> {
    value: OnceLock<V>,
    making: Mutex<()>,
}

struct Slot<V> {
    key: Box<Key>,
    cell: Arc<Cell<V>>,
    bytes: usize,
    used: AtomicBool,
}

struct Shard<V> {
    at: HashMap<Box<Key>, usize, FxBuildHasher>,
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
    shards: [RwLock<Shard<V>>; SHARDS],
    entries_per_shard: usize,
    bytes_per_shard: usize,
    pub(crate) counts: Counts,
}

impl<V: Clone> Cache<V> {
    pub(crate) fn new(entries: usize, bytes: usize) -> Self {
        let shard = || Shard {
            at: HashMap::default(),
            slots: Vec::new(),
            hand: 0,
            bytes: 0,
        };
        Self {
            shards: std::array::from_fn(|_| RwLock::new(shard())),
            entries_per_shard: entries.div_ceil(SHARDS).max(1),
            bytes_per_shard: bytes.div_ceil(SHARDS),
            counts: Counts::default(),
        }
    }

    fn shard(&self, key: &Key) -> &RwLock<Shard<V>> {
        // A cheaper hash than the map's own: keys of one template differ in a few sizes.
        let mix = |hash: u64, part: &i64| hash.rotate_left(7) ^ (*part as u64);
        let hash = key.iter().fold(0, mix).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        &self.shards[(hash >> 60) as usize % SHARDS]
    }

    /// The value of a key, if it has been made.
    #[inline]
    pub(crate) fn get(&self, key: &Key) -> Option<V> {
        let shard = self
            .shard(key)
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let slot = shard.slots.get(*shard.at.get(key)?)?;
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
    /// kept: whoever waited for it tries again.
    pub(crate) fn get_or_make<E>(
        &self,
        key: &Key,
        make: impl FnOnce() -> Result<V, E>,
        bytes: impl FnOnce(&V) -> usize,
    ) -> Result<V, E> {
        if let Some(value) = self.get(key) {
            return Ok(value);
        }
        let cell = self.cell(key);
        let _flight = cell.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = cell.value.get() {
            self.counts.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(value.clone());
        }
        self.counts.misses.fetch_add(1, Ordering::Relaxed);
        match make() {
            Ok(value) => {
                let _ = cell.value.set(value.clone());
                self.weigh(key, &cell, bytes(&value));
                Ok(value)
            }
            Err(error) => {
                self.forget(key, &cell);
                Err(error)
            }
        }
    }

    /// The cell of a key, made if absent, with room made for it.
    fn cell(&self, key: &Key) -> Arc<Cell<V>> {
        let mut shard = self
            .shard(key)
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = shard.at.get(key).and_then(|at| shard.slots.get(*at)) {
            return slot.cell.clone();
        }
        let mut evicted = Vec::new();
        while shard.slots.len() >= self.entries_per_shard {
            evicted.push(self.evict(&mut shard));
        }
        let cell = Arc::new(Cell {
            value: OnceLock::new(),
            making: Mutex::new(()),
        });
        let at = shard.slots.len();
        shard.at.insert(key.into(), at);
        let slot = Slot {
            key: key.into(),
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
    fn weigh(&self, key: &Key, cell: &Arc<Cell<V>>, bytes: usize) {
        let mut shard = self
            .shard(key)
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = shard.find(key, cell) {
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

    fn forget(&self, key: &Key, cell: &Arc<Cell<V>>) {
        let mut shard = self
            .shard(key)
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let forgotten = shard.find(key, cell).map(|at| shard.remove(at));
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
    fn find(&self, key: &Key, cell: &Arc<Cell<V>>) -> Option<usize> {
        let at = *self.at.get(key)?;
        let slot = self.slots.get(at)?;
        Arc::ptr_eq(&slot.cell, cell).then_some(at)
    }

    fn remove(&mut self, at: usize) -> Slot<V> {
        let slot = self.slots.swap_remove(at);
        self.at.remove(&slot.key);
        self.bytes -= slot.bytes;
        if let Some(moved) = self.slots.get(at) {
            self.at.insert(moved.key.clone(), at);
        }
        slot
    }
}
