//! The spelled operators in canonical terms, one to a file, each with its equation.
//!
//! What the attributes mean is resolved by the graph crate; here it becomes views, concats and
//! gathers.

mod block;
mod broadcast;
mod concat;
mod dynamic;
mod flip;
mod gather;
mod gather_elements;
mod gather_nd;
mod pad;
mod reshape;
mod reverse_sequence;
mod roll;
mod slice;
mod split;
mod strided_slice;
mod tile;
mod transpose;

use crate::CanonError;
use crate::engine::{Engine, Result, Value};
use crate::ir::Policy;
use restride_graph::{Graph, Op, OutOfRange, PadMode, ValueId, resolve};
use smallvec::SmallVec;

/// The value of an operand.
pub(crate) fn operand(values: &[Option<Value>], id: ValueId) -> Result<&Value> {
    match values.get(id.index()) {
        Some(Some(value)) => Ok(value),
        Some(None) | None => Err(CanonError::Operator {
            op: "operand",
            what: "a value that does not stand before its user",
        }),
    }
}

/// The value of an operator, told to the trace under the operator's name.
pub(crate) fn desugar(
    engine: &mut Engine<'_>,
    graph: &Graph,
    id: ValueId,
    values: &[Option<Value>],
) -> Result<Value> {
    let op = graph.op(id);
    let value = spell_out(engine, graph, id, op, values)?;
    let shape = graph.ty(id).shape();
    if value.shape() != shape {
        return Err(CanonError::Operator {
            op: op.name(),
            what: "its canonical form has another shape than its type",
        });
    }
    engine.note(op.name(), || {
        format!(
            "{} is lowered to canonical operators : {}",
            graph.label(id),
            graph.ty(id)
        )
    });
    Ok(value)
}

