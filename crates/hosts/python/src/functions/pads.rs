//! `pad`.

use super::done;
use crate::array::Array;
use crate::calls::{Action, Task};
use crate::numpy::{self, Ints, ints};
use crate::threads::wanted;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use restride::PadMode;

/// The amounts before and after each axis, as numpy reads them. Nothing if that is for numpy to do.
fn amounts(width: &Bound<'_, PyAny>, rank: usize) -> Option<(Ints, Ints)> {
    let each = |before, after| (Ints::from_elem(before, rank), Ints::from_elem(after, rank));
    if let Some(list) = ints(width) {
        return match list[..] {
            [both] => Some(each(both, both)),
            [before, after] => Some(each(before, after)),
            _ => None,
        };
    }
    if width.is_instance_of::<PyDict>() {
        return None;
    }
    let rows = width.try_iter().ok()?;
    let rows: Option<Vec<Ints>> = rows.map(|row| ints(&row.ok()?)).collect();
    match &rows?[..] {
        [row] if row.len() == 2 => Some(each(row[0], row[1])),
        rows if rows.len() == rank && rows.iter().all(|row| row.len() == 2) => Some((
            rows.iter().map(|row| row[0]).collect(),
            rows.iter().map(|row| row[1]).collect(),
        )),
        _ => None,
    }
}

/// The bits of the constant, if there is one number for the whole rim.
fn constant<'py>(
    array: &Array<'py>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<u128>> {
    if !b"biufcmM".contains(&array.kind()) {
        return Ok(None);
    }
    let value = match keywords.map(|keywords| keywords.get_item("constant_values")) {
        None => return Ok(Some(0)),
        Some(value) => match value? {
            None => return Ok(Some(0)),
            Some(value) => value,
        },
    };
    if !value.hasattr("__index__")?
        && !value.hasattr("__float__")?
        && !value.hasattr("__complex__")?
    {
        return Ok(None);
    }
    if value.hasattr("shape")? || array.itemsize() > 16 {
        return Ok(None);
    }
    // As numpy assigns it to an array of these elements.
    let one = array.new_like(&[1], crate::array::Order::C)?;
    one.object().set_item(0, value)?;
    let bytes = one
        .object()
        .call_method0("tobytes")?
        .cast_into::<PyBytes>()?;
    let mut bits = [0; 16];
    let bytes = bytes.as_bytes();
    bits[..bytes.len()].copy_from_slice(bytes);
    Ok(Some(u128::from_le_bytes(bits)))
}

/// The array with a rim, as `numpy.pad`. The modes 'constant', 'edge', 'reflect', 'symmetric' and 'wrap' are
/// restride's, the others numpy's.
///
/// >>> import numpy as np, restride
/// >>> restride.pad(np.array([1, 2, 3]), (2, 1), mode="reflect")
/// array([3, 2, 1, 2, 3, 2])
#[pyfunction]
#[pyo3(signature = (array, pad_width, mode=None, *, threads=None, **kwargs))]
pub(crate) fn pad<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    pad_width: &Bound<'py, PyAny>,
    mode: Option<&Bound<'py, PyAny>>,
    threads: Option<usize>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let threads = wanted(threads)?;
    let by_numpy = || {
        let keywords = match kwargs {
            Some(keywords) => keywords.copy()?,
            None => PyDict::new(py),
        };
        if let Some(mode) = mode {
            keywords.set_item("mode", mode)?;
        }
        numpy::numpy(py)?
            .getattr("pad")?
            .call((array, pad_width), Some(&keywords))
    };
    let x = Array::of(array)?;
    let (named, is_constant) = match mode.map(|mode| mode.extract::<String>()) {
        None => ("constant".to_owned(), true),
        Some(Ok(name)) if name == "constant" => (name, true),
        Some(Ok(name)) => (name, false),
        Some(Err(_)) => return by_numpy(),
    };
    let foreign = kwargs.is_some_and(|keywords| {
        keywords
            .keys()
            .iter()
            .any(|name| !is_constant || !name.eq("constant_values").unwrap_or(false))
    });
    let widths = amounts(pad_width, x.rank()).filter(|_| !foreign && x.rank() > 0 && x.rank() < 31);
    let Some((low, high)) = widths else {
        return by_numpy();
    };
    // How far the rim may reach, by how many elements there are.
    let (mode, reach): (PadMode, fn(i64) -> i64) = match &named[..] {
        "constant" => match constant(&x, kwargs)? {
            Some(bits) => (PadMode::Constant(bits), |_| i64::MAX),
            None => return by_numpy(),
        },
        "edge" => (PadMode::Edge, |size| if size == 0 { 0 } else { i64::MAX }),
        "reflect" => (PadMode::Reflect, |size| size - 1),
        "symmetric" => (PadMode::Symmetric, |size| size),
        "wrap" => (PadMode::Wrap, |size| size),
        _ => return by_numpy(),
    };
    let fits = x
        .shape()
        .iter()
        .zip(low.iter().zip(&high))
        .all(|(&size, (&low, &high))| {
            let reach = reach(size as i64).max(0);
            (0..=reach).contains(&low) && (0..=reach).contains(&high)
        });
    // What fills an element of several units has to be the same in all of them.
    let is_whole = matches!(mode, PadMode::Constant(0)) || !is_constant || {
        let size = x.itemsize();
        size.count_ones() == 1
            && crate::layout::unit_bytes(x.shape(), x.strides(), size) == size as i64
    };
    if !fits || !is_whole {
        return by_numpy();
    }
    let mut numbers: Ints = low.iter().chain(&high).copied().collect();
    let (number, bits) = match mode {
        PadMode::Constant(bits) => (0, bits),
        PadMode::Edge => (1, 0),
        PadMode::Reflect => (2, 0),
        PadMode::Symmetric => (3, 0),
        PadMode::Wrap => (4, 0),
    };
    numbers.extend([number, bits as i64, (bits >> 64) as i64]);
    let inputs = [x];
    let task = Task::new(Action::Pad, &numbers, &inputs, threads);
    done(py, &task, &|steps, values| {
        steps.pad(values[0], &low, &high, mode)
    })
}
