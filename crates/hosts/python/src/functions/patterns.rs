//! `rearrange` and `repeat` by patterns.

use super::out_like;
use crate::array::Array;
use crate::calls::{Action, Task};
use crate::failure::{Failure, tuple};
use crate::numpy::Ints;
use crate::pattern::{Misfit, Mode, Moves, Pattern};
use crate::threads::wanted;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A pattern that has been read, with a number of its own.
struct Known {
    pattern: Pattern,
    number: i64,
}

/// How many patterns a thread remembers at most.
const REMEMBERED: usize = 1024;

static NEXT: AtomicI64 = AtomicI64::new(0);

/// A text, and what it is for.
type Text = (Mode, Box<str>);

/// A text that is held, and what was read.
type Held = (Mode, Py<PyString>, Rc<Known>);

thread_local! {
    static KNOWN: RefCell<FxHashMap<Text, Rc<Known>>> = RefCell::default();
    /// The last one by the address of its text, which is held, so that no other text has it.
    static LAST: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
}

/// The pattern of a text.
fn read(text: &Bound<'_, PyString>, mode: Mode) -> PyResult<Rc<Known>> {
    let found = LAST.with_borrow(|last| {
        let found = last
            .iter()
            .find(|(of, held, _)| *of == mode && held.is(text));
        found.map(|(.., known)| Rc::clone(known))
    });
    if let Some(known) = found {
        return Ok(known);
    }
    let words = text.to_str()?;
    let found = KNOWN.with_borrow(|known| known.get(&(mode, words.into())).cloned());
    let known = match found {
        Some(known) => known,
        None => {
            let known = Rc::new(Known {
                pattern: Pattern::new(words, mode)
                    .map_err(|misfit| refused(words, None, &misfit))?,
                number: NEXT.fetch_add(1, Ordering::Relaxed),
            });
            KNOWN.with_borrow_mut(|all| {
                if all.len() >= REMEMBERED {
                    all.clear();
                }
                all.insert((mode, words.into()), Rc::clone(&known));
            });
            known
        }
    };
    let gone = LAST.with_borrow_mut(|last| {
        let gone = if last.len() == 8 {
            Some(last.remove(0))
        } else {
            None
        };
        last.push((mode, text.clone().unbind(), Rc::clone(&known)));
        gone
    });
    drop(gone);
    Ok(known)
}

#[cold]
fn refused(text: &str, shape: Option<&[isize]>, misfit: &Misfit) -> PyErr {
    let of = shape.map_or(String::new(), |shape| {
        format!(", for an array of shape {}", tuple(shape))
    });
    PyValueError::new_err(format!("pattern '{text}'{of}: {misfit}"))
}

/// The sizes of axes that were given, by number, -1 if not; and room for two numbers more.
fn lengths_of(
    text: &Bound<'_, PyString>,
    pattern: &Pattern,
    lengths: Option<&Bound<'_, PyDict>>,
) -> PyResult<Ints> {
    let mut given: Ints = SmallVec::from_elem(-1, pattern.names() + 2);
    for (name, length) in lengths.into_iter().flat_map(|lengths| lengths.iter()) {
        let name = name.cast_into::<PyString>()?;
        let name = name.to_str()?;
        let Some(at) = pattern.named(name) else {
            return Err(PyValueError::new_err(format!(
                "pattern '{}' has no axis '{name}'",
                text.to_str()?
            )));
        };
        given[at] = length
            .extract()
            .ok()
            .filter(|size| *size >= 0)
            .ok_or_else(|| {
                PyValueError::new_err(format!(
                    "the size of axis '{name}' has to be an integer, not negative"
                ))
            })?;
    }
    Ok(given)
}

/// What a pattern does to a shape, one after the other: the sizes once axes are split, those that follow in
/// their order, those with a 1 for each new axis and with its size, and those of the result. For the
/// package's own use.
#[pyfunction]
pub(crate) fn moves_of(
    pattern: &Bound<'_, PyString>,
    shape: Vec<isize>,
    lengths: &Bound<'_, PyDict>,
    repeats: bool,
) -> PyResult<[Vec<i64>; 5]> {
    let mode = if repeats {
        Mode::Repeat
    } else {
        Mode::Rearrange
    };
    let known = read(pattern, mode)?;
    let given = lengths_of(pattern, &known.pattern, Some(lengths))?;
    let sizes: Ints = shape.iter().map(|size| *size as i64).collect();
    let fitted = known.pattern.fit(&sizes, &given[..known.pattern.names()]);
    let words = pattern.to_str()?;
    let moves = fitted.map_err(|misfit| refused(words, Some(&shape), &misfit))?;
    let Moves {
        split,
        order,
        spread,
        filled,
        merged,
    } = moves;
    Ok([split, order, spread, filled, merged].map(|sizes| sizes.to_vec()))
}

