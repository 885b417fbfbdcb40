//! One call: arguments checked once, then run any number of times.

use crate::overlap::{Span, disjoint};
use crate::program::{Inner, Meta};
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
    fn span(&self, start: *mut u8) -> Option<Span> {
        let (argument, bytes) = match *self {
            Self::Input { input, bytes } => (Argument::Input(input), bytes),
            Self::Output { output, bytes } => (Argument::Output(output), bytes),
            Self::Scratch { .. } | Self::Constant => return None,
        };
        Some(Span {
            argument,
            start: start as usize,
            bytes,
        })
    }
}

/// A program with its arguments: they are checked, and borrowed for as long as it lives.
pub struct Call<'a> {
    program: &'a Inner,
    table: SmallVec<[*mut u8; 8]>,
    borrow: PhantomData<&'a mut [u8]>,
}

// SAFETY: the addresses stand for slices that are borrowed, shared or exclusively.
unsafe impl Send for Call<'_> {}
// SAFETY: what can be done with a shared reference is unsafe, and says what has to hold.
unsafe impl Sync for Call<'_> {}

impl<'a> Call<'a> {
    /// The caller sees to it that the arguments outlive the call, and that nobody else uses the
    /// outputs and the scratch until then: they are borrowed here for less.
    #[inline]
    pub(crate) fn new(
        program: &'a Inner,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
        scratch: &mut [u8],
    ) -> Result<Self, RunError> {
        let meta = &program.meta;
        if inputs.len() != meta.inputs.len() {
            let (expected, got) = (meta.inputs.len(), inputs.len());
            return Err(RunError::InputCount { expected, got });
        }
        if outputs.len() != meta.computed.len() {
            return Err(RunError::OutputCount {
                expected: meta.computed.len(),
                got: outputs.len(),
            });
        }
        if scratch.len() < meta.scratch {
            return Err(RunError::OutOfMemory {
                bytes: meta.scratch,
            });
        }
        let mut table: SmallVec<[*mut u8; 8]> = SmallVec::new();
        let bytes = meta.parameters.len() * size_of::<*mut u8>();
        table
            .try_reserve_exact(meta.parameters.len())
            .map_err(|_| RunError::OutOfMemory { bytes })?;
        let element = |argument, claim| program.check_element(argument, claim);
        for (n, input) in inputs.iter().enumerate() {
            element(Argument::Input(n), input.claim)?;
        }
        for (n, output) in outputs.iter().enumerate() {
            element(Argument::Output(n), output.claim)?;
            if output.claim == Claim::Values(ElementType::Bool) {
                meta.only_bools(inputs, n)?;
            }
        }
        for parameter in &meta.parameters {
            table.push(match *parameter {
                Parameter::Input { input, bytes } => {
                    let tensor = &inputs[input];
                    long_enough(Argument::Input(input), tensor.bytes, bytes)?;
                    tensor.start.cast_mut()
                }
                Parameter::Output { output, bytes } => {
                    let tensor = &outputs[output];
                    long_enough(Argument::Output(output), tensor.bytes, bytes)?;
                    tensor.start
                }
                Parameter::Scratch { offset } => scratch.as_mut_ptr().wrapping_add(offset),
                Parameter::Constant => std::ptr::null_mut(),
            });
        }
        // Scratch is the call's own.
        let spans = || {
            let parameters = meta.parameters.iter().zip(&table);
            parameters.filter_map(|(parameter, start)| parameter.span(*start))
        };
        disjoint(table.len(), outputs.len(), spans)?;
        Ok(Self {
            program,
            table,
            borrow: PhantomData,
        })
    }

    /// Runs on this thread.
    #[inline]
    pub fn run(&mut self) -> Result<(), RunError> {
        // SAFETY: lengths were checked, buffers that are written overlap no other, and all are
        // borrowed: inputs shared, the others exclusively.
        let done = unsafe { self.program.kernel.call(&self.table) };
        done.map_err(|failed| self.program.meta.failure(&failed))
    }

    /// Runs with the work shared out by the caller's threads. What they leave undone is done on
    /// this one.
    pub fn run_on(&mut self, pool: &dyn ParallelFor) -> Result<(), RunError> {
        let chunks = pool.width().clamp(1, 1024);
        if chunks == 1 || !self.program.kernel.kernel().is_parallel() {
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
