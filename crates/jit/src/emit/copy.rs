//! Boxes of runs: straight-line code for small ones, loops around it for the others.

use cranelift_codegen::ir::{Type, Value, types};
use restride_moves::{ByteBox, Inline, Step, cost};
use smallvec::SmallVec;

use super::code::Trips;
use super::{At, Emitter};
use crate::JitError;

/// Loads in a straight line at most; a body repeated more often becomes a loop.
pub(super) const STRAIGHT: i64 = 24;
/// The same of one run.
const STRAIGHT_RUN: i64 = 32;
/// Loads per iteration that a loop is unrolled to.
pub(super) const UNROLLED: i64 = 8;
/// Bytes that such a loop moves at once.
const BLOCK: i64 = UNROLLED * 16;

/// The type that moves so many bytes at once.
pub(super) fn chunk_type(bytes: i64) -> Type {
    match bytes {
        16.. => types::I8X16,
        8..=15 => types::I64,
        4..=7 => types::I32,
        2..=3 => types::I16,
        _ => types::I8,
    }
}

/// Offsets and sizes of the accesses that cover a run; the last one may overlap the one before.
pub(super) fn chunks(run: i64) -> impl Iterator<Item = (i64, Type)> {
    let size = i64::from(chunk_type(run).bytes());
    let count = if run >= 16 {
        (run + 15) / 16
    } else {
        loads(run)
    };
    (0..count).map(move |at| ((at * size).min(run - size), chunk_type(run)))
}

/// Loads that move a run.
pub(super) fn loads(run: i64) -> i64 {
    cost::loads(run as usize) as i64
}

impl Emitter<'_, '_> {
    /// Moves a box without a call.
    pub(super) fn inline(&mut self, dst: At, src: At, shape: &ByteBox, plan: &Inline) {
        let (dst, src) = (dst.plus(shape.dst as i64), src.plus(shape.src as i64));
        let (steps, run) = (&shape.steps, shape.run as i64);
        match *plan {
            Inline::Runs => {
                self.nest(dst, src, steps, loads(run), &mut |emit, dst, src| {
                    emit.run(dst, src, run);
                });
            }
            Inline::Cells(ref cells) => self.cells(dst, src, cells),
            Inline::Tiles(ref tiles) => self.tiles(dst, src, tiles),
            Inline::Halves(ref plane) => self.halves(dst, src, plane),
        }
    }

    /// One run: in a straight line, or in a loop of blocks and what is left.
    pub(super) fn run(&mut self, dst: At, src: At, run: i64) {
        if loads(run) <= STRAIGHT_RUN {
            let all: SmallVec<[(i64, Type); 16]> = chunks(run).collect();
            return self.copy(dst, src, &all);
        }
        let blocks = run / BLOCK;
        let block = Step {
            extent: blocks as usize,
            dst: BLOCK as isize,
            src: BLOCK as isize,
        };
        let whole: SmallVec<[(i64, Type); 16]> = chunks(BLOCK).collect();
        self.nest(dst, src, &[block], UNROLLED, &mut |emit, dst, src| {
            emit.copy(dst, src, &whole);
        });
        let rest = (blocks * BLOCK..run).step_by(16);
        let rest: SmallVec<[(i64, Type); 16]> =
            rest.map(|at| (at.min(run - 16), types::I8X16)).collect();
        self.copy(dst, src, &rest);
    }

    /// Some chunks. All loads come before the stores they feed, eight at a time.
    fn copy(&mut self, dst: At, src: At, all: &[(i64, Type)]) {
        for group in all.chunks(UNROLLED as usize) {
            let loaded: SmallVec<[Value; 8]> = group
                .iter()
                .map(|(at, ty)| self.code.load(*ty, src.plus(*at)))
                .collect();
            for ((at, _), value) in group.iter().zip(loaded) {
                self.code.store(value, dst.plus(*at));
            }
        }
    }

    /// As [`nest`](Self::nest), of cells that may fail: the first failure is what comes of it.
    pub(super) fn try_nest(
        &mut self,
        dst: At,
        src: At,
        steps: &[Step],
        cost: i64,
        cell: &mut dyn FnMut(&mut Self, At, At) -> Result<(), JitError>,
    ) -> Result<(), JitError> {
        let mut all = Ok(());
        self.nest(dst, src, steps, cost, &mut |emit, dst, src| {
            let done = cell(emit, dst, src);
            if all.is_ok() {
                all = done;
            }
        });
        all
    }

    /// `cell` at every point of `steps`, in a straight line where that is short.
    pub(super) fn nest(
        &mut self,
        dst: At,
        src: At,
        steps: &[Step],
        cost: i64,
        cell: &mut dyn FnMut(&mut Self, At, At),
    ) {
        let Some((step, inner)) = steps.split_first() else {
            return cell(self, dst, src);
        };
        let (by_dst, by_src) = (step.dst as i64, step.src as i64);
        let extent = step.extent as i64;
        let inner_cost = inner
            .iter()
            .fold(cost, |cost, step| cost.saturating_mul(step.extent as i64));
        let repeat = |emit: &mut Self,
                      dst: At,
                      src: At,
                      times: i64,
                      cell: &mut dyn FnMut(&mut Self, At, At)| {
            for at in 0..times {
                let (dst, src) = (dst.plus(at * by_dst), src.plus(at * by_src));
                emit.nest(dst, src, inner, cost, cell);
            }
        };
        if inner_cost.saturating_mul(extent) <= STRAIGHT {
            return repeat(self, dst, src, extent, cell);
        }
        let unroll = (UNROLLED / inner_cost.max(1)).clamp(1, extent);
        let trips = extent / unroll;
        // What stays where it is need not be carried along.
        let (moves, starts) = match by_src {
            0 => (1, [self.code.pointer(dst), src.ptr]),
            _ => (2, [self.code.pointer(dst), self.code.pointer(src)]),
        };
        let frame = self.code.begin_loop(Trips::Known(trips), &starts[..moves]);
        let carried = frame.carried();
        let start = |ptr| At { ptr, offset: 0 };
        let at_dst = start(carried[0]);
        let at_src = carried.get(1).map_or(src, |ptr| start(*ptr));
        repeat(self, at_dst, at_src, unroll, cell);
        let steps = [by_dst, by_src].map(|by| by.wrapping_mul(unroll));
        self.code.end_loop(frame, &steps[..moves]);
        let done = trips * unroll;
        let (dst, src) = (
            dst.plus(by_dst.wrapping_mul(done)),
            src.plus(by_src.wrapping_mul(done)),
        );
        repeat(self, dst, src, extent - done, cell);
    }
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn chunks_cover_a_run_and_nothing_else() {
        for run in 1..200i64 {
            let mut covered = vec![false; run as usize];
            for (at, ty) in chunks(run) {
                for byte in at..at + i64::from(ty.bytes()) {
                    covered[usize::try_from(byte).expect("starts within the run")] = true;
                }
            }
            assert!(covered.into_iter().all(|byte| byte), "run of {run}");
            let least = (run + 15) / 16;
            assert!(chunks(run).count() as i64 <= least.max(2));
        }
    }
}
