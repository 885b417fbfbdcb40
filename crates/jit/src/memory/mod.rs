//! Where machine code lives: side by side in an arena, or in one module per kernel.
//!
//! Whatever the memory, code that is finished is nowhere writable, and it is freed when the last
//! owner of its kernel lets go.

#[cfg(target_os = "linux")]
mod arena;
mod module;
#[cfg(target_os = "linux")]
mod slab;

use cranelift_codegen::isa::OwnedTargetIsa;

use crate::error::CodeMemoryError;
#[cfg(target_os = "linux")]
use crate::sync::Arc;
#[cfg(target_os = "linux")]
pub use arena::{ArenaOptions, ArenaStats, CodeArena};
use module::ModuleCode;

/// Which memory holds the code of a compiler's kernels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CodeMemory {
    /// A shared arena, where small kernels share pages.
    #[cfg(target_os = "linux")]
    Arena(Arc<CodeArena>),
    /// One module of `cranelift-jit` per kernel: the portable way, a page or more each.
    Module,
    /// The arena, and a module where the arena is refused.
    #[cfg(target_os = "linux")]
    ArenaOrModule(Arc<CodeArena>),
}

impl CodeMemory {
    /// The best this platform has: an arena of its own with a module as the way out on Linux,
    /// modules elsewhere.
    #[must_use]
    pub fn auto() -> Self {
        #[cfg(target_os = "linux")]
        return Self::ArenaOrModule(Arc::new(CodeArena::new(ArenaOptions::default())));
        #[cfg(not(target_os = "linux"))]
        return Self::Module;
    }
}

/// Where one compiler puts its code.
#[derive(Debug)]
pub(crate) struct Installer {
    memory: CodeMemory,
    #[cfg(target_os = "linux")]
    arena: arena::ArenaWriter,
}

impl Installer {
    pub(crate) fn new(memory: CodeMemory) -> Self {
        Self {
            memory,
            #[cfg(target_os = "linux")]
            arena: arena::ArenaWriter::default(),
        }
    }

    /// Places `bytes`, position-independent and without relocations, in executable memory.
    pub(crate) fn install(
        &mut self,
        bytes: &[u8],
        isa: &OwnedTargetIsa,
    ) -> Result<InstalledCode, CodeMemoryError> {
        let module = || ModuleCode::install(bytes, isa).map(InstalledCode::Module);
        match &self.memory {
            #[cfg(target_os = "linux")]
            CodeMemory::Arena(arena) => {
                let code = self.arena.install(arena, bytes);
                code.map(InstalledCode::Arena)
            }
            CodeMemory::Module => module(),
            #[cfg(target_os = "linux")]
            CodeMemory::ArenaOrModule(arena) => {
                let code = self.arena.install(arena, bytes);
                code.map(InstalledCode::Arena).or_else(|_| module())
            }
        }
    }
}

/// Alignment of every installed blob: a cache line, so that loops lie as they were laid out.
pub(crate) const CODE_ALIGN: usize = 64;

/// Code in executable memory; dropping it frees the memory.
#[derive(Debug)]
pub(crate) enum InstalledCode {
    #[cfg(target_os = "linux")]
    Arena(arena::ArenaCode),
    Module(Box<ModuleCode>),
}

impl InstalledCode {
    /// The first byte, aligned to [`CODE_ALIGN`].
    pub(crate) fn start(&self) -> *const u8 {
        match self {
            #[cfg(target_os = "linux")]
            Self::Arena(code) => code.start(),
            Self::Module(code) => code.start(),
        }
    }
}
