//! What is known of a program however its code runs: its types, how each output is answered, what its
//! indices are checked for.

use crate::call::Parameter;
use crate::code::Failed;
use crate::common_plan::Origin;
use crate::error::OffendingIndex;
use crate::pipeline::Lowered;
use crate::pool::ALIGN;
use crate::{Argument, CompileError, RunError};
use restride_graph::{ElementType, Graph, Strided, TensorType, ValueId};
use restride_loops::{LEAST_BLOCK, Role};
use restride_lower::{Lines, LowerError, plan};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::fmt::Write as _;

/// How one output of a graph is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// It lies in an input: nothing moves and nothing has to be passed for it.
    View {
        /// Which input.
        input: usize,
        /// Where it lies in that input's buffer, in elements. An axis of size 1 has the stride that
        /// it would have in a dense tensor, so a matrix of one row has a leading dimension.
        layout: Strided,
        /// Element and shape.
        ty: TensorType,
    },
    /// A run writes it.
    Computed {
        /// Element and shape, and the layout if it is not dense.
        ty: TensorType,
        /// What keeps it from being a view.
        why: Cow<'static, str>,
    },
}

/// The layout with strides for axes of size 1, of which any would do: what the axes after them span.
fn unit_strides(mut layout: Strided, shape: &[i64]) -> Strided {
    let mut span = 1i64;
    for (stride, &size) in layout.strides.iter_mut().zip(shape).rev() {
        if size == 1 {
            *stride = span;
        }
        span = stride.saturating_abs().saturating_mul(size).max(1);
    }
    layout
}

/// Takes the outputs from a plan, and which of them are computed.
fn outputs(plan: &mut plan::Plan) -> Result<(Vec<Output>, SmallVec<[usize; 4]>), LowerError> {
    let answers = std::mem::take(&mut plan.answers);
    let types = std::mem::take(&mut plan.outputs);
    let mut computed = SmallVec::<[usize; 4]>::new();
    // Room for no more: collected, one would be kept in the room of four.
    let mut outputs = Vec::with_capacity(answers.len());
    for (at, ((element, shape, layout), answer)) in types.into_iter().zip(answers).enumerate() {
        let ty = TensorType::dense(element, shape)
            .and_then(|ty| match layout {
                Some(layout) => ty.with_layout(layout),
                None => Ok(ty),
            })
            .map_err(|_| LowerError::TooLarge)?;
        outputs.push(match answer {
            plan::Answer::View { input, layout } => Output::View {
                input: input as usize,
                layout: unit_strides(layout, ty.shape()),
                ty: ty.without_layout(),
            },
            plan::Answer::Computed { why, .. } => {
                computed.push(at);
                Output::Computed { ty, why }
            }
        });
    }
    Ok((outputs, computed))
}

/// Everything about a program that does not depend on how its code runs.
pub(crate) struct Meta {
    pub(crate) inputs: Vec<TensorType>,
    pub(crate) outputs: Vec<Output>,
    /// One per buffer of the kernel.
    pub(crate) parameters: SmallVec<[Parameter; 6]>,
    /// The elements of the outputs that are computed, in order.
    pub(crate) computed: SmallVec<[ElementType; 2]>,
    pub(crate) scratch: usize,
    plan: KnownPlan,
    /// What the checks of the plan stand for.
    checked: Vec<Checked>,
    /// What the kernel made of it reads and writes.
    pub(crate) lines: Lines,
}

/// A plan whose outputs and answers are known apart from it.
enum KnownPlan {
    Here(Box<plan::Plan>),
    Again(Origin),
}

/// What an index check is for.
pub(crate) struct Checked {
    node: ValueId,
    /// The operator as printed.
    pub(crate) op: String,
    /// The axis that the indices choose along.
    pub(crate) axis: usize,
}

impl Checked {
    pub(crate) fn of(graph: &Graph, check: &plan::IndexCheck) -> Option<Self> {
        let node = ValueId::from_u32(check.op);
        let (op, _) = graph.get(node)?;
        let column = check.column as usize;
        let rank = graph.ty(*op.operands().first()?).rank();
        let axis = op.indexed_axis(rank, column)?;
        let mut text = String::with_capacity(LEAST_BLOCK);
        write!(text, "{} {}", op.name(), graph.label(node)).ok()?;
        if let Some(node) = graph.node(node) {
            write!(text, " (in {node})").ok()?;
        }
        let op = text;
        Some(Self { node, op, axis })
    }
}

