//! `gather x %i axis a, batch b = gather x [o0.., %i(o0..ob, oa..), o..]`: batch axes are output
//! axes that data and indices both follow.

use super::policy;
use crate::engine::{
    Demand, Engine, PendingCoordinate, PendingGather, PendingIndex, Result, Value,
};
use crate::ir::Axes;
use restride_graph::resolve::GatherAxes;
use restride_graph::{IndexRule, OutOfRange, ValueId};

pub(super) fn desugar(
    engine: &mut Engine<'_>,
    x: &Value,
    indices: &Value,
    axes: GatherAxes,
    rule: IndexRule,
    id: ValueId,
) -> Result<Value> {
    let GatherAxes { axis, batch_dims } = axes;
    demand(engine, indices, x.shape()[axis], rule, id)?;
    let own = indices.shape().len() - batch_dims;
    // The index's own output axes take the place of the axis that they choose from.
    let follows = |j: usize| {
        if j < batch_dims {
            j
        } else {
            axis + j - batch_dims
        }
    };
    let outputs: Axes = (0..indices.shape().len())
        .map(|j| follows(j) as u8)
        .collect();
    let coordinate = |k: usize| {
        if k == axis {
            PendingCoordinate::Index(Box::new(PendingIndex {
                value: indices.clone(),
                outputs: outputs.clone(),
                wrap: rule.wrap,
                policy: policy(rule.out_of_range),
            }))
        } else if k < axis {
            PendingCoordinate::Output(k as u8)
        } else {
            PendingCoordinate::Output((k - 1 + own) as u8)
        }
    };
    let shape = axes.shape(x.shape(), indices.shape());
    engine.gather(PendingGather {
        data: x.clone(),
        coordinates: (0..x.shape().len()).map(coordinate).collect(),
        shape,
        after: Vec::new(),
    })
}

/// The obligation of policy `error`, on the whole index tensor.
pub(super) fn demand(
    engine: &mut Engine<'_>,
    indices: &Value,
    limit: i64,
    rule: IndexRule,
    id: ValueId,
) -> Result<()> {
    match rule.out_of_range {
        OutOfRange::Zero | OutOfRange::Clamp => Ok(()),
        OutOfRange::Error => engine.check(
            indices,
            Demand {
                limit,
                wrap: rule.wrap,
                op: id.index() as u32,
                column: 0,
                columns: 1,
            },
        ),
    }
}
