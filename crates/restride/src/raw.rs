//! Calls of raw addresses, of which nothing is checked.

use crate::call::Parameter;
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
