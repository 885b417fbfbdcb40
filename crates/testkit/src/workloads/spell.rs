//! A workload as a graph.

use super::{Input, Step, Workload, fill};
use restride_graph::{
    Constant, ConstantError, Graph, GraphError, IndexRule, Ints, Op, OutOfRange, ReshapeDialect,
    SliceDialect, TensorType, TypeError, ValueId,
};

/// Indices of workloads are in range and not negative. `zero` without wrapping promises no more
/// than that: an index is compared once, and nothing has to be checked before the first write.
const IN_RANGE: IndexRule = IndexRule {
    out_of_range: OutOfRange::Zero,
    wrap: false,
};

/// Why a workload has no graph.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpellError {
    /// An input's type is refused.
    #[error("input {name}: {error}")]
    Input {
        /// Its name.
        name: String,
        /// Why.
        error: TypeError,
    },
    /// A constant input is refused.
    #[error("input {name}: {error}")]
    Constant {
        /// Its name.
        name: String,
        /// Why.
        error: ConstantError,
    },
    /// The graph refuses an operator.
    #[error("{at}: {error}")]
    Refused {
        /// Which input or operator.
        at: String,
        /// Why.
        error: Box<GraphError>,
    },
    /// The graph infers another shape than the workload.
    #[error("op {step}: the graph infers {graph:?}, the workload {workload:?}")]
    Shape {
        /// Which operator.
        step: usize,
        /// By the graph.
        graph: Vec<i64>,
        /// By the workload.
        workload: Vec<i64>,
    },
}

/// Spells a workload. The graph's inputs are those that are no constants, in the file's order.
pub fn to_graph(workload: &Workload) -> Result<Graph, SpellError> {
    let mut graph = Graph::new(workload.id.as_str());
    let mut values = Vec::new();
    for (number, input) in workload.inputs.iter().enumerate() {
        values.push(spell_input(&mut graph, number, input)?);
    }
    for (number, step) in workload.steps.iter().enumerate() {
        let refused = |error| SpellError::Refused {
            at: format!("op {number}"),
            error: Box::new(error),
        };
        let op = spell_step(step, &values);
        let value = graph.push(op).map_err(refused)?;
        let made = &workload.tensors[values.len()].shape;
        if graph.ty(value).shape() != made.as_slice() {
            return Err(SpellError::Shape {
                step: number,
                graph: graph.ty(value).shape().to_vec(),
                workload: made.clone(),
            });
        }
        values.push(value);
    }
    graph
        .output(values[workload.output])
        .map_err(|error| SpellError::Refused {
            at: "output".into(),
            error: Box::new(error),
        })?;
    Ok(graph)
}

fn spell_input(graph: &mut Graph, number: usize, input: &Input) -> Result<ValueId, SpellError> {
    let name = input.name.clone();
    let ty = TensorType::dense(input.tensor.dtype.element(), &input.tensor.shape);
    let ty = ty.map_err(|error| SpellError::Input {
        name: name.clone(),
        error,
    })?;
    let refused = |error| SpellError::Refused {
        at: format!("input {name}"),
        error: Box::new(error),
    };
    if !input.constant {
        // Names of a file may be anything; those of a graph are identifiers.
        let named = graph.typed_input(&name, ty.clone());
        let named = named.or_else(|_| graph.typed_input(&format!("input_{number}"), ty));
        return named.map_err(refused);
    }
    let mut bytes = vec![0; ty.byte_size()];
    fill(input, &mut bytes);
    let constant = Constant::new(ty, bytes).map_err(|error| SpellError::Constant {
        name: name.clone(),
        error,
    })?;
    graph.push(Op::Constant(constant)).map_err(refused)
}

fn spell_step(step: &Step, values: &[ValueId]) -> Op {
    match step {
        Step::StridedSlice {
            x,
            start,
            size,
            step,
        } => {
            let [start, stop, step] = range(start, size, step);
            Op::Slice {
                x: values[*x],
                dialect: SliceDialect::OpenVino,
                start,
                stop,
                step,
                axes: None,
            }
        }
        Step::Reshape { x, shape } => Op::Reshape {
            x: values[*x],
            dialect: ReshapeDialect::Plain,
            pattern: Ints::from_slice(shape),
        },
        Step::Transpose { x, perm } if perm.is_empty() => Op::Identity { x: values[*x] },
        Step::Transpose { x, perm } => Op::Transpose {
            x: values[*x],
            perm: perm.iter().map(|&axis| axis as i64).collect(),
        },
        Step::Gather {
            x,
            indices,
            axis,
            batch_dims,
        } => Op::Gather {
            x: values[*x],
            indices: values[*indices],
            axis: *axis as i64,
            batch_dims: *batch_dims as i64,
            rule: IN_RANGE,
        },
        Step::Concat { parts, axis } => Op::Concat {
            parts: parts.iter().map(|&part| values[part]).collect(),
            axis: *axis as i64,
        },
    }
}

/// Starts, stops and steps of a slice whose sizes are known and whose elements are in range.
///
/// A negative stop would count from the end, so one that lies before the first element is spelled
/// as far away as can be. Where there is at most one element, any step is the same as 1.
fn range(start: &[i64], size: &[i64], step: &[i64]) -> [Ints; 3] {
    let mut range = [Ints::new(), Ints::new(), Ints::new()];
    for ((&start, &size), &step) in start.iter().zip(size).zip(step) {
        let (start, stop, step) = match size {
            0 => (0, 0, 1),
            1 => (start, start.saturating_add(1), 1),
            _ => {
                let stop = i128::from(start) + i128::from(size) * i128::from(step);
                let stop = match i64::try_from(stop) {
                    Ok(stop) if stop >= 0 => stop,
                    Err(_) if stop > 0 => i64::MAX,
                    Ok(_) | Err(_) => i64::MIN,
                };
                (start, stop, step)
            }
        };
        range[0].push(start);
        range[1].push(stop);
        range[2].push(step);
    }
    range
}
