//! An arena of machine code: slabs of memory mapped twice, single kernels freed and reused.
//!
//! Life of a range: *free* → *live* (owned by an [`ArenaCode`]) → *quarantined* when the owner is
//! dropped → *free* again after a `membarrier` has made every thread of the process drop what it
//! may have prefetched of the old code. A range that was live while the process forked is
//! *retired* instead, because the child may still call it; a slab whose ranges are all free or
//! retired is unmapped.
//!
//! A forked child finds no share of its own in the arena, so it starts one: it runs inherited
//! code and never writes to it, since the writable views are not inherited.

use std::sync::Arc;

use super::CODE_ALIGN;
use super::barrier;
use super::ranges::Ranges;
use super::slab::Slab;
use crate::error::CodeMemoryError;
use crate::process::{Era, Identity as _, PerProcess, Process, forks, watch};
use crate::sync::{Mutex, MutexGuard, PoisonError};

/// Quarantined bytes that are worth a barrier before the arena grows.
const WORTH_A_BARRIER: usize = 16 << 10;
const PAGE: usize = 4096;

/// Sizes of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArenaOptions {
    /// Bytes by which the arena grows; untouched pages cost address space only.
    pub slab_bytes: usize,
    /// Bytes past which it does not grow.
    pub limit_bytes: usize,
    /// Overwrite freed code with `int3` at once, so that a stale call traps. On by default: it
    /// costs less than a thousandth of making the code.
    pub poison: bool,
}

impl Default for ArenaOptions {
    fn default() -> Self {
        Self {
            slab_bytes: 1 << 20,
            limit_bytes: 64 << 20,
            poison: true,
        }
    }
}

/// What an arena holds in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArenaStats {
    /// Blobs of code alive.
    pub kernels: usize,
    /// Their bytes, in whole cache lines.
    pub live_bytes: usize,
    /// Bytes freed that wait for a barrier.
    pub quarantined_bytes: usize,
    /// Bytes freed that a forked child may still run.
    pub retired_bytes: usize,
    /// Slabs mapped.
    pub slabs: usize,
    /// Their bytes.
    pub mapped_bytes: usize,
    /// Barriers issued.
    pub barriers: u64,
}

/// A bounded arena of machine code, shared by the compilers and kernels that hold it.
#[derive(Debug)]
pub struct CodeArena {
    options: ArenaOptions,
    shares: PerProcess<Process, Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    slabs: Vec<Option<SlabState>>,
    quarantine: Vec<Range>,
    stats: ArenaStats,
}

#[derive(Debug)]
struct SlabState {
    slab: Slab,
    free: Ranges,
    live: usize,
    retired: usize,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    slab: usize,
    offset: usize,
    len: usize,
}

impl CodeArena {
    /// An arena that maps nothing until code is installed.
    #[must_use]
    pub fn new(options: ArenaOptions) -> Self {
        Self {
            options,
            shares: PerProcess::new(),
        }
    }

    /// What this process has in the arena.
    #[must_use]
    pub fn stats(&self) -> ArenaStats {
        self.shares
            .get()
            .map_or_else(ArenaStats::default, |share| lock(share).stats)
    }

    /// Places code; it is freed when the result is dropped.
    pub(crate) fn install(self: &Arc<Self>, bytes: &[u8]) -> Result<ArenaCode, CodeMemoryError> {
        if !cfg!(target_arch = "x86_64") {
            // Other machines need their instruction caches cleaned by hand.
            return Err(CodeMemoryError::Unsupported("code arena"));
        }
        watch()?;
        let share = self
            .shares
            .get_or_begin(|| barrier::register().map(|()| Mutex::default()))?;
        let len = bytes.len().max(1).next_multiple_of(CODE_ALIGN);
        let mut state = lock(share);
        // Asked for before the code exists: a fork after this retires the range.
        let era = forks().era();
        let range = state.allocate(len, &self.options)?;
        let entry = state.occupy(range, bytes);
        drop(state);
        Ok(ArenaCode {
            arena: Arc::clone(self),
            owner: Process::current(),
            range,
            era,
            entry,
        })
    }
}

impl Drop for CodeArena {
    fn drop(&mut self) {
        self.shares.drain(|own, share| {
            // What an ancestor was changing when it forked stays as it is, and mapped.
            if !own && share.try_lock().is_err() {
                std::mem::forget(share);
                return;
            }
            let state = share.into_inner().unwrap_or_else(PoisonError::into_inner);
            for slab in state.slabs.into_iter().flatten() {
                // SAFETY: every kernel holds the arena, so none is left to run; the writable view
                // exists only in the process that made it.
                unsafe {
                    if own {
                        slab.slab.unmap();
                    } else {
                        slab.slab.unmap_inherited();
                    }
                }
            }
        });
    }
}

