//! Calls of raw addresses: with no check, or with those that bytes allow; and programs as addresses, for hosts
//! in other languages.

use crate::call::Parameter;
#[cfg(feature = "unstable")]
use crate::scratch::Region;
use crate::{Program, RunError};

/// What one of the addresses stands for that [`Program::run_raw`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Buffer {
    /// An input, of which bytes up to so many may be read.
    Input {
        /// Which of [`Program::inputs`].
        input: usize,
        /// How many bytes.
        bytes: usize,
    },
    /// An output that is computed, of which bytes up to so many may be written.
    Output {
        /// Which of those that are computed, counted without views.
        output: usize,
        /// How many bytes.
        bytes: usize,
    },
    /// Memory for intermediate results.
    Scratch {
        /// How many bytes.
        bytes: usize,
    },
    /// The program's own: the address is not looked at.
    Constant,
}

impl Program {
    /// What the addresses stand for that [`Program::run_raw`] takes, in their order.
    pub fn buffers(&self) -> impl ExactSizeIterator<Item = Buffer> + '_ {
        let meta = &self.inner.meta;
        let declared = &self.loops().buffers;
        let buffers = meta.parameters.iter().zip(declared);
        buffers.map(|(parameter, declared)| match *parameter {
            Parameter::Input { input, bytes } => Buffer::Input { input, bytes },
            Parameter::Output { output, bytes } => Buffer::Output { output, bytes },
            Parameter::Constant => Buffer::Constant,
            Parameter::Scratch { .. } => Buffer::Scratch {
                bytes: declared.bytes().unwrap_or(usize::MAX),
            },
        })
    }

    /// Runs without a check and without looking at how many buffers there are.
    ///
    /// ```
    /// use restride::{Buffer, ElementType, Engine, Graph};
    ///
    /// let mut g = Graph::new("turned");
    /// let x = g.input("x", ElementType::U8, [2, 3])?;
    /// let t = g.transpose(x, [1, 0])?;
    /// let y = g.reshape(t, [6]).finish()?;
    /// g.output(y)?;
    /// let program = Engine::default().compile(&g)?;
    ///
    /// // Once: which buffer is what.
    /// let buffers: Vec<Buffer> = program.buffers().collect();
    /// assert_eq!(buffers[0], Buffer::Output { output: 0, bytes: 6 });
    /// assert_eq!(buffers[1], Buffer::Input { input: 0, bytes: 6 });
    /// // Then as often as you like.
    /// let (mut x, mut y) = ([1u8, 2, 3, 4, 5, 6], [0u8; 6]);
    /// // SAFETY: both have the bytes that are asked for, and are this function's own.
    /// unsafe { program.run_raw(&[y.as_mut_ptr(), x.as_mut_ptr()])? };
    /// assert_eq!(y, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// `buffers` has one address for each of [`Program::buffers`], in its order. Inputs can
    /// be read and outputs and scratch written over the bytes that are said there, at any
    /// alignment; entries for constants are not looked at. Bools come out as the bytes they went in
    /// as. No output or scratch overlaps another buffer, and nobody else writes to any buffer, or
    /// reads an output or scratch, meanwhile. Of an input that is so for what lies between its
    /// elements too: it may be loaded with them. Indices may change; each is loaded once.
    #[inline]
    pub unsafe fn run_raw(&self, buffers: &[*mut u8]) -> Result<(), RunError> {
        // SAFETY: the caller's.
        let done = unsafe { self.inner.kernel.call(buffers) };
        done.map_err(|failed| self.inner.meta.failure(&failed))
    }
}

/// What a host keeps with a program.
#[cfg(feature = "unstable")]
pub(crate) type Kept = std::sync::OnceLock<Box<dyn std::any::Any + Send + Sync>>;

#[cfg(feature = "unstable")]
impl Program {
    /// As [`Program::run`], on bytes whose elements are what the program says: `input` and `output` say where each argument
    /// is and how many bytes it has. Outputs are those that are computed.
    ///
    /// # Safety
    /// So many bytes can be read there, and written where outputs are, and nobody else writes to them, or reads
    /// outputs, meanwhile; for inputs as in [`TensorRef::from_raw`](crate::TensorRef::from_raw).
    #[inline(always)]
    pub unsafe fn run_at(
        &self,
        counts: (usize, usize),
        input: impl Fn(usize) -> (*mut u8, usize),
        output: impl Fn(usize) -> (*mut u8, usize),
    ) -> Result<(), RunError> {
        self.inner.counted(counts.0, counts.1)?;
        // SAFETY: the caller's.
        unsafe {
            match self.inner.meta.scratch {
                0 => self.run_in_at(Region::NONE, input, output),
                _ => self.with_scratch(|scratch| self.run_in_at(scratch, input, output)),
            }
        }
    }

    /// # Safety
    /// As [`Program::run_at`], of as many arguments as there should be.
    #[inline(always)]
    unsafe fn run_in_at(
        &self,
        scratch: Region,
        input: impl Fn(usize) -> (*mut u8, usize),
        output: impl Fn(usize) -> (*mut u8, usize),
    ) -> Result<(), RunError> {
        let mut table = self.inner.table()?;
        self.inner.place(&mut table, scratch, input, output)?;
        // SAFETY: the table was just filled; the rest is the caller's.
        unsafe { self.inner.run(&table) }
    }

    /// The program as an address, which [`Program::from_raw`] takes once.
    #[must_use]
    pub fn into_raw(self) -> *const std::ffi::c_void {
        std::sync::Arc::into_raw(self.inner).cast()
    }

    /// The program that was an address.
    ///
    /// # Safety
    /// It came from [`Program::into_raw`], and is not taken again.
    #[must_use]
    pub unsafe fn from_raw(address: *const std::ffi::c_void) -> Self {
        // SAFETY: the caller's.
        let inner = unsafe { std::sync::Arc::from_raw(address.cast()) };
        Self { inner }
    }

    /// What a host keeps with a program and all of its clones, made when it is first asked for; nothing if that was
    /// something of another type.
    pub fn kept<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Option<&T> {
        let kept = self.inner.kept.get_or_init(|| Box::new(make()));
        kept.downcast_ref()
    }
}
