//! Which groups gain: what tract takes for the operators of one, and restride for all of it, by estimate.
//!
//! tract copies whole rows as fast as anybody; what a group saves there is calls and copies in between, and what it
//! costs is a call that looks at more. The numbers are nanoseconds as `tract-models nodes` of `crates/hosts/measure`
//! finds them, but for a call of ours, which takes longer between other nodes than in a loop. What is close to even hardly
//! matters.

use crate::map::{self, Kind};
use tract_core::internal::*;
use tract_core::ops::Downsample;
use tract_core::ops::array::{
    DynSlice, Gather, MultiBroadcastTo, Pad, PadMode, Slice, TypedConcat,
};

/// What a symbol is taken for.
const SOME: i64 = 64;

/// A group, each tensor that it reads and writes, each index that it reads, and a look-up where sizes are bound late.
const CALL: f64 = 260.0;
const TENSOR: f64 = 15.0;
const INDEX: f64 = 0.4;
const LOOK_UP: f64 = 150.0;
/// Who gains less than a tenth may as well stay.
const MARGIN: f64 = 1.1;

/// A byte that is written, by whoever is good at it, and by tract where it writes zeros first.
const BYTE: f64 = 0.015;
const BYTE_TWICE: f64 = 0.03;
/// A row of some length that tract copies by a call.
const ROW: f64 = 1.6;

/// Whether a group takes less time than its members, which are given in order.
pub(crate) fn gains(
    model: &TypedModel,
    members: &[usize],
    inputs: &[OutletId],
    outputs: &[OutletId],
) -> TractResult<bool> {
    let (mut theirs, mut ours) = (0.0, CALL);
    for id in members {
        let node = model.node(*id);
        theirs += time(model, node)?;
        if node.op_is::<Gather>() && map::indices(model, node)?.is_none() {
            ours += INDEX * count(&shape(model, node.inputs[1])?);
        }
        if map::numbers_from(&*node.op) < node.inputs.len() {
            ours += LOOK_UP;
        }
    }
    let mut late = false;
    for outlet in inputs.iter().chain(outputs) {
        late |= model.outlet_fact(*outlet)?.shape.as_concrete().is_none();
        ours += TENSOR;
    }
    for outlet in outputs {
        ours += BYTE * bytes(model, *outlet)?;
    }
    ours += if late { LOOK_UP } else { 0.0 };
    Ok(theirs > MARGIN * ours)
}

/// The sizes of a tensor.
fn shape(model: &TypedModel, outlet: OutletId) -> TractResult<TVec<f64>> {
    let fact = model.outlet_fact(outlet)?;
    let mut values = SymbolValues::default();
    for symbol in fact.shape.iter().flat_map(TDim::symbols) {
        values.set(&symbol, SOME);
    }
    let sizes = fact.shape.iter().map(|dim| dim.eval(&values).to_i64());
    Ok(sizes.map(|size| size.unwrap_or(SOME) as f64).collect())
}

fn count(sizes: &[f64]) -> f64 {
    sizes.iter().product()
}

fn bytes(model: &TypedModel, outlet: OutletId) -> TractResult<f64> {
    let width = model.outlet_fact(outlet)?.datum_type.size_of();
    Ok(count(&shape(model, outlet)?) * width as f64)
}

/// What tract takes for an operator.
fn time(model: &TypedModel, node: &TypedNode) -> TractResult<f64> {
    let op = &*node.op;
    if map::kind(op) == Some(Kind::Shape) {
        return Ok(40.0);
    }
    let made = OutletId::new(node.id, 0);
    let (from, to) = (shape(model, node.inputs[0])?, shape(model, made)?);
    let width = model.outlet_fact(made)?.datum_type.size_of() as f64;
    let (bytes, elements) = (bytes(model, made)?, count(&to));
    // Rows are what lies behind an axis, and there are so many before it.
    let rows = |axis: usize| count(&to[..axis]);
    let axes = op.downcast_ref::<AxisOp>().map(|op| op.canonical());
    Ok(if let Some(AxisOp::Move(a, b)) = axes.as_deref() {
        let row = count(&from[a.max(b) + 1..]) * width;
        let pieces = match row >= 64.0 {
            true => bytes / row * 10.0,
            false => bytes / row.max(1.0) * (0.4 + row / 30.0),
        };
        260.0 + BYTE_TWICE * bytes + pieces
    } else if let Some(op) = op.downcast_ref::<Slice>() {
        110.0 + BYTE * bytes + ROW * rows(op.axis)
    } else if let Some(op) = op.downcast_ref::<DynSlice>() {
        250.0 + BYTE * bytes + ROW * rows(op.axis)
    } else if let Some(op) = op.downcast_ref::<TypedConcat>() {
        110.0 + BYTE * bytes + ROW * rows(op.axis) * node.inputs.len() as f64
    } else if let Some(op) = op.downcast_ref::<Gather>() {
        let indices = count(&shape(model, node.inputs[1])?);
        let row = bytes / (rows(op.axis) * indices).max(1.0) / width;
        let each = if row > 1.0 { 3.5 } else { 0.6 };
        300.0 + BYTE * bytes + each * rows(op.axis) * indices
    } else if let Some(op) = op.downcast_ref::<Pad>() {
        let rows = elements / to.last().map_or(1.0, |last| last.max(1.0));
        match op.mode {
            PadMode::Constant(_) => 450.0 + BYTE_TWICE * bytes + 1.9 * rows,
            PadMode::Reflect | PadMode::Edge => 1150.0 + BYTE_TWICE * bytes + 4.5 * rows,
        }
    } else if op.is::<Downsample>() {
        let rows = elements / to.last().map_or(1.0, |last| last.max(1.0));
        450.0 + 0.5 * elements + 20.0 * rows
    } else if op.is::<MultiBroadcastTo>() && from.last() == to.last() {
        130.0 + BYTE * bytes
    } else {
        // Copied element by element.
        190.0 + 0.05 * elements + BYTE_TWICE * bytes
    })
}
