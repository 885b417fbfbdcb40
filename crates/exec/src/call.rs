//! Executables and the ways to call them.

use restride_leaves::{BoxError, Planner, PrepareError};
use restride_loops::{Role, Verified};
use smallvec::SmallVec;

use crate::error::{CallError, RunError};
use crate::frame::{FEW, with_frame};
use crate::node::{Phases, PreparedStmt};
use crate::prepare::prepare;
use crate::run::{self, Buffers};

/// Scratch buffers begin at multiples of this.
const ALIGN: usize = 64;

/// A kernel, ready to be run any number of times and on any number of threads.
pub struct Executable {
    kernel: Verified,
    phases: Phases,
    slots: usize,
    scratch: usize,
    pays_after: Option<u32>,
}

impl Executable {
    /// Prepares a kernel for the machine that moves are planned for.
    pub fn new(kernel: &Verified, planner: &Planner) -> Result<Executable, PrepareError> {
        let kernel = kernel.clone();
        let (phases, slots, pays_after) = prepare(&kernel, planner)?;
        let mut scratch = 0usize;
        for buffer in &kernel.buffers {
            if buffer.role == Role::Scratch {
                let bytes = buffer
                    .bytes()
                    .and_then(|n| n.checked_next_multiple_of(ALIGN));
                scratch = bytes
                    .and_then(|n| scratch.checked_add(n))
                    .ok_or(PrepareError::from(BoxError::Span))?;
            }
        }
        Ok(Executable {
            kernel,
            phases,
            slots,
            scratch,
            pays_after,
        })
    }

    /// After how many runs machine code has made up for the time that it takes to make by moving what leaves move here in
    /// less time; nothing if it does not, or is worth having in any case.
    pub fn code_pays_after(&self) -> Option<u32> {
        self.pays_after
    }

    /// The kernel.
    pub fn kernel(&self) -> &Verified {
        &self.kernel
    }

    /// How many phases it has.
    pub fn phases(&self) -> usize {
        self.phases.len()
    }

    /// About how many bytes it keeps alive beside its kernel.
    pub fn bytes(&self) -> usize {
        self.phases.iter().flatten().map(PreparedStmt::bytes).sum()
    }

    /// Bytes of scratch that [`Executable::run_with`] needs.
    pub fn scratch_bytes(&self) -> usize {
        match self.scratch {
            0 => 0,
            n => n.saturating_add(ALIGN),
        }
    }

