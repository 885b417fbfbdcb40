//! `dynamic_slice x %s = gather (windows x) [%s0(), o0, %s1(), o1, .., o..]`: along each axis a start
//! chooses one of the windows, so a whole region is one move from a place that is read when it runs.

use super::{pad, policy};
use crate::engine::{
    Demand, Engine, PendingCoordinate, PendingGather, PendingIndex, Result, Value,
};
use crate::ir::{Axes, Policy, Span};
use restride_graph::resolve::{PadAxis, PlacedAxis};
use restride_graph::{ElementType, OutOfRange, PadMode, Shape, ValueId};
use restride_layout::{Break, View};
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
    window(engine, x, &shape, starts, false)
}

/// The windows of this shape that starts choose; backwards, start 0 is the last one.
fn window(
    engine: &mut Engine<'_>,
    x: &Value,
    shape: &[i64],
    starts: &Starts,
    backwards: bool,
) -> Result<Value> {
    if starts.of.iter().all(Option::is_none) {
        return Ok(x.clone());
    }
    let mut data = x.clone();
    let mut coordinates: SmallVec<[PendingCoordinate; 3]> = SmallVec::new();
    for (output, (start, &size)) in starts.of.iter().zip(shape).enumerate() {
        if let Some(start) = start {
            let axis = coordinates.len();
            data = engine.view(&data, &View::Windows { axis, size })?;
            let places = data.shape()[axis];
            if backwards && places > 1 {
                let span = Span {
                    start: places - 1,
                    len: places,
                    step: -1,
                };
                data = engine.slice_axis(&data, axis, span)?;
            }
            coordinates.push(index(start, Axes::new(), starts.policy));
        }
        coordinates.push(PendingCoordinate::Output(output as u8));
    }
    gather(engine, data, coordinates, shape)
}

fn index(value: &Value, outputs: Axes, policy: Policy) -> PendingCoordinate {
    PendingCoordinate::Index(Box::new(PendingIndex {
        value: value.clone(),
        outputs,
        wrap: false,
        policy,
    }))
}

fn gather(
    engine: &mut Engine<'_>,
    data: Value,
    coordinates: SmallVec<[PendingCoordinate; 3]>,
    shape: &[i64],
) -> Result<Value> {
    engine.gather(PendingGather {
        data,
        coordinates,
        shape: Shape::from_slice(shape),
        after: Vec::new(),
    })
}

/// `x` with the update where the starts say. The update with a rim as wide as it may move is, seen
/// through the window that the starts choose, at its place in a tensor of the shape of `x`. A line of
/// ones with such a rim says for each axis, seen in the same way, where it is. What is inside along
/// all axes is taken from the one, all else from the other.
pub(super) fn update(
    engine: &mut Engine<'_>,
    x: &Value,
    update: &Value,
    placed: &[PlacedAxis],
    starts: &Starts,
) -> Result<Value> {
    if x.is_empty() || update.is_empty() {
        return Ok(x.clone());
    }
    let axes: SmallVec<[usize; 6]> = (0..placed.len())
        .filter(|&axis| starts.of[axis].is_some())
        .collect();
    if axes.is_empty() {
        return Ok(update.clone());
    }
    let rim = |axis: &PlacedAxis| {
        let rim = axis.places - 1;
        let len = rim
            .checked_mul(2)
            .and_then(|rims| rims.checked_add(axis.size));
        len.map(|len| PadAxis {
            low: rim,
            high: rim,
            len,
        })
    };
    let rims: Option<SmallVec<[PadAxis; 6]>> = placed.iter().map(rim).collect();
    let rims = rims.ok_or(Break::Overflow)?;
    let zeros = PadMode::Constant(0);
    let wide = pad::desugar(engine, update, &rims, zeros)?;
    let there = window(engine, &wide, x.shape(), starts, true)?;
    let mut inside: Option<Value> = None;
    let mut sizes = Shape::new();
    for &axis in &axes {
        let size = x.shape()[axis];
        let ones = Value::fill(ElementType::U8, &[placed[axis].size], 1);
        let line = pad::desugar(engine, &ones, &rims[axis..=axis], zeros)?;
        let own = Starts {
            of: starts.of[axis..=axis].into(),
            policy: starts.policy,
        };
        let along = window(engine, &line, &[size], &own, true)?;
        let before = sizes.len() as u8;
        sizes.push(size);
        inside = Some(match inside {
            None => along,
            Some(inside) => {
                let both = engine.constant(ElementType::U8, &[2, 2], &[0, 0, 0, 1].into())?;
                let coordinates = SmallVec::from_iter([
                    index(&inside, (0..before).collect(), Policy::Clamp),
                    index(&along, Axes::from_slice(&[before]), Policy::Clamp),
                ]);
                gather(engine, both, coordinates, &sizes)?
            }
        });
    }
    let Some(inside) = inside else {
        return Ok(x.clone());
    };
    let mut one = Shape::from_slice(&[1]);
    one.extend_from_slice(x.shape());
    let either = [engine.reshape(x, &one)?, engine.reshape(&there, &one)?];
    let data = engine.concat(either.into_iter().collect(), 0)?;
    let outputs = axes.iter().map(|&axis| axis as u8).collect();
    let direct = (0..placed.len()).map(|axis| PendingCoordinate::Output(axis as u8));
    let coordinates = [index(&inside, outputs, Policy::Clamp)].into_iter();
    gather(engine, data, coordinates.chain(direct).collect(), x.shape())
}
