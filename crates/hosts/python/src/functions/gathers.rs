//! `take`, `take_along_axis` and `repeat`.

use super::{done, out_like};
use crate::array::Array;
use crate::calls::{Action, Task};
use crate::numpy::{self, Named, axis as counted, int, ints};
use crate::threads::wanted;
use pyo3::prelude::*;
use restride::{IndexRule, ValueId};

/// Whether an array holds indices as restride reads them.
fn has_indices(array: &Array<'_>) -> bool {
    match array.kind() {
        b'i' => array.is_native(),
        b'u' => array.is_native() && array.itemsize() < 8,
        _ => false,
    }
}

/// The elements at indices along an axis, or of the array as a row: as `numpy.take`.
///
/// >>> import numpy as np, restride
/// >>> restride.take(np.array([[1, 2], [3, 4], [5, 6]]), [2, 0, -1], axis=0)
/// array([[5, 6],
///        [1, 2],
///        [5, 6]])
#[pyfunction]
#[pyo3(signature = (a, indices, axis=None, out=None, mode="raise", *, threads=None))]
pub(crate) fn take<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    indices: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    mode: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = wanted(threads)?;
    let by_numpy = || {
        let mode = pyo3::types::PyString::new(py, mode);
        let named: [Named<'_, '_>; 3] =
            [("axis", axis), ("out", out), ("mode", Some(mode.as_any()))];
        numpy::call(py, "take", &[a, indices], &named)
    };
    let array = Array::of(a)?;
    let rule = match mode {
        "raise" => IndexRule::ONNX,
        "clip" => IndexRule::XLA,
        _ => return by_numpy(),
    };
    let (Ok(places), false) = (Array::of(indices), array.rank() == 0) else {
        return by_numpy();
    };
    let along = match axis {
        None => None,
        Some(axis) => match int(axis).and_then(|axis| counted(axis, array.rank())) {
            Some(axis) => Some(axis),
            None => return by_numpy(),
        },
    };
    let size = along.map_or(array.len(), |axis| array.shape()[axis]);
    let rank = array.rank() + places.rank();
    // Where nothing is taken no index is wrong.
    if size == 0 || array.len() == 0 || !has_indices(&places) || rank > 31 {
        return by_numpy();
    }
    let to = match out {
        None => None,
        Some(out) => match out_like(out, &array) {
            Some(to) => Some(to),
            None => return by_numpy(),
        },
    };
    let (inputs, places) = ([array], [places]);
    let numbers = [
        along.map_or(0, |axis| axis as i64),
        i64::from(along.is_none()),
        i64::from(rule.wrap),
    ];
    let task = Task {
        indices: &places,
        out: to.as_ref(),
        ..Task::new(Action::Take, &numbers, &inputs, threads)
    };
    done(py, &task, &|steps, values| {
        let (mut x, indices) = (values[0], values[1]);
        if along.is_none() {
            x = steps.flat(x)?;
        }
        steps.gather(x, indices, along.unwrap_or(0), rule)
    })
}

/// The elements whose place along an axis is given by an array of indices: as `numpy.take_along_axis`.
///
/// >>> import numpy as np, restride
/// >>> x = np.array([[3, 1, 2], [4, 6, 5]])
/// >>> restride.take_along_axis(x, np.argsort(x, axis=1), axis=1)
/// array([[1, 2, 3],
///        [4, 5, 6]])
#[pyfunction]
#[pyo3(
    signature = (arr, indices, axis=Some(-1), *, threads=None),
    text_signature = "(arr, indices, axis=-1, *, threads=None)"
)]
pub(crate) fn take_along_axis<'py>(
    py: Python<'py>,
    arr: &Bound<'py, PyAny>,
    indices: &Bound<'py, PyAny>,
    axis: Option<i64>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = wanted(threads)?;
    let by_numpy = || {
        let axis = axis.into_pyobject(py)?;
        numpy::call(
            py,
            "take_along_axis",
            &[arr, indices],
            &[("axis", Some(&axis))],
        )
    };
    let (array, places) = (Array::of(arr)?, Array::exactly(indices));
    let Some(places) = places.filter(has_indices) else {
        return by_numpy();
    };
    let Some(along) = axis.and_then(|axis| counted(axis, array.rank())) else {
        return by_numpy();
    };
    if places.rank() != array.rank() || array.rank() > 31 || array.len() == 0 {
        return by_numpy();
    }
    let (mut shape, mut of_array) = (numpy::Ints::new(), numpy::Ints::new());
    for (at, (&size, &count)) in array.shape().iter().zip(places.shape()).enumerate() {
        let common = match (size, count) {
            _ if at == along => count,
            (1, other) | (other, 1) => other,
            (a, b) if a == b => a,
            _ => return by_numpy(),
        };
        shape.push(common as i64);
        of_array.push(if at == along { size } else { common } as i64);
    }
    let (inputs, places) = ([array], [places]);
    let numbers = [along as i64];
    let task = Task {
        indices: &places,
        ..Task::new(Action::TakeAlongAxis, &numbers, &inputs, threads)
    };
    done(py, &task, &|steps, values: &[ValueId]| {
        let x = steps.broadcast(values[0], &of_array)?;
        steps.gather_elements(x, values[1], &shape, along)
    })
}

/// Each element repeated, in its place along an axis: as `numpy.repeat`.
pub(crate) fn repeat_elements<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    repeats: &Bound<'py, PyAny>,
    axis: Option<i64>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = wanted(threads)?;
    let array = Array::of(a)?;
    let by_numpy = || {
        let axis = axis.into_pyobject(py)?;
        numpy::call(py, "repeat", &[a, repeats], &[("axis", Some(&axis))])
    };
    let along = match axis {
        None => 0,
        Some(axis) => match counted(axis, array.rank()) {
            Some(axis) => axis,
            None => return by_numpy(),
        },
    };
    let size = match axis {
        None => array.len(),
        Some(_) => array.shape()[along],
    };
    let counts = ints(repeats).filter(|counts| counts.iter().all(|count| *count >= 0));
    let Some(counts) = counts.filter(|_| array.rank() < 30) else {
        return by_numpy();
    };
    let &[count] = &counts[..] else {
        if counts.len() != size as usize {
            return by_numpy();
        }
        let numbers = numpy::call(py, "arange", &[&size.into_pyobject(py)?.into_any()], &[])?;
        let places = numpy::call(py, "repeat", &[&numbers, repeats], &[])?;
        let axis = axis.map(|axis| axis.into_pyobject(py)).transpose()?;
        let axis = axis.map(Bound::into_any);
        return take(py, a, &places, axis.as_ref(), None, "raise", Some(threads));
    };
    let inputs = [array];
    let numbers = [along as i64, i64::from(axis.is_none()), count];
    let task = Task::new(Action::Repeat, &numbers, &inputs, threads);
    done(py, &task, &|steps, values| {
        let x = match axis {
            None => steps.flat(values[0])?,
            Some(_) => values[0],
        };
        steps.repeat(x, count, along)
    })
}