    /// Runs all phases on this thread, with scratch of its own.
    pub fn run(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<(), RunError> {
        let bytes = self.scratch_bytes();
        let mut scratch: Vec<u8> = Vec::new();
        if scratch.try_reserve_exact(bytes).is_err() {
            return Err(RunError::OutOfMemory { bytes });
        }
        self.run_in(inputs, outputs, scratch.as_mut_ptr())
    }

    /// Runs all phases on this thread, with the caller's scratch, which may hold anything.
    pub fn run_with(
        &self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        scratch: &mut [u8],
    ) -> Result<(), RunError> {
        let bytes = self.scratch_bytes();
        match scratch.len() < bytes {
            true => Err(RunError::OutOfMemory { bytes }),
            false => self.run_in(inputs, outputs, scratch.as_mut_ptr()),
        }
    }

    fn run_in(
        &self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        scratch: *mut u8,
    ) -> Result<(), RunError> {
        let mut table: SmallVec<[*mut u8; 8]> = SmallVec::new();
        let count = self.kernel.buffers.len();
        let bytes = count * size_of::<*mut u8>();
        table
            .try_reserve_exact(count)
            .map_err(|_| RunError::OutOfMemory { bytes })?;
        let mut next = scratch.wrapping_add(scratch.align_offset(ALIGN) % ALIGN);
        for buffer in &self.kernel.buffers {
            let expected = buffer.bytes().unwrap_or(usize::MAX);
            table.push(match &buffer.role {
                Role::In(input) => self.input(inputs, *input, expected)?,
                Role::Out(output, _) => self.output(outputs, *output, expected)?,
                Role::Const(_) => std::ptr::null_mut(),
                Role::Scratch => {
                    let here = next;
                    next = next.wrapping_add(expected.next_multiple_of(ALIGN));
                    here
                }
            });
        }
        // SAFETY: lengths were just checked, slices cannot overlap when one of them is mutable, and
        // the scratch buffers fit one after the other into `scratch_bytes` of memory.
        unsafe { self.call_raw(&table)? }
        Ok(())
    }

    fn input(&self, inputs: &[&[u8]], input: u32, expected: usize) -> Result<*mut u8, RunError> {
        let count = inputs.len();
        let slice = inputs
            .get(input as usize)
            .ok_or(RunError::InputMissing { input, count })?;
        match slice.len() < expected {
            true => Err(RunError::InputTooShort {
                input,
                bytes: slice.len(),
                expected,
            }),
            false => Ok(slice.as_ptr().cast_mut()),
        }
    }

    fn output(
        &self,
        outputs: &mut [&mut [u8]],
        output: u32,
        expected: usize,
    ) -> Result<*mut u8, RunError> {
        let count = outputs.len();
        let slice = outputs
            .get_mut(output as usize)
            .ok_or(RunError::OutputMissing { output, count })?;
        match slice.len() < expected {
            true => Err(RunError::OutputTooShort {
                output,
                bytes: slice.len(),
                expected,
            }),
            false => Ok(slice.as_mut_ptr()),
        }
    }

    /// Runs all phases on this thread.
    ///
    /// # Safety
    /// `buffers` has one address per buffer of the kernel, in their order, where
    /// * inputs can be read and outputs and scratch be written, each over the bytes its
    ///   declaration says, with any alignment (an entry for a constant is not looked at);
    /// * no output or scratch overlaps any other buffer;
    /// * nobody else writes to any of them, or reads an output or scratch, during the call. What
    ///   lies between the elements of an input may be read as well. Indices may change meanwhile;
    ///   each is loaded once.
    pub unsafe fn call_raw(&self, buffers: &[*mut u8]) -> Result<(), CallError> {
        if self.phases.is_empty() {
            return Ok(());
        }
        // Before anything is written.
        with_frame(self.slots, |frame| {
            for phase in &self.phases {
                // SAFETY: the caller's; chunk 0 of 1 is the whole phase.
                unsafe { run::chunk(phase, self.buffers(buffers), frame, 0, 1)? }
            }
            Ok(())
        })
    }

    /// Whether a chunk allocates: a kernel that has very many variables has them on the heap. Then a
    /// call by chunks may fail for want of memory when others have written already, which
    /// [`Executable::call_raw`] cannot.
    pub fn chunks_allocate(&self) -> bool {
        self.slots > FEW
    }

    /// Runs one chunk of one phase. All chunks `0..chunks` of a phase, in any order and on any
    /// threads, make up the phase; a chunk or phase that does not exist has nothing to do.
    ///
    /// # Safety
    /// As [`Executable::call_raw`], where other chunks of the same phase may run at the same time;
    /// all chunks of the phases before this one have ended, and without an error.
    pub unsafe fn run_chunk(
        &self,
        buffers: &[*mut u8],
        phase: usize,
        chunk: u32,
        chunks: u32,
    ) -> Result<(), CallError> {
        let Some(phase) = self.phases.get(phase) else {
            return Ok(());
        };
        if chunk >= chunks {
            return Ok(());
        }
        with_frame(self.slots, |frame| {
            let buffers = self.buffers(buffers);
            // SAFETY: the caller's.
            unsafe { run::chunk(phase, buffers, frame, chunk, chunks)? }
            Ok(())
        })
    }

    /// The constants among them have the lengths that were verified and are only read.
    fn buffers<'a>(&'a self, addresses: &'a [*mut u8]) -> Buffers<'a> {
        Buffers {
            addresses,
            declared: &self.kernel.buffers,
        }
    }
}

impl std::fmt::Debug for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executable")
            .field("kernel", &self.kernel.name)
            .field("phases", &self.phases.len())
            .finish_non_exhaustive()
    }
}
