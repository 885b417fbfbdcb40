//! Ordered boxes become statements; work that is worth sharing gets a parallel loop.

use super::buffers::{Buffers, width};
use super::order::{self, BoxDims, Ordered};
use super::{Decision, LowerError, StagePiece, Target, Why, shared_reads};
use crate::plan::Body;
use restride_budget::Meter;
use restride_loops::ir::{Addr, Buffer, BufferId, Dim, Form, Move, Place, Stmt, Var};
use smallvec::SmallVec;

/// A copy without indices, ordered, with its buffers.
pub(super) struct Unit {
    pub(super) ordered: Ordered,
    pub(super) source: BufferId,
    pub(super) destination: BufferId,
    pub(super) width: i64,
    stage: usize,
    piece: usize,
}

/// Makes statements, buffers and variables.
pub(super) struct Emitter<'p> {
    pub(super) target: &'p Target,
    pub(super) buffers: Buffers<'p>,
    meter: &'p Meter,
    next_var: u32,
}

impl<'p> Emitter<'p> {
    pub(super) fn new(target: &'p Target, buffers: Buffers<'p>, meter: &'p Meter) -> Self {
        Self {
            target,
            buffers,
            meter,
            next_var: 0,
        }
    }

    pub(super) fn into_buffers(self) -> Vec<Buffer> {
        self.buffers.into_made()
    }

    pub(super) fn fresh(&mut self) -> Var {
        self.next_var += 1;
        Var(self.next_var - 1)
    }

    /// Counts statements that are about to be made, with so many words beside all of them; an error
    /// if they must not be.
    pub(super) fn spend(&self, statements: usize, words: usize) -> Result<(), LowerError> {
        // A list that grows is there twice for a moment, the longer one with room for as many again.
        self.meter
            .things(statements, 300, 3 * size_of::<Stmt>() as u64);
        self.meter.things(words, 0, size_of::<i64>() as u64);
        Ok(self.meter.check()?)
    }