fn spell_out(
    engine: &mut Engine<'_>,
    graph: &Graph,
    id: ValueId,
    op: &Op,
    values: &[Option<Value>],
) -> Result<Value> {
    let of = |x: &ValueId| operand(values, *x);
    let shape = graph.ty(id).shape();
    match op {
        Op::Input => Err(CanonError::Operator {
            op: "input",
            what: "it is not among the graph's inputs",
        }),
        Op::Constant(constant) => {
            let ty = constant.ty();
            engine.constant(ty.element(), ty.shape(), constant.bytes())
        }
        Op::Identity { x } => Ok(of(x)?.clone()),
        Op::StridedSlice { x, .. } => strided_slice::desugar(engine, op, of(x)?),
        Op::Slice {
            x,
            dialect,
            start,
            stop,
            step,
            axes,
        } => {
            let x = of(x)?;
            let axes = axes.as_deref();
            let spans = resolve::slice(*dialect, x.shape(), start, stop, step, axes)?;
            slice::desugar(engine, x, &spans)
        }
        Op::Gather {
            x,
            indices,
            axis,
            batch_dims,
            rule,
        } => {
            let (x, indices) = (of(x)?, of(indices)?);
            let axes = resolve::gather(x.shape(), indices.shape(), *axis, *batch_dims)?;
            gather::desugar(engine, x, indices, axes, *rule, id)
        }
        Op::GatherElements {
            x,
            indices,
            axis,
            rule,
        } => {
            let (x, indices) = (of(x)?, of(indices)?);
            let axis = resolve::gather_elements(x.shape(), indices.shape(), *axis)?;
            gather_elements::desugar(engine, x, indices, axis, *rule, id)
        }
        Op::GatherNd {
            x,
            indices,
            batch_dims,
            rule,
        } => {
            let (x, indices) = (of(x)?, of(indices)?);
            let axes = resolve::gather_nd(x.shape(), indices.shape(), *batch_dims)?;
            gather_nd::desugar(engine, x, indices, &axes, *rule, id)
        }
        Op::DynamicSlice {
            x,
            starts,
            sizes,
            axes,
            out_of_range,
        } => {
            let (x, starts) = (of(x)?, of(starts)?);
            let axes = axes.as_deref();
            let placed = resolve::dynamic_slice(x.shape(), starts.shape(), sizes, axes)?;
            let starts = dynamic::starts(engine, starts, &placed, *out_of_range, id)?;
            dynamic::slice(engine, x, &placed, &starts)
        }
        Op::DynamicUpdateSlice {
            x,
            update,
            starts,
            axes,
            out_of_range,
        } => {
            let (x, update, starts) = (of(x)?, of(update)?, of(starts)?);
            let (axes, at) = (axes.as_deref(), starts.shape());
            let placed = resolve::dynamic_update_slice(x.shape(), update.shape(), at, axes)?;
            let starts = dynamic::starts(engine, starts, &placed, *out_of_range, id)?;
            dynamic::update(engine, x, update, &placed, &starts)
        }
        Op::Reshape { x, .. }
        | Op::Squeeze { x, .. }
        | Op::Unsqueeze { x, .. }
        | Op::Flatten { x, .. } => reshape::desugar(engine, of(x)?, shape),
        Op::Transpose { x, perm } => {
            let x = of(x)?;
            let perm = resolve::transpose(x.shape(), perm)?;
            transpose::desugar(engine, x, &perm)
        }
        Op::Broadcast {
            x,
            shape: target,
            mode,
        } => {
            let x = of(x)?;
            let mapped = resolve::broadcast(x.shape(), target, mode)?;
            broadcast::desugar(engine, x, &mapped)
        }
        Op::Reverse { x, axes } => {
            let x = of(x)?;
            let turned = resolve::reverse(x.shape(), axes)?;
            flip::desugar(engine, x, &turned)
        }
        Op::Roll { x, shift, axes } => {
            let x = of(x)?;
            let shifts = resolve::roll(x.shape(), shift, axes)?;
            roll::desugar(engine, x, &shifts)
        }
        Op::Split {
            x,
            axis,
            lengths,
            part,
        } => {
            let x = of(x)?;
            let (axis, span) = resolve::split(x.shape(), *axis, lengths, *part as usize)?;
            split::desugar(engine, x, axis, span)
        }
        Op::Concat { parts, axis } => {
            let mut own: SmallVec<[Value; 4]> = SmallVec::new();
            for part in parts {
                own.push(of(part)?.clone());
            }
            let axis = {
                let shapes: SmallVec<[&[i64]; 4]> = own.iter().map(Value::shape).collect();
                resolve::concat(&shapes, *axis)?.0
            };
            concat::desugar(engine, own, axis)
        }
        Op::Tile { x, repeats } => {
            let x = of(x)?;
            let tile = resolve::tile(x.shape(), repeats)?;
            tile::desugar(engine, x, &tile)
        }
        Op::Pad { x, low, high, mode } => {
            let x = of(x)?;
            let axes = resolve::pad(x.shape(), low, high, *mode)?;
            pad::desugar(engine, x, &axes, *mode)
        }
        Op::DepthToSpace {
            x,
            block,
            order,
            channels,
        } => {
            let x = of(x)?;
            let blocks = resolve::depth_to_space(x.shape(), *block, *order, *channels)?;
            block::desugar(engine, x, &blocks)
        }
        Op::SpaceToDepth {
            x,
            block,
            order,
            channels,
        } => {
            let x = of(x)?;
            let blocks = resolve::space_to_depth(x.shape(), *block, *order, *channels)?;
            block::desugar(engine, x, &blocks)
        }
        Op::SpaceToBatch {
            x,
            block,
            pads_begin,
            pads_end,
        } => {
            let x = of(x)?;
            let (rims, blocks) = resolve::space_to_batch(x.shape(), block, pads_begin, pads_end)?;
            let padded = pad::desugar(engine, x, &rims, PadMode::Constant(0))?;
            block::desugar(engine, &padded, &blocks)
        }
        Op::BatchToSpace {
            x,
            block,
            crops_begin,
            crops_end,
        } => {
            let x = of(x)?;
            let (blocks, kept) = resolve::batch_to_space(x.shape(), block, crops_begin, crops_end)?;
            let whole = block::desugar(engine, x, &blocks)?;
            slice::desugar(engine, &whole, &kept)
        }
        Op::ShuffleChannels { x, axis, groups } => {
            let x = of(x)?;
            let blocks = resolve::shuffle_channels(x.shape(), *axis, *groups)?;
            block::desugar(engine, x, &blocks)
        }
        Op::CenterCropPad {
            x,
            shape: target,
            axes,
        } => {
            let x = of(x)?;
            let padded = resolve::center_crop_pad(x.shape(), target, axes.as_deref())?;
            pad::desugar(engine, x, &padded, PadMode::Constant(0))
        }
        Op::ReverseSequence {
            x,
            lengths,
            batch_axis,
            seq_axis,
        } => {
            let x = of(x)?;
            let axes = resolve::reverse_sequence(x.shape(), lengths, *batch_axis, *seq_axis)?;
            reverse_sequence::desugar(engine, x, lengths, axes)
        }
    }
}

/// What a rule leaves to the gather once its obligation is stated.
fn policy(out_of_range: OutOfRange) -> Policy {
    match out_of_range {
        OutOfRange::Zero | OutOfRange::Error => Policy::Zero,
        OutOfRange::Clamp => Policy::Clamp,
    }
}
