//! What runs a kernel: machine code, or the generic executor until there is some or for good.

use crate::jit::NativeKernel;
use restride_exec::{CallError, Executable};
use restride_loops::{Buffer, Gather, Kernel, Role, Stmt, Verified};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The bytes of the counts that an [`Arc`](std::sync::Arc) adds.
pub(crate) const ARC: usize = 2 * size_of::<usize>();

/// A kernel and what runs it. Machine code may come later, while it is being called.
pub(crate) struct RunnableKernel {
    kernel: Verified,
    runner: Runner,
    /// Machine code that came after a generic runner.
    later: OnceLock<Box<NativeKernel>>,
    /// Whether somebody is making that.
    is_making: AtomicBool,
    /// After how many runs that has paid; nothing if it never does.
    pays_after: Option<u32>,
}

/// What runs a kernel from the beginning.
pub(crate) enum Runner {
    Native(NativeKernel),
    Generic(Executable),
}

/// What runs it at the moment.
enum Running<'a> {
    Native(&'a NativeKernel),
    Generic(&'a Executable),
}

/// Why a call ended early, as either executor reports it.
pub(crate) enum Failed {
    /// A check, by its number, and where and what the index is unless it has changed since.
    Check(u32, Option<(u64, i128)>),
    OutOfMemory {
        bytes: usize,
    },
}

impl From<CallError> for Failed {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Check(it) => Self::Check(it.code, Some((it.position, it.value))),
            CallError::OutOfMemory { bytes } => Self::OutOfMemory { bytes },
        }
    }
}

impl RunnableKernel {
    pub(crate) fn new(kernel: Verified, runner: Runner, pays_after: Option<u32>) -> Self {
        Self {
            pays_after,
            kernel,
            runner,
            later: OnceLock::new(),
            is_making: AtomicBool::new(false),
        }
    }

    pub(crate) fn kernel(&self) -> &Verified {
        &self.kernel
    }

    #[inline]
    fn running(&self) -> Running<'_> {
        match &self.runner {
            Runner::Native(native) => Running::Native(native),
            Runner::Generic(generic) => match self.later.get() {
                Some(native) => Running::Native(native),
                None => Running::Generic(generic),
            },
        }
    }

    /// After how many runs machine code has made up for the time that it takes to make; nothing if
    /// it never does: one that does nothing, as for a view, or nearly all in a few leaves, has no use
    /// for it.
    pub(crate) fn pays_after(&self) -> Option<u32> {
        self.pays_after
    }

    pub(crate) fn native(&self) -> Option<&NativeKernel> {
        match self.running() {
            Running::Native(native) => Some(native),
            Running::Generic(_) => None,
        }
    }

    /// Has machine code made for it if it has none. Nothing is made, and nobody waits, while another
    /// thread is at it: what that one makes is for all who hold the kernel.
    pub(crate) fn improve(&self, make: impl FnOnce() -> Option<NativeKernel>) {
        if self.native().is_some() || self.is_making.swap(true, Ordering::Acquire) {
            return;
        }
        if let Some(native) = make() {
            let _ = self.later.set(Box::new(native));
        }
        self.is_making.store(false, Ordering::Release);
    }

    /// About how many bytes it keeps alive, with machine code if it may be given some.
    pub(crate) fn bytes(&self) -> usize {
        let (mut statements, mut gathers) = (0, 0);
        self.kernel.visit(|stmt| {
            statements += 1;
            gathers += usize::from(matches!(stmt, Stmt::Gather(_)));
        });
        let constants = self.kernel.buffers.iter().map(|b| match &b.role {
            Role::Const(bytes) => bytes.len(),
            Role::In(_) | Role::Out(..) | Role::Scratch => 0,
        });
        let runners = match (&self.runner, self.later.get(), self.pays_after) {
            (Runner::Native(native), ..) => native.bytes(),
            (Runner::Generic(generic), Some(native), _) => generic.bytes() + native.bytes(),
            (Runner::Generic(generic), None, None) => generic.bytes(),
            // The code will have the tables of the same leaves.
            (Runner::Generic(generic), None, Some(_)) => 2 * generic.bytes() + 512 * statements,
        };
        2 * ARC
            + size_of::<Self>()
            + size_of::<Kernel>()
            + self.phases() * size_of::<Vec<Stmt>>()
            + statements * (size_of::<Stmt>() + 256)
            + gathers * size_of::<Gather>()
            + self.kernel.buffers.len() * size_of::<Buffer>()
            + constants.sum::<usize>()
            + runners
    }

    /// Whether more than one chunk of a phase helps, and none can fail for want of memory.
    pub(crate) fn is_shared(&self) -> bool {
        let allocates = match self.running() {
            Running::Native(_) => false,
            Running::Generic(generic) => generic.chunks_allocate(),
        };
        self.kernel.is_parallel() && !allocates
    }

    pub(crate) fn phases(&self) -> usize {
        self.kernel.phases.len()
    }

    /// # Safety
    /// As [`NativeKernel::call_raw`], with an address for every buffer.
    #[inline]
    pub(crate) unsafe fn call(&self, table: &[*mut u8]) -> Result<(), Failed> {
        match &self.runner {
            // SAFETY: the caller's.
            Runner::Native(native) => unsafe { native.call_raw(table.as_ptr())? },
            // SAFETY: the caller's.
            Runner::Generic(_) => unsafe { self.call_of_generic(table)? },
        }
        Ok(())
    }

    /// Out of the way of kernels that are machine code from the beginning: the shortest take no longer than a few jumps.
    ///
    /// # Safety
    /// As [`RunnableKernel::call`].
    #[cold]
    #[inline(never)]
    unsafe fn call_of_generic(&self, table: &[*mut u8]) -> Result<(), Failed> {
        match self.running() {
            // SAFETY: the caller's.
            Running::Native(native) => unsafe { native.call_raw(table.as_ptr())? },
            // SAFETY: the caller's.
            Running::Generic(generic) => unsafe { generic.call_raw(table)? },
        }
        Ok(())
    }

    /// # Safety
    /// As [`NativeKernel::run_chunk`], with an address for every buffer.
    pub(crate) unsafe fn chunk(
        &self,
        table: &[*mut u8],
        phase: usize,
        chunk: u32,
        chunks: u32,
    ) -> Result<(), Failed> {
        match self.running() {
            // SAFETY: the caller's.
            Running::Native(native) => unsafe {
                native.run_chunk(table.as_ptr(), phase, chunk, chunks)?;
            },
            // SAFETY: the caller's.
            Running::Generic(generic) => unsafe {
                generic.run_chunk(table, phase, chunk, chunks)?;
            },
        }
        Ok(())
    }
}
