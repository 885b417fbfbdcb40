//! `split x = slice x [start:len:1]` on its axis, one slice for each part.

use super::slice::own;
use crate::engine::{Engine, Result, Value};
use restride_graph::resolve;

pub(super) fn desugar(
    engine: &mut Engine<'_>,
    x: &Value,
    axis: usize,
    span: resolve::AxisSpan,
) -> Result<Value> {
    engine.slice_axis(x, axis, own(span))
}
