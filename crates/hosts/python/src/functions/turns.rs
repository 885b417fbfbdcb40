//! `roll`, and the functions that answer with views: `flip`, `permute_dims`, `moveaxis`, `broadcast_to`,
//! `reshape`.

use super::copies::stretched;
use super::done;
use crate::array::Array;
use crate::calls::{Action, Task};
use crate::numpy::{self, Ints, axes as counted, int, ints};
use crate::threads::wanted;
use pyo3::prelude::*;
use smallvec::SmallVec;

type Axes = SmallVec<[usize; 8]>;

/// The different axes that an object names, of so many.
fn listed(object: &Bound<'_, PyAny>, rank: usize) -> Option<Axes> {
    counted(&ints(object)?, rank)
}

/// The elements moved round along axes, or through the whole array: as `numpy.roll`.
///
/// >>> import numpy as np, restride
/// >>> restride.roll(np.arange(5), 2)
/// array([3, 4, 0, 1, 2])
#[pyfunction]
#[pyo3(signature = (a, shift, axis=None, *, threads=None))]
pub(crate) fn roll<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    shift: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = wanted(threads)?;
    let array = Array::of(a)?;
    let by_numpy = || numpy::call(py, "roll", &[a, shift], &[("axis", axis)]);
    let (Some(mut shifts), true) = (ints(shift), array.rank() < 31) else {
        return by_numpy();
    };
    let mut along = Ints::new();
    if let Some(axis) = axis {
        let Some(list) = ints(axis) else {
            return by_numpy();
        };
        for at in list {
            match numpy::axis(at, array.rank()) {
                Some(at) => along.push(at as i64),
                None => return by_numpy(),
            }
        }
    } else {
        shifts = SmallVec::from_slice(&[shifts.iter().fold(0, |a: i64, b| a.wrapping_add(*b))]);
        along.push(0);
    }
    // One of either goes with all of the other.
    match (shifts.len(), along.len()) {
        (1, count) => shifts = SmallVec::from_elem(shifts[0], count),
        (count, 1) => along = SmallVec::from_elem(along[0], count),
        (a, b) if a == b => {}
        _ => return by_numpy(),
    }
    if along.is_empty() || array.rank() == 0 {
        return by_numpy();
    }
    let mut numbers = shifts.clone();
    numbers.extend_from_slice(&along);
    numbers.push(i64::from(axis.is_none()));
    let inputs = [array];
    let task = Task::new(Action::Roll, &numbers, &inputs, threads);
    done(py, &task, &|steps, values| {
        let shape: Ints = steps.shape(values[0]).iter().copied().collect();
        match axis {
            Some(_) => steps.roll(values[0], &shifts, &along),
            None => {
                let row = steps.flat(values[0])?;
                let rolled = steps.roll(row, &shifts, &along)?;
                steps.reshape(rolled, &shape)
            }
        }
    })
}

/// A view with axes turned round: as `numpy.flip`.
///
/// >>> import numpy as np, restride
/// >>> restride.flip(np.array([[1, 2], [3, 4]]), axis=0)
/// array([[3, 4],
///        [1, 2]])
#[pyfunction]
#[pyo3(signature = (m, axis=None))]
pub(crate) fn flip<'py>(
    py: Python<'py>,
    m: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Array::of(m)?;
    let rank = array.rank();
    if rank == 0 {
        return numpy::call(py, "flip", &[m], &[("axis", axis)]);
    }
    let turned: Option<Axes> = match axis {
        None => Some((0..rank).collect()),
        Some(axis) => listed(axis, rank),
    };
    let Some(turned) = turned else {
        return numpy::call(py, "flip", &[m], &[("axis", axis)]);
    };
    let mut strides: SmallVec<[isize; 8]> = array.strides().iter().copied().collect();
    let mut offset = 0;
    for axis in turned {
        let size = array.shape()[axis];
        offset += strides[axis] * (size - 1).max(0);
        strides[axis] = -strides[axis];
    }
    if array.shape().contains(&0) {
        offset = 0;
    }
    // SAFETY: the same elements, in another order.
    let view = unsafe { array.view(array.shape(), &strides, offset) }?;
    Ok(view.into_object())
}

/// A view of the array whose axes are permuted.
fn permuted<'py>(array: &Array<'py>, axes: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let of = |list: &[isize]| -> SmallVec<[isize; 8]> { axes.iter().map(|at| list[*at]).collect() };
    // SAFETY: the same elements, in another order.
    let view = unsafe { array.view(&of(array.shape()), &of(array.strides()), 0) }?;
    Ok(view.into_object())
}

/// A view with its axes in another order, without `axes` in the opposite one: as `numpy.permute_dims`.
///
/// >>> import numpy as np, restride
/// >>> restride.permute_dims(np.zeros((2, 3, 4)), (2, 0, 1)).shape
/// (4, 2, 3)
#[pyfunction]
#[pyo3(signature = (a, axes=None))]
pub(crate) fn permute_dims<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    axes: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Array::of(a)?;
    let rank = array.rank();
    let order: Option<Axes> = match axes {
        None => Some((0..rank).rev().collect()),
        Some(axes) => listed(axes, rank),
    };
    match order.filter(|order| order.len() == rank) {
        Some(order) => permuted(&array, &order),
        None => numpy::call(py, "transpose", &[a], &[("axes", axes)]),
    }
}

