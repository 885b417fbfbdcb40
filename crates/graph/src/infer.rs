//! The type rule of every operator: resolve its attributes, take the shape that comes out.

use smallvec::SmallVec;

use crate::error::{Place, Problem, Refusal};
use crate::resolve::{self, AxisAction};
use crate::{ElementType, Graph, GraphError, Op, PadMode, Shape, TensorType};

/// The type that an operator's value would have in this graph.
pub(crate) fn infer(op: &Op, graph: &Graph) -> Result<TensorType, GraphError> {
    let mut operands: SmallVec<[&TensorType; 4]> = SmallVec::new();
    for (operand, id) in op.operands().into_iter().enumerate() {
        match graph.get(id) {
            Some((_, ty)) => operands.push(ty),
            None => {
                let problem = Problem::UnknownValue {
                    got: id,
                    defined: graph.len(),
                };
                return Err(Place::Operand(operand).refuse(problem).of(op.name()));
            }
        }
    }
    rule(op, &operands)
        .and_then(|(element, shape)| {
            TensorType::dense(element, shape).map_err(|error| Place::Result.refuse(error))
        })
        .map_err(|refusal| refusal.of(op.name()))
}

fn rule(op: &Op, operands: &[&TensorType]) -> Result<(ElementType, Shape), Refusal> {
    // Every operator that reads anything moves elements of its first operand.
    let of = |shape: Shape| match operands.first() {
        Some(x) => Ok((x.element(), shape)),
        None => Err(Place::Whole.refuse(Problem::NoOperands)),
    };
    let x: &[i64] = operands.first().map_or(&[], |ty| ty.shape());
    match op {
        Op::Input => Err(Place::Whole.refuse(Problem::InputWithoutType)),
        Op::Constant(constant) => {
            let ty = constant.ty();
            Ok((ty.element(), Shape::from_slice(ty.shape())))
        }
        Op::Identity { .. } => of(Shape::from_slice(x)),
        Op::StridedSlice { .. } => of(strided_slice(op, x)?),
        Op::Slice {
            x: _,
            dialect,
            start,
            stop,
            step,
            axes,
        } => {
            let spans = resolve::slice(*dialect, x, start, stop, step, axes.as_deref())?;
            of(resolve::lengths(&spans))
        }
        Op::Gather {
            x: _,
            indices: _,
            axis,
            batch_dims,
            rule: _,
        } => {
            let indices = index_shape(operands, 1)?;
            let axes = resolve::gather(x, indices, *axis, *batch_dims)?;
            of(axes.shape(x, indices))
        }
        Op::GatherElements {
            x: _,
            indices: _,
            axis,
            rule: _,
        } => {
            let indices = index_shape(operands, 1)?;
            resolve::gather_elements(x, indices, *axis)?;
            of(Shape::from_slice(indices))
        }
        Op::GatherNd {
            x: _,
            indices: _,
            batch_dims,
            rule: _,
        } => {
            let indices = index_shape(operands, 1)?;
            of(resolve::gather_nd(x, indices, *batch_dims)?.shape)
        }
        Op::DynamicSlice {
            x: _,
            starts: _,
            sizes,
            axes,
            out_of_range: _,
        } => {
            let starts = index_shape(operands, 1)?;
            let placed = resolve::dynamic_slice(x, starts, sizes, axes.as_deref())?;
            of(placed.iter().map(|axis| axis.size).collect())
        }
        Op::DynamicUpdateSlice {
            x: _,
            update: _,
            starts: _,
            axes,
            out_of_range: _,
        } => {
            same_element(&operands[..operands.len().min(2)])?;
            let update = operands.get(1).map_or(&[][..], |ty| ty.shape());
            let starts = index_shape(operands, 2)?;
            resolve::dynamic_update_slice(x, update, starts, axes.as_deref())?;
            of(Shape::from_slice(x))
        }
        Op::Reshape {
            x: _,
            dialect,
            pattern,
        } => of(resolve::reshape(*dialect, x, pattern)?),
        Op::Transpose { x: _, perm } => {
            let perm = resolve::transpose(x, perm)?;
            of(perm.iter().map(|&axis| x[axis]).collect())
        }
        Op::Squeeze { x: _, axes } => {
            let dropped = resolve::squeeze(x, axes.as_deref())?;
            of(kept(x, &dropped))
        }
        Op::Unsqueeze { x: _, axes } => {
            let new = resolve::unsqueeze(x, axes)?;
            let mut sizes = x.iter().copied();
            let size = |&new: &bool| if new { None } else { sizes.next() }.unwrap_or(1);
            of(new.iter().map(size).collect())
        }
        Op::Flatten { x: _, axis } => of(resolve::flatten(x, *axis)?),
        Op::Broadcast { x: _, shape, mode } => of(resolve::broadcast(x, shape, mode)?.shape),
        Op::Reverse { x: _, axes } => {
            resolve::reverse(x, axes)?;
            of(Shape::from_slice(x))
        }
        Op::Roll { x: _, shift, axes } => {
            resolve::roll(x, shift, axes)?;
            of(Shape::from_slice(x))
        }
        Op::Split {
            x: _,
            axis,
            lengths,
            part,
        } => {
            let (axis, span) = resolve::split(x, *axis, lengths, *part as usize)?;
            let mut shape = Shape::from_slice(x);
            shape[axis] = span.len;
            of(shape)
        }
        Op::Concat { parts: _, axis } => {
            same_element(operands)?;
            let shapes: SmallVec<[&[i64]; 4]> = operands.iter().map(|ty| ty.shape()).collect();
            of(resolve::concat(&shapes, *axis)?.1)
        }
        Op::Tile { x: _, repeats } => of(resolve::tile(x, repeats)?.shape),
        Op::Pad {
            x: _,
            low,
            high,
            mode,
        } => {
            check_fill(operands, *mode)?;
            let axes = resolve::pad(x, low, high, *mode)?;
            of(axes.iter().map(|axis| axis.len).collect())
        }
        Op::DepthToSpace {
            x: _,
            block,
            order,
            channels,
        } => of(resolve::depth_to_space(x, *block, *order, *channels)?.shape),
        Op::SpaceToDepth {
            x: _,
            block,
            order,
            channels,
        } => of(resolve::space_to_depth(x, *block, *order, *channels)?.shape),
        Op::SpaceToBatch {
            x: _,
            block,
            pads_begin,
            pads_end,
        } => of(resolve::space_to_batch(x, block, pads_begin, pads_end)?
            .1
            .shape),
        Op::BatchToSpace {
            x: _,
            block,
            crops_begin,
            crops_end,
        } => {
            let (_, kept) = resolve::batch_to_space(x, block, crops_begin, crops_end)?;
            of(resolve::lengths(&kept))
        }
        Op::ShuffleChannels { x: _, axis, groups } => {
            of(resolve::shuffle_channels(x, *axis, *groups)?.shape)
        }
        Op::CenterCropPad { x: _, shape, axes } => {
            let padded = resolve::center_crop_pad(x, shape, axes.as_deref())?;
            of(padded.iter().map(|axis| axis.len).collect())
        }
        Op::ReverseSequence {
            x: _,
            lengths,
            batch_axis,
            seq_axis,
        } => {
            resolve::reverse_sequence(x, lengths, *batch_axis, *seq_axis)?;
            of(Shape::from_slice(x))
        }
    }
}

