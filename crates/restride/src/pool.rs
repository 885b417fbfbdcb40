//! Memory that calls borrow for their intermediate results: what one gives back, the next one takes.
//!
//! A block that is kept has a place of its own, also while it is lent, so that taking it is one
//! exchange and giving it back another. Nobody waits for anybody: who finds no block that is free
//! and large enough makes one. It stays if there is room for it among those that are kept, for which
//! blocks that have not been used for long give way, and is gone after the call otherwise.

use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::alloc::{Layout, alloc, dealloc};
use std::ptr::{self, NonNull};

/// Blocks begin at multiples of this, as the layout of scratch in them does.
pub(crate) const ALIGN: usize = 64;

/// A block of up to so many bytes is taken for anything smaller; beyond, one that is up to four times
/// as large as what is needed.
const SMALL: usize = 64 << 10;

/// Blocks up to a bound, at no more than so many places.
pub(crate) struct Pool<const PLACES: usize> {
    places: [PoolPlace; PLACES],
    /// How much may be kept, and is: the blocks that have a place.
    most_kept: usize,
    kept: AtomicUsize,
    /// How much there may be, and is, those of single calls included.
    most: usize,
    held: AtomicUsize,
    /// Where the search for a block to give way goes on.
    hand: AtomicUsize,
}

struct PoolPlace {
    /// The block; none while it is lent.
    block: AtomicPtr<u8>,
    /// Its size; 0 if the place has no block. Changed by nobody but who has taken the block.
    bytes: AtomicUsize,
    /// Whether it was used since the hand came by.
    is_used: AtomicBool,
}

/// Why there is no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There would be more than there may be.
    OverBudget,
    /// The system has none.
    OutOfMemory,
}

/// A block that somebody has; given back when it is dropped.
pub(crate) struct Lent<'a, const PLACES: usize> {
    pool: &'a Pool<PLACES>,
    start: NonNull<u8>,
    bytes: usize,
    /// Its place if it is kept.
    pub(crate) place: Option<usize>,
}

impl<const PLACES: usize> Lent<'_, PLACES> {
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<const PLACES: usize> Drop for Lent<'_, PLACES> {
    #[inline]
    fn drop(&mut self) {
        match self.place {
            Some(at) => self.pool.places[at].give_back(self.start),
            None => {
                // SAFETY: it was allocated with this size, and nobody else has it.
                unsafe { free(self.start, self.bytes) };
                self.pool.held.fetch_sub(self.bytes, Ordering::Relaxed);
            }
        }
    }
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, ALIGN).ok()
}

/// # Safety
/// The block was allocated with the layout of so many bytes and is not used any more.
unsafe fn free(start: NonNull<u8>, bytes: usize) {
    if let Some(layout) = layout(bytes) {
        // SAFETY: the caller's.
        unsafe { dealloc(start.as_ptr(), layout) };
    }
}

/// Adds to a counter unless it would exceed its bound.
fn add(counter: &AtomicUsize, bytes: usize, most: usize) -> bool {
    let sum = |now: usize| now.checked_add(bytes).filter(|sum| *sum <= most);
    let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
    counter.fetch_update(set, fetch, sum).is_ok()
}

