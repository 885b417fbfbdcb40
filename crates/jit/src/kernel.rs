//! Installed kernels, ready to be called.

use std::time::{Duration, Instant};

use restride_leaves::Callee;
use restride_loops::Kernel;

use crate::attach::Attachments;
use crate::checks::Checks;
use crate::compiler::Blob;
use crate::emit::is_shared;
use crate::error::RunError;
use crate::listing;
use crate::memory::InstalledCode;

/// One phase: `(buffers, chunk, chunks) -> 0, or the number of the check that failed`.
type Run = unsafe extern "C" fn(*const *mut u8, u64, u64) -> u64;

struct Phase {
    run: Run,
    /// Whether it has a parallel loop. One without is the first chunk's alone, and its code does
    /// not ask which chunk it is called for.
    shared: bool,
}

/// A kernel in machine code. It may be called from any number of threads at once; its code is
/// freed when it is dropped, so whoever calls it holds it, usually in an `Arc`.
pub struct NativeKernel {
    phases: Box<[Phase]>,
    code: InstalledCode,
    code_bytes: usize,
    buffers: usize,
    compile_time: Duration,
    checks: Option<Box<Checks>>,
    /// The code points into it.
    attachments: Attachments,
}

impl NativeKernel {
    pub(crate) fn new(kernel: &Kernel, blob: Blob, code: InstalledCode, begun: Instant) -> Self {
        let Blob {
            bytes,
            phases,
            mut attachments,
        } = blob;
        attachments.shrink();
        let phases = phases
            .into_iter()
            .zip(&kernel.phases)
            .map(|(offset, stmts)| {
                let entry = code.start().wrapping_add(offset);
                Phase {
                    // SAFETY: a function of this signature was installed at the offset.
                    run: unsafe { core::mem::transmute::<*const u8, Run>(entry) },
                    shared: stmts.iter().any(is_shared),
                }
            })
            .collect();
        let checks = Checks::of(kernel);
        Self {
            phases,
            code,
            code_bytes: bytes.len(),
            buffers: kernel.buffers.len(),
            compile_time: begun.elapsed(),
            checks: (!checks.is_empty()).then(|| Box::new(checks)),
            attachments,
        }
    }

    /// How many phases it has.
    #[must_use]
    pub fn phases(&self) -> usize {
        self.phases.len()
    }

    /// How many entries its table of buffers has.
    #[must_use]
    pub fn buffers(&self) -> usize {
        self.buffers
    }

    /// Bytes of machine code.
    #[must_use]
    pub fn code_bytes(&self) -> usize {
        self.code_bytes
    }

    /// How long it took to generate and install.
    #[must_use]
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// The machine code itself, all phases, where it executes.
    #[must_use]
    pub fn code(&self) -> &[u8] {
        // SAFETY: the installed code is readable, immutable and lives as long as `self`.
        unsafe { core::slice::from_raw_parts(self.code.start(), self.code_bytes) }
    }

    /// Where each phase begins in the code.
    pub fn phase_offsets(&self) -> impl Iterator<Item = usize> + '_ {
        let start = self.code.start() as usize;
        self.phases
            .iter()
            .map(move |phase| phase.run as usize - start)
    }

    /// The functions that the code calls and what they do; empty unless the compiler was asked to
    /// keep [contracts](crate::CompileOptions::contracts).
    #[must_use]
    pub fn callees(&self) -> &[Callee] {
        self.attachments.callees()
    }

    /// The machine code of an x86-64 kernel, disassembled.
    #[must_use]
    pub fn disassembly(&self) -> String {
        listing::disassemble(self.code())
    }

    /// About how many bytes it keeps alive beside its kernel, code included.
    pub fn bytes(&self) -> usize {
        let checks = self.checks.as_ref().map_or(0, |checks| checks.bytes());
        self.code_bytes + self.attachments.bytes() + checks
    }

    /// Runs all phases on this thread.
    ///
    /// # Safety
    /// `buffers` points at one address per buffer of the kernel, in their order, where
    /// * inputs can be read and outputs and scratch be written, each over the bytes its
    ///   declaration says, with any alignment (an entry for a constant is not looked at, nor is
    ///   one for a buffer without elements);
    /// * no output or scratch overlaps any other buffer;
    /// * nobody else writes to any of them, or reads an output or scratch, during the call. What
    ///   lies between the elements of an input may be read as well. Indices may change meanwhile;
    ///   each is loaded once.
    #[inline]
    pub unsafe fn call_raw(&self, buffers: *const *mut u8) -> Result<(), RunError> {
        for phase in &self.phases {
            // SAFETY: as promised by the caller; chunk 0 of 1 is the whole phase.
            let status = unsafe { (phase.run)(buffers, 0, 1) };
            if status != 0 {
                // SAFETY: the table is the one of the call.
                return Err(unsafe { self.failure(status, buffers) });
            }
        }
        Ok(())
    }

    /// Runs one chunk of one phase. All chunks `0..chunks` of a phase, in any order and on any
    /// threads, make up the phase; a chunk or phase that does not exist has nothing to do.
    ///
    /// # Safety
    /// As [`NativeKernel::call_raw`], where other chunks of the same phase may run at the same
    /// time; all chunks of the phases before this one have ended, and without an error.
    pub unsafe fn run_chunk(
        &self,
        buffers: *const *mut u8,
        phase: usize,
        chunk: u32,
        chunks: u32,
    ) -> Result<(), RunError> {
        let Some(phase) = self.phases.get(phase) else {
            return Ok(());
        };
        if chunk >= chunks || (chunk > 0 && !phase.shared) {
            return Ok(());
        }
        // SAFETY: as promised by the caller; the chunk exists.
        match unsafe { (phase.run)(buffers, chunk.into(), chunks.into()) } {
            0 => Ok(()),
            // SAFETY: the table is the one of the call.
            status => Err(unsafe { self.failure(status, buffers) }),
        }
    }

    /// # Safety
    /// As [`Checks::explain`].
    #[cold]
    unsafe fn failure(&self, status: u64, buffers: *const *mut u8) -> RunError {
        let none = Checks::default();
        let checks = self.checks.as_deref().unwrap_or(&none);
        // SAFETY: as promised by the caller.
        unsafe { checks.explain(status, buffers) }
    }
}

impl core::fmt::Debug for NativeKernel {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("NativeKernel")
            .field("code", &self.code)
            .field("code_bytes", &self.code_bytes)
            .field("phases", &self.phases.len())
            .finish_non_exhaustive()
    }
}
