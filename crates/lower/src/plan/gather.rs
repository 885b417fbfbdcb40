//! Gathers become index columns.
//!
//! For each slab of the data and each piece of every index tensor, the result has the points
//! where all of them are defined. There the source address is linear in the output coordinates,
//! plus what each index chooses along its axis. Where that is a stride, the index moves the
//! address; where it is a table, the index moves the address in the table, and what is found
//! there moves the address of the data. An index that is itself read through an index, or data
//! whose indices the chosen axis moves, are columns before and after: each column's address is
//! linear in the digits and in the columns before it.

use super::axis_addresses::{Slab, slabs};
use super::columns::Columns;
use super::compose::Composer;
use super::table::IndexTables;
use super::value::{Reads, Unmoved};
use restride_canon::ir::{Coordinate, Gather, Index, NodeId, Policy};
use restride_graph::ElementType;
use restride_layout::{Break, Cover, MAX_PIECES, Operand, Piece, join};
use smallvec::SmallVec;

/// How many pieces of data and indices are held against each other.
const MAX_CHOICES: usize = 16 * MAX_PIECES;

/// How many indices a piece may be read through, if it need not be: composing one more gather takes
/// time in their number, and so does a chain of them for each element.
const MAX_INDICES: usize = 32;

/// Which operand keeps a gather from composing, and why.
pub(super) struct Blame {
    pub(super) node: NodeId,
    pub(super) reason: Reason,
}

#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum Reason {
    #[error("{0}")]
    Pieces(#[from] Break),
    #[error("axis {0} is repeated and too long for a table")]
    Repeated(usize),
    #[error("it is filled, and what is outside axis {0} is zero bits")]
    Filled(usize),
    #[error("it is read through an index that may be outside, and is 0 there")]
    ThroughIndex,
    #[error("it is read through {0} indices")]
    Indices(usize),
}

/// An index tensor as it is used.
pub(super) struct Chosen<'g> {
    pub(super) index: &'g Index,
    pub(super) element: ElementType,
    /// The axis of the data it chooses along, and its size.
    pub(super) axis: usize,
    pub(super) limit: i64,
    pub(super) clamp: bool,
    /// Whether it is in range, or else an obligation has ended the run.
    pub(super) sure: bool,
    outputs: SmallVec<[Option<usize>; 6]>,
}

