//! Texts, templates and programs.

use crate::config::restride_engine;
use crate::constants::*;
use crate::failure::{Failure, call, destroy, place, row, some};
use restride::{Graph, InputShape, Program, Source, Template};
use smallvec::SmallVec;
use std::ffi::c_char;
use std::mem::ManuallyDrop;

/// A graph whose shapes are known when it runs.
pub struct restride_template(Template);

/// A compiled graph. There is none: its address is that of the program itself, so that handing one out allocates nothing.
pub struct restride_program(());

/// The shape, and if it is not dense the layout, of an input of a template.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct restride_shape {
    /// How many axes.
    pub rank: usize,
    /// Their sizes.
    pub sizes: *const i64,
    /// Their strides in elements; null is dense and row-major, and then the offset is 0.
    pub strides: *const i64,
    /// Elements from the start of the buffer to the first one.
    pub offset: i64,
}

/// The program at an address, which stays the host's.
///
/// # Safety
/// It is null or was handed out, and is not destroyed meanwhile.
#[inline]
pub(crate) unsafe fn program(
    address: *const restride_program,
) -> Result<ManuallyDrop<Program>, Failure> {
    // SAFETY: the caller's.
    unsafe { some(address, "program") }?;
    // SAFETY: it came from `hand_out`, and is not dropped here.
    Ok(ManuallyDrop::new(unsafe {
        Program::from_raw(address.cast())
    }))
}

/// The graph of a text.
///
/// # Safety
/// `text` is null or has `length` bytes to read.
unsafe fn graph(text: *const c_char, length: usize) -> Result<Graph, Failure> {
    // SAFETY: the caller's.
    let bytes = unsafe { row(text.cast::<u8>(), length, "text") }?;
    let text = std::str::from_utf8(bytes)
        .map_err(|error| Failure::new(RESTRIDE_PARSE, error.to_string()))?;
    Graph::parse(text)
        .map_err(|errors| Failure::new(RESTRIDE_PARSE, errors.render(&Source::new("text", text))))
}

/// Hands a program out.
fn hand_out(program: Program, place: &mut *mut restride_program) {
    *place = program.into_raw().cast_mut().cast();
}

/// See `restride.h`.
///
/// # Safety
/// `engine` is null or an engine, `text` null or of `length` bytes, `program` null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_engine_compile(
    engine: *const restride_engine,
    text: *const c_char,
    length: usize,
    program: *mut *mut restride_program,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let (engine, place) = unsafe { (some(engine, "engine")?, place(program, "program")?) };
        // SAFETY: the caller's.
        let graph = unsafe { graph(text, length) }?;
        hand_out(engine.0.compile(&graph)?, place);
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `text` is null or has `length` bytes, `template_` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_template_create(
    text: *const c_char,
    length: usize,
    template_: *mut *mut restride_template,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let place = unsafe { place(template_, "template") }?;
        // SAFETY: the caller's.
        let template = Template::new(unsafe { graph(text, length) }?);
        *place = Box::into_raw(Box::new(restride_template(template)));
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `template_` is null or a template that nobody uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_template_destroy(template_: *mut restride_template) {
    // SAFETY: the caller's: it came from `restride_template_create`.
    unsafe { destroy(template_) }
}

/// The shape of an input.
///
/// # Safety
/// Its pointers are null or lead to as many numbers as it has axes.
unsafe fn input_shape<'a>(shape: &restride_shape) -> Result<InputShape<'a>, Failure> {
    // SAFETY: the caller's.
    let sizes = unsafe { row(shape.sizes, shape.rank, "sizes") }?;
    if shape.strides.is_null() {
        return match shape.offset {
            0 => Ok(InputShape::dense(sizes)),
            _ => Err(Failure::argument("an offset without strides")),
        };
    }
    // SAFETY: the caller's.
    let strides = unsafe { row(shape.strides, shape.rank, "strides") }?;
    Ok(InputShape::strided(sizes, shape.offset, strides))
}

/// See `restride.h`.
///
/// # Safety
/// `engine` and `template_` are null or what they are called, `shapes` is null or leads to `count`
/// shapes, whose pointers are null or lead to as many numbers as they have axes; `program` is null or
/// can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_engine_specialise(
    engine: *const restride_engine,
    template_: *const restride_template,
    shapes: *const restride_shape,
    count: usize,
    program: *mut *mut restride_program,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let (engine, place) = unsafe { (some(engine, "engine")?, place(program, "program")?) };
        // SAFETY: the caller's.
        let (template, shapes) =
            unsafe { (some(template_, "template")?, row(shapes, count, "shapes")?) };
        let mut inputs = SmallVec::<[InputShape<'_>; 8]>::new();
        for shape in shapes {
            // SAFETY: the caller's.
            inputs.push(unsafe { input_shape(shape) }?);
        }
        hand_out(engine.0.specialise(&template.0, &inputs)?, place);
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `program` is null or a program, `shared` null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_share(
    program: *const restride_program,
    shared: *mut *mut restride_program,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let (program, place) = unsafe { (self::program(program)?, place(shared, "shared")?) };
        hand_out(Program::clone(&program), place);
        Ok(())
    })
}

/// See `restride.h`.
///
/// # Safety
/// `program` is null or a program that nobody uses any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_program_destroy(program: *mut restride_program) {
    if !program.is_null() {
        call(|| {
            // SAFETY: the caller's: it came from one of the functions that hand programs out.
            drop(unsafe { Program::from_raw(program.cast()) });
            Ok(())
        });
    }
}

/// See `restride.h`.
///
/// # Safety
/// `text` is null or has `length` bytes, `buffer` is null or has `capacity` bytes to write to, `needed`
/// is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_format(
    text: *const c_char,
    length: usize,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> restride_status {
    call(|| {
        // SAFETY: the caller's.
        let graph = unsafe { graph(text, length) }?;
        // SAFETY: the caller's.
        unsafe { write_text(&graph.to_string(), buffer, capacity, needed) }
    })
}

/// Writes as much of a text as there is room for, and a null byte after it.
///
/// # Safety
/// `buffer` is null or has `capacity` bytes to write to, `needed` is null or can be written to.
pub(crate) unsafe fn write_text(
    text: &str,
    buffer: *mut c_char,
    capacity: usize,
    needed: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: the caller's.
    if let Some(needed) = unsafe { needed.as_mut() } {
        *needed = text.len();
    }
    if capacity == 0 {
        return Ok(());
    }
    if buffer.is_null() {
        return Err(Failure::argument("buffer is null"));
    }
    let length = text.len().min(capacity - 1);
    // SAFETY: the caller's: there is room for that many and the null byte.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast::<u8>(), length);
        buffer.add(length).write(0);
    }
    Ok(())
}
