//! `reverse x axes = slice x [n-1:n:-1]` on those axes.

use crate::engine::{Engine, Result, Value};
use crate::ir::Span;
use smallvec::SmallVec;

pub(super) fn desugar(engine: &mut Engine<'_>, x: &Value, turned: &[bool]) -> Result<Value> {
    let mut spans: SmallVec<[Span; 6]> = SmallVec::new();
    for (&n, &turn) in x.shape().iter().zip(turned) {
        spans.push(span(n, turn));
    }
    engine.slice(x, &spans)
}

/// A whole axis, perhaps turned round.
pub(super) fn span(size: i64, turned: bool) -> Span {
    if turned && size > 1 {
        return Span {
            start: size - 1,
            len: size,
            step: -1,
        };
    }
    Span::whole(size)
}
