//! From plan to kernel: which loops, in which order, moved in which form.
//!
//! A piece of the plan is an odometer. Scheduling decides the order of its digits, which of them
//! become loops of the kernel and which stay inside one `move`, the form of that move, and what
//! may be shared out between threads. None of this changes what the kernel means: the verifier
//! checks the result from scratch, and the interpreter ignores every choice made here.
//!
//! - [`Target`] holds the handful of numbers the cost model knows,
//! - `order` sorts the digits of a piece and picks its form,
//! - `emit` turns ordered digits into statements, splitting off the parallel loop,
//! - `gather` does the same for pieces that read through indices,
//! - `shared_lines` finds pieces that read or write the same lines, to move them in one loop.

pub(crate) mod buffers;
mod decision;
mod emit;
mod gather;
mod order;
mod shared_lines;

pub use decision::{Decision, Lines, Why};
use restride_moves::Target;

use crate::plan::{Body, Destination, Piece, Plan, Source, Stage};
use buffers::Buffers;
use emit::{Emitter, outside};
use restride_budget::{Meter, Stage as Spender, TooCostly};
use restride_graph::ElementType;
use restride_loops::LEAST_BLOCK;
use restride_loops::ir::Kernel;
use smallvec::{SmallVec, smallvec};

/// Why a plan cannot be scheduled. Plans made by this crate always can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// It would take more than the compile may spend.
    #[error(transparent)]
    TooCostly(#[from] TooCostly),
    /// An element of a width that no machine form has.
    #[error("an element of {0} bytes cannot be moved: widths are 1, 2, 4, 8 and 16")]
    Width(usize),
    /// An index tensor whose elements are no integers of up to 64 bits.
    #[error("{0:?} cannot index: indices are integers of up to 64 bits")]
    IndexType(ElementType),
    /// The plan names an input, constant or stage that it does not have.
    #[error("the plan refers to something it does not hold")]
    Dangling,
    /// An address does not fit 64 bits.
    #[error("an address of the plan does not fit 64 bits")]
    TooLarge,
}

/// A kernel and the decisions that made it.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The kernel, not yet verified.
    pub kernel: Kernel,
    /// One entry per piece.
    pub decisions: Vec<Decision>,
}

/// Schedules a plan for a target, if the meter lets it; what it takes to prove the kernel is
/// counted as well. Outputs that are views are not part of the kernel.
pub fn schedule(plan: &Plan, target: &Target, meter: &Meter) -> Result<Scheduled, LowerError> {
    let stages = plan.stages.iter();
    let pieces: usize = stages.clone().map(|stage| stage.pieces.len()).sum();
    let elsewhere: usize = stages.clone().map(Stage::pieces_elsewhere).sum();
    let indices = stages.flat_map(|stage| &stage.pieces);
    let indices: usize = indices.map(|piece| piece.body.indices().len()).sum();
    let target = &target.bounded();
    meter.enter(Spender::Schedule);
    // What is made of each beside its statements.
    meter.things(pieces, 700, 600);
    meter.bytes(elsewhere as u64);
    meter.things(indices, 200, 150);
    meter.check()?;
    let levels = levels(plan)?;
    // Every check runs in a phase of its own before the first write of an output, so that a
    // failed call leaves the outputs as they were, whatever the chunks. Checks stay in order: the
    // first to fail is the one to report.
    let mut checks_end = 0;
    let mut check_phases: SmallVec<[usize; 4]> = SmallVec::new();
    let mut codes: SmallVec<[u32; 4]> = SmallVec::new();
    for of_one in plan.checks.chunk_by(|a, b| a.op == b.op) {
        // The columns of one operator are one check, so they stand together.
        let ready = of_one.iter().map(|check| level_of(check.source, &levels));
        let phase = ready.chain(check_phases.last().copied()).max().unwrap_or(0);
        let code = check_phases.len();
        for _ in of_one {
            check_phases.push(phase);
            codes.push(u32::try_from(code).map_err(|_| LowerError::Dangling)?);
        }
        checks_end = phase + 1;
    }
    let phase_of = |stage: usize| match plan.stages[stage].destination {
        Destination::Output(_) => levels[stage].max(checks_end),
        Destination::Scratch => levels[stage],
    };
    let phase_count = (0..plan.stages.len())
        .map(|s| phase_of(s) + 1)
        .max()
        .unwrap_or(0)
        .max(checks_end);
    let mut emitter = Emitter::new(target, Buffers::new(plan), meter);
    let mut phases: SmallVec<[_; 3]> = smallvec![Vec::new(); phase_count];
    for ((check, phase), code) in plan.checks.iter().zip(&check_phases).zip(codes) {
        emitter.spend(1, outside::<(i64, i64), 6>(check.dims.len()))?;
        phases[*phase].push(emitter.buffers.check(check, code)?);
    }
    let mut decisions = Vec::with_capacity(pieces.max(LEAST_BLOCK.div_ceil(size_of::<Decision>())));
    let mut stages: SmallVec<[(usize, usize); 4]> = SmallVec::new();
    stages.extend((0..plan.stages.len()).map(|stage| (phase_of(stage), stage)));
    stages.sort_unstable();
    for of_one in stages.chunk_by(|a, b| a.0 == b.0) {
        let phase = &mut phases[of_one[0].0];
        let parts: SmallVec<[StagePiece<'_>; 4]> = of_one
            .iter()
            .flat_map(|&(_, stage)| {
                let it = &plan.stages[stage];
                it.pieces
                    .iter()
                    .enumerate()
                    .map(move |(piece, p)| StagePiece {
                        stage,
                        index: piece,
                        piece: p,
                        element: it.element,
                    })
            })
            .collect();
        emitter.parts(&parts, phase, &mut decisions)?;
    }
    phases.retain(|phase| !phase.is_empty());
    // They are kept.
    phases.iter_mut().for_each(Vec::shrink_to_fit);
    let kernel = Kernel {
        name: "kernel".into(),
        buffers: emitter.into_buffers(),
        phases,
    };
    meter.enter(Spender::Verify);
    meter.things(kernel.statements(), 500, 300);
    meter.check()?;
    Ok(Scheduled { kernel, decisions })
}

/// One piece of one stage.
#[derive(Clone, Copy)]
struct StagePiece<'p> {
    stage: usize,
    index: usize,
    piece: &'p Piece,
    element: ElementType,
}

/// The earliest phase in which each stage can run: after everything it reads.
fn levels(plan: &Plan) -> Result<SmallVec<[usize; 4]>, LowerError> {
    let mut levels: SmallVec<[usize; 4]> = SmallVec::new();
    for (at, stage) in plan.stages.iter().enumerate() {
        let mut level = 0;
        for piece in &stage.pieces {
            let Body::Copy {
                source, indices, ..
            } = &piece.body
            else {
                continue;
            };
            for read in indices.iter().map(|i| i.source).chain([*source]) {
                if matches!(read, Source::Stage(n) if n as usize >= at) {
                    return Err(LowerError::Dangling);
                }
                level = level.max(level_of(read, &levels));
            }
        }
        levels.push(level);
    }
    Ok(levels)
}

/// The first phase in which a source can be read.
fn level_of(source: Source, levels: &[usize]) -> usize {
    match source {
        Source::Input(_) | Source::Constant(_) => 0,
        Source::Stage(n) => levels.get(n as usize).map_or(0, |level| level + 1),
    }
}
