//! A program before anybody is clever about it: a stage for each node of its canonical form, a loop for
//! each digit of a plan. Tests run these beside what the compiler makes of the same, to say which of its
//! steps is wrong.

use crate::plan::{
    Answer, Body, Destination, Digits, IndexCheck, IndexColumn, Piece, PieceDigit, Plan,
    PlanConstant, Source, Stage,
};
use crate::schedule::LowerError;
use crate::schedule::buffers::{Buffers, width};
use restride_canon::ir::{Canonical, Coordinate, Node, Policy, Type};
use restride_graph::oracle::Tensor;
use restride_graph::{ElementType, Strided, TensorType};
use restride_loops::ir::{Addr, BufferId, Dim, Form, Kernel, Move, Place, Stmt, Var};
use restride_loops::{Fault, interpret, verify};
use smallvec::{SmallVec, smallvec};

/// Why a run gave no outputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlainError {
    /// An obligation does not hold.
    #[error("op {op}: index {value} at position {position} is outside an axis of size {limit}")]
    OutOfRange {
        /// The gather of the spelled graph.
        op: u32,
        /// Flat position in its index tensor.
        position: u64,
        /// The index found there.
        value: i128,
        /// Size of the axis.
        limit: i64,
    },
    /// The plan does not keep what every plan promises, or the inputs are not its own.
    #[error("{0}")]
    Broken(String),
}

fn broken(error: impl std::fmt::Display) -> PlainError {
    PlainError::Broken(error.to_string())
}

