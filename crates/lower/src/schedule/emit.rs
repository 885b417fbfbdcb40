//! Ordered boxes become statements; work that is worth sharing gets a parallel loop.

use super::buffers::{Buffers, width};
use super::order::{self, BoxDims, Ordered};
use super::shared_lines::{self, Common, UnitGroup};
use super::{Decision, LowerError, StagePiece, Target};
use crate::plan::Body;
use restride_budget::Meter;
use restride_loops::ir::{Addr, Buffer, BufferId, Dim, Form, Move, Place, Stmt, Var};
use restride_moves::fill_few_sets;
use smallvec::SmallVec;

/// What a unit writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// Elements of a buffer.
    Copy(BufferId),
    /// The same bits everywhere.
    Fill(u128),
}

/// A fill or a copy without indices, ordered, with its buffers.
pub(super) struct Unit {
    pub(super) ordered: Ordered,
    pub(super) what: What,
    pub(super) destination: BufferId,
    pub(super) width: i64,
    /// Loops around it that walk a digit from end to end.
    around: SmallVec<[(Var, Dim); 1]>,
    /// Iterations of the outermost of these, if they are shared out.
    parallel: Option<i64>,
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
        let fills = |part: &&StagePiece<'_>| matches!(part.piece.body, Body::Fill(_));
        let copies = parts.iter().filter(|part| !fills(part));
        for part in parts.iter().filter(fills).chain(copies) {
            let destination = self.buffers.destination(part.stage)?;
            let element = width(part.element)?;
            let width = element.bytes() as i64;
            let digits = order::copied(&part.piece.digits);
            let (ordered, what) = match &part.piece.body {
                Body::Fill(bits) => {
                    let ordered = order::filled(self.target, digits, part.piece.dst, width);
                    (ordered, What::Fill(bits & element.mask()))
                }
                Body::Copy {
                    source,
                    offset,
                    indices,
                } => {
                    let source = self.buffers.source(*source)?;
                    if !indices.is_empty() {
                        self.gather(part, destination, out, decisions)?;
                        continue;
                    }
                    let places = (part.piece.dst, *offset);
                    let ordered = order::order(self.target, digits, places, width, pass);
                    (ordered, What::Copy(source))
                }
            };
            let unit = Unit {
                ordered,
                what,
                destination,
                width,
                around: SmallVec::new(),
                parallel: None,
                stage: part.stage,
                piece: part.index,
            };
            shared_lines::add(self.target, &mut groups, unit);
        }
        for group in groups {
            self.group(group, out, decisions)?;
        }
        Ok(())
    }

    /// One group.
    fn group(
        &mut self,
        group: UnitGroup,
        out: &mut Vec<Stmt>,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), LowerError> {
        let UnitGroup {
            units,
            common,
            bytes: whole,
        } = group;
        let first = &units[0];
        let worth_sharing = whole >= self.target.parallel_from && first.around.is_empty();
        let split = match common {
            Common::Nothing if !worth_sharing || first.what.is_fill() => None,
            Common::Nothing => {
                let long_runs = first.ordered.form == Form::Rows;
                let block = self.target.block(whole);
                split(self.target, &first.ordered, first.width, block, long_runs)
            }
            Common::Read => {
                let block = self.target.l1 / 4;
                split(self.target, &first.ordered, first.width, block, false)
            }
            Common::Written => {
                let steps = first.outermost().map_or(1, |dim| dim.extent);
                if whole / steps > shared_lines::near(self.target) {
                    return self.step_by_step(units, worth_sharing, out, decisions);
                }
                split_outermost(self.target, &units, whole / steps)
            }
        };
        let own = split.as_ref().map(|s| s.iterations);
        for unit in &units {
            decisions.push(Decision {
                stage: unit.stage,
                piece: unit.piece,
                form: (!unit.what.is_fill()).then_some(unit.ordered.form),
                why: unit.ordered.why.clone(),
                lines_read: unit.ordered.lines_read,
                lines_written: unit.ordered.lines_written,
                shared_with: units.len() - 1,
                parallel: unit.parallel.or(own),
            });
        }
        let parts = match &split {
            Some(split) => 1 + units.len() * (1 + usize::from(split.rest > 0)),
            None => units.len(),
        };
        let dims = units.iter().map(|unit| unit.ordered.dims.len());
        let words = outside::<Dim, 4>(dims.max().unwrap_or(0))
            + 2 * outside::<(Var, i64), 3>(first.around.len() + 1);
        self.spend(parts, parts * words)?;
        // Most phases have one group, and what is here is kept.
        if out.is_empty() {
            let rests = |split: &Split| 1 + if split.rest > 0 { units.len() } else { 0 };
            out.reserve_exact(split.as_ref().map_or(units.len(), rests));
        }
        let Some(split) = split else {
            out.extend(units.iter().map(Unit::whole));
            return Ok(());
        };
        // What is written side by side has the digit in common, not its place among the others.
        let of = |unit: &Unit| match common {
            Common::Written => Split {
                at: order::outermost(&unit.ordered.dims).unwrap_or(0),
                ..split
            },
            Common::Nothing | Common::Read => split,
        };
        let var = self.fresh();
        let body = units
            .iter()
            .map(|unit| unit.block(&of(unit), var))
            .collect();
        out.push(Stmt::For {
            var,
            extent: split.iterations,
            parallel: worth_sharing,
            body,
        });
        out.extend(units.iter().filter_map(|unit| unit.rest(&of(unit))));
        Ok(())
    }

    /// Units side by side, in a loop over their outermost digit: one step of it is more than the
    /// first cache holds, so what lies in it is grouped anew.
    fn step_by_step(
        &mut self,
        units: SmallVec<[Unit; 1]>,
        parallel: bool,
        out: &mut Vec<Stmt>,
        decisions: &mut Vec<Decision>,
    ) -> Result<(), LowerError> {
        let var = self.fresh();
        let (mut groups, mut extent, mut body) = (SmallVec::new(), 1, Vec::new());
        self.spend(1, 0)?;
        for mut unit in units {
            let at = order::outermost(&unit.ordered.dims).unwrap_or(0);
            let dim = unit.ordered.dims.remove(at);
            unit.around.push((var, dim));
            extent = dim.extent;
            unit.parallel = unit.parallel.or(parallel.then_some(extent));
            shared_lines::add(self.target, &mut groups, unit);
        }
        for group in groups {
            self.group(group, &mut body, decisions)?;
        }
        body.shrink_to_fit();
        out.push(Stmt::For {
            var,
            extent,
            parallel,
            body,
        });
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

/// Cuts the outermost digit that units side by side have in common, of which a step is so many
/// bytes, into blocks that stay in the first cache: of whole lines, where steps are short.
fn split_outermost(target: &Target, units: &[Unit], step: i64) -> Option<Split> {
    let first = &units[0];
    let at = order::outermost(&first.ordered.dims)?;
    let extent = first.ordered.dims[at].extent;
    let to_a_line = units.iter().filter_map(|unit| {
        let dim = unit.outermost()?;
        let step = |stride: i64| stride.saturating_mul(unit.width).saturating_abs();
        Some(steps_to_a_line(target, step(dim.dst)).max(steps_to_a_line(target, step(dim.src))))
    });
    let most = (shared_lines::near(target) / step.max(1)).max(1);
    let block = match most % to_a_line.max().unwrap_or(1) {
        rest if rest < most => most - rest,
        _ => most,
    };
    (extent / block >= 2).then_some(Split {
        at,
        iterations: extent / block,
        block,
        rest: extent % block,
    })
}

/// One dimension cut into blocks: a loop over `iterations` blocks of `block`, and `rest` more.
#[derive(Clone, Copy)]
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
    let goes_on = goes_on(target, dims, width);
    let mut best: Option<Split> = None;
    for (at, dim) in dims.iter().enumerate() {
        let (dst, src) = (step(dim.dst), step(dim.src));
        let free = dst >= target.line && (src >= target.line || src == 0);
        let unit = if free && goes_on == Some(at) {
            (LINES_OF_A_CUT * target.line / dst).max(1)
        } else if free {
            1
        } else {
            let lines = (LINES_OF_A_CUT * target.line / dst.min(src).max(1)).max(1);
            let aligned = steps_to_a_line(target, dst).max(steps_to_a_line(target, src));
            round_up(lines, aligned)
        };
        if ordered.form == Form::Stream && !free && at != across(target, dims, width) {
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

/// Which dimension of what goes past the caches is cut if none is free. Rows of the source are read to their end; those of the
/// destination are written to theirs if they begin anywhere in a line, since both ends of each part share lines, unless they
/// are of narrow elements, which go by way of the caches then.
fn across(target: &Target, dims: &[Dim], width: i64) -> usize {
    let column = dims.len() - 1;
    let begins_anywhere = |row: &usize| {
        let row = dims[*row];
        width > 2 && row.src == 1 && row.dst.saturating_mul(width) % target.line != 0
    };
    column
        .checked_sub(1)
        .filter(begins_anywhere)
        .unwrap_or(column)
}

/// The dimension along which rows of a transposition go on behind their columns, if it is the only one and rows share few
/// sets: they are written to their ends in turn.
fn goes_on(target: &Target, dims: &[Dim], width: i64) -> Option<usize> {
    let row = dims.len().checked_sub(2)?;
    let along = dims[row];
    let mut finer = (0..row).filter(|&at| dims[at].dst < along.dst);
    let only = finer.next().filter(|_| finer.next().is_none())?;
    let apart = along.dst.saturating_mul(width) as isize;
    let shares = along.src == 1 && fill_few_sets(target, apart, along.extent as usize);
    shares.then_some(only)
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

impl What {
    fn is_fill(self) -> bool {
        matches!(self, Self::Fill(_))
    }
}

impl Unit {
    pub(super) fn bytes(&self) -> i64 {
        box_bytes(&self.ordered.dims, self.width)
    }

    /// The digit with the longest steps in the destination.
    pub(super) fn outermost(&self) -> Option<Dim> {
        order::outermost(&self.ordered.dims).map(|at| self.ordered.dims[at])
    }

    /// Makes two digits of the outermost one, if it is finer than this.
    pub(super) fn split_outermost(&mut self, outer: Dim) {
        let dims = &mut self.ordered.dims;
        if let Some(at) = order::outermost(dims)
            && dims[at].dst < outer.dst
        {
            let times = outer.dst / dims[at].dst;
            let src = dims[at].src * times;
            dims[at].extent = times;
            dims.insert(at, Dim { src, ..outer });
        }
    }

    /// A statement for a box of it, at such places, or for one of many in a loop.
    fn statement(&self, dst: i64, src: i64, dims: BoxDims, block: Option<(Var, Dim)>) -> Stmt {
        let (mut dst, mut src) = (constant(dst), constant(src));
        for (var, dim) in self.around.iter().copied().chain(block) {
            for (addr, stride) in [(&mut dst, dim.dst), (&mut src, dim.src)] {
                if stride != 0 {
                    addr.terms.push((var, stride));
                }
            }
        }
        let dst = Place {
            buffer: self.destination,
            addr: dst,
        };
        match self.what {
            What::Copy(source) => Stmt::Move(Move {
                dst,
                src: Place {
                    buffer: source,
                    addr: src,
                },
                form: match self.ordered.form.fits(&dims) {
                    true => self.ordered.form,
                    false => Form::Elements,
                },
                dims,
            }),
            What::Fill(bits) => Stmt::Fill {
                dst,
                dims: dims.iter().map(|dim| (dim.extent, dim.dst)).collect(),
                bits,
            },
        }
    }

    fn whole(&self) -> Stmt {
        let it = &self.ordered;
        self.statement(it.dst, it.src, it.dims.clone(), None)
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
        let step = Dim {
            extent: split.iterations,
            dst: whole.dst * split.block,
            src: whole.src * split.block,
        };
        let it = &self.ordered;
        self.statement(it.dst, it.src, dims, Some((var, step)))
    }

    fn rest(&self, split: &Split) -> Option<Stmt> {
        if split.rest == 0 {
            return None;
        }
        let (dims, whole) = self.cut(split, split.rest);
        let done = split.iterations * split.block;
        let dst = self.ordered.dst + whole.dst * done;
        let src = self.ordered.src + whole.src * done;
        Some(self.statement(dst, src, dims, None))
    }
}
