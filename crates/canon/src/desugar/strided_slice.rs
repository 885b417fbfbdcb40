//! `strided_slice x = reshape (slice x [..])`: a range is a span, a shrink is a span of one whose
//! axis is dropped, a new axis is a size of 1.

use super::slice::own;
use crate::engine::{Engine, Result, Value};
use crate::ir::Span;
use restride_graph::resolve::AxisAction;
use restride_graph::{Op, Shape, resolve};
use smallvec::SmallVec;

pub(super) fn desugar(engine: &mut Engine<'_>, op: &Op, x: &Value) -> Result<Value> {
    let Some(spec) = op.strided_slice_spec() else {
        return Ok(x.clone());
    };
    let mut spans: SmallVec<[Span; 6]> = SmallVec::new();
    let mut shape = Shape::new();
    for action in resolve::strided_slice(&spec, x.shape())? {
        match action {
            AxisAction::Range(span) => {
                spans.push(own(span));
                shape.push(span.len);
            }
            AxisAction::Shrink(start) => spans.push(Span {
                start,
                len: 1,
                step: 1,
            }),
            AxisAction::NewAxis => shape.push(1),
        }
    }
    let sliced = engine.slice(x, &spans)?;
    engine.reshape(&sliced, &shape)
}
