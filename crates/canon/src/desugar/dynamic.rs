//! `dynamic_slice x %s = gather (windows x) [%s0(), o0, %s1(), o1, .., o..]`: along each axis a start
//! chooses one of the windows, so a whole region is one move from a place that is read when it runs.

use super::policy;
use crate::engine::{
    Demand, Engine, PendingCoordinate, PendingGather, PendingIndex, Result, Value,
};
use crate::ir::{Axes, Policy, Span};
use restride_graph::resolve::PlacedAxis;
use restride_graph::{OutOfRange, Shape, ValueId};
use restride_layout::View;
use smallvec::SmallVec;

/// The start of every axis that has one to be read, and what it does where it is out of range.
pub(super) struct Starts {
    of: SmallVec<[Option<Value>; 6]>,
    policy: Policy,
}

/// Takes the starts apart, and states the obligations of policy `error`.
pub(super) fn starts(
    engine: &mut Engine<'_>,
    starts: &Value,
    placed: &[PlacedAxis],
    out_of_range: OutOfRange,
    id: ValueId,
) -> Result<Starts> {
    let columns = starts.shape().first().map_or(0, |&n| n as u32);
    let mut of: SmallVec<[Option<Value>; 6]> = SmallVec::from_elem(None, placed.len());
    let mut axes: SmallVec<[usize; 6]> = (0..placed.len()).collect();
    axes.sort_by_key(|&axis| placed[axis].start);
    for axis in axes {
        let Some(column) = placed[axis].start else {
            continue;
        };
        let span = Span {
            start: column as i64,
            len: 1,
            step: 1,
        };
        let start = engine.slice_axis(starts, 0, span)?;
        let start = engine.drop_axes(&start, |_| true)?;
        if out_of_range == OutOfRange::Error {
            let demand = Demand {
                limit: placed[axis].places,
                wrap: false,
                op: id.index() as u32,
                column: column as u32,
                columns,
            };
            engine.check(&start, demand)?;
        }
        // At one place only, it is there or the run has ended.
        if placed[axis].places > 1 || out_of_range == OutOfRange::Zero {
            of[axis] = Some(start);
        }
    }
    let policy = policy(out_of_range);
    Ok(Starts { of, policy })
}

/// What stands at the starts.
pub(super) fn slice(
    engine: &mut Engine<'_>,
    x: &Value,
    placed: &[PlacedAxis],
    starts: &Starts,
) -> Result<Value> {
    let shape: Shape = placed.iter().map(|axis| axis.size).collect();
    if shape.contains(&0) {
        return Ok(Value::fill(x.element, &shape, 0));
    }
    if starts.of.iter().all(Option::is_none) {
        return Ok(x.clone());
    }
    let mut data = x.clone();
    let mut coordinates: SmallVec<[PendingCoordinate; 3]> = SmallVec::new();
    for (axis, start) in starts.of.iter().enumerate() {
        if let Some(start) = start {
            let (axis, size) = (coordinates.len(), placed[axis].size);
            data = engine.view(&data, &View::Windows { axis, size })?;
            coordinates.push(PendingCoordinate::Index(Box::new(PendingIndex {
                value: start.clone(),
                outputs: Axes::new(),
                wrap: false,
                policy: starts.policy,
            })));
        }
        coordinates.push(PendingCoordinate::Output(axis as u8));
    }
    engine.gather(PendingGather {
        data,
        coordinates,
        shape,
        after: Vec::new(),
    })
}