fn lock(share: &Mutex<State>) -> MutexGuard<'_, State> {
    share.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn allocate(&mut self, len: usize, options: &ArenaOptions) -> Result<Range, CodeMemoryError> {
        if let Some(range) = self.take(len) {
            return Ok(range);
        }
        if self.stats.quarantined_bytes >= WORTH_A_BARRIER
            && self.release_quarantine().is_ok()
            && let Some(range) = self.take(len)
        {
            return Ok(range);
        }
        let refused = match self.grow(len, options) {
            Ok(()) => None,
            Err(error) => {
                self.release_quarantine()?;
                Some(error)
            }
        };
        match (self.take(len), refused) {
            (Some(range), _) => Ok(range),
            (None, Some(error)) => Err(error),
            (None, None) => Err(self.full(len, options)),
        }
    }

    fn take(&mut self, len: usize) -> Option<Range> {
        self.slabs.iter_mut().enumerate().find_map(|(slab, state)| {
            let offset = state.as_mut()?.free.take(len)?;
            Some(Range { slab, offset, len })
        })
    }

    fn full(&self, requested: usize, options: &ArenaOptions) -> CodeMemoryError {
        CodeMemoryError::Full {
            requested,
            in_use: self.stats.live_bytes + self.stats.retired_bytes,
            limit: options.limit_bytes,
        }
    }

    fn grow(&mut self, len: usize, options: &ArenaOptions) -> Result<(), CodeMemoryError> {
        let size = len
            .max(options.slab_bytes)
            .checked_next_multiple_of(PAGE)
            .ok_or_else(|| self.full(len, options))?;
        if self
            .stats
            .mapped_bytes
            .checked_add(size)
            .is_none_or(|total| total > options.limit_bytes)
        {
            return Err(self.full(len, options));
        }
        let mut free = Ranges::default();
        free.give(0, size);
        let state = Some(SlabState {
            slab: Slab::new(size)?,
            free,
            live: 0,
            retired: 0,
        });
        match self.slabs.iter_mut().find(|slab| slab.is_none()) {
            Some(hole) => *hole = state,
            None => self.slabs.push(state),
        }
        self.stats.slabs += 1;
        self.stats.mapped_bytes += size;
        Ok(())
    }

    /// Writes code into a range just allocated; where it will execute.
    fn occupy(&mut self, range: Range, bytes: &[u8]) -> *const u8 {
        let Some(slab) = self.slabs[range.slab].as_mut() else {
            unreachable!("a range is allocated from a mapped slab")
        };
        slab.live += range.len;
        self.stats.kernels += 1;
        self.stats.live_bytes += range.len;
        // SAFETY: the range was free, hence nobody executes in it, and `bytes` fit.
        unsafe { slab.slab.write(range.offset, bytes) };
        slab.slab.entry(range.offset)
    }

    fn free(&mut self, range: Range, forked: bool, poison: bool) {
        let Some(slab) = self.slabs[range.slab].as_mut() else {
            return;
        };
        slab.live -= range.len;
        self.stats.kernels -= 1;
        self.stats.live_bytes -= range.len;
        if forked {
            slab.retired += range.len;
            self.stats.retired_bytes += range.len;
        } else {
            if poison {
                // SAFETY: its kernel is gone, so nothing executes in the range.
                unsafe { slab.slab.poison(range.offset, range.len) };
            }
            self.stats.quarantined_bytes += range.len;
            self.quarantine.push(range);
        }
        if self.slabs[range.slab]
            .as_ref()
            .is_some_and(|slab| slab.live == 0 && slab.retired > 0)
        {
            self.unmap(range.slab);
        }
    }

    /// Makes quarantined ranges free, after every thread has forgotten their code.
    fn release_quarantine(&mut self) -> Result<(), CodeMemoryError> {
        if self.quarantine.is_empty() {
            return Ok(());
        }
        barrier::synchronise()?;
        self.stats.barriers += 1;
        self.stats.quarantined_bytes = 0;
        for range in std::mem::take(&mut self.quarantine) {
            if let Some(slab) = self.slabs[range.slab].as_mut() {
                slab.free.give(range.offset, range.len);
            }
        }
        // One empty slab is kept, so that a lone kernel coming and going maps nothing.
        let empty: Vec<usize> = (0..self.slabs.len())
            .filter(|&at| self.slabs[at].as_ref().is_some_and(|slab| slab.live == 0))
            .collect();
        for &at in empty.iter().skip(1) {
            self.unmap(at);
        }
        Ok(())
    }

    /// Unmaps a slab without live ranges.
    fn unmap(&mut self, at: usize) {
        let Some(slab) = self.slabs[at].take() else {
            return;
        };
        self.stats.slabs -= 1;
        self.stats.mapped_bytes -= slab.slab.len();
        self.stats.retired_bytes -= slab.retired;
        let stats = &mut self.stats;
        self.quarantine.retain(|range| {
            let keep = range.slab != at;
            if !keep {
                stats.quarantined_bytes -= range.len;
            }
            keep
        });
        // SAFETY: nothing in the slab is live, and states are only touched by their own process.
        unsafe { slab.slab.unmap() };
    }
}

/// Code in an arena.
#[derive(Debug)]
pub(crate) struct ArenaCode {
    arena: Arc<CodeArena>,
    owner: Process,
    range: Range,
    era: Era,
    entry: *const u8,
}

// SAFETY: the code is immutable and kept alive by the arena, whose state is behind a mutex.
unsafe impl Send for ArenaCode {}
// SAFETY: as above.
unsafe impl Sync for ArenaCode {}

impl ArenaCode {
    pub(crate) fn start(&self) -> *const u8 {
        self.entry
    }
}

impl Drop for ArenaCode {
    fn drop(&mut self) {
        // In a child of the process that made it, the range is not this process's to free.
        if self.owner != Process::current() {
            return;
        }
        if let Some(share) = self.arena.shares.get() {
            let forked = forks().may_have_copied(self.era);
            lock(share).free(self.range, forked, self.arena.options.poison);
        }
    }
}
