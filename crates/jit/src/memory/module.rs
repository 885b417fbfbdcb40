//! Code in a `cranelift-jit` module of its own.
//!
//! The module is handed finished bytes without relocations, so it never looks up a symbol. It
//! reads `PERF_BUILDID_DIR`, as `perf` documents it, and nothing else of its environment.

use std::sync::Mutex;

use cranelift_codegen::ir;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, ModuleError};

use super::CODE_ALIGN;
use crate::error::CodeMemoryError;

/// One blob in one module, freed on drop.
pub(crate) struct ModuleCode {
    start: *const u8,
    /// Only touched by `drop`; the mutex makes the owner `Sync`.
    module: Mutex<Option<JITModule>>,
}

// SAFETY: `start` points at immutable code that lives as long as the module beside it.
unsafe impl Send for ModuleCode {}
// SAFETY: as above; the module itself is behind a mutex.
unsafe impl Sync for ModuleCode {}

impl core::fmt::Debug for ModuleCode {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ModuleCode({:p})", self.start)
    }
}

impl ModuleCode {
    pub(crate) fn install(
        bytes: &[u8],
        isa: &OwnedTargetIsa,
    ) -> Result<Box<Self>, CodeMemoryError> {
        let builder =
            JITBuilder::with_isa(isa.clone(), Box::new(|call| format!("unresolved {call}")));
        let mut module = JITModule::new(builder);
        match place(&mut module, bytes) {
            Ok(start) => Ok(Box::new(Self {
                start,
                module: Mutex::new(Some(module)),
            })),
            Err(error) => {
                // SAFETY: no function of this module was ever given out.
                unsafe { module.free_memory() };
                Err(CodeMemoryError::Module(error))
            }
        }
    }

    pub(crate) fn start(&self) -> *const u8 {
        self.start
    }
}

/// Defines the bytes as the module's one function and seals it.
fn place(module: &mut JITModule, bytes: &[u8]) -> Result<*const u8, String> {
    let signature = ir::Signature::new(module.isa().default_call_conv());
    let text = |error: ModuleError| error.to_string();
    let id = module
        .declare_anonymous_function(&signature)
        .map_err(text)?;
    module
        .define_function_bytes(id, CODE_ALIGN as u64, bytes, &[])
        .map_err(text)?;
    module.finalize_definitions().map_err(text)?;
    Ok(module.get_finalized_function(id))
}

impl Drop for ModuleCode {
    fn drop(&mut self) {
        let module = self
            .module
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(module) = module.take() {
            // SAFETY: the kernel that owned this code is gone, so nothing can call into it, and
            // callers hold the kernel for as long as it runs.
            unsafe { module.free_memory() };
        }
    }
}
