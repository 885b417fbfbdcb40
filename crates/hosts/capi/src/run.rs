//! Calls of programs.

use crate::compile::restride_program;
use crate::constants::*;
use crate::describe::{Described, described, restride_tensor};
use crate::failure::{Failure, as_many, call, place, row};
use restride::{Answer, Output, OutputBuffer, ParallelFor, Program, TensorMut, TensorRef};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::ptr::NonNull;

/// Memory of the host's. This structure will never have another size.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct restride_buffer {
    /// Where it begins, at any alignment.
    pub data: *mut c_void,
    /// How many bytes it has; more than are needed is fine.
    pub bytes: usize,
}

/// Asks the host for memory for an output.
pub type restride_allocate = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        output: usize,
        tensor: *const restride_tensor,
        buffer: *mut restride_buffer,
    ) -> restride_status,
>;

/// What a host's threads are to do: `body(context, n)` for every n below `count`.
pub type restride_body = Option<unsafe extern "C" fn(context: *mut c_void, n: usize)>;

/// Runs a body on the host's threads, and returns when all of it has been done.
pub type restride_parallel_for = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        count: usize,
        body: restride_body,
        context: *mut c_void,
    ),
>;

impl restride_buffer {
    /// Where it begins; null is a place as good as any for no bytes.
    #[inline(always)]
    fn start(&self, what: &str, at: usize) -> Result<*mut u8, Failure> {
        let known = !self.data.is_null() && self.bytes <= isize::MAX as usize;
        match known {
            true => Ok(self.data.cast()),
            false => self.unusual(what, at),
        }
    }

    /// Where it begins and what it has, once [`restride_buffer::start`] has found nothing wrong with it.
    #[inline(always)]
    fn place(&self) -> (*mut u8, usize) {
        match self.data.is_null() {
            true => (NonNull::<u8>::dangling().as_ptr(), self.bytes),
            false => (self.data.cast(), self.bytes),
        }
    }

    #[cold]
    fn unusual(&self, what: &str, at: usize) -> Result<*mut u8, Failure> {
        match (self.data.is_null(), self.bytes) {
            (true, 0) => Ok(NonNull::<u8>::dangling().as_ptr()),
            (true, _) => Err(Failure::argument(format!("{what} {at} is null"))),
            (false, bytes) => Err(Failure::argument(format!(
                "{what} {at} cannot have {bytes} bytes"
            ))),
        }
    }
}

/// So many arguments need no allocation.
const FEW: usize = 8;

type Inputs<'a> = SmallVec<[TensorRef<'a>; FEW]>;
type Outputs<'a> = SmallVec<[TensorMut<'a>; FEW]>;

/// The buffers of a call's inputs, each of which is one.
///
/// # Safety
/// `inputs` is null or leads to `count` buffers that stay as they are for as long as the slice lives.
#[inline(always)]
unsafe fn inputs_of<'a>(
    program: &Program,
    inputs: *const restride_buffer,
    count: usize,
) -> Result<&'a [restride_buffer], Failure> {
    // SAFETY: the caller's.
    let buffers = unsafe { row(inputs, count, "inputs") }?;
    as_many("inputs", program.inputs().len(), count)?;
    for (at, buffer) in buffers.iter().enumerate() {
        buffer.start("input", at)?;
    }
    Ok(buffers)
}

/// A buffer for each output; those of views are not looked at.
///
/// # Safety
/// `outputs` is null or leads to `count` buffers that stay as they are for as long as the slice lives.
#[inline(always)]
unsafe fn outputs_of<'a>(
    program: &Program,
    outputs: *const restride_buffer,
    count: usize,
) -> Result<&'a [restride_buffer], Failure> {
    // SAFETY: the caller's.
    let buffers = unsafe { row(outputs, count, "outputs") }?;
    as_many("outputs", program.outputs().len(), count)?;
    Ok(buffers)
}

/// Inputs as tensors.
///
/// # Safety
/// They can be read for as long as the tensors live.
unsafe fn read<'a>(program: &Program, buffers: &[restride_buffer]) -> Result<Inputs<'a>, Failure> {
    let mut tensors = Inputs::new();
    for (at, (ty, buffer)) in program.inputs().iter().zip(buffers).enumerate() {
        let start = buffer.start("input", at)?;
        // SAFETY: the caller's.
        tensors.push(unsafe { TensorRef::from_raw(ty.element(), start, buffer.bytes) });
    }
    Ok(tensors)
}

/// Those outputs as tensors that are written.
///
/// # Safety
/// They can be written to, and nobody else uses them for as long as the tensors live.
unsafe fn written<'a>(
    program: &Program,
    buffers: &[restride_buffer],
) -> Result<Outputs<'a>, Failure> {
    let mut tensors = Outputs::new();
    for (at, (output, buffer)) in program.outputs().iter().zip(buffers).enumerate() {
        if let Output::Computed { ty, .. } = output {
            let start = buffer.start("output", at)?;
            // SAFETY: the caller's.
            tensors.push(unsafe { TensorMut::from_raw(ty.element(), start, buffer.bytes) });
        }
    }
    Ok(tensors)
}

