//! What a program takes and answers.

use crate::compile::{restride_program, write_text};
use crate::constants::*;
use crate::failure::{Failure, c_string, call, known_size, place};
use restride::{ElementType, Output, Program, TensorType};
use std::ffi::{CString, c_char};
use std::ptr::null;

/// An input, or an output. Its pointers live as long as the program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct restride_tensor {
    /// `sizeof(restride_tensor)`, set by the caller.
    pub size: usize,
    /// One of the element types.
    pub element: u32,
    /// Whether it is a view of an input, which nobody passes. 0 for inputs.
    pub is_view: u32,
    /// Of which input.
    pub input: usize,
    /// How many axes.
    pub rank: usize,
    /// Their sizes.
    pub sizes: *const i64,
    /// Their strides in elements; null is dense and row-major.
    pub strides: *const i64,
    /// Elements from the start of the buffer to the first one.
    pub offset: i64,
    /// How many bytes its buffer must have; of a view, those of its elements laid dense.
    pub bytes: usize,
    /// What keeps an output from being a view; null for views and inputs.
    pub why: *const c_char,
}

/// What a program consists of and what a call moves.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct restride_summary {
    /// `sizeof(restride_summary)`, set by the caller.
    pub size: usize,
    /// How many inputs it takes.
    pub inputs: usize,
    /// How many outputs it answers, views included.
    pub outputs: usize,
    /// How many of them a call writes.
    pub computed: usize,
    /// Passes over memory.
    pub passes: usize,
    /// Bytes of scratch that a call needs.
    pub scratch_bytes: usize,
    /// Bytes of machine code; 0 if it has none.
    pub code_bytes: usize,
    /// Bytes that a call reads from memory.
    pub bytes_read: u64,
    /// Bytes that a call writes.
    pub bytes_written: u64,
}

/// What there is to tell of a program, in C's terms.
pub(crate) struct Description {
    inputs: Vec<Described>,
    pub(crate) outputs: Vec<Described>,
}

pub(crate) struct Described {
    ty: TensorType,
    /// Which input it is a view of.
    pub(crate) view: Option<usize>,
    why: Option<CString>,
}

impl Described {
    fn new(ty: TensorType) -> Self {
        Self {
            ty,
            view: None,
            why: None,
        }
    }

    pub(crate) fn element(&self) -> ElementType {
        self.ty.element()
    }

    /// How many bytes its buffer must have.
    pub(crate) fn bytes(&self) -> usize {
        match self.view {
            None => self.ty.required_elements() * self.ty.element().width(),
            Some(_) => self.ty.byte_size(),
        }
    }

    pub(crate) fn tensor(&self) -> restride_tensor {
        let layout = self.ty.layout();
        restride_tensor {
            size: size_of::<restride_tensor>(),
            element: number(self.ty.element()),
            is_view: self.view.is_some().into(),
            input: self.view.unwrap_or(0),
            rank: self.ty.rank(),
            sizes: self.ty.shape().as_ptr(),
            strides: layout.map_or(null(), |at| at.strides.as_ptr()),
            offset: layout.map_or(0, |at| at.offset),
            bytes: self.bytes(),
            why: self.why.as_ref().map_or(null(), |why| why.as_ptr()),
        }
    }
}

impl Description {
    pub(crate) fn of(program: &Program) -> Self {
        let output = |output: &Output| match output {
            Output::View { input, layout, ty } => Described {
                // It lies in an input, so its layout fits.
                ty: ty.clone().with_layout(layout.clone()).unwrap_or(ty.clone()),
                view: Some(*input),
                why: None,
            },
            Output::Computed { ty, why } => Described {
                why: Some(c_string(why)),
                ..Described::new(ty.clone())
            },
        };
        Self {
            inputs: program
                .inputs()
                .iter()
                .cloned()
                .map(Described::new)
                .collect(),
            outputs: program.outputs().iter().map(output).collect(),
        }
    }
}

