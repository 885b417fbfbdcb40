//! The buffers of a kernel, made as they are first used.

use super::LowerError;
use crate::plan::{Destination, IndexCheck, IndexColumn, Plan, Source};
use restride_graph::ElementType;
use restride_loops::ir::{
    Addr, Buffer, BufferId, Image, IndexType, Norm, Place, Role, Stmt, Width,
};
use smallvec::{SmallVec, smallvec};

/// The width of an element.
pub(crate) fn width(element: ElementType) -> Result<Width, LowerError> {
    match element.width() {
        1 => Ok(Width::W1),
        2 => Ok(Width::W2),
        4 => Ok(Width::W4),
        8 => Ok(Width::W8),
        16 => Ok(Width::W16),
        other => Err(LowerError::Width(other)),
    }
}

/// The integer type of an index tensor.
pub(crate) fn index_type(element: ElementType) -> Result<IndexType, LowerError> {
    use ElementType as E;
    Ok(match element {
        E::I8 => IndexType::I8,
        E::U8 => IndexType::U8,
        E::I16 => IndexType::I16,
        E::U16 => IndexType::U16,
        E::I32 => IndexType::I32,
        E::U32 => IndexType::U32,
        E::I64 => IndexType::I64,
        E::U64 => IndexType::U64,
        E::Bool | E::F8E4M3 | E::F8E4M3Fnuz | E::F8E5M2 | E::F8E5M2Fnuz | E::F8E8M0 => {
            return Err(LowerError::IndexType(element));
        }
        E::F16 | E::Bf16 | E::F32 | E::F64 | E::C64 | E::I128 | E::U128 | E::C128 => {
            return Err(LowerError::IndexType(element));
        }
    })
}

impl IndexColumn {
    /// What a number read means.
    pub(crate) fn norm(&self) -> Result<Norm, LowerError> {
        Ok(Norm {
            ty: index_type(self.element)?,
            limit: self.limit,
            wrap: self.wrap,
            clamp: self.clamp,
        })
    }
}

/// Buffers by what they stand for.
pub(crate) struct Buffers<'p> {
    plan: &'p Plan,
    made: Vec<Buffer>,
    /// One for each input, output, constant and stage of the plan, in this order.
    known: SmallVec<[Option<BufferId>; 8]>,
}

#[derive(Clone, Copy)]
enum BufferKey {
    Read(Source),
    Output(u32),
}

impl BufferKey {
    /// Its place among all that a plan has.
    fn place(self, plan: &Plan) -> Option<usize> {
        let of = [
            plan.inputs.len(),
            plan.outputs.len(),
            plan.constants.len(),
            plan.stages.len(),
        ];
        let (kind, n) = match self {
            Self::Read(Source::Input(n)) => (0, n),
            Self::Output(n) => (1, n),
            Self::Read(Source::Constant(n)) => (2, n),
            Self::Read(Source::Stage(n)) => (3, n),
        };
        let before: usize = of[..kind].iter().sum();
        ((n as usize) < of[kind]).then(|| before + n as usize)
    }
}

impl<'p> Buffers<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        let ends = plan.inputs.len() + plan.outputs.len();
        let all = ends + plan.constants.len() + plan.stages.len();
        Self {
            plan,
            made: Vec::with_capacity(ends),
            known: SmallVec::from_elem(None, all),
        }
    }

    pub(crate) fn into_made(self) -> Vec<Buffer> {
        self.made
    }

    fn find_or_make(
        &mut self,
        key: BufferKey,
        make: impl FnOnce(&Plan) -> Result<Buffer, LowerError>,
    ) -> Result<BufferId, LowerError> {
        let place = key.place(self.plan).ok_or(LowerError::Dangling)?;
        let known = &mut self.known[place];
        if let Some(id) = known {
            return Ok(*id);
        }
        let id = BufferId(self.made.len() as u32);
        self.made.push(make(self.plan)?);
        *known = Some(id);
        Ok(id)
    }

    /// The buffer that a piece reads.
    pub(crate) fn source(&mut self, source: Source) -> Result<BufferId, LowerError> {
        self.find_or_make(BufferKey::Read(source), |plan| match source {
            Source::Input(n) => {
                let (element, len) = plan.inputs.get(n as usize).ok_or(LowerError::Dangling)?;
                Ok(Buffer {
                    role: Role::In(n),
                    width: width(*element)?,
                    len: *len,
                })
            }
            Source::Constant(n) => {
                let constant = plan.constants.get(n as usize).ok_or(LowerError::Dangling)?;
                let width = width(constant.element)?;
                let len = constant.bytes.len() as i64 / width.bytes() as i64;
                Ok(Buffer {
                    role: Role::Const(constant.bytes.clone()),
                    width,
                    len,
                })
            }
            Source::Stage(n) => {
                let stage = plan.stages.get(n as usize).ok_or(LowerError::Dangling)?;
                Ok(Buffer {
                    role: Role::Scratch,
                    width: width(stage.element)?,
                    len: stage.count,
                })
            }
        })
    }

    /// A check, which reports the first of its operator in the plan.
    pub(crate) fn check(&mut self, check: &IndexCheck, code: u32) -> Result<Stmt, LowerError> {
        let buffer = self.source(check.source)?;
        let addr = Addr {
            base: check.offset,
            terms: SmallVec::new(),
        };
        Ok(Stmt::Check {
            index: Place { buffer, addr },
            dims: check.dims.clone(),
            norm: Norm {
                ty: index_type(check.element)?,
                limit: check.limit,
                wrap: check.wrap,
                clamp: false,
            },
            code,
        })
    }

    /// The buffer that a stage writes.
    pub(crate) fn destination(&mut self, stage: usize) -> Result<BufferId, LowerError> {
        let plan = self.plan;
        let it = &plan.stages[stage];
        let Destination::Output(n) = it.destination else {
            return self.source(Source::Stage(stage as u32));
        };
        self.find_or_make(BufferKey::Output(n), |plan| {
            let (element, shape, layout) =
                plan.outputs.get(n as usize).ok_or(LowerError::Dangling)?;
            let (image, len) = match layout {
                None => {
                    let dims = if it.count == 1 {
                        smallvec![]
                    } else {
                        smallvec![(it.count, 1)]
                    };
                    (Image { offset: 0, dims }, it.count)
                }
                Some(layout) => {
                    let dims: SmallVec<[(i64, i64); 6]> = shape
                        .iter()
                        .zip(&layout.strides)
                        .filter(|(extent, _)| **extent != 1)
                        .map(|(extent, stride)| (*extent, *stride))
                        .collect();
                    let mut last = layout.offset;
                    for (extent, stride) in &dims {
                        let reach = (extent - 1).checked_mul((*stride).max(0));
                        last = reach
                            .and_then(|r| last.checked_add(r))
                            .ok_or(LowerError::TooLarge)?;
                    }
                    let len = last.checked_add(1).ok_or(LowerError::TooLarge)?;
                    (
                        Image {
                            offset: layout.offset,
                            dims,
                        },
                        len,
                    )
                }
            };
            Ok(Buffer {
                role: Role::Out(n, image),
                width: width(*element)?,
                len,
            })
        })
    }
}
