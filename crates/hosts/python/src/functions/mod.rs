//! Numpy's functions that move data, by numpy's names, arguments and results.

pub(crate) mod copies;
pub(crate) mod evaluate;
pub(crate) mod gathers;
pub(crate) mod joins;
pub(crate) mod pads;
pub(crate) mod patterns;
pub(crate) mod repeated;
pub(crate) mod turns;

use crate::array::Array;
use crate::calls::{Making, Task};
use pyo3::prelude::*;

/// Does a task, by way of another array if what is written is also read.
pub(crate) fn done<'py>(
    py: Python<'py>,
    task: &Task<'_, 'py>,
    making: Making<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    if !task.needs_another_place() {
        let made = task.run(py, making)?;
        return match made.rank() {
            // As numpy does: what has no axes is a number.
            0 if task.out.is_none() => made.object().get_item(()),
            _ => Ok(made.into_object()),
        };
    }
    let made = Task { out: None, ..*task }.run(py, making)?;
    let out = task.out.unwrap_or(&made).object();
    crate::numpy::call(py, "copyto", &[out, made.object()], &[])?;
    Ok(out.clone())
}

/// An argument `out`: an array that can be written, with elements like those of another. Nothing if
/// numpy has to see to it.
pub(crate) fn out_like<'py>(out: &Bound<'py, PyAny>, like: &Array<'py>) -> Option<Array<'py>> {
    let out = Array::exactly(out)?;
    (out.is_writeable() && out.is_base_class() && out.has_dtype_of(like)).then_some(out)
}
