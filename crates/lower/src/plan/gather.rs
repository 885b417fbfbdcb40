//! Gathers become index columns.
//!
//! For each piece of the data and each piece of every index tensor, the result has the points
//! where all of them are defined. There the source address is linear in the output coordinates,
//! plus the stride of each chosen axis times its index. That needs the chosen axis to be whole
//! and of one digit, and an index that is read plainly; what is otherwise goes to a temporary.

use super::compose::Composer;
use super::value::{IndexRead, Reads, Value};
use restride_canon::ir::{Coordinate, Gather, Index, NodeId, Policy};
use restride_graph::ElementType;
use restride_layout::{Break, Cover, MAX_PIECES, Operand, Piece, join};
use smallvec::SmallVec;

/// Which operand keeps a gather from composing, and why.
struct Blame {
    node: NodeId,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
enum Reason {
    #[error("{0}")]
    Pieces(#[from] Break),
    #[error("axis {0} is repeated, so no address tells which element is outside")]
    Repeated(usize),
    #[error("it is filled, and what is outside axis {0} is zero bits")]
    Filled(usize),
    #[error("it is itself read through an index")]
    ThroughIndex,
}

/// An index tensor as it is used.
struct Chosen<'g> {
    index: &'g Index,
    element: ElementType,
    /// The axis of the data it chooses along, and its size.
    axis: usize,
    limit: i64,
    outputs: SmallVec<[Option<usize>; 6]>,
}

impl Composer<'_> {
    /// Composes a gather, with temporaries for what does not compose.
    pub(super) fn gather(&mut self, gather: &Gather, sizes: &[i64]) -> Result<Value, Break> {
        loop {
            let blame = match self.try_gather(gather, sizes)? {
                Ok(value) => return Ok(value),
                Err(blame) => blame,
            };
            // A temporary helps the blamed operand, or else any that is no plain read yet.
            let indices = gather.coordinates.iter().filter_map(|c| match c {
                Coordinate::Index(index) => Some(index.node),
                Coordinate::Output(_) => None,
            });
            let mut settled = false;
            for node in [blame.node].into_iter().chain(indices).chain([gather.data]) {
                if self.can_settle(node)? {
                    self.materialise(node, || format!("a gather of it: {}", blame.reason))?;
                    settled = true;
                    break;
                }
            }
            if !settled {
                // Plain reads that still do not compose: an axis that is repeated and chosen from.
                let stored = self.value(blame.node)?.parts().iter();
                let mut stored = stored.map(|(_, reads)| reads.plain());
                if stored.all(|s| matches!(s, Some(super::Source::Stage(_)))) {
                    return Err(match blame.reason {
                        Reason::Pieces(reason) => reason,
                        Reason::Repeated(axis) | Reason::Filled(axis) => Break::Partial { axis },
                        Reason::ThroughIndex => Break::NoChain,
                    });
                }
                self.materialise(blame.node, || format!("a gather of it: {}", blame.reason))?;
            }
        }
    }

    fn try_gather(&self, gather: &Gather, sizes: &[i64]) -> Result<Result<Value, Blame>, Break> {
        let data = self.value(gather.data)?;
        let mut kept: SmallVec<[Option<usize>; 6]> = SmallVec::new();
        let mut chosen: SmallVec<[Chosen<'_>; 2]> = SmallVec::new();
        for (axis, coordinate) in gather.coordinates.iter().enumerate() {
            match coordinate {
                Coordinate::Output(o) => kept.push(Some(usize::from(*o))),
                Coordinate::Index(index) => {
                    kept.push(None);
                    chosen.push(Chosen {
                        index,
                        element: self.graph.ty(index.node).element,
                        axis,
                        limit: data.shape()[axis],
                        outputs: index
                            .outputs
                            .iter()
                            .map(|&o| Some(usize::from(o)))
                            .collect(),
                    });
                }
            }
        }
        let mut parts: SmallVec<[(Piece, Reads); 1]> = SmallVec::new();
        if sizes.contains(&0) {
            return Cover::of_parts(sizes, parts).map(Ok);
        }
        let mut indices: SmallVec<[&Value; 2]> = SmallVec::new();
        for one in &chosen {
            indices.push(self.value(one.index.node)?);
        }
        let mut odometer: SmallVec<[usize; 2]> = SmallVec::from_elem(0, chosen.len());
        for (piece, reads) in data.parts() {
            odometer.fill(0);
            loop {
                let choice = Choice {
                    data: (piece, reads),
                    kept: &kept,
                    chosen: &chosen,
                    indices: indices
                        .iter()
                        .zip(&odometer)
                        .map(|(value, &k)| &value.parts()[k])
                        .collect(),
                };
                match choice.compose(gather.data, sizes) {
                    Ok(more) => parts.extend(more),
                    Err(blame) => return Ok(Err(blame)),
                }
                if parts.len() > MAX_PIECES {
                    let reason = Reason::Pieces(Break::TooManyPieces { axis: 0 });
                    let most = (0..chosen.len()).max_by_key(|&k| indices[k].parts().len());
                    let node = match most {
                        Some(k) if indices[k].parts().len() > data.parts().len() => {
                            chosen[k].index.node
                        }
                        Some(_) | None => gather.data,
                    };
                    return Ok(Err(Blame { node, reason }));
                }
                let next =
                    (0..odometer.len()).find(|&k| odometer[k] + 1 < indices[k].parts().len());
                let Some(k) = next else { break };
                odometer[k] += 1;
                odometer[..k].fill(0);
            }
        }
        Cover::of_parts(sizes, parts).map(Ok)
    }
}

/// One piece of the data with one piece of every index tensor.
struct Choice<'v> {
    data: (&'v Piece, &'v Reads),
    kept: &'v [Option<usize>],
    chosen: &'v [Chosen<'v>],
    indices: SmallVec<[&'v (Piece, Reads); 2]>,
}