/// A view with some axes in other places: as `numpy.moveaxis`.
///
/// >>> import numpy as np, restride
/// >>> restride.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
/// (3, 4, 2)
#[pyfunction]
#[pyo3(signature = (a, source, destination))]
pub(crate) fn moveaxis<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    source: &Bound<'py, PyAny>,
    destination: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Array::of(a)?;
    let rank = array.rank();
    let (Some(from), Some(to)) = (listed(source, rank), listed(destination, rank)) else {
        return numpy::call(py, "moveaxis", &[a, source, destination], &[]);
    };
    if from.len() != to.len() {
        return numpy::call(py, "moveaxis", &[a, source, destination], &[]);
    }
    let mut rest = (0..rank).filter(|axis| !from.contains(axis));
    let order: Axes = (0..rank)
        .filter_map(|at| match to.iter().position(|place| *place == at) {
            Some(pair) => Some(from[pair]),
            None => rest.next(),
        })
        .collect();
    permuted(&array, &order)
}

/// A read-only view of the array that repeats it up to a shape: as `numpy.broadcast_to`.
///
/// >>> import numpy as np, restride
/// >>> restride.broadcast_to(np.array([1, 2]), (2, 2))
/// array([[1, 2],
///        [1, 2]])
#[pyfunction]
#[pyo3(signature = (array, shape))]
pub(crate) fn broadcast_to<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let x = Array::of(array)?;
    let sizes = ints(shape).filter(|sizes| sizes.len() < 64 && sizes.iter().all(|size| *size >= 0));
    let sizes = sizes.map(|sizes| {
        sizes
            .iter()
            .map(|n| *n as isize)
            .collect::<SmallVec<[isize; 8]>>()
    });
    let strides = sizes.as_ref().and_then(|sizes| stretched(&x, sizes));
    let (Some(sizes), Some(strides)) = (sizes, strides) else {
        return numpy::call(py, "broadcast_to", &[array, shape], &[]);
    };
    // SAFETY: axes are only added or repeated with stride 0.
    let view = unsafe { x.view(&sizes, &strides, 0) }?.into_object();
    view.call_method1("setflags", (false,))?;
    Ok(view)
}

/// The elements in their order under another shape: a view if one is possible, else a copy. As
/// `numpy.reshape`.
///
/// >>> import numpy as np, restride
/// >>> restride.reshape(np.arange(6).reshape(2, 3).T, (2, -1))
/// array([[0, 3, 1],
///        [4, 2, 5]])
#[pyfunction]
#[pyo3(signature = (a, /, shape, order="C", *, copy=None, threads=None))]
pub(crate) fn reshape<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    shape: &Bound<'py, PyAny>,
    order: &str,
    copy: Option<bool>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = wanted(threads)?;
    let array = Array::of(a)?;
    let by_numpy = || {
        let order = pyo3::types::PyString::new(py, order);
        let copy = copy.map(|copy| pyo3::types::PyBool::new(py, copy).to_owned().into_any());
        let named = [("order", Some(order.as_any())), ("copy", copy.as_ref())];
        numpy::call(py, "reshape", &[a, shape], &named)
    };
    let Some(mut sizes) = ints(shape).filter(|sizes| sizes.len() < 31 && array.rank() < 31) else {
        return by_numpy();
    };
    let mut known = sizes.iter().filter(|size| **size != -1);
    let known = known.try_fold(1i64, |a, b| a.checked_mul(*b).filter(|_| *b >= 0));
    let Some(known) = known.filter(|_| order == "C" && copy != Some(false)) else {
        return by_numpy();
    };
    let count = array.len() as i64;
    let unknown: SmallVec<[usize; 2]> = (0..sizes.len()).filter(|at| sizes[*at] == -1).collect();
    match unknown[..] {
        [] if known == count => {}
        [at] if known > 0 && count % known == 0 => sizes[at] = count / known,
        _ => return by_numpy(),
    }
    let inputs = [array];
    let task = Task {
        views: copy != Some(true),
        ..Task::new(Action::Reshape, &sizes, &inputs, threads)
    };
    let made = task.run(py, &|steps, values| steps.reshape(values[0], &sizes))?;
    Ok(made.into_object())
}

/// A view with two axes in each other's place: as `numpy.swapaxes`.
#[pyfunction]
#[pyo3(signature = (a, axis1, axis2))]
pub(crate) fn swapaxes<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    axis1: &Bound<'py, PyAny>,
    axis2: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = Array::of(a)?;
    let place = |object| int(object).and_then(|axis| numpy::axis(axis, array.rank()));
    let (Some(one), Some(other)) = (place(axis1), place(axis2)) else {
        return numpy::call(py, "swapaxes", &[a, axis1, axis2], &[]);
    };
    let mut order: Axes = (0..array.rank()).collect();
    order.swap(one, other);
    permuted(&array, &order)
}