/// Runs a plan, proved and element by element. Inputs are the callers' buffers, read through their layouts;
/// outputs come back dense and row-major, views included.
pub fn run(plan: &Plan, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, PlainError> {
    let kernel = verify(kernel(plan).map_err(broken)?);
    let kernel = kernel.map_err(|refused| broken(format!("{refused}\n{plan}")))?;
    let written = interpret(&kernel, inputs).map_err(|fault| match fault {
        Fault::CheckFailed {
            code,
            position,
            value,
        } => match IndexCheck::failed(&plan.checks, code, position) {
            Some((at, position)) => PlainError::OutOfRange {
                op: plan.checks[at].op,
                position,
                value,
                limit: plan.checks[at].limit,
            },
            None => broken(format!("there is no check {code}")),
        },
        fault => broken(format!("{fault}\n{plan}")),
    })?;
    let mut written = written.into_iter();
    let mut outputs = Vec::with_capacity(plan.outputs.len());
    for (answer, (element, shape, layout)) in plan.answers.iter().zip(&plan.outputs) {
        let ty = TensorType::dense(*element, shape).map_err(broken)?;
        let (bytes, layout) = match answer {
            Answer::View { input, layout } => {
                let bytes = inputs.get(*input as usize).copied().unwrap_or_default();
                (bytes.to_vec(), Some(layout))
            }
            Answer::Computed { .. } if ty.numel() == 0 => (Vec::new(), None),
            Answer::Computed { .. } => (written.next().unwrap_or_default(), layout.as_ref()),
        };
        let ty = match layout {
            Some(layout) => ty.with_layout(layout.clone()).map_err(broken)?,
            None => ty,
        };
        let output = Tensor::read(&ty, &bytes).map_err(broken)?;
        outputs.push(output.into_bytes());
    }
    Ok(outputs)
}

/// A plan with a stage for each node, none composed with another.
#[must_use]
pub fn plan(graph: &Canonical) -> Plan {
    let mut plan = Plan {
        inputs: SmallVec::new(),
        outputs: SmallVec::new(),
        constants: Vec::new(),
        checks: Vec::new(),
        stages: SmallVec::new(),
        answers: SmallVec::new(),
    };
    let mut sources: Vec<Source> = Vec::new();
    for (_, node, ty) in graph.nodes() {
        let source = |x: restride_canon::ir::NodeId| sources[x.index()];
        let pieces = match node {
            Node::Input { ordinal } => {
                let from = Source::Input(*ordinal);
                match &graph.inputs()[*ordinal as usize].layout {
                    None => {
                        plan.inputs.push((ty.element, ty.count()));
                        sources.push(from);
                        continue;
                    }
                    Some(layout) => {
                        plan.inputs.push((ty.element, reach(ty, layout)));
                        vec![copied(ty, from, layout, &dense(ty))]
                    }
                }
            }
            Node::Constant { bytes } => {
                sources.push(Source::Constant(plan.constants.len() as u32));
                plan.constants.push(PlanConstant {
                    element: ty.element,
                    bytes: bytes.clone(),
                });
                continue;
            }
            Node::View { x, layout } => {
                let to = dense(ty);
                let pieces = layout.piece().into_iter().map(|map| {
                    let axes = map.axes().zip(&to.strides);
                    let digits = axes.flat_map(|(axis, stride)| {
                        let digits = axis.digits.iter().enumerate();
                        digits.map(move |(k, digit)| PieceDigit {
                            extent: digit.extent,
                            dst: digit.coord * stride,
                            src: map.strides(axis.first + k)[0],
                            indices: SmallVec::new(),
                        })
                    });
                    let digits = digits.collect();
                    piece(0, digits, source(*x), map.offset(0), SmallVec::new())
                });
                pieces.collect()
            }
            Node::Gather(gather) => {
                let data = dense(graph.ty(gather.data));
                let mut digits = digits(ty, &dense(ty), &dense(ty));
                digits.iter_mut().for_each(|digit| digit.src = 0);
                let mut columns: SmallVec<[IndexColumn; 1]> = SmallVec::new();
                for (at, coordinate) in gather.coordinates.iter().enumerate() {
                    match coordinate {
                        Coordinate::Output(axis) => {
                            digits[usize::from(*axis)].src = data.strides[at];
                        }
                        Coordinate::Index(index) => {
                            digits.iter_mut().for_each(|digit| digit.indices.push(0));
                            let strides = dense(graph.ty(index.node)).strides;
                            for (&axis, stride) in index.outputs.iter().zip(strides) {
                                digits[usize::from(axis)].indices[columns.len()] = stride;
                            }
                            columns.push(IndexColumn {
                                source: source(index.node),
                                element: graph.ty(index.node).element,
                                offset: 0,
                                coeff: data.strides[at],
                                limit: graph.ty(gather.data).shape[at],
                                wrap: index.wrap,
                                clamp: index.policy == Policy::Clamp,
                                through: SmallVec::new(),
                            });
                        }
                    }
                }
                vec![piece(0, digits, source(gather.data), 0, columns)]
            }
            Node::Concat { parts, axis } => {
                let to = dense(ty);
                let (mut at, step) = (0, to.strides[usize::from(*axis)]);
                let pieces = parts.iter().filter_map(|&part| {
                    let whole = graph.ty(part);
                    let mut copy = copied(whole, source(part), &dense(whole), &to);
                    copy.dst = at * step;
                    at += whole.shape[usize::from(*axis)];
                    (whole.count() > 0).then_some(copy)
                });
                pieces.collect()
            }
            Node::Fill { bits } => {
                let digits = digits(ty, &dense(ty), &dense(ty));
                vec![whole(0, digits, Body::Fill(*bits))]
            }
        };
        sources.push(Source::Stage(plan.stages.len() as u32));
        plan.stages.push(stage(Destination::Scratch, ty, pieces));
    }
    for (number, output) in graph.outputs().iter().enumerate() {
        let ty = graph.ty(output.node);
        let to = output.layout.clone().unwrap_or_else(|| dense(ty));
        let pieces = vec![copied(ty, sources[output.node.index()], &dense(ty), &to)];
        plan.answers.push(Answer::Computed {
            stage: plan.stages.len() as u32,
            why: "every node is written".into(),
        });
        plan.stages
            .push(stage(Destination::Output(number as u32), ty, pieces));
        let layout = output.layout.clone();
        plan.outputs.push((ty.element, ty.shape.clone(), layout));
    }
    for check in graph.checks() {
        let ty = graph.ty(check.node);
        if ty.count() > 0 {
            plan.checks.push(IndexCheck {
                source: sources[check.node.index()],
                element: ty.element,
                offset: 0,
                dims: smallvec![(ty.count(), 1)],
                limit: check.limit,
                wrap: check.wrap,
                op: check.op,
                column: check.column,
                columns: check.columns,
            });
        }
    }
    plan
}

/// Row-major strides.
fn dense(ty: &Type) -> Strided {
    let mut strides = ty.shape.clone();
    let mut row = 1;
    for (stride, size) in strides.iter_mut().zip(&ty.shape).rev() {
        *stride = row;
        row *= size;
    }
    Strided { offset: 0, strides }
}

/// How many elements a buffer has at least in which these lie.
fn reach(ty: &Type, layout: &Strided) -> i64 {
    let steps = ty.shape.iter().zip(&layout.strides);
    match ty.count() {
        0 => 0,
        _ => layout.offset + 1 + steps.map(|(n, s)| (n - 1) * s.max(&0)).sum::<i64>(),
    }
}

/// A digit for each axis, those of one element too.
fn digits(ty: &Type, from: &Strided, to: &Strided) -> Digits {
    let axes = ty.shape.iter().zip(&from.strides).zip(&to.strides);
    axes.map(|((&extent, &src), &dst)| PieceDigit {
        extent,
        dst,
        src,
        indices: SmallVec::new(),
    })
    .collect()
}

fn copied(ty: &Type, source: Source, from: &Strided, to: &Strided) -> Piece {
    let digits = digits(ty, from, to);
    piece(to.offset, digits, source, from.offset, SmallVec::new())
}

fn piece(
    dst: i64,
    digits: Digits,
    source: Source,
    offset: i64,
    indices: SmallVec<[IndexColumn; 1]>,
) -> Piece {
    let body = Body::Copy {
        source,
        offset,
        indices,
    };
    whole(dst, digits, body)
}

/// A piece without the digits of one element.
fn whole(dst: i64, mut digits: Digits, body: Body) -> Piece {
    digits.retain(|digit| digit.extent > 1);
    Piece { dst, digits, body }
}

fn stage(destination: Destination, ty: &Type, pieces: Vec<Piece>) -> Stage {
    Stage {
        destination,
        element: ty.element,
        count: ty.count(),
        pieces: if ty.count() > 0 { pieces } else { Vec::new() },
        reason: None,
    }
}

/// A kernel that does what a plan says, piece by piece: what waits for no index is one box, the rest goes element
/// by element.
pub fn kernel(plan: &Plan) -> Result<Kernel, LowerError> {
    let mut nests = Nests {
        buffers: Buffers::new(plan),
        next_var: 0,
    };
    let (mut phases, mut last) = (SmallVec::<[Vec<_>; 3]>::new(), Vec::new());
    for (at, stage) in plan.stages.iter().enumerate() {
        let mut phase = Vec::new();
        for piece in &stage.pieces {
            let destination = nests.buffers.destination(at)?;
            nests.piece(piece, stage.element, destination, &mut phase)?;
        }
        match stage.destination {
            Destination::Scratch => phases.push(phase),
            Destination::Output(_) => last.push(phase),
        }
    }
    let mut checks = Vec::new();
    for of_one in plan.checks.chunk_by(|a, b| a.op == b.op) {
        let code = checks.len() as u32;
        for check in of_one {
            checks.push(nests.buffers.check(check, code)?);
        }
    }
    phases.push(checks);
    phases.extend(last);
    phases.retain(|phase| !phase.is_empty());
    Ok(Kernel {
        name: "plain".into(),
        buffers: nests.buffers.into_made(),
        phases,
    })
}

struct Nests<'p> {
    buffers: Buffers<'p>,
    next_var: u32,
}