impl Choice<'_> {
    fn compose(&self, data: NodeId, sizes: &[i64]) -> Result<SmallVec<[(Piece, Reads); 1]>, Blame> {
        let blame = |node: NodeId| {
            move |reason: Break| Blame {
                node,
                reason: Reason::Pieces(reason),
            }
        };
        let (piece, reads) = self.data;
        let mut columns = match reads {
            Reads::Fill(_) => SmallVec::new(),
            Reads::Copy { indices, .. } => indices.clone(),
        };
        // Address added by indices that are known, and whether one of them is outside.
        let (mut known, mut outside) = (0i64, false);
        // Index pieces stripped of their address where it plays no part.
        let mut stripped: SmallVec<[Option<Piece>; 2]> = SmallVec::new();
        for (one, (index, index_reads)) in self.chosen.iter().zip(&self.indices) {
            let clamp = one.index.policy == Policy::Clamp;
            let stride = match reads {
                // Whichever element is chosen, if this piece has all of the axis.
                Reads::Fill(bits) if clamp || *bits == 0 => {
                    piece.selectable(one.axis, one.limit).map_err(blame(data))?;
                    0
                }
                // Zero bits where the index is outside: that needs something to read.
                Reads::Fill(_) => {
                    return Err(Blame {
                        node: data,
                        reason: Reason::Filled(one.axis),
                    });
                }
                Reads::Copy { .. } => piece.selectable(one.axis, one.limit).map_err(blame(data))?,
            };
            match index_reads {
                Reads::Fill(bits) => {
                    match normalised(one, *bits) {
                        Some(at) => {
                            let step = at.checked_mul(stride).ok_or(Break::Overflow);
                            let sum =
                                step.and_then(|s| known.checked_add(s).ok_or(Break::Overflow));
                            known = sum.map_err(blame(data))?;
                        }
                        None => outside = true,
                    }
                    stripped.push(None);
                }
                Reads::Copy { .. } if stride == 0 && (clamp || !is_copy(reads)) => {
                    stripped.push(Some(index.without_columns().map_err(blame(data))?));
                }
                Reads::Copy { source, indices } if indices.is_empty() => {
                    // An axis of one element has no stride; any will do, its index being 0.
                    let coeff = match stride {
                        0 if one.limit > 1 => {
                            return Err(Blame {
                                node: data,
                                reason: Reason::Repeated(one.axis),
                            });
                        }
                        0 => 1,
                        _ => stride,
                    };
                    columns.push(IndexRead {
                        source: *source,
                        element: one.element,
                        coeff,
                        limit: one.limit,
                        wrap: one.index.wrap,
                        clamp,
                    });
                    stripped.push(None);
                }
                Reads::Copy { .. } => {
                    return Err(Blame {
                        node: one.index.node,
                        reason: Reason::ThroughIndex,
                    });
                }
            }
        }
        let mut operands: SmallVec<[Operand<'_>; 3]> = SmallVec::new();
        operands.push(Operand {
            piece,
            axes: self.kept,
        });
        for ((one, (index, _)), stripped) in self.chosen.iter().zip(&self.indices).zip(&stripped) {
            operands.push(Operand {
                piece: stripped.as_ref().unwrap_or(index),
                axes: &one.outputs,
            });
        }
        let pieces = join(&operands, sizes).map_err(blame(data))?;
        let reads = match reads {
            _ if outside => Reads::Fill(0),
            Reads::Fill(bits) => Reads::Fill(*bits),
            Reads::Copy { source, .. } => Reads::Copy {
                source: *source,
                indices: columns,
            },
        };
        let mut out = SmallVec::new();
        for mut piece in pieces {
            match &reads {
                Reads::Fill(_) => piece = piece.without_columns().map_err(blame(data))?,
                Reads::Copy { .. } => piece.move_column(0, known).map_err(blame(data))?,
            }
            out.push((piece, reads.clone()));
        }
        Ok(out)
    }
}

fn is_copy(reads: &Reads) -> bool {
    matches!(reads, Reads::Copy { .. })
}

/// An index that is known: where on the axis it points.
fn normalised(one: &Chosen<'_>, bits: u128) -> Option<i64> {
    let width = 8 * one.element.width() as u32;
    // Widened as its type says, by way of the sign bit.
    let shift = 128 - width;
    let value = match one.element.is_signed_integer() {
        true => ((bits << shift) as i128) >> shift,
        false => ((bits << shift) >> shift) as i128,
    };
    let limit = i128::from(one.limit);
    let wrapped = match one.index.wrap && value < 0 {
        true => value + limit,
        false => value,
    };
    let inside = (0..limit).contains(&wrapped);
    match one.index.policy {
        Policy::Zero if !inside => None,
        Policy::Zero | Policy::Clamp => i64::try_from(wrapped.clamp(0, limit - 1)).ok(),
    }
}