impl Meta {
    /// What is known of a program, whose operators have the names that they have in `graph`: that is on
    /// these inputs, or on others.
    pub(crate) fn of(
        graph: &Graph,
        inputs: Vec<TensorType>,
        mut stages: Lowered,
        origin: Option<Origin>,
    ) -> Result<Self, CompileError> {
        let (outputs, computed) = outputs(&mut stages.plan)?;
        let scratch = stages.kernel.scratch_layout(ALIGN);
        let scratch = scratch.ok_or(LowerError::TooLarge)?;
        // Both are in the order of the buffers.
        let mut places = scratch.offsets.iter();
        let parameter = |buffer: &restride_loops::Buffer| {
            let bytes = buffer.bytes().ok_or(LowerError::TooLarge)?;
            Ok(match &buffer.role {
                Role::In(n) => Parameter::Input {
                    input: *n as usize,
                    bytes,
                },
                Role::Out(n, _) => Parameter::Output {
                    output: computed
                        .binary_search(&(*n as usize))
                        .map_err(|_| LowerError::Dangling)?,
                    bytes,
                },
                Role::Const(_) => Parameter::Constant,
                Role::Scratch => Parameter::Scratch {
                    offset: places.next().ok_or(LowerError::Dangling)?.1,
                },
            })
        };
        let parameters = stages.kernel.buffers.iter().map(parameter);
        let parameters = parameters.collect::<Result<_, LowerError>>()?;
        let checks = stages.plan.checks.iter();
        let checked = checks.map(|check| Checked::of(graph, check).ok_or(LowerError::Dangling));
        let checked = checked.collect::<Result<_, LowerError>>()?;
        let computed = computed
            .iter()
            .filter_map(|at| match &outputs[*at] {
                Output::Computed { ty, .. } => Some(ty.element()),
                Output::View { .. } => None,
            })
            .collect();
        Ok(Self {
            inputs,
            outputs,
            parameters,
            computed,
            scratch: scratch.bytes,
            plan: origin.map_or(KnownPlan::Here(stages.plan), KnownPlan::Again),
            checked,
            lines: Lines::of(&stages.decisions),
        })
    }

    /// About how many bytes it has elsewhere.
    pub(crate) fn bytes(&self) -> usize {
        let why = self.outputs.iter().map(|output| match output {
            Output::View { .. } => 0,
            Output::Computed { why, .. } => why.len().max(LEAST_BLOCK),
        });
        let checked = self.checked.iter().map(|check| check.op.capacity());
        size_of_val(&*self.inputs)
            + size_of_val(&*self.outputs)
            + why.sum::<usize>()
            + size_of_val(&*self.parameters)
            + size_of_val(&*self.computed)
            + self.plan_bytes()
            + self.checked.capacity() * size_of::<Checked>()
            + checked.sum::<usize>()
    }

    fn plan_bytes(&self) -> usize {
        match &self.plan {
            KnownPlan::Here(plan) => size_of::<plan::Plan>() + plan.bytes(),
            KnownPlan::Again(_) => 0,
        }
    }

    /// The plan, but for what is known here of it.
    pub(crate) fn plan(&self) -> Option<Cow<'_, plan::Plan>> {
        match &self.plan {
            KnownPlan::Here(plan) => Some(Cow::Borrowed(plan)),
            KnownPlan::Again(origin) => Some(Cow::Owned(*origin.plan()?)),
        }
    }

    /// Whether it would be the same of this plan.
    pub(crate) fn is_of(&self, mut plan: plan::Plan) -> bool {
        outputs(&mut plan).is_ok_and(|(outputs, _)| outputs == self.outputs)
            && self.plan().is_some_and(|known| *known == plan)
    }

    /// Whether a run may refuse an index.
    pub(crate) fn is_checked(&self) -> bool {
        !self.checked.is_empty()
    }

    /// The element type of an argument.
    pub(crate) fn element(&self, argument: Argument) -> Option<ElementType> {
        match argument {
            Argument::Input(n) => self.inputs.get(n).map(TensorType::element),
            Argument::Output(n) => self.computed.get(n).copied(),
        }
    }

    pub(crate) fn failure(&self, failed: &Failed) -> RunError {
        let (code, at) = match *failed {
            Failed::Check(code, at) => (code, at),
            Failed::OutOfMemory { bytes } => return RunError::OutOfMemory { bytes },
        };
        let (position, value) = at.map_or((0, OffendingIndex::Changed), |(position, value)| {
            (position, OffendingIndex::Value(value))
        });
        let plan = self.plan();
        let known = plan.and_then(|plan| {
            let (at, position) = plan::IndexCheck::failed(&plan.checks, code, position)?;
            let (check, checked) = (plan.checks.get(at)?, self.checked.get(at)?);
            Some(RunError::Index {
                node: checked.node,
                op: checked.op.as_str().into(),
                axis: checked.axis,
                position,
                value,
                limit: check.limit,
            })
        });
        known.unwrap_or(RunError::UnknownCheck { code })
    }
}