fn strided_slice(op: &Op, x: &[i64]) -> Result<Shape, Refusal> {
    let Some(spec) = op.strided_slice_spec() else {
        return Ok(Shape::from_slice(x));
    };
    let actions = resolve::strided_slice(&spec, x)?;
    let size = |action: &AxisAction| match action {
        AxisAction::Range(span) => Some(span.len),
        AxisAction::NewAxis => Some(1),
        AxisAction::Shrink(_) => None,
    };
    Ok(actions.iter().filter_map(size).collect())
}

fn kept(shape: &[i64], dropped: &[bool]) -> Shape {
    let sizes = shape.iter().zip(dropped);
    sizes
        .filter(|(_, dropped)| !**dropped)
        .map(|(&size, _)| size)
        .collect()
}

/// The shape of an operand that must hold integers.
fn index_shape<'a>(operands: &[&'a TensorType], at: usize) -> Result<&'a [i64], Refusal> {
    match operands.get(at) {
        Some(ty) if ty.element().is_index() => Ok(ty.shape()),
        Some(ty) => Err(Place::Operand(at).refuse(Problem::NotAnIndex { got: ty.element() })),
        None => Ok(&[]),
    }
}

fn same_element(operands: &[&TensorType]) -> Result<(), Refusal> {
    let Some(expected) = operands.first().map(|ty| ty.element()) else {
        return Ok(());
    };
    for (operand, ty) in operands.iter().enumerate() {
        let got = ty.element();
        if got != expected {
            return Err(Place::Operand(operand).refuse(Problem::Element { got, expected }));
        }
    }
    Ok(())
}

/// The bits that fill a rim fit the element.
fn check_fill(operands: &[&TensorType], mode: PadMode) -> Result<(), Refusal> {
    let PadMode::Constant(bits) = mode else {
        return Ok(());
    };
    match operands.first().map(|ty| ty.element()) {
        Some(element) if bits & !element.bit_mask() != 0 => {
            Err(Place::Attribute("constant").refuse(Problem::TooManyBits { bits, element }))
        }
        Some(_) | None => Ok(()),
    }
}