impl Composer<'_> {
    /// Composes a gather, with temporaries for what does not compose.
    pub(super) fn gather(&mut self, gather: &Gather, sizes: &[i64]) -> Result<Unmoved, Break> {
        loop {
            let mut tables = IndexTables {
                meter: self.meter,
                held: &self.plan.constants,
                made: Vec::new(),
            };
            let blame = match self.try_gather(gather, sizes, &mut tables)? {
                Ok(value) => {
                    let made = tables.made;
                    self.plan.constants.extend(made);
                    return Ok(value);
                }
                Err(blame) => blame,
            };
            if let Reason::Filled(_) = blame.reason {
                self.read_fills(blame.node)?;
                continue;
            }
            // A temporary helps the blamed operand, or else any that is no plain read yet.
            let indices = gather.coordinates.iter().filter_map(|c| match c {
                Coordinate::Index(index) => Some(index.node),
                Coordinate::Output(_) => None,
            });
            let mut settled = false;
            for node in [blame.node].into_iter().chain(indices).chain([gather.data]) {
                if self.can_settle(node)? {
                    self.settle(node, || format!("a gather of it: {}", blame.reason))?;
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
                        Reason::ThroughIndex | Reason::Indices(_) => Break::NoChain,
                    });
                }
                self.settle(blame.node, || format!("a gather of it: {}", blame.reason))?;
            }
        }
    }

    fn try_gather(
        &self,
        gather: &Gather,
        sizes: &[i64],
        tables: &mut IndexTables<'_>,
    ) -> Result<Result<Unmoved, Blame>, Break> {
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
                        clamp: index.policy == Policy::Clamp,
                        sure: index.policy == Policy::Clamp
                            || self.is_held_in_range(index, data.shape()[axis])?,
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
        let mut indices: SmallVec<[&Unmoved; 2]> = SmallVec::new();
        for one in &chosen {
            indices.push(self.value(one.index.node)?);
        }
        if let Some(blame) = through_many(gather, data, &chosen, &indices) {
            return Ok(Err(blame));
        }
        let mut odometer: SmallVec<[usize; 2]> = SmallVec::from_elem(0, chosen.len());
        let axes: SmallVec<[usize; 2]> = chosen.iter().map(|one| one.axis).collect();
        let slabs = match slabs(gather.data, data, &axes, self.meter) {
            Ok(slabs) => slabs,
            Err(blame) => return Ok(Err(blame)),
        };
        let mut choices = 0;
        for slab in &slabs {
            odometer.fill(0);
            loop {
                choices += 1;
                self.meter.work(2000);
                let choice = Choice {
                    data: slab,
                    kept: &kept,
                    chosen: &chosen,
                    indices: indices
                        .iter()
                        .zip(&odometer)
                        .map(|(value, &k)| &value.parts()[k])
                        .collect(),
                };
                match choice.compose(gather.data, sizes, tables) {
                    Ok(more) => parts.extend(more),
                    Err(blame) => return Ok(Err(blame)),
                }
                if parts.len() > MAX_PIECES || choices > MAX_CHOICES {
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

/// The operand that is read through the most indices, if they are too many together.
fn through_many(
    gather: &Gather,
    data: &Unmoved,
    chosen: &[Chosen<'_>],
    indices: &[&Unmoved],
) -> Option<Blame> {
    let through = |value: &Unmoved| {
        let parts = value.parts().iter();
        parts.map(|(_, reads)| reads.indices().len()).max()
    };
    let nodes = chosen.iter().map(|one| one.index.node);
    let operands = nodes
        .zip(indices.iter().copied())
        .chain([(gather.data, data)]);
    let counts = operands.map(|(node, value)| (node, through(value).unwrap_or(0)));
    let (node, most) = counts.clone().max_by_key(|(_, count)| *count)?;
    let all: usize = counts.map(|(_, count)| count).sum();
    (all > MAX_INDICES).then_some(Blame {
        node,
        reason: Reason::Indices(most),
    })
}

/// One slab of the data with one piece of every index tensor.
struct Choice<'v> {
    data: &'v Slab<'v>,
    kept: &'v [Option<usize>],
    chosen: &'v [Chosen<'v>],
    indices: SmallVec<[&'v (Piece, Reads); 2]>,
}

impl Choice<'_> {
    fn compose(
        &self,
        data: NodeId,
        sizes: &[i64],
        tables: &mut IndexTables<'_>,
    ) -> Result<SmallVec<[(Piece, Reads); 1]>, Blame> {
        let blame = |node: NodeId| {
            move |reason: Break| Blame {
                node,
                reason: Reason::Pieces(reason),
            }
        };
        let Slab {
            piece,
            reads,
            along,
        } = self.data;
        let mut columns = Columns::of(piece, reads);
        // Index pieces that are not used as they are.
        let mut instead: SmallVec<[Option<Piece>; 2]> = SmallVec::new();
        for (k, (one, (index, index_reads))) in self.chosen.iter().zip(&self.indices).enumerate() {
            let used = match (reads, along.get(k)) {
                (Reads::Copy { .. }, Some(along)) => columns
                    .choose(one, along, index, index_reads, tables)
                    .map_err(|reason| Blame {
                        node: match reason {
                            Reason::ThroughIndex => one.index.node,
                            Reason::Pieces(_)
                            | Reason::Repeated(_)
                            | Reason::Filled(_)
                            | Reason::Indices(_) => data,
                        },
                        reason,
                    })?,
                // Zero bits where the index is outside: that needs something to read.
                (Reads::Fill(bits), _) if *bits != 0 && !one.sure => match index_reads {
                    Reads::Fill(bits) => {
                        columns.outside |= one.known(*bits).is_none();
                        Some(index.without_columns().map_err(blame(data))?)
                    }
                    Reads::Copy { .. } => {
                        return Err(Blame {
                            node: data,
                            reason: Reason::Filled(one.axis),
                        });
                    }
                },
                (Reads::Fill(_), _) | (Reads::Copy { .. }, None) => {
                    Some(index.without_columns().map_err(blame(data))?)
                }
            };
            instead.push(used);
        }
        let mut operands: SmallVec<[Operand<'_>; 3]> = SmallVec::new();
        operands.push(Operand {
            piece,
            axes: self.kept,
        });
        for ((one, (index, _)), instead) in self.chosen.iter().zip(&self.indices).zip(&instead) {
            operands.push(Operand {
                piece: instead.as_ref().unwrap_or(index),
                axes: &one.outputs,
            });
        }
        let pieces = join(&operands, sizes).map_err(blame(data))?;
        columns.finish(pieces, reads).map_err(blame(data))
    }
}

impl Chosen<'_> {
    /// The coordinate that an index names; nothing for zero bits.
    pub(super) fn row(&self, index: i128) -> Option<i64> {
        self.index.policy.row(index, self.limit, self.index.wrap)
    }

    /// The coordinate that an index of these bits names.
    pub(super) fn known(&self, bits: u128) -> Option<i64> {
        self.row(self.element.number(bits))
    }
}
