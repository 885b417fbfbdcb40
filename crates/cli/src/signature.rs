//! The inputs and outputs of a program at any stage.

use restride_canon::ir::{Canonical, NodeId};
use restride_graph::{ElementType, Graph, Sample, Strided, TensorType};
use restride_loops::{Kernel, Role, Width};

use crate::failure::Failure;
use crate::stages::AnyProgram;

/// One input or output.
pub(crate) struct Slot {
    /// What a user calls it.
    pub(crate) name: String,
    /// Its element, shape and layout.
    pub(crate) ty: TensorType,
    /// For an input that indexes: the size of the smallest axis that it selects from.
    pub(crate) limit: Option<i64>,
    /// What the program says that it may hold.
    pub(crate) sample: Option<Sample>,
}

/// All of them, in order.
pub(crate) struct Signature {
    pub(crate) inputs: Vec<Slot>,
    pub(crate) outputs: Vec<Slot>,
}

/// The most inputs or outputs of a kernel that are prepared for.
const MAX_SLOTS: u32 = 4096;

impl Signature {
    /// Of a program.
    pub(crate) fn of(program: &AnyProgram) -> Result<Self, Failure> {
        match program {
            AnyProgram::Graph(graph) => Ok(Self::of_graph(graph)),
            AnyProgram::Canonical(canonical) => Self::of_canonical(canonical),
            AnyProgram::Kernel(kernel) => Self::of_kernel(kernel),
        }
    }

    fn of_graph(graph: &Graph) -> Self {
        let inputs = graph.inputs().iter().enumerate().map(|(at, value)| Slot {
            name: name(graph.value_name(*value), at, "in"),
            ty: graph.ty(*value).clone(),
            limit: None,
            sample: graph.sample(*value).cloned(),
        });
        let mut inputs: Vec<Slot> = inputs.collect();
        for value in graph.values() {
            let Some((indices, sizes)) = graph.indexed(value) else {
                continue;
            };
            let Some(size) = sizes.into_iter().min() else {
                continue;
            };
            let input = graph.inputs().iter().position(|input| *input == indices);
            if let Some(slot) = input.and_then(|at| inputs.get_mut(at)) {
                slot.limit = Some(slot.limit.map_or(size, |limit| limit.min(size)));
            }
        }
        let outputs = graph.outputs().iter().enumerate().map(|(at, output)| Slot {
            name: name(graph.value_name(output.value), at, "out"),
            ty: graph.output_type(output),
            limit: None,
            sample: None,
        });
        Self {
            inputs,
            outputs: outputs.collect(),
        }
    }

    fn of_canonical(canonical: &Canonical) -> Result<Self, Failure> {
        let slot = |kind: &str, at: usize, node: NodeId, layout: Option<&Strided>| {
            let ty = canonical.ty(node);
            let dense = TensorType::dense(ty.element, &ty.shape);
            let ty = match layout {
                Some(layout) => dense.and_then(|ty| ty.with_layout(layout.clone())),
                None => dense,
            };
            let ty = ty.map_err(|error| Failure::Input(format!("{kind} {at}: {error}")))?;
            Ok(Slot {
                name: name(None, at, kind),
                ty,
                limit: None,
                sample: None,
            })
        };
        let inputs = canonical.inputs().iter().enumerate();
        let inputs = inputs.map(|(at, input)| slot("in", at, input.node, input.layout.as_ref()));
        let outputs = canonical.outputs().iter().enumerate();
        let outputs = outputs.map(|(at, out)| slot("out", at, out.node, out.layout.as_ref()));
        Ok(Self {
            inputs: inputs.collect::<Result<_, Failure>>()?,
            outputs: outputs.collect::<Result<_, Failure>>()?,
        })
    }

    fn of_kernel(kernel: &Kernel) -> Result<Self, Failure> {
        let empty = TensorType::dense(ElementType::U8, [0])
            .map_err(|error| Failure::Internal(format!("an empty tensor: {error}")))?;
        let gather = |kind: &str, number: fn(&Role) -> Option<u32>| {
            let mut slots: Vec<Slot> = Vec::new();
            for buffer in &kernel.buffers {
                let Some(at) = number(&buffer.role) else {
                    continue;
                };
                if at >= MAX_SLOTS {
                    let message = format!("{kind} {at}; at most {MAX_SLOTS} can be run");
                    return Err(Failure::Input(message));
                }
                let at = at as usize;
                while slots.len() <= at {
                    slots.push(Slot {
                        name: name(None, slots.len(), kind),
                        ty: empty.clone(),
                        limit: None,
                        sample: None,
                    });
                }
                let ty = TensorType::dense(element(buffer.width), [buffer.len])
                    .map_err(|error| Failure::Input(format!("{kind} {at}: {error}")))?;
                if let Some(slot) = slots.get_mut(at)
                    && slot.ty.byte_size() <= ty.byte_size()
                {
                    slot.ty = ty;
                }
            }
            Ok(slots)
        };
        Ok(Self {
            inputs: gather("in", Role::input)?,
            outputs: gather("out", Role::output)?,
        })
    }
}

fn name(given: Option<&str>, at: usize, kind: &str) -> String {
    given.map_or_else(|| format!("{kind}{at}"), str::to_owned)
}

/// A kernel knows widths only.
fn element(width: Width) -> ElementType {
    match width {
        Width::W1 => ElementType::U8,
        Width::W2 => ElementType::U16,
        Width::W4 => ElementType::U32,
        Width::W8 => ElementType::U64,
        Width::W16 => ElementType::U128,
    }
}
