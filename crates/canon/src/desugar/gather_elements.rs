//! `gather_elements x %i axis a = gather (slice x) [o0, .., %i(o0, .., on), .., on]`, the index at
//! place `a`; the data is cut to the sizes of the indices on the other axes.

use super::gather::demand;
use super::policy;
use crate::engine::{Engine, PendingCoordinate, PendingGather, PendingIndex, Result, Value};
use crate::ir::Span;
use restride_graph::{IndexRule, Shape, ValueId};
use smallvec::SmallVec;

pub(super) fn desugar(
    engine: &mut Engine<'_>,
    x: &Value,
    indices: &Value,
    axis: usize,
    rule: IndexRule,
    id: ValueId,
) -> Result<Value> {
    demand(engine, indices, x.shape()[axis], rule, id)?;
    let sizes = x.shape().iter().zip(indices.shape()).enumerate();
    let spans: SmallVec<[Span; 6]> = sizes
        .map(|(k, (&size, &kept))| Span::whole(if k == axis { size } else { kept }))
        .collect();
    let data = engine.slice(x, &spans)?;
    let rank = x.shape().len() as u8;
    let coordinate = |k: u8| {
        if usize::from(k) == axis {
            PendingCoordinate::Index(Box::new(PendingIndex {
                value: indices.clone(),
                outputs: (0..rank).collect(),
                wrap: rule.wrap,
                policy: policy(rule.out_of_range),
            }))
        } else {
            PendingCoordinate::Output(k)
        }
    };
    engine.gather(PendingGather {
        data,
        coordinates: (0..rank).map(coordinate).collect(),
        shape: Shape::from_slice(indices.shape()),
        after: Vec::new(),
    })
}
