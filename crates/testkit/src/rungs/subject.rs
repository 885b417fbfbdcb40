//! A graph on given inputs, and what the stages of the compiler make of it: each made once, when
//! a rung first asks.

use restride_budget::Meter;
use std::cell::OnceCell;

use restride_canon::canonicalise;
use restride_canon::ir::Canonical;
use restride_graph::oracle::Tensor;
use restride_graph::{Graph, TensorType};
use restride_loops::{Kernel, Role, Verified, verify};
use restride_lower::plan::{Answer, IndexCheck, Plan, PlanOptions, plan};
use restride_lower::{plain, schedule};
use restride_moves::Target;

use super::{BadIndex, Outcome, RungError};

/// What bytes hold that nobody may read or write.
const NOISE: u8 = 0x5a;

/// A graph, its inputs, and the stages on the way down.
pub struct Subject<'a> {
    graph: &'a Graph,
    inputs: &'a [Tensor],
    buffers: Vec<Vec<u8>>,
    canonical: OnceCell<Result<Canonical, RungError>>,
    plan: OnceCell<Result<Plan, RungError>>,
    kernel: OnceCell<Result<Verified, RungError>>,
    cramped: OnceCell<Result<Verified, RungError>>,
}

impl<'a> Subject<'a> {
    /// A graph on dense inputs. They are laid out in buffers as the graph's inputs ask; elements
    /// that share a place must be equal.
    #[must_use]
    pub fn new(graph: &'a Graph, inputs: &'a [Tensor]) -> Subject<'a> {
        let types = graph.inputs().iter().map(|&input| graph.ty(input));
        let buffer = |(ty, tensor): (&TensorType, &Tensor)| {
            let mut buffer = vec![NOISE; ty.required_elements() * ty.element().width()];
            // A tensor of another type is refused by the rungs.
            let _ = tensor.write_into(ty, &mut buffer);
            buffer
        };
        let buffers = types.zip(inputs).map(buffer).collect();
        Subject::in_buffers(graph, inputs, buffers)
    }

    /// The same, where the inputs lie in these buffers already.
    #[must_use]
    pub fn in_buffers(
        graph: &'a Graph,
        inputs: &'a [Tensor],
        buffers: Vec<Vec<u8>>,
    ) -> Subject<'a> {
        Subject {
            graph,
            inputs,
            buffers,
            canonical: OnceCell::new(),
            plan: OnceCell::new(),
            kernel: OnceCell::new(),
            cramped: OnceCell::new(),
        }
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        self.graph
    }

    /// The inputs, dense.
    #[must_use]
    pub fn inputs(&self) -> &[Tensor] {
        self.inputs
    }

    /// The buffers in which the inputs lie.
    #[must_use]
    pub fn buffers(&self) -> Vec<&[u8]> {
        self.buffers.iter().map(Vec::as_slice).collect()
    }

    /// The canonical form.
    pub fn canonical(&self) -> Result<&Canonical, RungError> {
        let make =
            || canonicalise(self.graph, &Meter::unlimited(), None).map_err(RungError::broken);
        self.canonical
            .get_or_init(make)
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The plan, views allowed.
    pub fn plan(&self) -> Result<&Plan, RungError> {
        let make = || {
            plan(
                self.canonical()?,
                PlanOptions::default(),
                &Meter::unlimited(),
            )
            .map_err(RungError::broken)
        };
        self.plan.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// The kernel for a usual machine.
    pub fn kernel(&self) -> Result<&Verified, RungError> {
        let make = || self.scheduled(&Target::default());
        self.kernel.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    /// The kernel for a machine with caches so small that even these graphs fill them: parallel
    /// loops, tiles and staging as in big ones.
    pub fn cramped_kernel(&self) -> Result<&Verified, RungError> {
        let make = || self.scheduled(&Target::cramped());
        self.cramped
            .get_or_init(make)
            .as_ref()
            .map_err(Clone::clone)
    }

    fn scheduled(&self, target: &Target) -> Result<Verified, RungError> {
        let scheduled = schedule(self.plan()?, target, &restride_budget::Meter::unlimited())
            .map_err(RungError::broken)?;
        verify(scheduled.kernel).map_err(|error| RungError::Broken(format!("refused: {error}")))
    }

    /// The refusal that a failed check of a kernel stands for.
    pub fn bad_index(&self, code: u32, position: u64, value: i128) -> Result<BadIndex, RungError> {
        let checks = &self.plan()?.checks;
        let (at, position) = IndexCheck::failed(checks, code, position)
            .ok_or_else(|| RungError::broken(format!("there is no check {code}")))?;
        Ok(BadIndex {
            op: checks[at].op,
            position,
            value,
        })
    }

    /// A buffer for every output, big enough for its layout, filled with noise.
    #[must_use]
    pub fn output_buffers(&self) -> Vec<Vec<u8>> {
        let buffer = |ty: TensorType| vec![NOISE; ty.required_elements() * ty.element().width()];
        self.output_types().map(buffer).collect()
    }

    /// Whether these output buffers are as they were made.
    #[must_use]
    pub fn untouched(&self, buffers: &[Vec<u8>]) -> bool {
        buffers.iter().flatten().all(|&byte| byte == NOISE)
    }

    /// The outputs, dense, from a run of a kernel: written into buffers, or answered as views of
    /// the inputs. Nothing but the outputs may have been written.
    pub fn answers(&self, buffers: &[Vec<u8>]) -> Outcome {
        let answers = &self.plan()?.answers;
        let mut outputs = Vec::with_capacity(buffers.len());
        for (k, (ty, answer)) in self.output_types().zip(answers).enumerate() {
            outputs.push(match answer {
                Answer::View { input, layout } => {
                    if !self.untouched(&buffers[k..=k]) {
                        return Err(RungError::Broken(format!(
                            "output {k} is a view, yet written"
                        )));
                    }
                    let ty = ty.without_layout().with_layout(layout.clone());
                    let ty = ty.map_err(RungError::broken)?;
                    let buffer = self.buffers.get(*input as usize);
                    let buffer = buffer.ok_or_else(|| RungError::broken("a view of no input"))?;
                    Tensor::read(&ty, buffer).map_err(RungError::broken)?
                }
                Answer::Computed { .. } => {
                    let buffer = &buffers[k];
                    let tensor = Tensor::read(&ty, buffer).map_err(RungError::broken)?;
                    if ty.layout().is_some() {
                        let mut alone = vec![NOISE; buffer.len()];
                        tensor
                            .write_into(&ty, &mut alone)
                            .map_err(RungError::broken)?;
                        if alone != *buffer {
                            let message =
                                format!("bytes between the elements of output {k} are written");
                            return Err(RungError::Broken(message));
                        }
                    }
                    tensor
                }
            });
        }
        Ok(outputs)
    }

    /// What a plan of this graph gives, run plainly.
    pub(super) fn plain(&self, plan: &Plan) -> Outcome {
        let outputs = plain::run(plan, &self.buffers()).map_err(|error| match error {
            plain::PlainError::OutOfRange {
                op,
                position,
                value,
                ..
            } => RungError::OutOfRange(BadIndex {
                op,
                position,
                value,
            }),
            other => RungError::broken(other),
        })?;
        let pairs = self.output_types().zip(outputs);
        pairs
            .map(|(ty, bytes)| Tensor::new(ty.without_layout(), bytes).map_err(RungError::broken))
            .collect()
    }

    fn output_types(&self) -> impl Iterator<Item = TensorType> + '_ {
        let outputs = self.graph.outputs().iter();
        outputs.map(|output| self.graph.output_type(output))
    }
}

/// The numbers of the outputs that a kernel writes, in the order of its results.
pub(super) fn written(kernel: &Kernel) -> Vec<usize> {
    let number = |role: &Role| match role {
        Role::Out(n, _) => Some(*n as usize),
        Role::In(_) | Role::Scratch | Role::Const(_) => None,
    };
    let mut numbers: Vec<usize> = kernel
        .buffers
        .iter()
        .filter_map(|b| number(&b.role))
        .collect();
    numbers.sort_unstable();
    numbers
}
