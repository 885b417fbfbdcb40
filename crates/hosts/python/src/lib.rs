//! The Python package of restride: `import restride`.
//!
//! What is called often is here, without a line of Python around it; what is not is in the package's
//! own modules beside.

mod array;
mod calls;
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
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::functions::copies::{ascontiguousarray, asfortranarray, copy, copyto};
    #[pymodule_export]
    use crate::functions::evaluate::{evaluate, stages};
    #[pymodule_export]
    use crate::functions::gathers::{take, take_along_axis};
    #[pymodule_export]
    use crate::functions::joins::{concatenate, stack, tile};
    #[pymodule_export]
    use crate::functions::patterns::{rearrange, repeat};
    #[pymodule_export]
    use crate::functions::rims::pad;
    #[pymodule_export]
    use crate::functions::turns::{
        broadcast_to, flip, moveaxis, permute_dims, reshape, roll, swapaxes,
    };
    #[pymodule_export]
    use crate::threads::{get_num_threads, set_num_threads};

    #[pymodule_init]
    fn begin(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::array::import(module.py())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
