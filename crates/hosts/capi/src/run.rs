//! Calls of programs.

use crate::compile::restride_program;
use crate::constants::*;
use crate::describe::{Described, restride_tensor};
use crate::failure::{Failure, as_many, call, place, row, some};
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
    fn start(&self, what: &str, at: usize) -> Result<*mut u8, Failure> {
        match (self.data.is_null(), self.bytes) {
            (true, 0) => Ok(NonNull::<u8>::dangling().as_ptr()),
            (true, _) => Err(Failure::argument(format!("{what} {at} is null"))),
            (false, bytes) if bytes > isize::MAX as usize => Err(Failure::argument(format!(
                "{what} {at} cannot have {bytes} bytes"
            ))),
            (false, _) => Ok(self.data.cast()),
        }
    }
}

/// So many arguments need no allocation.
const FEW: usize = 8;

/// The inputs as the program wants them, and the buffers that they are.
type Inputs<'a> = (SmallVec<[TensorRef<'a>; FEW]>, &'a [restride_buffer]);

/// The inputs of a call.
///
/// # Safety
/// `inputs` is null or leads to `count` buffers that can be read for as long as the tensors live.
unsafe fn read<'a>(
    program: &Program,
    inputs: *const restride_buffer,
    count: usize,
) -> Result<Inputs<'a>, Failure> {
    // SAFETY: the caller's.
    let buffers = unsafe { row(inputs, count, "inputs") }?;
    let types = program.inputs();
    as_many("inputs", types.len(), buffers.len())?;
    let tensors = types.iter().zip(buffers).enumerate();
    let tensors = tensors.map(|(at, (ty, buffer))| {
        let start = buffer.start("input", at)?;
        // SAFETY: the caller's.
        Ok(unsafe { TensorRef::from_raw(ty.element(), start, buffer.bytes) })
    });
    Ok((tensors.collect::<Result<_, Failure>>()?, buffers))
}

/// The outputs that are written, of a buffer for each output.
///
/// # Safety
/// `outputs` is null or leads to `count` buffers; those of outputs that are written can be written to,
/// and nobody else uses them for as long as the tensors live.
unsafe fn written<'a>(
    program: &Program,
    outputs: *const restride_buffer,
    count: usize,
) -> Result<SmallVec<[TensorMut<'a>; FEW]>, Failure> {
    // SAFETY: the caller's.
    let buffers = unsafe { row(outputs, count, "outputs") }?;
    as_many("outputs", program.outputs().len(), buffers.len())?;
    let mut tensors = SmallVec::new();
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
        let program = some(program, "program")?.program();
        let (inputs, _) = read(program, inputs, input_count)?;
        let mut outputs = written(program, outputs, output_count)?;
        Ok(program.run(&inputs, &mut outputs)?)
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
        let program = some(program, "program")?.program();
        let run = run.ok_or_else(|| Failure::argument("run is null"))?;
        let threads = Threads { width, run, user };
        let (inputs, _) = read(program, inputs, input_count)?;
        let mut outputs = written(program, outputs, output_count)?;
        Ok(program.run_on(&threads, &inputs, &mut outputs)?)
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
        let program = some(program, "program")?;
        let allocate = allocate.ok_or_else(|| Failure::argument("allocate is null"))?;
        let described = &program.described().outputs;
        if !answers.is_null() && answer_count != described.len() {
            let needed = described.len();
            return Err(Failure::new(
                RESTRIDE_BUFFERS,
                format!("the program has {needed} outputs, there is room for {answer_count}"),
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
        let (inputs, buffers) = read(program.program(), inputs, input_count)?;
        let done = program.program().run_with(&inputs, |at, _| given(at))?;
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