/// What there is to tell of a program, made when it is first asked for and kept with the program.
pub(crate) fn described(program: &Program) -> Result<&Description, Failure> {
    let kept = program.kept(|| Description::of(program));
    kept.ok_or_else(|| Failure::new(RESTRIDE_PANIC, "something else is kept with the program"))
}

/// Tells about one of some tensors.
///
/// # Safety
/// `tensor` is null or can be written to.
unsafe fn tell(
    all: &[Described],
    at: usize,
    what: &str,
    tensor: *mut restride_tensor,
) -> Result<(), Failure> {
    // SAFETY: the caller's.
    let place = unsafe { place(tensor, "tensor") }?;
    known_size(place.size, size_of::<restride_tensor>(), "tensor")?;
    let Some(described) = all.get(at) else {
        let count = all.len();
        return Err(Failure::argument(format!("{what} {at} of {count}")));
    };
    *place = restride_tensor {
        size: place.size,
        ..described.tensor()
    };
    Ok(())
}

/// See `restride.h`.
///
/// # Safety
/// `program` is null or a program, `tensor` null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_input(
    program: *const restride_program,
    input: usize,
    tensor: *mut restride_tensor,
) -> restride_status {
    // SAFETY: the caller's.
    call(|| unsafe {
        let program = crate::compile::program(program)?;
        tell(&described(&program)?.inputs, input, "input", tensor)
    })
}

/// See `restride.h`.
///
/// # Safety
/// `program` is null or a program, `tensor` null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_output(
    program: *const restride_program,
    output: usize,
    tensor: *mut restride_tensor,
) -> restride_status {
    // SAFETY: the caller's.
    call(|| unsafe {
        let program = crate::compile::program(program)?;
        tell(&described(&program)?.outputs, output, "output", tensor)
    })
}

/// See `restride.h`.
///
/// # Safety
/// `program` is null or a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_input_count(program: *const restride_program) -> usize {
    // SAFETY: the caller's.
    unsafe { crate::compile::program(program) }.map_or(0, |program| program.inputs().len())
}

/// See `restride.h`.
///
/// # Safety
/// `program` is null or a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_output_count(program: *const restride_program) -> usize {
    // SAFETY: the caller's.
    unsafe { crate::compile::program(program) }.map_or(0, |program| program.outputs().len())
}

/// See `restride.h`.
///
/// # Safety
/// `program` is null or a program, `summary` null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_summary(
    program: *const restride_program,
    summary: *mut restride_summary,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let (program, place) = unsafe {
            (
                crate::compile::program(program)?,
                place(summary, "summary")?,
            )
        };
        known_size(place.size, size_of::<restride_summary>(), "summary")?;
        let of = program.summary();
        *place = restride_summary {
            size: place.size,
            inputs: program.inputs().len(),
            outputs: program.outputs().len(),
            computed: program.computed(),
            passes: of.stages,
            scratch_bytes: of.scratch_bytes,
            code_bytes: of.code_bytes,
            bytes_read: of.traffic.read as u64,
            bytes_written: of.traffic.written as u64,
        };
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `program` is null or a program, `buffer` is null or has `capacity` bytes to write to, `needed` is
/// null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_text(
    program: *const restride_program,
    what: u32,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let program = unsafe { crate::compile::program(program) }?;
        let text = match what {
            RESTRIDE_TEXT_KERNEL => program.kernel().to_string(),
            RESTRIDE_TEXT_ASSEMBLY => program.disassembly().unwrap_or_default(),
            other => return Err(Failure::argument(format!("there is no text {other}"))),
        };
        // SAFETY: the caller's.
        unsafe { write_text(&text, buffer, capacity, needed) }
    })
}

/// See `restride.h`.
#[unsafe(no_mangle)]
pub extern "C" fn restride_version() -> u32 {
    RESTRIDE_VERSION
}

/// The version: major, minor and patch, a byte for each of the last two.
pub const RESTRIDE_VERSION: u32 = 0x0000_0100;

/// See `restride.h`.
#[unsafe(no_mangle)]
pub extern "C" fn restride_element_width(element_: u32) -> usize {
    element(element_).map_or(0, ElementType::width)
}
