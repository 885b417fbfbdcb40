//! `gather_nd x %i batch b = gather x [o0..ob, %i0(o0..oq), %i1(o0..oq), .., o..]`, where `%ik` is
//! column `k` of the last axis of `%i`. With no columns it is a broadcast.

use super::policy;
use crate::engine::{
    Demand, Engine, PendingCoordinate, PendingGather, PendingIndex, Result, Value,
};
use crate::ir::Span;
use restride_graph::resolve::GatherNdAxes;
use restride_graph::{IndexRule, OutOfRange, Shape, ValueId};
use smallvec::SmallVec;

pub(super) fn desugar(
    engine: &mut Engine<'_>,
    x: &Value,
    indices: &Value,
    axes: &GatherNdAxes,
    rule: IndexRule,
    id: ValueId,
) -> Result<Value> {
    let last = indices.shape().len() - 1;
    let (batch, depth) = (axes.batch_dims, axes.depth);
    let mut coordinates: SmallVec<[PendingCoordinate; 3]> = SmallVec::new();
    coordinates.extend((0..batch).map(|k| PendingCoordinate::Output(k as u8)));
    for column in 0..depth {
        let span = Span {
            start: column as i64,
            len: 1,
            step: 1,
        };
        let value = engine.slice_axis(indices, last, span)?;
        let value = engine.drop_axes(&value, |k| k == last)?;
        if rule.out_of_range == OutOfRange::Error {
            let demand = Demand {
                limit: x.shape()[batch + column],
                wrap: rule.wrap,
                op: id.index() as u32,
                column: column as u32,
                columns: depth as u32,
            };
            engine.check(&value, demand)?;
        }
        coordinates.push(PendingCoordinate::Index(Box::new(PendingIndex {
            value,
            outputs: (0..last as u8).collect(),
            wrap: rule.wrap,
            policy: policy(rule.out_of_range),
        })));
    }
    if depth == 0 {
        return repeated(engine, x, indices, axes);
    }
    let rest = (last..axes.shape.len()).map(|o| PendingCoordinate::Output(o as u8));
    coordinates.extend(rest);
    engine.gather(PendingGather {
        data: x.clone(),
        coordinates,
        shape: axes.shape.clone(),
        after: Vec::new(),
    })
}

/// An index of no columns names all of the data.
fn repeated(
    engine: &mut Engine<'_>,
    x: &Value,
    indices: &Value,
    axes: &GatherNdAxes,
) -> Result<Value> {
    let (batched, rest) = x.shape().split_at(axes.batch_dims);
    let new = indices.shape().len() - 1 - axes.batch_dims;
    let mut units = Shape::from_slice(batched);
    units.extend(std::iter::repeat_n(1, new));
    units.extend_from_slice(rest);
    let expanded = engine.reshape(x, &units)?;
    engine.broadcast(&expanded, &axes.shape)
}