/// A size like this one (of at least a byte), such that sizes that grow a little at a time are few.
fn rounded(bytes: usize) -> usize {
    let step = ((1 << bytes.ilog2()) / 8).max(256);
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

impl PoolPlace {
    /// Its block, if it has one that nobody else has taken; then also its size.
    #[inline]
    fn take(&self) -> Option<(NonNull<u8>, usize)> {
        let block = self.block.swap(ptr::null_mut(), Ordering::Acquire);
        let start = NonNull::new(block)?;
        // Whoever changed the size did so before it put the block here.
        Some((start, self.bytes.load(Ordering::Relaxed)))
    }

    #[inline]
    fn give_back(&self, start: NonNull<u8>) {
        if !self.is_used.load(Ordering::Relaxed) {
            self.is_used.store(true, Ordering::Relaxed);
        }
        self.block.swap(start.as_ptr(), Ordering::Release);
    }

    /// Its size if it can be taken, as far as one can tell without.
    fn free_bytes(&self) -> usize {
        match self.block.load(Ordering::Relaxed).is_null() {
            true => 0,
            false => self.bytes.load(Ordering::Relaxed),
        }
    }
}

impl<const PLACES: usize> Pool<PLACES> {
    pub(crate) fn new(most_kept: usize, most: usize) -> Self {
        Self {
            places: std::array::from_fn(|_| PoolPlace {
                block: AtomicPtr::new(ptr::null_mut()),
                bytes: AtomicUsize::new(0),
                is_used: AtomicBool::new(false),
            }),
            most_kept,
            kept: AtomicUsize::new(0),
            most,
            held: AtomicUsize::new(0),
            hand: AtomicUsize::new(0),
        }
    }

    /// How many bytes there are: kept and lent.
    pub(crate) fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// A block of at least so many bytes, that of a place if it will do. What it holds is anything.
    #[inline]
    pub(crate) fn take(&self, bytes: usize, place: usize) -> Result<Lent<'_, PLACES>, Refused> {
        match self.take_from(place, bytes, bytes.saturating_mul(4).max(SMALL)) {
            Some(lent) => Ok(lent),
            None => self.search(bytes),
        }
    }

    /// The block of a place if it is within these sizes.
    #[inline]
    fn take_from(&self, at: usize, least: usize, most: usize) -> Option<Lent<'_, PLACES>> {
        let place = self.places.get(at)?;
        if !(least..=most).contains(&place.free_bytes()) {
            return None;
        }
        let (start, bytes) = place.take()?;
        if bytes < least {
            // Another one than a moment ago.
            place.give_back(start);
            return None;
        }
        Some(Lent {
            pool: self,
            start,
            bytes,
            place: Some(at),
        })
    }

    /// The smallest block within these sizes.
    fn smallest(&self, least: usize, most: usize) -> Option<Lent<'_, PLACES>> {
        let sizes = self.places.iter().map(PoolPlace::free_bytes).enumerate();
        let fitting = sizes.filter(|(_, bytes)| (least..=most).contains(bytes));
        let (at, _) = fitting.min_by_key(|(_, bytes)| *bytes)?;
        self.take_from(at, least, most)
    }

    #[cold]
    fn search(&self, bytes: usize) -> Result<Lent<'_, PLACES>, Refused> {
        let bytes = bytes.max(1);
        let most = bytes.saturating_mul(4).max(SMALL);
        if let Some(lent) = self.smallest(bytes, most) {
            return Ok(lent);
        }
        let bound = self.most_kept.min(self.most);
        let size = rounded(bytes).min(bound).max(bytes);
        let mut place = self.reserve(size);
        if place.is_none() {
            if let Some(lent) = self.smallest(bytes, usize::MAX) {
                return Ok(lent);
            }
            while size <= bound && place.is_none() && self.evict() {
                place = self.reserve(size);
            }
        }
        match place.map(|at| self.make(size, Some(at))) {
            // No more than needed may still be had.
            None | Some(Err(Refused::OverBudget)) => self.make(bytes, None),
            Some(made) => made,
        }
    }

    /// A place for a block of this size, if there is one and room for it.
    fn reserve(&self, bytes: usize) -> Option<usize> {
        if !add(&self.kept, bytes, self.most_kept) {
            return None;
        }
        let claim = |place: &PoolPlace| {
            place.bytes.load(Ordering::Relaxed) == 0
                && place
                    .bytes
                    .compare_exchange(0, bytes, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
        };
        let at = self.places.iter().position(claim);
        if at.is_none() {
            self.kept.fetch_sub(bytes, Ordering::Relaxed);
        }
        at
    }

    /// A new block, for a place that was reserved for it or for one call.
    fn make(&self, bytes: usize, place: Option<usize>) -> Result<Lent<'_, PLACES>, Refused> {
        let result = self.allocate(bytes);
        if let (Err(_), Some(at)) = (&result, place) {
            self.release(at, bytes);
        }
        Ok(Lent {
            pool: self,
            start: result?,
            bytes,
            place,
        })
    }

    fn allocate(&self, bytes: usize) -> Result<NonNull<u8>, Refused> {
        while !add(&self.held, bytes, self.most) {
            if !self.evict() {
                return Err(Refused::OverBudget);
            }
        }
        // SAFETY: there is at least one byte.
        let start = layout(bytes).and_then(|layout| NonNull::new(unsafe { alloc(layout) }));
        start.ok_or_else(|| {
            self.held.fetch_sub(bytes, Ordering::Relaxed);
            Refused::OutOfMemory
        })
    }

    /// Makes a place free for another block; it has none, and nobody has its block.
    fn release(&self, at: usize, bytes: usize) {
        self.kept.fetch_sub(bytes, Ordering::Relaxed);
        self.places[at].bytes.store(0, Ordering::Release);
    }

    /// Frees a block that was not used for long; false if all are lent.
    fn evict(&self) -> bool {
        // The first round clears marks, the second finds what has none.
        for _ in 0..2 * PLACES {
            let at = self.hand.fetch_add(1, Ordering::Relaxed) % PLACES;
            let place = &self.places[at];
            if place.free_bytes() > 0
                && !place.is_used.swap(false, Ordering::Relaxed)
                && self.drop_block(at)
            {
                return true;
            }
        }
        false
    }

    fn drop_block(&self, at: usize) -> bool {
        let Some((start, bytes)) = self.places[at].take() else {
            return false;
        };
        // SAFETY: it was allocated with this size, and nobody else has it.
        unsafe { free(start, bytes) };
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        self.release(at, bytes);
        true
    }

    /// Frees every block that is not lent.
    pub(crate) fn clear(&self) {
        for at in 0..PLACES {
            self.drop_block(at);
        }
    }
}

impl<const PLACES: usize> Drop for Pool<PLACES> {
    fn drop(&mut self) {
        self.clear();
    }
}
