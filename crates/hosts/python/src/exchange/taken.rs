//! Tensors that other libraries offer, as arrays.

use super::{
    CODES, CPU, FORMER_NAME, FORMER_USED, Former, Managed, NAME, READ_ONLY, Tensor, USED, VERSION,
};
use crate::array::Array;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use smallvec::SmallVec;

/// A tensor of another library, which is told when it is no longer needed.
enum Owner {
    Managed(*mut Managed),
    Former(*mut Former),
}

// SAFETY: a deleter may be called on any thread.
unsafe impl Send for Owner {}

impl Drop for Owner {
    fn drop(&mut self) {
        // An exception may be under way, which what the library does is not to see.
        let mut error = [std::ptr::null_mut(); 3];
        let [class, value, trace] = &mut error;
        // SAFETY: arrays are dropped by threads that run Python. The library gave the tensor to us, and
        // this is the only time that it is given back.
        unsafe {
            ffi::PyErr_Fetch(class, value, trace);
            match *self {
                Self::Managed(managed) => {
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
                Self::Former(former) => {
                    if let Some(deleter) = (*former).deleter {
                        deleter(former);
                    }
                }
            }
            ffi::PyErr_Restore(error[0], error[1], error[2]);
        }
    }
}

impl Owner {
    /// The tensor, and whether it must not be written. The former version cannot say that it may be.
    fn tensor(&self) -> PyResult<(&Tensor, bool)> {
        // SAFETY: both are alive until they are given back.
        unsafe {
            match *self {
                // Of another version only this and the deleter are where they were.
                Self::Managed(managed) if (*managed).version.major != VERSION.major => {
                    Err(PyBufferError::new_err(format!(
                        "a tensor of version {} of DLPack is not understood",
                        (*managed).version.major
                    )))
                }
                Self::Managed(managed) => {
                    Ok((&(*managed).tensor, (*managed).flags & READ_ONLY != 0))
                }
                Self::Former(former) => Ok((&(*former).tensor, true)),
            }
        }
    }
}

/// What `__dlpack__` gives. Libraries offer a table of functions for the same, too, in which torch does
/// not look whether elements are conjugates that have not been computed yet.
fn offered_by(x: &Bound<'_, PyAny>) -> PyResult<Owner> {
    let py = x.py();
    let (device, _): (i32, i32) = x.call_method0("__dlpack_device__")?.extract()?;
    if device != CPU {
        return Err(not_here(device));
    }
    let named = PyDict::new(py);
    named.set_item("max_version", (VERSION.major, VERSION.minor))?;
    let capsule = match x.call_method("__dlpack__", (), Some(&named)) {
        // A library may be older than the argument.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => x.call_method0("__dlpack__")?,
        other => other?,
    };
    let capsule = capsule.cast_into::<PyCapsule>()?;
    let is_former = !capsule.is_valid_checked(Some(NAME));
    let (name, used) = match is_former {
        true => (FORMER_NAME, FORMER_USED),
        false => (NAME, USED),
    };
    // SAFETY: what has the name is such a tensor; once it has the other one, it is ours.
    unsafe {
        let tensor = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr());
        if tensor.is_null() || ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(match is_former {
            true => Owner::Former(tensor.cast()),
            false => Owner::Managed(tensor.cast()),
        })
    }
}

#[cold]
fn not_here(device: i32) -> PyErr {
    PyBufferError::new_err(format!(
        "restride moves what the processor reaches; a tensor on a device of kind {device} has to be copied first"
    ))
}

/// Numpy's name of the elements, or of bytes that are as many.
fn dtype<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let ty = tensor.ty;
    let refused = || {
        let (code, bits, lanes) = (ty.code, ty.bits, ty.lanes);
        PyBufferError::new_err(format!(
            "elements of {lanes} numbers of kind {code} with {bits} bits are not moved by restride"
        ))
    };
    if ty.lanes != 1 || ty.bits == 0 || !ty.bits.is_multiple_of(8) {
        return Err(refused());
    }
    let bytes = ty.bits / 8;
    let known = CODES.iter().find(|(code, _)| *code == ty.code);
    if let Some((_, letter)) = known {
        let name = format!("{}{bytes}", char::from(*letter));
        let made = crate::numpy::call(
            py,
            "dtype",
            &[&pyo3::types::PyString::new(py, &name).into_any()],
            &[],
        );
        return made.map_err(|_| refused());
    }
    // Names that numpy knows once that package is there.
    let name = match ty.code {
        4 if bytes == 2 => Some("bfloat16"),
        7 => Some("float8_e3m4"),
        8 => Some("float8_e4m3"),
        9 => Some("float8_e4m3b11fnuz"),
        10 => Some("float8_e4m3fn"),
        11 => Some("float8_e4m3fnuz"),
        12 => Some("float8_e5m2"),
        13 => Some("float8_e5m2fnuz"),
        14 => Some("float8_e8m0fnu"),
        _ => None,
    };
    if let Some(name) = name
        && let Ok(class) = py
            .import("ml_dtypes")
            .and_then(|module| module.getattr(name))
    {
        return crate::numpy::call(py, "dtype", &[&class], &[]);
    }
    let plain = pyo3::types::PyString::new(py, &format!("V{bytes}"));
    crate::numpy::call(py, "dtype", &[plain.as_any()], &[])
}

/// Whether an object can be asked for a tensor.
pub(crate) fn is_offered(x: &Bound<'_, PyAny>) -> bool {
    x.hasattr("__dlpack__").unwrap_or(false)
}

/// The array that a tensor of another library is, in the memory where that has it.
///
/// Any library's that follows DLPack, if the tensor is in the processor's memory. What the library does
/// not say may be written cannot be. Elements that numpy has no name for are those of `ml_dtypes` if that
/// is installed, else plain bytes.
///
/// >>> import numpy as np, restride
/// >>> x = np.arange(6).reshape(2, 3)
/// >>> np.shares_memory(restride.from_dlpack(x), x)
/// True
#[pyfunction]
#[pyo3(signature = (x, /))]
pub(crate) fn from_dlpack<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let owner = offered_by(x)?;
    let (tensor, is_read_only) = owner.tensor()?;
    if tensor.device.kind != CPU {
        return Err(not_here(tensor.device.kind));
    }
    let dtype = dtype(py, tensor)?;
    let itemsize = isize::from(tensor.ty.bits / 8);
    let rank = usize::try_from(tensor.rank).unwrap_or(0);
    let list = |start: *const i64| -> SmallVec<[isize; 8]> {
        (0..rank)
            // SAFETY: a tensor has so many sizes, and so many strides if it has any.
            .map(|at| unsafe { *start.add(at) } as isize)
            .collect()
    };
    let shape = list(tensor.shape);
    let strides = match tensor.strides.is_null() {
        false => list(tensor.strides),
        true => {
            let mut next = 1isize;
            let mut strides: SmallVec<[isize; 8]> = SmallVec::from_elem(0, rank);
            for (stride, size) in strides.iter_mut().zip(&shape).rev() {
                *stride = next;
                next = next.wrapping_mul(*size);
            }
            strides
        }
    };
    let strides: SmallVec<[isize; 8]> = strides
        .iter()
        .map(|stride| stride.wrapping_mul(itemsize))
        .collect();
    let data = tensor.data.wrapping_add(tensor.byte_offset as usize);
    let owner = PyCapsule::new_with_value(py, owner, c"restride.owner")?.into_any();
    // SAFETY: the library says that these are elements, which live until they are given back.
    let array = unsafe { Array::foreign(&dtype, (&shape, &strides), data, !is_read_only, owner) }?;
    Ok(array.into_object())
}
