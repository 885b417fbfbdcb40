//! `slice x = slice x [start:len:step]`.

use crate::engine::{Engine, Result, Value};
use crate::ir::Span;
use restride_graph::resolve;
use smallvec::SmallVec;

/// One span per axis.
pub(super) fn desugar(
    engine: &mut Engine<'_>,
    x: &Value,
    spans: &[resolve::AxisSpan],
) -> Result<Value> {
    let spans: SmallVec<[Span; 6]> = spans.iter().map(|&span| own(span)).collect();
    engine.slice(x, &spans)
}

/// A resolved span.
pub(super) fn own(span: resolve::AxisSpan) -> Span {
    Span {
        start: span.start,
        len: span.len,
        step: span.step,
    }
}
