//! An arena of machine code: kernels side by side in slabs of a page or more.
//!
//! A range of a slab is written once and never again, so nothing that may be running, in this
//! process or in a forked child, is ever changed, and no thread has to be told. A slab is unmapped
//! with the last kernel in it; as it is a page, or what one large kernel needs, a kernel that is
//! left alone holds back no more than if it had never shared.
//!
//! Each compiler fills a slab of its own, so there is no lock that a child could inherit locked.
//! A copy of the compiler in a child begins another slab.

use super::CODE_ALIGN;
use super::slab::{Pages, Writer, map};
use crate::error::CodeMemoryError;
use crate::sync::{Arc, AtomicUsize, Ordering};

const PAGE: usize = 4096;

/// Sizes of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArenaOptions {
    /// Bytes by which the arena grows, and which one small kernel may keep from being given back.
    pub slab_bytes: usize,
    /// Bytes past which it does not grow.
    pub limit_bytes: usize,
}

impl Default for ArenaOptions {
    fn default() -> Self {
        Self {
            slab_bytes: PAGE,
            limit_bytes: 64 << 20,
        }
    }
}

/// What an arena holds. A forked child has copies of its own, and counts on from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArenaStats {
    /// Blobs of code alive.
    pub kernels: usize,
    /// Their bytes, in whole cache lines.
    pub live_bytes: usize,
    /// Slabs mapped.
    pub slabs: usize,
    /// Their bytes.
    pub mapped_bytes: usize,
}

/// A bounded arena of machine code, shared by the compilers and kernels that hold it.
#[derive(Debug)]
pub struct CodeArena {
    options: ArenaOptions,
    kernels: AtomicUsize,
    live_bytes: AtomicUsize,
    slabs: AtomicUsize,
    mapped_bytes: AtomicUsize,
}

impl CodeArena {
    /// An arena that maps nothing until code is installed.
    #[must_use]
    pub fn new(options: ArenaOptions) -> Self {
        Self {
            options,
            kernels: AtomicUsize::new(0),
            live_bytes: AtomicUsize::new(0),
            slabs: AtomicUsize::new(0),
            mapped_bytes: AtomicUsize::new(0),
        }
    }

    /// What is in the arena.
    #[must_use]
    pub fn stats(&self) -> ArenaStats {
        ArenaStats {
            kernels: self.kernels.load(Ordering::Relaxed),
            live_bytes: self.live_bytes.load(Ordering::Relaxed),
            slabs: self.slabs.load(Ordering::Relaxed),
            mapped_bytes: self.mapped_bytes.load(Ordering::Relaxed),
        }
    }

    /// Enters a new slab for at least so many bytes, if it is within the limit; its size.
    fn reserve(&self, needed: usize) -> Result<usize, CodeMemoryError> {
        let (relaxed, limit) = (Ordering::Relaxed, self.options.limit_bytes);
        let full = |in_use| CodeMemoryError::Full {
            requested: needed,
            in_use,
            limit,
        };
        let size = needed.max(self.options.slab_bytes);
        let size = size.checked_next_multiple_of(PAGE).ok_or_else(|| full(0))?;
        let within = |mapped: usize| mapped.checked_add(size).filter(|total| *total <= limit);
        let entered = self.mapped_bytes.fetch_update(relaxed, relaxed, within);
        entered.map_err(full)?;
        self.slabs.fetch_add(1, relaxed);
        Ok(size)
    }

    fn give_back(&self, bytes: usize) {
        self.mapped_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.slabs.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Pages that are unmapped with the last of those who hold them.
#[derive(Debug)]
struct Slab {
    pages: Pages,
    arena: Arc<CodeArena>,
}

impl Drop for Slab {
    fn drop(&mut self) {
        self.arena.give_back(self.pages.len());
    }
}

/// A slab that is being filled.
#[derive(Debug)]
struct Filling {
    slab: Arc<Slab>,
    writer: Writer,
    used: usize,
}

impl Filling {
    /// A new slab for at least so many bytes.
    fn begin(arena: &Arc<CodeArena>, needed: usize) -> Result<Self, CodeMemoryError> {
        let bytes = arena.reserve(needed)?;
        let (pages, writer) = map(bytes).inspect_err(|_| arena.give_back(bytes))?;
        let arena = Arc::clone(arena);
        Ok(Self {
            slab: Arc::new(Slab { pages, arena }),
            writer,
            used: 0,
        })
    }

    fn room(&self) -> usize {
        self.slab.pages.len() - self.used
    }

    /// Places code behind what is there already.
    fn add(&mut self, bytes: &[u8]) -> Result<ArenaCode, CodeMemoryError> {
        let (offset, len) = (self.used, space(bytes));
        self.used += len;
        // SAFETY: there is room, and what is used is never given out again.
        unsafe { self.writer.write(offset, bytes) }?;
        let arena = &self.slab.arena;
        arena.kernels.fetch_add(1, Ordering::Relaxed);
        arena.live_bytes.fetch_add(len, Ordering::Relaxed);
        Ok(ArenaCode {
            slab: Arc::clone(&self.slab),
            offset,
            len,
        })
    }
}

/// The bytes that some code takes, in whole cache lines.
fn space(bytes: &[u8]) -> usize {
    bytes.len().max(1).next_multiple_of(CODE_ALIGN)
}

/// Where one compiler puts its code.
#[derive(Debug, Default)]
pub(crate) struct ArenaWriter {
    filling: Option<Filling>,
}

impl ArenaWriter {
    /// Places code; it is freed when the result is dropped.
    pub(crate) fn install(
        &mut self,
        arena: &Arc<CodeArena>,
        bytes: &[u8],
    ) -> Result<ArenaCode, CodeMemoryError> {
        if !cfg!(target_arch = "x86_64") {
            // Other machines need their instruction caches cleaned by hand.
            return Err(CodeMemoryError::Unsupported("code arena"));
        }
        // A copy in a child is not the child's to fill.
        if self.filling.as_ref().is_some_and(|it| !it.writer.is_own()) {
            self.filling = None;
        }
        let needed = space(bytes);
        if let Some(filling) = &mut self.filling
            && filling.room() >= needed
        {
            let code = filling.add(bytes);
            if code.is_err() {
                self.filling = None;
            }
            return code;
        }
        let mut fresh = Filling::begin(arena, needed)?;
        let code = fresh.add(bytes)?;
        // The one with more room is filled on.
        if self
            .filling
            .as_ref()
            .is_none_or(|it| it.room() < fresh.room())
        {
            self.filling = Some(fresh);
        }
        Ok(code)
    }
}

/// Code in an arena.
#[derive(Debug)]
pub(crate) struct ArenaCode {
    slab: Arc<Slab>,
    offset: usize,
    len: usize,
}

impl ArenaCode {
    /// Where it executes.
    pub(crate) fn start(&self) -> *const u8 {
        self.slab.pages.entry(self.offset)
    }
}

impl Drop for ArenaCode {
    fn drop(&mut self) {
        let arena = &self.slab.arena;
        arena.kernels.fetch_sub(1, Ordering::Relaxed);
        arena.live_bytes.fetch_sub(self.len, Ordering::Relaxed);
    }
}
