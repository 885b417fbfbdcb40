//! Numpy's own functions, for what restride does not do itself, and for the words of errors: a call that
//! is not understood here is made again there.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyTuple};
use smallvec::SmallVec;

/// The module.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || Ok::<_, PyErr>(py.import("numpy")?.unbind()))?;
    Ok(module.bind(py))
}

/// An argument by name, if it was given.
pub(crate) type Named<'a, 'py> = (&'static str, Option<&'a Bound<'py, PyAny>>);

/// Calls a function of numpy.
#[cold]
pub(crate) fn call<'py>(
    py: Python<'py>,
    function: &str,
    arguments: &[&Bound<'py, PyAny>],
    named: &[Named<'_, 'py>],
) -> PyResult<Bound<'py, PyAny>> {
    let keywords = PyDict::new(py);
    for (name, value) in named {
        if let Some(value) = value {
            keywords.set_item(name, value)?;
        }
    }
    let arguments = PyTuple::new(py, arguments)?;
    numpy(py)?
        .getattr(function)?
        .call(arguments, Some(&keywords))
}

/// A few integers.
pub(crate) type Ints = SmallVec<[i64; 8]>;

/// An integer.
#[inline]
pub(crate) fn int(object: &Bound<'_, PyAny>) -> Option<i64> {
    object.extract().ok()
}

/// An integer or a sequence of them.
pub(crate) fn ints(object: &Bound<'_, PyAny>) -> Option<Ints> {
    if let Some(one) = int(object) {
        return Some(SmallVec::from_slice(&[one]));
    }
    if object.is_instance_of::<pyo3::types::PyString>() {
        return None;
    }
    object
        .try_iter()
        .ok()?
        .map(|item| item.ok()?.extract().ok())
        .collect()
}

/// An axis counted from 0, of so many.
#[inline]
pub(crate) fn axis(axis: i64, rank: usize) -> Option<usize> {
    let rank = rank as i64;
    let counted = if axis < 0 { axis + rank } else { axis };
    (0..rank).contains(&counted).then_some(counted as usize)
}

/// Axes counted from 0, none of them twice.
pub(crate) fn axes(list: &[i64], rank: usize) -> Option<SmallVec<[usize; 8]>> {
    let counted: Option<SmallVec<[usize; 8]>> = list.iter().map(|at| axis(*at, rank)).collect();
    counted.filter(|axes| (1..axes.len()).all(|at| !axes[..at].contains(&axes[at])))
}
