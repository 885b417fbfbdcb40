//! Which equation belongs to which operator, and the walk over a graph.

use crate::{Graph, Op, TensorType, ValueId};

use super::refusal::{OpError, refused};
use super::tensor::Tensor;
use super::walk::{Rule, run};
use super::{blocks, gathers, pads, shapes, slices, views};

/// Why a graph has no outputs on given inputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// The wrong number of inputs.
    #[error("{got} inputs for a graph of {expected}")]
    InputCount {
        /// What was given.
        got: usize,
        /// What the graph has.
        expected: usize,
    },
    /// An input of another type.
    #[error("input {position} is {got}, not {expected}")]
    Input {
        /// Which input.
        position: usize,
        /// What was given.
        got: Box<TensorType>,
        /// What the graph says.
        expected: Box<TensorType>,
    },
    /// An operator has no result.
    #[error("{value}: {error}")]
    Op {
        /// The value it makes.
        value: ValueId,
        /// Why.
        error: OpError,
    },
    /// The oracle and the graph's inference do not agree on a type: one of them is wrong.
    #[error("{value}: inferred {inferred}, but the result is {found}")]
    Inference {
        /// The value.
        value: ValueId,
        /// What inference says.
        inferred: Box<TensorType>,
        /// What the operator's definition gave.
        found: Box<TensorType>,
    },
}

/// The outputs of a graph, dense, in order.
///
/// Only values that an output depends on are evaluated, in the order of the graph; the first one
/// without a result is the error.
///
/// ```
/// use restride_graph::{ElementType, Graph, Op, oracle};
///
/// let mut g = Graph::new("turn");
/// let x = g.input("x", ElementType::U8, [2, 3])?;
/// let y = g.push(Op::Transpose { x, perm: [1, 0].as_slice().into() })?;
/// g.output(y)?;
///
/// let x = oracle::Tensor::new(g.ty(x).clone(), vec![1, 2, 3, 4, 5, 6])?;
/// let outputs = oracle::eval(&g, &[x])?;
/// assert_eq!(outputs[0].bytes(), [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn eval(graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, OracleError> {
    if inputs.len() != graph.inputs().len() {
        return Err(OracleError::InputCount {
            got: inputs.len(),
            expected: graph.inputs().len(),
        });
    }
    let mut values: Vec<Option<Tensor>> = vec![None; graph.len()];
    for (position, (&value, input)) in graph.inputs().iter().zip(inputs).enumerate() {
        let expected = graph.ty(value).clone().without_layout();
        if *input.ty() != expected {
            return Err(OracleError::Input {
                position,
                got: Box::new(input.ty().clone()),
                expected: Box::new(expected),
            });
        }
        values[value.index()] = Some(input.clone());
    }
    for (value, live) in graph.values().zip(graph.live()) {
        let op = graph.op(value);
        if !live || matches!(op, Op::Input) {
            continue;
        }
        let operands: Vec<&Tensor> = (op
            .operands()
            .iter()
            .filter_map(|operand| values[operand.index()].as_ref()))
        .collect();
        let result = eval_op(op, &operands).map_err(|error| OracleError::Op { value, error })?;
        if *result.ty() != *graph.ty(value) {
            return Err(OracleError::Inference {
                value,
                inferred: Box::new(graph.ty(value).clone()),
                found: Box::new(result.ty().clone()),
            });
        }
        values[value.index()] = Some(result);
    }
    let outputs = graph.outputs().iter();
    Ok(outputs
        .filter_map(|output| values[output.value.index()].clone())
        .collect())
}

