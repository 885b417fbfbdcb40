//! Arrays, offered to other libraries.

use super::{
    CODES, CPU, DataType, Device, FORMER_NAME, Former, IS_COPIED, Managed, NAME, READ_ONLY, Tensor,
    VERSION,
};
use crate::array::Array;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::{CStr, c_void};

/// What a tensor that was given out refers to.
struct Kept {
    shape: SmallVec<[i64; 6]>,
    strides: SmallVec<[i64; 6]>,
    _array: Py<PyAny>,
}

/// A tensor that can be given out, in either version, and how it is given back.
trait Given: Sized {
    const NAME: &'static CStr;
    fn new(tensor: Tensor, flags: u64, context: *mut c_void) -> Self;
    fn context(&self) -> *mut c_void;
}

/// # Safety
/// The tensor was made by `given`, and is not given back again.
unsafe extern "C" fn given_back<T: Given>(tensor: *mut T) {
    // SAFETY: the caller's; both were boxes.
    let kept = unsafe {
        let tensor = Box::from_raw(tensor);
        Box::from_raw(tensor.context().cast::<Kept>())
    };
    // When the interpreter has ended, so has what is kept.
    if Python::try_attach(|_| ()).is_none() {
        std::mem::forget(kept);
        return;
    }
    Python::attach(|_| drop(kept));
}

impl Given for Managed {
    const NAME: &'static CStr = NAME;
    fn new(tensor: Tensor, flags: u64, context: *mut c_void) -> Self {
        Self {
            version: VERSION,
            context,
            deleter: Some(given_back::<Self>),
            flags,
            tensor,
        }
    }
    fn context(&self) -> *mut c_void {
        self.context
    }
}

impl Given for Former {
    const NAME: &'static CStr = FORMER_NAME;
    fn new(tensor: Tensor, _: u64, context: *mut c_void) -> Self {
        Self {
            tensor,
            context,
            deleter: Some(given_back::<Self>),
        }
    }
    fn context(&self) -> *mut c_void {
        self.context
    }
}

/// Of a capsule that nobody took.
unsafe extern "C" fn left<T: Given>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls it with the capsule; it has the name as long as the tensor is its own.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, T::NAME.as_ptr()) != 0 {
            given_back::<T>(ffi::PyCapsule_GetPointer(capsule, T::NAME.as_ptr()).cast());
        }
    }
}

fn given<'py, T: Given>(
    py: Python<'py>,
    tensor: Tensor,
    flags: u64,
    mut kept: Box<Kept>,
) -> PyResult<Bound<'py, PyAny>> {
    let tensor = Tensor {
        shape: kept.shape.as_mut_ptr(),
        strides: kept.strides.as_mut_ptr(),
        ..tensor
    };
    let made = Box::into_raw(Box::new(T::new(tensor, flags, Box::into_raw(kept).cast())));
    // SAFETY: the capsule takes over the tensor, and knows how to give it back.
    unsafe {
        let capsule = ffi::PyCapsule_New(made.cast(), T::NAME.as_ptr(), Some(left::<T>));
        if capsule.is_null() {
            given_back(made);
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// An array as a capsule, if it can be one: its elements are numbers, its strides multiples of
/// them, and not negative, which not all libraries take. For the package's own use.
#[pyfunction]
pub(crate) fn to_dlpack<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    versioned: bool,
    copied: bool,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let array = Array::of(array)?;
    let itemsize = array.itemsize();
    let code = CODES.iter().find(|(_, kind)| *kind == array.kind());
    let (Some((code, _)), true, Ok(bits)) = (code, array.is_native(), u8::try_from(itemsize * 8))
    else {
        return Err(PyBufferError::new_err(
            "DLPack has no name for the elements of this array",
        ));
    };
    let steps = || array.shape().iter().zip(array.strides());
    let is_multiple = |size, stride: isize| size < 2 || (stride >= 0 && stride % itemsize == 0);
    if !steps().all(|(size, stride)| is_multiple(*size, *stride))
        || (!versioned && !array.is_writeable())
    {
        return Ok(None);
    }
    let kept = Box::new(Kept {
        shape: array.shape().iter().map(|size| *size as i64).collect(),
        strides: steps()
            .map(|(size, stride)| {
                if *size < 2 {
                    1
                } else {
                    (*stride / itemsize) as i64
                }
            })
            .collect(),
        _array: array.object().clone().unbind(),
    });
    let tensor = Tensor {
        data: array.data(),
        device: Device {
            kind: CPU,
            number: 0,
        },
        rank: array.rank() as i32,
        ty: DataType {
            code: *code,
            bits,
            lanes: 1,
        },
        shape: std::ptr::null(),
        strides: std::ptr::null(),
        byte_offset: 0,
    };
    let read_only = if array.is_writeable() { 0 } else { READ_ONLY };
    let flags = read_only | if copied { IS_COPIED } else { 0 };
    Ok(Some(match versioned {
        true => given::<Managed>(py, tensor, flags, kept)?,
        false => given::<Former>(py, tensor, flags, kept)?,
    }))
}