    /// All pieces of a phase.
    pub(super) fn parts(
        &mut self,
        parts: &[StagePiece<'_>],
        out: &mut Vec<Stmt>,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), LowerError> {
        let mut pass = 0i64;
        for part in parts {
            pass = pass.saturating_add(bytes(part)?.saturating_mul(2));
        }
        let mut groups = SmallVec::new();
        for part in parts {
            let destination = self.buffers.destination(part.stage)?;
            match &part.piece.body {
                Body::Fill(bits) => self.fill(part, destination, *bits, out, decisions)?,
                Body::Copy {
                    source,
                    offset,
                    indices,
                } => {
                    let source = self.buffers.source(*source)?;
                    if indices.is_empty() {
                        let width = width(part.element)?.bytes() as i64;
                        let places = (part.piece.dst, *offset);
                        let digits = order::copied(&part.piece.digits);
                        let ordered = order::order(self.target, digits, places, width, pass);
                        let (stage, piece) = (part.stage, part.index);
                        let unit = Unit {
                            ordered,
                            source,
                            destination,
                            width,
                            stage,
                            piece,
                        };
                        shared_reads::add(self.target, &mut groups, unit);
                    } else {
                        self.gather(part, destination, out, decisions)?;
                    }
                }
            }
        }
        for group in groups {
            self.group(&group, out, decisions)?;
        }
        Ok(())
    }

    fn fill(
        &mut self,
        part: &StagePiece<'_>,
        destination: BufferId,
        bits: u128,
        out: &mut Vec<Stmt>,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), LowerError> {
        let digits = &part.piece.digits;
        let dims: SmallVec<[(i64, i64); 6]> = digits.iter().map(|d| (d.extent, d.dst)).collect();
        let width = width(part.element)?;
        self.spend(1, outside::<(i64, i64), 6>(dims.len()))?;
        decisions.push(Decision {
            stage: part.stage,
            piece: part.index,
            form: None,
            why: Why::Constant,
            lines_read: 0,
            lines_written: order::lines(self.target, dims.iter().copied(), width.bytes() as i64),
            shared_with: 0,
            parallel: None,
        });
        let dst = Place {
            buffer: destination,
            addr: constant(part.piece.dst),
        };
        out.push(Stmt::Fill {
            dst,
            dims,
            bits: bits & width.mask(),
        });
        Ok(())
    }

    /// One group.
    fn group(
        &mut self,
        group: &[Unit],
        out: &mut Vec<Stmt>,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), LowerError> {
        let first = &group[0];
        let box_bytes = box_bytes(&first.ordered.dims, first.width);
        let whole = box_bytes.saturating_mul(group.len() as i64);
        let block = if group.len() > 1 {
            Some(self.target.l1 / 4)
        } else if whole >= self.target.parallel_from {
            Some(self.target.block(whole))
        } else {
            None
        };
        let split = block.and_then(|bytes| {
            let long_runs = group.len() == 1 && first.ordered.form == Form::Rows;
            split(self.target, &first.ordered, first.width, bytes, long_runs)
        });
        let parallel = split.as_ref().map(|s| s.iterations);
        for unit in group {
            decisions.push(Decision {
                stage: unit.stage,
                piece: unit.piece,
                form: Some(unit.ordered.form),
                why: unit.ordered.why.clone(),
                lines_read: unit.ordered.lines_read,
                lines_written: unit.ordered.lines_written,
                shared_with: group.len() - 1,
                parallel,
            });
        }
        let parts = match &split {
            Some(split) => 1 + group.len() * (1 + usize::from(split.rest > 0)),
            None => group.len(),
        };
        self.spend(parts, parts * outside::<Dim, 4>(first.ordered.dims.len()))?;
        // Most phases have one group, and what is here is kept.
        if out.is_empty() {
            let rests = |split: &Split| 1 + if split.rest > 0 { group.len() } else { 0 };
            out.reserve_exact(split.as_ref().map_or(group.len(), rests));
        }
        let Some(split) = split else {
            out.extend(group.iter().map(|unit| unit.whole()));
            return Ok(());
        };
        let var = self.fresh();
        let body = group.iter().map(|unit| unit.block(&split, var)).collect();
        let worth_sharing = whole >= self.target.parallel_from;
        out.push(Stmt::For {
            var,
            extent: split.iterations,
            parallel: worth_sharing,
            body,
        });
        out.extend(group.iter().filter_map(|unit| unit.rest(&split)));
        Ok(())
    }
}

/// The words of a list that is longer than what its owner has room for.
pub(super) fn outside<T, const INSIDE: usize>(length: usize) -> usize {
    match length > INSIDE {
        true => length * size_of::<T>() / size_of::<i64>(),
        false => 0,
    }
}

fn bytes(part: &StagePiece<'_>) -> Result<i64, LowerError> {
    let width = width(part.element)?.bytes() as i64;
    Ok(part
        .piece
        .digits
        .iter()
        .fold(width, |n, d| n.saturating_mul(d.extent)))
}

fn box_bytes(dims: &[Dim], width: i64) -> i64 {
    dims.iter().fold(width, |n, d| n.saturating_mul(d.extent))
}

pub(super) fn constant(base: i64) -> Addr {
    Addr {
        base,
        terms: SmallVec::new(),
    }
}

/// `base + coeff * var`.
fn linear(base: i64, var: Var, coeff: i64) -> Addr {
    let mut addr = constant(base);
    if coeff != 0 {
        addr.terms.push((var, coeff));
    }
    addr
}

/// One dimension cut into blocks: a loop over `iterations` blocks of `block`, and `rest` more.
struct Split {
    at: usize,
    iterations: i64,
    block: i64,
    rest: i64,
}

/// Cuts one dimension into blocks, for boxes of about `bytes` bytes and at least two of them.
///
/// A dimension whose steps leave the line on both sides is cut for free, the outermost first.
/// Any other is part of a tile, a run or a pattern that shares lines between its steps: it is cut
/// only where there is no free one, and then into blocks of many lines. With `long_runs` a run is cut
/// into parts of `bytes` bytes each, however many a box has: shorter ones, now here, now there, cost a
/// copy that the caches do not hold a third of its speed.
fn split(
    target: &Target,
    ordered: &Ordered,
    width: i64,
    bytes: i64,
    long_runs: bool,
) -> Option<Split> {
    let dims = &ordered.dims;
    let whole = box_bytes(dims, width);
    let step = |stride: i64| stride.saturating_mul(width).saturating_abs();
    let mut best: Option<Split> = None;
    for (at, dim) in dims.iter().enumerate() {
        let (dst, src) = (step(dim.dst), step(dim.src));
        let free = dst >= target.line && (src >= target.line || src == 0);
        let unit = if free {
            1
        } else {
            let lines = (LINES_OF_A_CUT * target.line / dst.min(src).max(1)).max(1);
            let aligned = steps_to_a_line(target, dst).max(steps_to_a_line(target, src));
            round_up(lines, aligned)
        };
        // Where rows of the source are read to their end, a cut is across them.
        if ordered.form == Form::Stream && !free && at + 1 < dims.len() {
            continue;
        }
        let others = match long_runs && at + 1 == dims.len() {
            true => width,
            false => (whole / dim.extent).max(1),
        };
        let block = round_up((bytes / others).max(1), unit);
        let iterations = dim.extent / block;
        if iterations < 2 {
            continue;
        }
        let candidate = Split {
            at,
            iterations,
            block,
            rest: dim.extent % block,
        };
        if free && iterations >= 8 {
            return Some(candidate);
        }
        if best.as_ref().is_none_or(|b| iterations > b.iterations) {
            best = Some(candidate);
        }
    }
    best
}

/// What a block spans at least of a dimension that shares lines between its steps.
const LINES_OF_A_CUT: i64 = 8;

/// After how many steps of so many bytes a line starts where the first one did; one where steps
/// leave the line.
fn steps_to_a_line(target: &Target, step: i64) -> i64 {
    if step >= target.line {
        return 1;
    }
    target.line >> (target.line | step).trailing_zeros()
}

fn round_up(n: i64, unit: i64) -> i64 {
    (n - 1) / unit * unit + unit
}

impl Unit {
    fn statement(&self, dst: Addr, src: Addr, dims: BoxDims) -> Stmt {
        let form = if self.ordered.form.fits(&dims) {
            self.ordered.form
        } else {
            Form::Elements
        };
        Stmt::Move(Move {
            dst: Place {
                buffer: self.destination,
                addr: dst,
            },
            src: Place {
                buffer: self.source,
                addr: src,
            },
            dims,
            form,
        })
    }

    fn whole(&self) -> Stmt {
        let it = &self.ordered;
        self.statement(constant(it.dst), constant(it.src), it.dims.clone())
    }

    fn cut(&self, split: &Split, extent: i64) -> (BoxDims, Dim) {
        let mut dims = self.ordered.dims.clone();
        let whole = dims[split.at];
        if extent == 1 && dims.len() > 1 {
            dims.remove(split.at);
        } else {
            dims[split.at].extent = extent;
        }
        (dims, whole)
    }

    fn block(&self, split: &Split, var: Var) -> Stmt {
        let (dims, whole) = self.cut(split, split.block);
        let dst = linear(self.ordered.dst, var, whole.dst * split.block);
        let src = linear(self.ordered.src, var, whole.src * split.block);
        self.statement(dst, src, dims)
    }

    fn rest(&self, split: &Split) -> Option<Stmt> {
        if split.rest == 0 {
            return None;
        }
        let (dims, whole) = self.cut(split, split.rest);
        let done = split.iterations * split.block;
        let dst = constant(self.ordered.dst + whole.dst * done);
        let src = constant(self.ordered.src + whole.src * done);
        Some(self.statement(dst, src, dims))
    }
}