/// The result of one operator. `operands` are the tensors of [`Op::operands`], in that order.
pub fn eval_op(op: &Op, operands: &[&Tensor]) -> Result<Tensor, OpError> {
    let name = op.name();
    if operands.len() != op.operands().len() {
        return Err(refused(name, format!("{} operands", operands.len())));
    }
    let rule = match op {
        Op::Input => return Err(refused(name, "an input has no rule".into())),
        Op::Constant(constant) => {
            return Tensor::new(constant.ty().clone(), constant.bytes().to_vec())
                .map_err(|error| refused(name, error.to_string()));
        }
        Op::Concat { parts: _, axis } => views::concat(operands, *axis)?,
        Op::Gather {
            x: _,
            indices: _,
            axis,
            batch_dims,
            rule,
        } => gathers::gather(operands[0], operands[1], *axis, *batch_dims, *rule)?,
        Op::GatherElements {
            x: _,
            indices: _,
            axis,
            rule,
        } => gathers::gather_elements(operands[0], operands[1], *axis, *rule)?,
        Op::GatherNd {
            x: _,
            indices: _,
            batch_dims,
            rule,
        } => gathers::gather_nd(operands[0], operands[1], *batch_dims, *rule)?,
        Op::DynamicSlice {
            x: _,
            starts: _,
            sizes,
            axes,
            out_of_range,
        } => {
            let [x, starts] = [operands[0], operands[1]];
            gathers::dynamic_slice(x, starts, sizes, axes.as_deref(), *out_of_range)?
        }
        Op::DynamicUpdateSlice {
            x: _,
            update: _,
            starts: _,
            axes,
            out_of_range,
        } => {
            let [x, update, starts] = [operands[0], operands[1], operands[2]];
            gathers::dynamic_update_slice(x, update, starts, axes.as_deref(), *out_of_range)?
        }
        Op::Identity { .. }
        | Op::StridedSlice { .. }
        | Op::Slice { .. }
        | Op::Reshape { .. }
        | Op::Transpose { .. }
        | Op::Squeeze { .. }
        | Op::Unsqueeze { .. }
        | Op::Flatten { .. }
        | Op::Broadcast { .. }
        | Op::Reverse { .. }
        | Op::Roll { .. }
        | Op::Split { .. }
        | Op::Tile { .. }
        | Op::Pad { .. }
        | Op::DepthToSpace { .. }
        | Op::SpaceToDepth { .. }
        | Op::SpaceToBatch { .. }
        | Op::BatchToSpace { .. }
        | Op::ShuffleChannels { .. }
        | Op::CenterCropPad { .. }
        | Op::ReverseSequence { .. } => unary(op, operands[0])?,
    };
    run(name, &rule, operands)
}

/// The equation of an operator of one operand, which depends on its type only.
fn unary<'a>(op: &'a Op, operand: &Tensor) -> Result<Rule<'a>, OpError> {
    let x = operand.shape();
    if let Some(spec) = op.strided_slice_spec() {
        return slices::strided_slice(x, &spec);
    }
    match op {
        Op::Identity { x: _ } => Ok(Rule::from_x(x.to_vec(), <[i64]>::to_vec)),
        // The two dialects spell one rule.
        Op::Slice {
            x: _,
            dialect: _,
            start,
            stop,
            step,
            axes,
        } => slices::slice(x, start, stop, step, axes.as_deref()),
        Op::Reshape {
            x: _,
            dialect,
            pattern,
        } => shapes::reshape(x, *dialect, pattern),
        Op::Transpose { x: _, perm } => views::transpose(x, perm),
        Op::Squeeze { x: _, axes } => shapes::squeeze(x, axes.as_deref()),
        Op::Unsqueeze { x: _, axes } => shapes::unsqueeze(x, axes),
        Op::Flatten { x: _, axis } => shapes::flatten(x, *axis),
        Op::Broadcast { x: _, shape, mode } => views::broadcast(x, shape, mode),
        Op::Reverse { x: _, axes } => views::reverse(x, axes),
        Op::Roll { x: _, shift, axes } => views::roll(x, shift, axes),
        Op::Split {
            x: _,
            axis,
            lengths,
            part,
        } => slices::split(x, *axis, lengths, *part),
        Op::Tile { x: _, repeats } => views::tile(x, repeats),
        Op::Pad {
            x: _,
            low,
            high,
            mode,
        } => pads::pad(operand, low, high, *mode),
        Op::DepthToSpace {
            x: _,
            block,
            order,
            channels,
        } => blocks::depth_to_space(x, *block, *order, *channels),
        Op::SpaceToDepth {
            x: _,
            block,
            order,
            channels,
        } => blocks::space_to_depth(x, *block, *order, *channels),
        Op::SpaceToBatch {
            x: _,
            block,
            pads_begin,
            pads_end,
        } => blocks::space_to_batch(x, block, pads_begin, pads_end),
        Op::BatchToSpace {
            x: _,
            block,
            crops_begin,
            crops_end,
        } => blocks::batch_to_space(x, block, crops_begin, crops_end),
        Op::ShuffleChannels { x: _, axis, groups } => blocks::shuffle_channels(x, *axis, *groups),
        Op::CenterCropPad { x: _, shape, axes } => pads::center_crop_pad(x, shape, axes.as_deref()),
        Op::ReverseSequence {
            x: _,
            lengths,
            batch_axis,
            seq_axis,
        } => views::reverse_sequence(x, lengths, *batch_axis, *seq_axis),
        Op::Input
        | Op::Constant(_)
        | Op::StridedSlice { .. }
        | Op::Concat { .. }
        | Op::Gather { .. }
        | Op::GatherElements { .. }
        | Op::GatherNd { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice { .. } => {
            Err(refused(op.name(), "not an operator of one operand".into()))
        }
    }
}
