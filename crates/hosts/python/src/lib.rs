//! The Python package of restride: `import restride`.
//!
//! What is called often is here, without a line of Python around it; what is not is in the package's
//! own modules beside.

mod array;
mod calls;
mod exchange;
mod failure;
mod functions;
mod layout;
mod numpy;
mod pattern;
mod steps;
mod threads;

/// The part of the package that is not Python.
#[pyo3::pymodule(gil_used = false)]
mod _restride {
    use pyo3::exceptions::PyImportError;
    use pyo3::ffi;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::exchange::{from_dlpack, to_dlpack};
    #[pymodule_export]
    use crate::functions::copies::{ascontiguousarray, asfortranarray, copy, copyto};
    #[pymodule_export]
    use crate::functions::evaluate::{evaluate, stages};
    #[pymodule_export]
    use crate::functions::gathers::{take, take_along_axis};
    #[pymodule_export]
    use crate::functions::joins::{concatenate, stack, tile};
    #[pymodule_export]
    use crate::functions::pads::pad;
    #[pymodule_export]
    use crate::functions::patterns::{moves_of, rearrange, repeat};
    #[pymodule_export]
    use crate::functions::repeated::Repeated;
    #[pymodule_export]
    use crate::functions::turns::{
        broadcast_to, flip, moveaxis, permute_dims, reshape, roll, swapaxes,
    };
    #[pymodule_export]
    use crate::threads::{get_num_threads, set_num_threads};

    #[pymodule_init]
    fn begin(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // SAFETY: there is an interpreter, or this would not be called.
        if unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) } != 0 {
            // What is remembered holds objects, which belong to one interpreter.
            return Err(PyImportError::new_err(
                "restride works in the main interpreter alone",
            ));
        }
        crate::array::import(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
