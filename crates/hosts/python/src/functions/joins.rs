//! `concatenate`, `stack` and `tile`.

use super::{done, out_like};
use crate::array::Array;
use crate::calls::{Action, Task};
use crate::numpy::{self, Named, axis as counted, ints};
use crate::threads::wanted;
use pyo3::prelude::*;
use restride::ValueId;
use smallvec::SmallVec;

/// How many arrays are joined here; the joins of more are numpy's.
const MOST: usize = 256;

/// The arrays of a sequence, if all are arrays and their elements mean the same.
fn alike<'py>(arrays: &Bound<'py, PyAny>) -> PyResult<Option<SmallVec<[Array<'py>; 4]>>> {
    let mut list = SmallVec::<[Array<'py>; 4]>::new();
    // What can be read only once is refused by numpy.
    let (Ok(_), Ok(items)) = (arrays.len(), arrays.try_iter()) else {
        return Ok(None);
    };
    for item in items {
        let array = Array::of(&item?)?;
        let is_like = list.first().is_none_or(|first| array.has_dtype_of(first));
        if !is_like || list.len() == MOST || array.rank() > 30 {
            return Ok(None);
        }
        list.push(array);
    }
    Ok((!list.is_empty()).then_some(list))
}

/// Arrays one after the other along an axis: as `numpy.concatenate`.
///
/// >>> import numpy as np, restride
/// >>> x = np.array([[1, 2]])
/// >>> restride.concatenate([x, x[:, ::-1]], axis=1)
/// array([[1, 2, 2, 1]])
#[pyfunction]
#[pyo3(
    signature = (arrays, axis=Some(0), out=None, *, dtype=None, casting=None, threads=None),
    text_signature = "(arrays, axis=0, out=None, *, dtype=None, casting=None, threads=None)"
)]
pub(crate) fn concatenate<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyAny>,
    axis: Option<i64>,
    out: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    casting: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    join(py, Join::End, arrays, axis, out, (dtype, casting), threads)
}

/// Arrays of one shape along a new axis: as `numpy.stack`.
///
/// >>> import numpy as np, restride
/// >>> restride.stack([np.array([1, 2]), np.array([3, 4])], axis=-1)
/// array([[1, 3],
///        [2, 4]])
#[pyfunction]
#[pyo3(
    signature = (arrays, axis=Some(0), out=None, *, dtype=None, casting=None, threads=None),
    text_signature = "(arrays, axis=0, out=None, *, dtype=None, casting=None, threads=None)"
)]
pub(crate) fn stack<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyAny>,
    axis: Option<i64>,
    out: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    casting: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    join(
        py,
        Join::NewAxis,
        arrays,
        axis,
        out,
        (dtype, casting),
        threads,
    )
}

/// How arrays are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// Along an axis that they have.
    End,
    /// Along one that they have not.
    NewAxis,
}

/// The arguments `dtype` and `casting`.
type Cast<'a, 'py> = (Option<&'a Bound<'py, PyAny>>, Option<&'a Bound<'py, PyAny>>);

fn join<'py>(
    py: Python<'py>,
    how: Join,
    arrays: &Bound<'py, PyAny>,
    axis: Option<i64>,
    out: Option<&Bound<'py, PyAny>>,
    (dtype, casting): Cast<'_, 'py>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = wanted(threads)?;
    let by_numpy = || {
        let axis = axis.into_pyobject(py)?;
        let named: [Named<'_, '_>; 4] = [
            ("axis", Some(&axis)),
            ("out", out),
            ("dtype", dtype),
            ("casting", casting),
        ];
        let function = match how {
            Join::End => "concatenate",
            Join::NewAxis => "stack",
        };
        numpy::call(py, function, &[arrays], &named)
    };
    if dtype.is_some() || casting.is_some() {
        return by_numpy();
    }
    let Some(parts) = alike(arrays)? else {
        return by_numpy();
    };
    let first = &parts[0];
    let rank = first.rank() + usize::from(how == Join::NewAxis);
    let Some(along) = axis.and_then(|axis| counted(axis, rank)) else {
        return by_numpy();
    };
    let fits = |part: &Array<'_>| {
        part.rank() == first.rank()
            && part
                .shape()
                .iter()
                .zip(first.shape())
                .enumerate()
                .all(|(at, (a, b))| a == b || (how == Join::End && at == along))
    };
    // The dtype of a join is not always that of its parts: bytes are swapped, records packed.
    let is_kept = match first.kind() {
        b'V' => {
            let dtype = first.object().getattr("dtype")?;
            numpy::call(py, "result_type", &[&dtype], &[])?.eq(dtype)?
        }
        _ => first.is_native(),
    };
    if !is_kept || !parts.iter().all(fits) {
        return by_numpy();
    }
    let to = match out {
        None => None,
        Some(out) => match out_like(out, first) {
            Some(to) => Some(to),
            None => return by_numpy(),
        },
    };
    let numbers = [
        along as i64,
        i64::from(how == Join::NewAxis),
        parts.len() as i64,
    ];
    let task = Task {
        out: to.as_ref(),
        ..Task::new(Action::Concatenate, &numbers, &parts, threads)
    };
    done(py, &task, &|steps, values| {
        let mut operands = SmallVec::<[ValueId; 4]>::new();
        for &value in values {
            operands.push(match how {
                Join::End => value,
                Join::NewAxis => {
                    let mut shape: numpy::Ints = steps.shape(value).iter().copied().collect();
                    shape.insert(along, 1);
                    steps.reshape(value, &shape)?
                }
            });
        }
        steps.concat(&operands, along)
    })
}

/// The array repeated as a whole along each axis: as `numpy.tile`.
///
/// >>> import numpy as np, restride
/// >>> restride.tile(np.array([[1, 2]]), (2, 2))
/// array([[1, 2, 1, 2],
///        [1, 2, 1, 2]])
#[pyfunction]
#[pyo3(signature = (A, reps, *, threads=None))]
#[allow(non_snake_case, reason = "numpy's name of the argument")]
pub(crate) fn tile<'py>(
    py: Python<'py>,
    A: &Bound<'py, PyAny>,
    reps: &Bound<'py, PyAny>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = wanted(threads)?;
    let array = Array::of(A)?;
    let reps_given = ints(reps).filter(|reps| reps.iter().all(|count| *count >= 0));
    let Some(mut counts) = reps_given else {
        return numpy::call(py, "tile", &[A, reps], &[]);
    };
    let rank = array.rank().max(counts.len());
    if rank == 0 || rank > 15 {
        return numpy::call(py, "tile", &[A, reps], &[]);
    }
    while counts.len() < rank {
        counts.insert(0, 1);
    }
    let inputs = [array];
    let task = Task::new(Action::Tile, &counts, &inputs, threads);
    done(py, &task, &|steps, values| {
        let mut shape: numpy::Ints = steps.shape(values[0]).iter().copied().collect();
        while shape.len() < rank {
            shape.insert(0, 1);
        }
        let x = steps.reshape(values[0], &shape)?;
        steps.tile(x, &counts)
    })
}