/// See `restride.h`.
///
/// # Safety
/// `program` is null or a program; `inputs` and `outputs` are null or lead to so many buffers, of which
/// inputs can be read, and outputs that are no views can be written to and are used by nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_run(
    program: *const restride_program,
    inputs: *const restride_buffer,
    input_count: usize,
    outputs: *const restride_buffer,
    output_count: usize,
) -> restride_status {
    // SAFETY: the caller's.
    call(|| unsafe {
        let program = crate::compile::program(program)?;
        let inputs = inputs_of(&program, inputs, input_count)?;
        let outputs = outputs_of(&program, outputs, output_count)?;
        if program.computed() < outputs.len() {
            let (from, mut to) = (read(&program, inputs)?, written(&program, outputs)?);
            return Ok(program.run(&from, &mut to)?);
        }
        for (at, buffer) in outputs.iter().enumerate() {
            buffer.start("output", at)?;
        }
        // Without lists of tensors, which would be most of what a call of a small program costs.
        let counts = (inputs.len(), outputs.len());
        Ok(program.run_at(counts, |n| inputs[n].place(), |n| outputs[n].place())?)
    })
}

/// The host's threads.
struct Threads {
    width: usize,
    run: unsafe extern "C" fn(*mut c_void, usize, restride_body, *mut c_void),
    user: *mut c_void,
}

impl ParallelFor for Threads {
    fn width(&self) -> usize {
        self.width
    }

    fn run(&self, count: usize, body: &(dyn Fn(usize) + Sync)) {
        type Body<'a> = &'a (dyn Fn(usize) + Sync);
        unsafe extern "C" fn one(context: *mut c_void, n: usize) {
            // SAFETY: the context is the body below, which outlives the loop.
            let body = unsafe { &*context.cast::<Body<'_>>() };
            // A panic must not reach the host: the chunk then counts as not done.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(n)));
        }
        let context: *const Body<'_> = &body;
        // SAFETY: the host's function, with its own pointer.
        unsafe { (self.run)(self.user, count, Some(one), context.cast_mut().cast()) }
    }
}

/// See `restride.h`.
///
/// # Safety
/// As `restride_program_run`; `run` is null or calls its body as it is told, and has returned from
/// all calls of it when it returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_run_on(
    program: *const restride_program,
    inputs: *const restride_buffer,
    input_count: usize,
    outputs: *const restride_buffer,
    output_count: usize,
    width: usize,
    run: restride_parallel_for,
    user: *mut c_void,
) -> restride_status {
    // SAFETY: the caller's.
    call(|| unsafe {
        let program = crate::compile::program(program)?;
        let run = run.ok_or_else(|| Failure::argument("run is null"))?;
        let threads = Threads { width, run, user };
        let inputs = inputs_of(&program, inputs, input_count)?;
        let outputs = outputs_of(&program, outputs, output_count)?;
        let (from, mut to) = (read(&program, inputs)?, written(&program, outputs)?);
        Ok(program.run_on(&threads, &from, &mut to)?)
    })
}

/// Memory that the host gave for an output.
struct Given<'a> {
    described: &'a Described,
    buffer: restride_buffer,
    start: *mut u8,
}

impl OutputBuffer for Given<'_> {
    fn tensor(&mut self) -> TensorMut<'_> {
        // SAFETY: the host's promise when it gave the memory.
        unsafe { TensorMut::from_raw(self.described.element(), self.start, self.buffer.bytes) }
    }
}

/// See `restride.h`.
///
/// # Safety
/// As `restride_program_run`, for the buffers that `allocate` gives; `answers` is null or has room for
/// so many buffers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_run_with(
    program: *const restride_program,
    inputs: *const restride_buffer,
    input_count: usize,
    allocate: restride_allocate,
    user: *mut c_void,
    answers: *mut restride_buffer,
    answer_count: usize,
) -> restride_status {
    // SAFETY: the caller's.
    call(|| unsafe {
        let program = crate::compile::program(program)?;
        let allocate = allocate.ok_or_else(|| Failure::argument("allocate is null"))?;
        let described = &described(&program)?.outputs;
        if !answers.is_null() && answer_count != described.len() {
            let needed = described.len();
            return Err(Failure::new(
                RESTRIDE_BUFFERS,
                format!("outputs of the program: {needed}, with room for {answer_count}"),
            ));
        }
        let given = |at: usize| {
            let described = &described[at];
            let tensor = described.tensor();
            let mut buffer = restride_buffer {
                data: std::ptr::null_mut(),
                bytes: 0,
            };
            match allocate(user, at, &tensor, &mut buffer) {
                RESTRIDE_OK => {}
                status => {
                    return Err(Failure::new(
                        RESTRIDE_CALLBACK,
                        format!("the host gave status {status} instead of memory for output {at}"),
                    ));
                }
            }
            let start = buffer.start("output", at)?;
            Ok(Given {
                described,
                buffer,
                start,
            })
        };
        let buffers = inputs_of(&program, inputs, input_count)?;
        let from = read(&program, buffers)?;
        let done = program.run_with(&from, |at, _| given(at))?;
        if answers.is_null() {
            return Ok(());
        }
        for (at, answer) in done.into_iter().enumerate() {
            let buffer = match answer {
                Answer::Written(given) => given.buffer,
                Answer::View { input } => buffers[input],
            };
            *place(answers.add(at), "answers")? = buffer;
        }
        Ok(())
    })
}
