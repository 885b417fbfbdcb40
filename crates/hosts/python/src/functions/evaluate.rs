//! What lazy arrays have collected, done in one pass.
//!
//! The package's own modules write it as numbers: for each instruction a code, how many numbers follow, and
//! those: the operands by number, in which arrays come first and then results in their order, and the
//! arguments.

use super::out_like;
use crate::array::Array;
use crate::calls::{Action, Task, engine};
use crate::failure::{Failure, IntoPy as _};
use crate::steps::Steps;
use crate::threads::wanted;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use restride::{IndexRule, Options, PadMode, Stages, ValueId};
use smallvec::SmallVec;

fn refused() -> Failure {
    Failure::Raised(PyValueError::new_err("these numbers are no instructions"))
}

/// The instructions, added to a graph.
fn followed(steps: &mut Steps, values: &[ValueId], numbers: &[i64]) -> Result<ValueId, Failure> {
    let mut values: SmallVec<[ValueId; 16]> = values.iter().copied().collect();
    let mut rest = numbers;
    while let [code, count, after @ ..] = rest {
        let count = usize::try_from(*count).map_err(|_| refused())?;
        let (arguments, after) = after.split_at_checked(count).ok_or_else(refused)?;
        rest = after;
        values.push(instruction(steps, &values, *code, arguments)?);
    }
    values.last().copied().ok_or_else(refused)
}

fn instruction(
    steps: &mut Steps,
    values: &[ValueId],
    code: i64,
    arguments: &[i64],
) -> Result<ValueId, Failure> {
    let operand = |at: i64| {
        let at = usize::try_from(at).map_err(|_| refused())?;
        values.get(at).copied().ok_or_else(refused)
    };
    let axis = |at: i64| usize::try_from(at).map_err(|_| refused());
    let [first, rest @ ..] = arguments else {
        return Err(refused());
    };
    match (code, rest) {
        (0, sizes) => steps.reshape(operand(*first)?, sizes),
        (1, order) => steps.transpose(operand(*first)?, order),
        (2, bounds) => {
            let column = |at: usize| -> SmallVec<[i64; 8]> {
                bounds.iter().skip(at).step_by(3).copied().collect()
            };
            steps.slice(operand(*first)?, &column(0), &column(1), &column(2))
        }
        (3, sizes) => steps.broadcast(operand(*first)?, sizes),
        (4, [indices, along]) => {
            let (x, indices) = (operand(*first)?, operand(*indices)?);
            steps.gather(x, indices, axis(*along)?, IndexRule::ONNX)
        }
        (5, parts) => {
            let parts = parts.iter().map(|part| operand(*part));
            let parts = parts.collect::<Result<SmallVec<[ValueId; 8]>, _>>()?;
            steps.concat(&parts, axis(*first)?)
        }
        (6, repeats) => steps.tile(operand(*first)?, repeats),
        (7, [shift, along]) => steps.roll(operand(*first)?, &[*shift], &[*along]),
        (8, [mode, low_bits, high_bits, widths @ ..]) => {
            let bits = u128::from(*low_bits as u64) | u128::from(*high_bits as u64) << 64;
            let mode = match mode {
                0 => PadMode::Constant(bits),
                1 => PadMode::Edge,
                2 => PadMode::Reflect,
                3 => PadMode::Symmetric,
                4 => PadMode::Wrap,
                _ => return Err(refused()),
            };
            let (low, high) = widths.split_at(widths.len() / 2);
            steps.pad(operand(*first)?, low, high, mode)
        }
        (9, [indices, along, sizes @ ..]) => {
            let (x, indices) = (operand(*first)?, operand(*indices)?);
            steps.gather_elements(x, indices, sizes, axis(*along)?)
        }
        _ => Err(refused()),
    }
}

/// Arrays of one dtype, and arrays of indices.
pub(super) type Arrays<'py> = (SmallVec<[Array<'py>; 4]>, SmallVec<[Array<'py>; 4]>);

fn read<'py>(arrays: &[Bound<'py, PyAny>], indices: &[Bound<'py, PyAny>]) -> PyResult<Arrays<'py>> {
    let all = |list: &[Bound<'py, PyAny>]| list.iter().map(Array::of).collect::<PyResult<_>>();
    let (arrays, indices): Arrays<'py> = (all(arrays)?, all(indices)?);
    match arrays.first() {
        Some(first) if arrays.iter().all(|array| array.has_dtype_of(first)) => {
            Ok((arrays, indices))
        }
        _ => Err(PyTypeError::new_err(
            "arrays of different dtypes are not joined",
        )),
    }
}

/// Follows instructions: see the module. For the package's own use.
#[pyfunction]
#[pyo3(signature = (arrays, indices, numbers, views, out=None, threads=None))]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    arrays: Vec<Bound<'py, PyAny>>,
    indices: Vec<Bound<'py, PyAny>>,
    numbers: Vec<i64>,
    views: bool,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    evaluated(py, &read(&arrays, &indices)?, &numbers, views, out, threads)
}

pub(super) fn evaluated<'py>(
    py: Python<'py>,
    (arrays, indices): &Arrays<'py>,
    numbers: &[i64],
    views: bool,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let to = match out {
        None => None,
        Some(out) => Some(out_like(out, &arrays[0]).ok_or_else(|| {
            PyTypeError::new_err(
                "out has to be a numpy array that can be written, of the same dtype",
            )
        })?),
    };
    let task = Task {
        indices,
        out: to.as_ref(),
        views,
        ..Task::new(Action::Evaluate, numbers, arrays, wanted(threads)?)
    };
    if task.needs_another_place() {
        let made = Task { out: None, ..task }
            .run(py, &|steps, values| followed(steps, values, numbers))?;
        if let Some(to) = &to {
            crate::numpy::call(py, "copyto", &[to.object(), made.object()], &[])?;
            return Ok(to.object().clone());
        }
    }
    let made = task.run(py, &|steps, values| followed(steps, values, numbers))?;
    Ok(made.into_object())
}

/// The stages of instructions as text, each with its name. For the package's own use.
#[pyfunction]
pub(crate) fn stages<'py>(
    arrays: Vec<Bound<'py, PyAny>>,
    indices: Vec<Bound<'py, PyAny>>,
    numbers: Vec<i64>,
    views: bool,
) -> PyResult<Vec<(&'static str, String)>> {
    let (arrays, indices) = read(&arrays, &indices)?;
    let task = Task {
        indices: &indices,
        views,
        ..Task::new(Action::Evaluate, &numbers, &arrays, 1)
    };
    let graph = task
        .graph(&|steps, values| followed(steps, values, &numbers))
        .into_py()?;
    let stages = Stages::of(&graph, &Options::default())
        .map_err(Failure::Compile)
        .into_py()?;
    let program = engine()
        .compile(&graph)
        .map_err(Failure::Compile)
        .into_py()?;
    let listing = engine().listing(&program);
    let mut texts = vec![
        ("graph", graph.to_string()),
        ("canonical", stages.canonical.to_string()),
        ("plan", stages.plan.to_string()),
        ("loops", stages.kernel.to_string()),
    ];
    if let Ok(listing) = listing {
        texts.push(("assembly", listing.assembly));
    }
    Ok(texts)
}
