//! Copies into another order of memory.

use crate::array::{Array, Order};
use crate::calls::{Action, Task};
use crate::numpy;
use crate::threads::wanted;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use smallvec::SmallVec;

/// An array of the same elements that lie in the order of their indices. The array itself if it is one
/// already, else a copy. With order 'F' the first index is the fastest.
///
/// As `numpy.ascontiguousarray`, several times faster.
///
/// >>> import numpy as np, restride
/// >>> x = np.arange(6).reshape(2, 3)
/// >>> restride.ascontiguousarray(x.T)
/// array([[0, 3],
///        [1, 4],
///        [2, 5]])
#[pyfunction]
#[pyo3(signature = (a, dtype=None, *, order="C", threads=None))]
pub(crate) fn ascontiguousarray<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let order = match order {
        "C" => Order::C,
        "F" => Order::F,
        _ => return Err(PyValueError::new_err("order must be 'C' or 'F'")),
    };
    contiguous(py, a, dtype, order, threads)
}

/// As `numpy.asfortranarray`: `ascontiguousarray` with order 'F'.
#[pyfunction]
#[pyo3(signature = (a, dtype=None, *, threads=None))]
pub(crate) fn asfortranarray<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    contiguous(py, a, dtype, Order::F, threads)
}

#[inline]
fn contiguous<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    order: Order,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let function = match order {
        Order::F => "asfortranarray",
        Order::C | Order::Keep => "ascontiguousarray",
    };
    if dtype.is_some() {
        return numpy::call(py, function, &[a], &[("dtype", dtype)]);
    }
    let array = Array::of(a)?;
    if array.rank() == 0 {
        return numpy::call(py, function, &[a], &[]);
    }
    let is_there = match order {
        Order::F => array.is_dense_in_fortran(),
        Order::C | Order::Keep => array.is_dense(),
    };
    if is_there && array.is_base_class() {
        return Ok(array.into_object());
    }
    copied(py, array, order, threads).map(Array::into_object)
}

/// A copy that lies in an order.
pub(crate) fn copied<'py>(
    py: Python<'py>,
    array: Array<'py>,
    order: Order,
    threads: Option<usize>,
) -> PyResult<Array<'py>> {
    let threads = wanted(threads)?;
    let inputs = [array];
    let [array] = &inputs;
    let out = match order {
        Order::C => None,
        Order::F => Some(array.new_like(array.shape(), Order::F)?),
        Order::Keep if goes_down(array) => None,
        Order::Keep => Some(array.new_in_kept_order()?),
    };
    let task = Task {
        out: out.as_ref(),
        ..Task::new(Action::Copy, &[], &inputs, threads)
    };
    if array.rank() > 31 {
        // Numpy has more axes than a graph.
        let made = match &out {
            Some(out) => out.clone(),
            None => array.new_like(array.shape(), Order::C)?,
        };
        numpy::call(py, "copyto", &[made.object(), array.object()], &[])?;
        return Ok(made);
    }
    task.run(py, &|_, values| Ok(values[0]))
}

/// Whether the axes of an array step by less and less, so that its order is that of a dense one.
fn goes_down(array: &Array<'_>) -> bool {
    let steps = array.shape().iter().zip(array.strides());
    let mut steps = steps
        .filter(|(size, _)| **size > 1)
        .map(|(_, stride)| stride.unsigned_abs());
    let mut last = usize::MAX;
    steps.all(|stride| std::mem::replace(&mut last, stride) >= stride && stride > 0)
}

/// A copy: as `numpy.copy`.
///
/// >>> import numpy as np, restride
/// >>> restride.copy(np.arange(4)[::-1])
/// array([3, 2, 1, 0])
#[pyfunction]
#[pyo3(signature = (a, order="K", *, threads=None))]
pub(crate) fn copy<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    order: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Array::of(a)?;
    let order = match order {
        "C" => Order::C,
        "F" => Order::F,
        "K" => Order::Keep,
        "A" if array.is_dense_in_fortran() && !array.is_dense() => Order::F,
        "A" => Order::C,
        _ => {
            return Err(PyValueError::new_err(
                "order must be one of 'C', 'F', 'A', or 'K'",
            ));
        }
    };
    copied(py, array, order, threads).map(Array::into_object)
}

/// Copies the elements of one array into another, which may lie in memory in any way. The source is
/// repeated along axes that it lacks, or of which it has one. As `numpy.copyto`.
///
/// >>> import numpy as np, restride
/// >>> x = np.zeros((2, 3), int)
/// >>> restride.copyto(x[:, ::-1], [1, 2, 3])
/// >>> x
/// array([[3, 2, 1],
///        [3, 2, 1]])
#[pyfunction]
#[pyo3(signature = (dst, src, casting="same_kind", r#where=None, *, threads=None))]
pub(crate) fn copyto<'py>(
    py: Python<'py>,
    dst: &Bound<'py, PyAny>,
    src: &Bound<'py, PyAny>,
    casting: &str,
    r#where: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<()> {
    let threads = wanted(threads)?;
    let by_numpy = || {
        let casting = pyo3::types::PyString::new(py, casting);
        let named = [("casting", Some(casting.as_any())), ("where", r#where)];
        numpy::call(py, "copyto", &[dst, src], &named).map(drop)
    };
    let everywhere = r#where.is_none_or(|mask| mask.is(pyo3::types::PyBool::new(py, true)));
    let (Some(to), true) = (Array::exactly(dst), everywhere) else {
        return by_numpy();
    };
    let from = match Array::exactly(src) {
        Some(array) => array,
        None => return by_numpy(),
    };
    let is_ours = to.is_plain() && to.is_writeable() && from.has_dtype_of(&to) && to.rank() < 32;
    let Some(strides) = stretched(&from, to.shape()).filter(|_| is_ours) else {
        return by_numpy();
    };
    // SAFETY: axes are only added or repeated with stride 0.
    let inputs = [unsafe { from.view(to.shape(), &strides, 0) }?];
    let task = Task {
        out: Some(&to),
        ..Task::new(Action::Copy, &[], &inputs, threads)
    };
    if task.needs_another_place() {
        return by_numpy();
    }
    task.run(py, &|_, values| Ok(values[0])).map(drop)
}

/// The strides with which an array fills a shape, lined up on the right.
pub(crate) fn stretched(array: &Array<'_>, shape: &[isize]) -> Option<SmallVec<[isize; 8]>> {
    let missing = shape.len().checked_sub(array.rank())?;
    let mut strides = SmallVec::from_elem(0, missing);
    for ((have, stride), want) in array
        .shape()
        .iter()
        .zip(array.strides())
        .zip(&shape[missing..])
    {
        strides.push(match (have == want, have) {
            (true, _) => *stride,
            (false, 1) => 0,
            (false, _) => return None,
        });
    }
    Some(strides)
}
