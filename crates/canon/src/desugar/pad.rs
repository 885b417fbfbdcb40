//! `pad x = concat [rim, x[a:b], rim]` on every axis that changes, where the rim is a fill, a
//! broadcast edge, a slice turned round, or copies of `x`. `center_crop_pad` is a pad.

use crate::engine::{Engine, Parts, Result, Value};
use crate::ir::Span;
use restride_graph::resolve::PadAxis;
use restride_graph::{PadMode, Shape};

pub(super) fn desugar(
    engine: &mut Engine<'_>,
    x: &Value,
    axes: &[PadAxis],
    mode: PadMode,
) -> Result<Value> {
    let mut value = x.clone();
    for (axis, pad) in axes.iter().enumerate() {
        if pad.low != 0 || pad.high != 0 {
            value = pad_axis(engine, &value, axis, pad, mode)?;
        }
    }
    Ok(value)
}

/// The result reads the coordinates `-low .. len - low` of an axis that has `0 .. size`.
fn pad_axis(
    engine: &mut Engine<'_>,
    x: &Value,
    axis: usize,
    pad: &PadAxis,
    mode: PadMode,
) -> Result<Value> {
    let size = x.shape()[axis];
    let mut shape = Shape::from_slice(x.shape());
    shape[axis] = pad.len;
    if pad.len == 0 || shape.contains(&0) {
        return Ok(Value::fill(x.element, &shape, 0));
    }
    let low = i128::from(pad.low);
    let (first, end) = (-low, i128::from(pad.len) - low);
    let n = i128::from(size);
    if mode == PadMode::Wrap {
        return wrap(engine, x, axis, first, end);
    }
    let mut parts = Parts::new();
    let before = (first.min(0), end.min(0));
    let inside = (first.clamp(0, n), end.clamp(0, n));
    let after = (first.max(n), end.max(n));
    if before.0 < before.1 {
        parts.push(rim(engine, x, axis, before, mode, false)?);
    }
    if inside.0 < inside.1 {
        let span = span(inside.0, inside.1 - inside.0, 1);
        parts.push(engine.slice_axis(x, axis, span)?);
    }
    if after.0 < after.1 {
        parts.push(rim(engine, x, axis, after, mode, true)?);
    }
    engine.concat(parts, axis)
}

/// Coordinates outside the axis, on one side of it.
fn rim(
    engine: &mut Engine<'_>,
    x: &Value,
    axis: usize,
    (first, end): (i128, i128),
    mode: PadMode,
    behind: bool,
) -> Result<Value> {
    let n = i128::from(x.shape()[axis]);
    let mut shape = Shape::from_slice(x.shape());
    shape[axis] = (end - first) as i64;
    let mirrored = |around: i128| span(around - first, end - first, -1);
    match mode {
        PadMode::Constant(bits) => Ok(Value::fill(x.element, &shape, bits)),
        PadMode::Edge => {
            let edge = if behind { n - 1 } else { 0 };
            let edge = engine.slice_axis(x, axis, span(edge, 1, 1))?;
            engine.broadcast(&edge, &shape)
        }
        PadMode::Reflect => {
            let around = if behind { 2 * (n - 1) } else { 0 };
            engine.slice_axis(x, axis, mirrored(around))
        }
        PadMode::Symmetric => {
            let around = if behind { 2 * n - 1 } else { -1 };
            engine.slice_axis(x, axis, mirrored(around))
        }
        PadMode::Wrap => wrap(engine, x, axis, first, end),
    }
}

/// Copies of the axis without end, from `first` to `end`: the end of a copy, whole copies, and
/// the beginning of one.
fn wrap(engine: &mut Engine<'_>, x: &Value, axis: usize, first: i128, end: i128) -> Result<Value> {
    let n = i128::from(x.shape()[axis]);
    let start = first.rem_euclid(n);
    let len = end - first;
    let head = if start == 0 { 0 } else { len.min(n - start) };
    let (copies, tail) = ((len - head) / n, (len - head) % n);
    let mut parts = Parts::new();
    if head > 0 {
        parts.push(engine.slice_axis(x, axis, span(start, head, 1))?);
    }
    if copies > 0 {
        let mut repeats = Shape::from_elem(1, x.shape().len());
        repeats[axis] = copies as i64;
        let tile = restride_graph::resolve::tile(x.shape(), &repeats)?;
        parts.push(super::tile::desugar(engine, x, &tile)?);
    }
    if tail > 0 {
        parts.push(engine.slice_axis(x, axis, span(0, tail, 1))?);
    }
    engine.concat(parts, axis)
}

/// A span of coordinates that lie in an axis, and so fit.
fn span(start: i128, len: i128, step: i64) -> Span {
    Span {
        start: start as i64,
        len: len as i64,
        step: if len == 1 { 1 } else { step },
    }
}