/// What a pattern and sizes make of an array, or of a list of arrays as one with an axis more.
fn rearranged<'py>(
    py: Python<'py>,
    (x, text, mode): (&Bound<'py, PyAny>, &Bound<'py, PyString>, Mode),
    out: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
    threads: Option<usize>,
    lengths: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = wanted(threads)?;
    let known = read(text, mode)?;
    let pattern = &known.pattern;
    let mut given = lengths_of(text, pattern, lengths)?;
    let is_list = Array::exactly(x).is_none()
        && (x.is_instance_of::<PyList>() || x.is_instance_of::<PyTuple>());
    let inputs: SmallVec<[Array<'py>; 2]> = match is_list {
        false => SmallVec::from_iter([Array::of(x)?]),
        true => x
            .try_iter()?
            .map(|item| Array::of(&item?))
            .collect::<PyResult<_>>()?,
    };
    let Some(first) = inputs.first() else {
        return Err(PyValueError::new_err("a list of arrays has at least one"));
    };
    let alike = |one: &Array<'_>| one.shape() == first.shape() && one.has_dtype_of(first);
    if !inputs.iter().all(alike) {
        return Err(PyValueError::new_err(
            "the arrays of a list have one shape and one dtype",
        ));
    }
    let to = match out {
        None => None,
        Some(out) => Some(out_like(out, first).ok_or_else(|| {
            PyTypeError::new_err(
                "out has to be a numpy array that can be written, of the dtype of the input",
            )
        })?),
    };
    let count = inputs.len();
    given[pattern.names()] = known.number;
    given[pattern.names() + 1] = if is_list { count as i64 } else { -1 };
    let task = Task {
        out: to.as_ref(),
        views: copy != Some(true) && out.is_none(),
        ..Task::new(Action::Rearrange, &given, &inputs, threads)
    };
    let fitted = |shape: &[isize]| -> Result<Moves, PyErr> {
        let mut sizes = Ints::new();
        sizes.extend(is_list.then_some(count as i64));
        sizes.extend(shape.iter().map(|size| *size as i64));
        let fitted = pattern.fit(&sizes, &given[..pattern.names()]);
        fitted.map_err(|misfit| refused(text.to_str().unwrap_or_default(), Some(shape), &misfit))
    };
    // Sizes that do not fit are not in the table of calls, so they are only looked at if there is none.
    let made = super::done(py, &task, &|steps, values| {
        let moves = fitted(first.shape()).map_err(Failure::Raised)?;
        let mut x = values[0];
        if is_list {
            let one: Ints = [1]
                .into_iter()
                .chain(steps.shape(x).iter().copied())
                .collect();
            let rows = values.iter().map(|value| steps.reshape(*value, &one));
            let rows = rows.collect::<Result<SmallVec<[_; 4]>, _>>()?;
            x = steps.concat(&rows, 0)?;
        }
        x = steps.reshape(x, &moves.split)?;
        x = steps.transpose(x, &moves.order)?;
        if moves.spread != moves.filled {
            x = steps.reshape(x, &moves.spread)?;
            x = steps.broadcast(x, &moves.filled)?;
        }
        steps.reshape(x, &moves.merged)
    })?;
    let is_copy = || Array::exactly(&made).is_none_or(|made| !made.lies_in(first));
    match copy {
        Some(false) if is_copy() => Err(PyValueError::new_err(
            "Unable to avoid creating a copy while rearranging.",
        )),
        _ => Ok(made),
    }
}

/// Splits, permutes and joins axes as a pattern says, in einops' grammar, in one pass.
///
/// The answer is a view of the array where one is possible, unless `copy` is true; if it is false, what
/// would be a copy is an error. A list of arrays is one array with an axis more, the first. With `out`
/// the answer is written there.
///
/// >>> import numpy as np, restride
/// >>> images = np.zeros((2, 32, 48, 3))
/// >>> restride.rearrange(images, "b (h p) (w q) c -> b (h w) (p q c)", p=16, q=16).shape
/// (2, 6, 768)
#[pyfunction]
#[pyo3(signature = (x, pattern, /, *, out=None, copy=None, threads=None, **axes_lengths))]
pub(crate) fn rearrange<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    pattern: &Bound<'py, PyString>,
    out: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
    threads: Option<usize>,
    axes_lengths: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    rearranged(
        py,
        (x, pattern, Mode::Rearrange),
        out,
        copy,
        threads,
        axes_lengths,
    )
}

/// Repeats elements: as `numpy.repeat`, or, if the second argument is a pattern, as `einops.repeat`.
///
/// >>> import numpy as np, restride
/// >>> restride.repeat(np.array([1, 2]), 2)
/// array([1, 1, 2, 2])
/// >>> restride.repeat(np.array([1, 2]), "w -> 2 w")
/// array([[1, 2],
///        [1, 2]])
/// >>> restride.repeat(np.zeros((30, 40)), "h w -> h w c", c=3).shape
/// (30, 40, 3)
#[pyfunction]
#[pyo3(signature = (a, /, repeats, axis=None, *, out=None, copy=None, threads=None, **axes_lengths))]
#[allow(
    clippy::too_many_arguments,
    reason = "those of two functions that have one name"
)]
pub(crate) fn repeat<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    repeats: &Bound<'py, PyAny>,
    axis: Option<i64>,
    out: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
    threads: Option<usize>,
    axes_lengths: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    match repeats.cast::<PyString>() {
        Ok(pattern) if axis.is_none() => rearranged(
            py,
            (a, pattern, Mode::Repeat),
            out,
            copy,
            threads,
            axes_lengths,
        ),
        Ok(_) => Err(PyTypeError::new_err(
            "a pattern says which axis it is: there is no argument 'axis'",
        )),
        Err(_) if out.is_some() || copy.is_some() || axes_lengths.is_some() => Err(
            PyTypeError::new_err("out, copy and sizes of axes go with a pattern"),
        ),
        Err(_) => super::gathers::repeat_elements(py, a, repeats, axis, threads),
    }
}
