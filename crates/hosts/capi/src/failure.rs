//! What went wrong, kept for the thread on which it did.

use crate::constants::*;
use restride::{CompileError, OffendingIndex, RunError};
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What went wrong. The texts live until the next failure on the same thread.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct restride_failure {
    /// `sizeof(restride_failure)`, set by the caller.
    pub size: usize,
    /// The status that was returned.
    pub status: restride_status,
    /// All of it in words.
    pub message: *const c_char,
    /// The operator that it is about and its value, as `gather %rows`; null if it is about none.
    pub label: *const c_char,
    /// For `RESTRIDE_INDEX`, where in the index tensor; else -1.
    pub position: i64,
    /// For `RESTRIDE_INDEX`, the index, or the nearest number there is; else 0.
    pub value: i64,
    /// For `RESTRIDE_INDEX`, the size of the axis; else 0.
    pub limit: i64,
}

/// What went wrong, in Rust: a box, so that what goes right has no room to make for it.
#[derive(Default)]
pub(crate) struct Failure(Box<Told>);

#[derive(Default)]
struct Told {
    status: restride_status,
    message: CString,
    label: Option<CString>,
    index: Option<(u64, i64, i64)>,
}

thread_local! {
    static LAST: RefCell<Failure> = RefCell::default();
}

/// A text for C, without what C would take for its end.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default()
}

impl Failure {
    #[cold]
    pub(crate) fn new(status: restride_status, message: impl AsRef<str>) -> Self {
        Self(Box::new(Told {
            status,
            message: c_string(message.as_ref()),
            ..Told::default()
        }))
    }

    pub(crate) fn argument(message: impl AsRef<str>) -> Self {
        Self::new(RESTRIDE_INVALID_ARGUMENT, message)
    }
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Self {
        let status = match error {
            CompileError::TooCostly(_) => RESTRIDE_TOO_COSTLY,
            CompileError::Panicked(_) => RESTRIDE_PANIC,
            _ => RESTRIDE_COMPILE,
        };
        Self::new(status, error.to_string())
    }
}

impl From<RunError> for Failure {
    #[cold]
    fn from(error: RunError) -> Self {
        let status = match error {
            RunError::Index { .. } => RESTRIDE_INDEX,
            RunError::OutOfMemory { .. } | RunError::ScratchOverBudget { .. } => {
                RESTRIDE_OUT_OF_MEMORY
            }
            RunError::ChunksMissing { .. } => RESTRIDE_INCOMPLETE,
            RunError::UnknownCheck { .. } => RESTRIDE_PANIC,
            _ => RESTRIDE_BUFFERS,
        };
        let mut failure = Self::new(status, error.to_string());
        if let RunError::Index {
            op,
            position,
            value,
            limit,
            ..
        } = error
        {
            let near = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            let value = match value {
                OffendingIndex::Value(value) => near(value),
                OffendingIndex::Changed => 0,
            };
            failure.0.label = Some(c_string(&op));
            failure.0.index = Some((position, value, limit));
        }
        failure
    }
}

/// Does the work of a call, and keeps what went wrong.
#[inline(always)]
pub(crate) fn call(work: impl FnOnce() -> Result<(), Failure>) -> restride_status {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => RESTRIDE_OK,
        Ok(Err(failure)) => keep(failure),
        Err(_) => keep(Failure::new(
            RESTRIDE_PANIC,
            "restride has a defect: it panicked",
        )),
    }
}

#[cold]
fn keep(failure: Failure) -> restride_status {
    let status = failure.0.status;
    // At the end of a thread there may be nowhere left to keep it.
    let _ = LAST.try_with(|last| *last.borrow_mut() = failure);
    status
}

/// Frees what was handed out; null is nothing.
///
/// # Safety
/// If it is not null it was handed out as a box, and nobody uses it any more.
pub(crate) unsafe fn destroy<T>(it: *mut T) {
    if !it.is_null() {
        call(|| {
            // SAFETY: the caller's.
            drop(unsafe { Box::from_raw(it) });
            Ok(())
        });
    }
}

/// Refuses another number of inputs or outputs than a program has.
#[inline(always)]
pub(crate) fn as_many(what: &str, needed: usize, got: usize) -> Result<(), Failure> {
    match needed == got {
        true => Ok(()),
        false => Err(Failure::new(
            RESTRIDE_BUFFERS,
            format!("{what} of the program: {needed} expected, {got} given"),
        )),
    }
}

/// A pointer that may not be null.
///
/// # Safety
/// If it is not null it can be read for as long as the reference lives.
#[inline(always)]
pub(crate) unsafe fn some<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(format!("{what} is null")))
}

/// A pointer to write to.
///
/// # Safety
/// If it is not null it can be written to for as long as the reference lives.
#[inline(always)]
pub(crate) unsafe fn place<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::argument(format!("{what} is null")))
}

/// So many things in a row.
///
/// # Safety
/// If the pointer is not null they can be read for as long as the slice lives.
#[inline(always)]
pub(crate) unsafe fn row<'a, T>(
    start: *const T,
    count: usize,
    what: &str,
) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if start.is_null() {
        return Err(Failure::argument(format!("{what} is null")));
    }
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::argument(format!("there cannot be {count} {what}")));
    }
    // SAFETY: the caller's, and it is no longer than anything can be.
    Ok(unsafe { std::slice::from_raw_parts(start, count) })
}

/// Refuses a structure that says that it is smaller than the first version of it.
pub(crate) fn known_size(size: usize, least: usize, what: &str) -> Result<(), Failure> {
    match size < least {
        true => Err(Failure::argument(format!(
            "{what}.size is {size}, and the structure has {least} bytes"
        ))),
        false => Ok(()),
    }
}

/// See `restride.h`.
///
/// # Safety
/// `failure` is null or can be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn restride_last_failure(failure: *mut restride_failure) -> restride_status {
    // SAFETY: the caller's.
    let Some(place) = (unsafe { failure.as_mut() }) else {
        return RESTRIDE_INVALID_ARGUMENT;
    };
    if place.size < size_of::<restride_failure>() {
        return RESTRIDE_INVALID_ARGUMENT;
    }
    let size = place.size;
    let filled = LAST.try_with(|last| {
        let last = last.borrow();
        let last = &last.0;
        let text = |text: &CString| text.as_ptr();
        let (position, value, limit) = match last.index {
            Some((position, value, limit)) => {
                (i64::try_from(position).unwrap_or(i64::MAX), value, limit)
            }
            None => (-1, 0, 0),
        };
        *place = restride_failure {
            size,
            status: last.status,
            message: text(&last.message),
            label: last.label.as_ref().map_or(std::ptr::null(), text),
            position,
            value,
            limit,
        };
    });
    match filled {
        Ok(()) => RESTRIDE_OK,
        Err(_) => RESTRIDE_INVALID_ARGUMENT,
    }
}
