//! One call: arguments checked once, then run any number of times.

use crate::meta::Meta;
use crate::overlap::{ByteSpan, disjoint};
use crate::program::Inner;
use crate::scratch::Region;
use crate::tensor::Claim;
use crate::{Argument, ParallelFor, RunError, TensorMut, TensorRef};
use restride_graph::{ElementType, TensorType};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an entry of a kernel's buffer table is filled with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parameter {
    Input { input: usize, bytes: usize },
    Output { output: usize, bytes: usize },
    Scratch { offset: usize },
    Constant,
}

impl Parameter {
    /// What it occupies of the caller's memory.
    #[inline]
    fn span(&self, start: *mut u8) -> Option<ByteSpan> {
        let (argument, bytes) = match *self {
            Self::Input { input, bytes } => (Argument::Input(input), bytes),
            Self::Output { output, bytes } => (Argument::Output(output), bytes),
            Self::Scratch { .. } | Self::Constant => return None,
        };
        Some(ByteSpan {
            argument,
            start: start as usize,
            bytes,
        })
    }
}

/// The addresses of a kernel's buffers.
pub(crate) type Table = SmallVec<[*mut u8; FEW]>;

/// So many need no allocation.
const FEW: usize = 8;

/// A program with its arguments: they are checked, and borrowed for as long as it lives.
pub struct Call<'a> {
    program: &'a Inner,
    table: Table,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: the addresses stand for slices that are borrowed, shared or exclusively.
unsafe impl Send for Call<'_> {}
// SAFETY: what can be done with a shared reference is unsafe, and says what has to hold.
unsafe impl Sync for Call<'_> {}

