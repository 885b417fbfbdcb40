//! What runs a kernel: machine code, or the generic executor until there is some or for good.

use crate::CompileError;
use restride_exec::{CheckFailure, CpuLevel, Executable};
use restride_jit::{BadIndex, NativeKernel};
use restride_loops::Verified;
use std::sync::OnceLock;

/// A kernel and what there is to run it. Native code may arrive while it is being called.
pub(crate) struct RunnableKernel {
    kernel: Verified,
    native: OnceLock<NativeKernel>,
    generic: OnceLock<Executable>,
}

/// A check that failed, as either executor reports it.
pub(crate) struct Failed {
    pub(crate) code: u32,
    pub(crate) at: Option<(u64, i128)>,
}

impl From<restride_jit::RunError> for Failed {
    fn from(error: restride_jit::RunError) -> Self {
        match error {
            restride_jit::RunError::Check { code, found } => match found {
                BadIndex::At { position, value } => Self {
                    code,
                    at: Some((position, value)),
                },
                _ => Self { code, at: None },
            },
            _ => Self { code: 0, at: None },
        }
    }
}

impl From<CheckFailure> for Failed {
    fn from(failure: CheckFailure) -> Self {
        Self {
            code: failure.code,
            at: Some((failure.position, failure.value)),
        }
    }
}

impl RunnableKernel {
    pub(crate) fn new(kernel: Verified) -> Self {
        Self {
            kernel,
            native: OnceLock::new(),
            generic: OnceLock::new(),
        }
    }

    pub(crate) fn kernel(&self) -> &Verified {
        &self.kernel
    }

    pub(crate) fn native(&self) -> Option<&NativeKernel> {
        self.native.get()
    }

    /// Adds native code; the first to come stays.
    pub(crate) fn set_native(&self, native: NativeKernel) {
        let _ = self.native.set(native);
    }

    /// Makes sure that there is something to run.
    pub(crate) fn ensure_generic(&self, cpu: CpuLevel) -> Result<(), CompileError> {
        if self.generic.get().is_none() {
            let _ = self.generic.set(Executable::new(&self.kernel, cpu)?);
        }
        Ok(())
    }

    /// An estimate of the bytes it keeps alive.
    pub(crate) fn bytes(&self) -> usize {
        let mut statements = 0;
        self.kernel.visit(|_| statements += 1);
        let constants: usize = self
            .kernel
            .buffers
            .iter()
            .map(|b| match &b.role {
                restride_loops::Role::Const(bytes) => bytes.len(),
                _ => 0,
            })
            .sum();
        let code = self.native.get().map_or(0, NativeKernel::code_bytes);
        // Whatever runs it holds the tables of its leaves.
        let runners =
            usize::from(self.native.get().is_some()) + usize::from(self.generic.get().is_some());
        1024 + (512 + 1024 * runners) * statements + constants + code
    }

    pub(crate) fn phases(&self) -> usize {
        self.kernel.phases.len()
    }

    /// # Safety
    /// As [`NativeKernel::call_raw`].
    #[inline]
    pub(crate) unsafe fn call(&self, table: &[*mut u8]) -> Result<(), Failed> {
        if let Some(native) = self.native.get() {
            // SAFETY: the caller's.
            return unsafe { native.call_raw(table.as_ptr()) }.map_err(Failed::from);
        }
        match self.generic.get() {
            // SAFETY: the caller's.
            Some(generic) => unsafe { generic.call_raw(table) }.map_err(Failed::from),
            None => Ok(()),
        }
    }

    /// # Safety
    /// As [`NativeKernel::run_chunk`].
    pub(crate) unsafe fn chunk(
        &self,
        table: &[*mut u8],
        phase: usize,
        chunk: u32,
        chunks: u32,
    ) -> Result<(), Failed> {
        if let Some(native) = self.native.get() {
            // SAFETY: the caller's.
            let done = unsafe { native.run_chunk(table.as_ptr(), phase, chunk, chunks) };
            return done.map_err(Failed::from);
        }
        match self.generic.get() {
            Some(generic) => {
                // SAFETY: the caller's.
                let done = unsafe { generic.run_chunk(table, phase, chunk, chunks) };
                done.map_err(Failed::from)
            }
            None => Ok(()),
        }
    }
}