impl Nests<'_> {
    fn fresh(&mut self) -> Var {
        self.next_var += 1;
        Var(self.next_var - 1)
    }

    fn piece(
        &mut self,
        piece: &Piece,
        element: ElementType,
        destination: BufferId,
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        let digits = &piece.digits;
        let place = |buffer, base, terms| Place {
            buffer,
            addr: Addr { base, terms },
        };
        let (source, offset, indices) = match &piece.body {
            Body::Fill(bits) => {
                out.push(Stmt::Fill {
                    dst: place(destination, piece.dst, SmallVec::new()),
                    dims: digits.iter().map(|d| (d.extent, d.dst)).collect(),
                    bits: bits & width(element)?.mask(),
                });
                return Ok(());
            }
            Body::Copy {
                source,
                offset,
                indices,
            } => (self.buffers.source(*source)?, *offset, indices),
        };
        if indices.is_empty() {
            let dims = digits.iter().map(|d| Dim {
                extent: d.extent,
                dst: d.dst,
                src: d.src,
            });
            out.push(Stmt::Move(Move {
                dst: place(destination, piece.dst, SmallVec::new()),
                src: place(source, offset, SmallVec::new()),
                dims: dims.collect(),
                form: Form::Elements,
            }));
            return Ok(());
        }
        let vars: Vec<Var> = digits.iter().map(|_| self.fresh()).collect();
        let terms = |stride: &dyn Fn(&PieceDigit) -> i64| -> SmallVec<[(Var, i64); 3]> {
            let all = vars.iter().zip(digits).map(|(var, d)| (*var, stride(d)));
            all.filter(|(_, stride)| *stride != 0).collect()
        };
        let mut from = terms(&|d| d.src);
        let (mut columns, mut body) = (Vec::new(), Vec::new());
        for (k, index) in indices.iter().enumerate() {
            let mut at = terms(&|d| d.indices.get(k).copied().unwrap_or(0));
            for &(earlier, stride) in &index.through {
                let earlier = columns.get(earlier as usize).ok_or(LowerError::Dangling)?;
                at.push((*earlier, stride));
            }
            let var = self.fresh();
            body.push(Stmt::Index {
                var,
                place: place(self.buffers.source(index.source)?, index.offset, at),
                norm: index.norm()?,
            });
            if index.coeff != 0 {
                from.push((var, index.coeff));
            }
            columns.push(var);
        }
        body.push(Stmt::Move(Move {
            dst: place(destination, piece.dst, terms(&|d| d.dst)),
            src: place(source, offset, from),
            dims: SmallVec::new(),
            form: Form::Elements,
        }));
        for (digit, var) in digits.iter().zip(vars).rev() {
            body = vec![Stmt::For {
                var,
                extent: digit.extent,
                parallel: false,
                body,
            }];
        }
        out.append(&mut body);
        Ok(())
    }
}