impl<'a> Call<'a> {
    /// The caller sees to it that the arguments outlive the call, and that nobody else uses the
    /// outputs and the scratch until then: they are borrowed here for less.
    pub(crate) fn new(
        program: &'a Inner,
        inputs: &[TensorRef<'_>],
        outputs: &[TensorMut<'_>],
        scratch: Region,
    ) -> Result<Self, RunError> {
        let mut table = program.table()?;
        program.fill(&mut table, inputs, outputs, scratch)?;
        Ok(Self {
            program,
            table,
            borrow: PhantomData,
        })
    }

    /// Runs on this thread.
    #[inline]
    pub fn run(&mut self) -> Result<(), RunError> {
        // SAFETY: the program filled the table, and the arguments are borrowed.
        unsafe { self.program.run(&self.table) }
    }

    /// Runs with the work shared out by the caller's threads. What they leave undone is done on
    /// this one.
    pub fn run_on(&mut self, pool: &dyn ParallelFor) -> Result<(), RunError> {
        let chunks = pool.width().clamp(1, 1024);
        if chunks == 1 || !self.program.kernel.is_shared() {
            return self.run();
        }
        let (claimed, done) = (flags(chunks)?, flags(chunks)?);
        let call: &Self = self;
        for phase in 0..call.phases() {
            for flag in claimed.iter().chain(&done) {
                flag.store(false, Ordering::Release);
            }
            let failure = Mutex::new(None);
            let run = |chunk: usize| {
                let Some(claim) = claimed.get(chunk) else {
                    return;
                };
                if claim.swap(true, Ordering::AcqRel) {
                    return;
                }
                // SAFETY: the claim makes this the only call for the chunk, and every phase before
                // has ended, which was seen below.
                let result = unsafe { call.chunk(phase, chunk as u32, chunks as u32) };
                if let (Err(error), Ok(mut failure)) = (result, failure.lock()) {
                    failure.get_or_insert(error);
                }
                done[chunk].store(true, Ordering::Release);
            };
            pool.run(chunks, &run);
            (0..chunks).for_each(run);
            let missing = done.iter().filter(|d| !d.load(Ordering::Acquire)).count();
            if missing > 0 {
                return Err(RunError::ChunksMissing { missing });
            }
            if let Ok(Some(error)) = failure.into_inner() {
                return Err(error);
            }
        }
        Ok(())
    }

    /// How many phases a run has; every chunk of one has ended before the next begins.
    #[must_use]
    pub fn phases(&self) -> usize {
        self.program.kernel.phases()
    }

    /// Runs one of `chunks` parts of a phase.
    ///
    /// This is for schedulers that place the parts themselves; [`Call::run_on`] does it for the others.
    ///
    /// ```
    /// use restride::{ElementType, Engine, Graph, TensorMut, TensorRef};
    ///
    /// let mut g = Graph::new("heads");
    /// let x = g.input("x", ElementType::F32, [64, 32, 96])?;
    /// let y = g.transpose(x, [1, 0, 2])?;
    /// let y = g.reshape(y, [32, 6144]).finish()?;
    /// g.output(y)?;
    /// let program = Engine::default().compile(&g)?;
    ///
    /// let x = vec![1f32; 64 * 32 * 96];
    /// let mut y = vec![0f32; x.len()];
    /// let mut scratch = vec![0; program.summary().scratch_bytes];
    /// let call = program.bind_in(&[TensorRef::new(&x)], [TensorMut::new(&mut y)], &mut scratch)?;
    /// for phase in 0..call.phases() {
    ///     std::thread::scope(|threads| {
    ///         let parts: Vec<_> = (0..2)
    ///             // SAFETY: each chunk once, and the threads of a phase end before the next begins.
    ///             .map(|chunk| threads.spawn({ let call = &call; move || unsafe { call.chunk(phase, chunk, 2) } }))
    ///             .collect();
    ///         parts.into_iter().try_for_each(|part| part.join().expect("no panic"))
    ///     })?;
    /// }
    /// # drop(call);
    /// # assert!(y.iter().all(|&v| v == 1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// Each chunk of a phase runs once, all chunks of the phases before have ended without an
    /// error, and nothing else of this call runs meanwhile but other chunks of the same phase.
    pub unsafe fn chunk(&self, phase: usize, chunk: u32, chunks: u32) -> Result<(), RunError> {
        // SAFETY: as in `run`, and the caller's for the order of chunks.
        let done = unsafe { self.program.kernel.chunk(&self.table, phase, chunk, chunks) };
        done.map_err(|failed| self.program.meta.failure(&failed))
    }
}

/// A flag for each chunk.
fn flags(chunks: usize) -> Result<Vec<AtomicBool>, RunError> {
    let mut flags = Vec::new();
    flags
        .try_reserve_exact(chunks)
        .map_err(|_| RunError::OutOfMemory { bytes: chunks })?;
    flags.resize_with(chunks, AtomicBool::default);
    Ok(flags)
}

fn long_enough(argument: Argument, got: usize, expected: usize) -> Result<(), RunError> {
    if got < expected {
        Err(RunError::TooShort {
            argument,
            got,
            expected,
        })
    } else {
        Ok(())
    }
}

impl Meta {
    /// Refuses bytes as bools where a slice of Rust's `bool` is written. Constants of a graph are
    /// bools if they say so, and nothing but bools comes out as bools.
    fn only_bools(&self, inputs: &[TensorRef<'_>], output: usize) -> Result<(), RunError> {
        let bytes = |(ty, input): (&TensorType, &TensorRef<'_>)| {
            ty.element() == ElementType::Bool && input.claim != Claim::Values(ElementType::Bool)
        };
        match self.inputs.iter().zip(inputs).position(bytes) {
            None => Ok(()),
            Some(input) => Err(RunError::NotBool {
                output: Argument::Output(output),
                input: Argument::Input(input),
            }),
        }
    }
}

impl Inner {
    /// A table to be filled.
    #[inline]
    pub(crate) fn table(&self) -> Result<Table, RunError> {
        match self.meta.parameters.len() {
            count @ 0..=FEW => Ok(Table::from_buf_and_len([std::ptr::null_mut(); FEW], count)),
            count => {
                let bytes = count * size_of::<*mut u8>();
                let mut table = Table::new();
                table
                    .try_reserve_exact(count)
                    .map_err(|_| RunError::OutOfMemory { bytes })?;
                table.resize(count, std::ptr::null_mut());
                Ok(table)
            }
        }
    }

    /// Checks the arguments and enters where they are.
    #[inline(always)]
    pub(crate) fn fill(
        &self,
        table: &mut [*mut u8],
        inputs: &[TensorRef<'_>],
        outputs: &[TensorMut<'_>],
        scratch: Region,
    ) -> Result<(), RunError> {
        self.counted(inputs.len(), outputs.len())?;
        for (n, input) in inputs.iter().enumerate() {
            self.check_element(Argument::Input(n), input.claim)?;
        }
        for (n, output) in outputs.iter().enumerate() {
            self.check_element(Argument::Output(n), output.claim)?;
            if output.claim == Claim::Values(ElementType::Bool) {
                self.meta.only_bools(inputs, n)?;
            }
        }
        let input = |n: usize| (inputs[n].start.cast_mut(), inputs[n].bytes);
        let output = |n: usize| (outputs[n].start, outputs[n].bytes);
        self.place(table, scratch, input, output)
    }

    /// Refuses another number of arguments than there are.
    #[inline(always)]
    pub(crate) fn counted(&self, inputs: usize, outputs: usize) -> Result<(), RunError> {
        let meta = &self.meta;
        if inputs != meta.inputs.len() {
            let (expected, got) = (meta.inputs.len(), inputs);
            return Err(RunError::InputCount { expected, got });
        }
        if outputs != meta.computed.len() {
            let (expected, got) = (meta.computed.len(), outputs);
            return Err(RunError::OutputCount { expected, got });
        }
        Ok(())
    }

    /// Enters where the arguments are, of which there are as many as there should be: each is a place and bytes.
    #[inline(always)]
    pub(crate) fn place(
        &self,
        table: &mut [*mut u8],
        scratch: Region,
        input: impl Fn(usize) -> (*mut u8, usize),
        output: impl Fn(usize) -> (*mut u8, usize),
    ) -> Result<(), RunError> {
        let meta = &self.meta;
        if scratch.bytes < meta.scratch {
            let (got, expected) = (scratch.bytes, meta.scratch);
            return Err(RunError::ScratchTooShort { got, expected });
        }
        let parameters = &meta.parameters[..];
        for (parameter, address) in parameters.iter().zip(&mut *table) {
            *address = match *parameter {
                Parameter::Input { input: n, bytes } => {
                    let (start, got) = input(n);
                    long_enough(Argument::Input(n), got, bytes)?;
                    start
                }
                Parameter::Output { output: n, bytes } => {
                    let (start, got) = output(n);
                    long_enough(Argument::Output(n), got, bytes)?;
                    start
                }
                Parameter::Scratch { offset } => scratch.start.wrapping_add(offset),
                Parameter::Constant => continue,
            };
        }
        // Scratch is the call's own.
        disjoint(parameters.len(), |at| parameters[at].span(table[at]))
    }

    /// Runs on this thread.
    ///
    /// # Safety
    /// The table was filled: lengths were checked, and buffers that are written overlap no other.
    /// The inputs are still borrowed, outputs and scratch exclusively.
    #[inline]
    pub(crate) unsafe fn run(&self, table: &[*mut u8]) -> Result<(), RunError> {
        // SAFETY: the caller's.
        let done = unsafe { self.kernel.call(table) };
        done.map_err(|failed| self.meta.failure(&failed))
    }

    #[inline]
    fn check_element(&self, argument: Argument, claim: Claim) -> Result<(), RunError> {
        let (Claim::Values(got) | Claim::Named(got)) = claim else {
            return Ok(());
        };
        match self.meta.element(argument) {
            Some(expected) if expected != got => Err(RunError::Element {
                argument,
                got,
                expected,
            }),
            Some(_) | None => Ok(()),
        }
    }
}
