//! Rows named by an index tensor.

use cranelift_codegen::ir::{Type, Value};
use restride_loops::{Form, Gather, Place};
use restride_moves::{ByteBox, Inline, NamedCode, NamedRun, Step, Steps};
use smallvec::SmallVec;

use super::copy::{STRAIGHT, UNROLLED, chunks};
use super::{At, Emitter, impossible};
use crate::error::JitError;

/// Rows in a straight line at most: of those that one load moves, and of others.
const MOST_STRAIGHT: i64 = 6;
const ROWS_AT_ONCE: usize = 2;

/// Loads in a straight line at most, of rows that constants name.
const CONSTANT: usize = 256;

/// Points of a row that take one look at their index, where these lie further apart than rows do.
const POINTS: usize = 8;

/// Dimensions around a loop of rows.
struct Around {
    steps: Steps,
    /// Where they begin, in destination and source.
    at: (isize, isize),
}

/// The dimensions of a row that are further apart in the destination than rows are, to go around the rows,
/// and what of a row is left inside; twice where the innermost of them has points to spare.
fn around_rows(row: &ByteBox, apart: i64) -> SmallVec<[(Around, ByteBox); 2]> {
    let far = |step: &&Step| step.dst.unsigned_abs() as u64 > apart.unsigned_abs();
    let count = row.steps.iter().take_while(far).count();
    let (outer, inner) = row.steps.split_at(count);
    let part = |steps: &[Step], at: (isize, isize), inner: &[Step]| {
        let around = Around {
            steps: steps.into(),
            at,
        };
        let shape = ByteBox {
            steps: inner.into(),
            ..row.clone()
        };
        (around, shape)
    };
    let mut parts = SmallVec::new();
    let Some((&last, outer)) = outer.split_last().filter(|_| row.run < POINTS * 4) else {
        parts.push(part(&[], (0, 0), &row.steps));
        return parts;
    };
    let (blocks, rest) = (last.extent / POINTS, last.extent % POINTS);
    for (at, times, points) in [(0, blocks, POINTS), (blocks * POINTS, 1, rest)] {
        if times == 0 || points == 0 {
            continue;
        }
        let by = |n: usize, extent: usize| Step {
            extent,
            dst: last.dst * n as isize,
            src: last.src * n as isize,
        };
        let start = by(at, 1);
        let outer: Steps = outer.iter().copied().chain([by(POINTS, times)]).collect();
        let points = Some(by(1, points)).filter(|step| step.extent > 1);
        let inner: Steps = points.into_iter().chain(inner.iter().copied()).collect();
        parts.push(part(&outer, (start.dst, start.src), &inner));
    }
    parts
}

impl Emitter<'_, '_> {
    /// All rows of a gather; zero bits if an index its addresses depend on is out of range.
    pub(super) fn gather(&mut self, g: &Gather) -> Result<(), JitError> {
        let ok = match (self.all_in_range(&g.index), self.all_in_range(&g.src)) {
            (Some(a), Some(b)) => {
                use cranelift_codegen::ir::InstBuilder;
                Some(self.code.ins().band(a, b))
            }
            (a, b) => a.or(b),
        };
        let Some(ok) = ok else {
            return self.gather_rows(g);
        };
        let (zero, done) = self.code.unless(ok);
        self.gather_rows(g)?;
        self.code.jump(done);
        self.code.enter_cold(zero);
        let mut dims: SmallVec<[(i64, i64); 6]> = SmallVec::new();
        dims.push((g.extent, g.dst_stride));
        dims.extend(g.dims.iter().map(|dim| (dim.extent, dim.dst)));
        let width = self.width(&g.dst);
        let dst = self.at(&g.dst)?;
        self.fill_cold(dst, &dims, width)?;
        self.code.jump(done);
        self.code.enter(done);
        Ok(())
    }

    fn gather_rows(&mut self, g: &Gather) -> Result<(), JitError> {
        let width = self.width(&g.dst);
        let (dst, src) = (self.at(&g.dst)?, self.at(&g.src)?);
        let index = self.at(&g.index)?;
        let shape = ByteBox::of_move(&g.dims, width as usize).map_err(impossible)?;
        let named = self.kernel.named_rows(g);
        let Some(room) = self.room else {
            let shuffles = self.shuffles;
            let inline = shuffles.and_then(|it| Inline::for_gather(&shape, g.extent, it));
            if let (Some(plan), None) = (&inline, &named) {
                return self.each_row(g, dst, src, index, &shape, plan);
            }
            let planner = self.attachments.planner();
            let gather = planner.gather(g, width as usize, named);
            let gather = gather.map_err(impossible)?;
            if let Some(code) = planner.named(&gather, shuffles) {
                self.named(dst, src, &shape, &code);
                return Ok(());
            }
            if let Some(plan) = inline {
                return self.each_row(g, dst, src, index, &shape, &plan);
            }
            let (entry, params) = self.attachments.gather(g, width, &gather);
            let args = [dst, src, index].map(|at| self.code.pointer(at));
            let params = self.code.address(params);
            self.code
                .call(entry, &[args[0], args[1], args[2], params], 0);
            return Ok(());
        };
        let apart = [g.dst_stride, g.coeff].map(|rows| rows.wrapping_mul(width) as isize);
        let most = (room, (room / 2).min(CONSTANT));
        let code = |named| NamedCode::within(&shape, named, apart.into(), self.shuffles, most);
        if let Some(code) = named.as_ref().and_then(code) {
            self.named(dst, src, &shape, &code);
            return Ok(());
        }
        for (outer, inner) in around_rows(&shape, g.dst_stride.wrapping_mul(width)) {
            let plan = self.self_contained(&inner, Form::Elements, room / ROWS_AT_ONCE);
            let (dst, src) = (dst.plus(outer.at.0 as i64), src.plus(outer.at.1 as i64));
            self.try_nest(dst, src, &outer.steps, STRAIGHT, &mut |emit, dst, src| {
                emit.each_row(g, dst, src, index, &inner, &plan)
            })?;
        }
        Ok(())
    }

    /// Row by row, by the code that one has.
    fn each_row(
        &mut self,
        g: &Gather,
        dst: At,
        src: At,
        index: At,
        shape: &ByteBox,
        plan: &Inline,
    ) -> Result<(), JitError> {
        let row = Step {
            extent: usize::try_from(g.extent).unwrap_or_default(),
            dst: g.dst_stride.wrapping_mul(self.width(&g.dst)) as isize,
            src: self.index_bytes(&g.index, g.index_stride) as isize,
        };
        let cost = match (shape.steps.is_empty() && shape.run <= 16, self.room) {
            // Code that calls nothing is for long gathers, too: eight rows a turn.
            (true, Some(_)) => 1,
            (true, None) => STRAIGHT / MOST_STRAIGHT,
            (false, _) => STRAIGHT / ROWS_AT_ONCE as i64,
        };
        self.try_nest(dst, index, &[row], cost, &mut |emit, dst, index| {
            emit.gather_row(g, dst, src, index, shape, plan)
        })
    }

    /// Rows that constants name.
    fn named(&mut self, dst: At, src: At, shape: &ByteBox, code: &NamedCode) {
        let runs = match code {
            NamedCode::Cells(cells) => return self.cells(dst, src, cells),
            NamedCode::Runs(runs) => runs,
        };
        let cost = i64::try_from(NamedRun::loads(runs)).unwrap_or(i64::MAX);
        self.nest(dst, src, &shape.steps, cost, &mut |emit, dst, src| {
            emit.copy_runs(dst, src, runs);
        });
    }

    /// Eight loads before their stores.
    fn copy_runs(&mut self, dst: At, src: At, runs: &[NamedRun]) {
        let of = |run: &NamedRun| {
            let (to, from) = (run.dst as i64, run.src as i64);
            chunks(run.bytes as i64).map(move |(at, ty)| (to + at, from + at, ty))
        };
        let all: Vec<_> = runs.iter().flat_map(of).collect();
        for group in all.chunks(UNROLLED as usize) {
            let load = |(_, from, ty): &(i64, i64, Type)| self.code.load(*ty, src.plus(*from));
            let loaded: SmallVec<[Value; 8]> = group.iter().map(load).collect();
            for ((to, ..), value) in group.iter().zip(loaded) {
                self.code.store(value, dst.plus(*to));
            }
        }
    }

    fn gather_row(
        &mut self,
        g: &Gather,
        dst: At,
        src: At,
        index: At,
        shape: &ByteBox,
        plan: &Inline,
    ) -> Result<(), JitError> {
        let width = self.width(&g.dst);
        let selected = self.select(index, &g.norm);
        let by = g.coeff.wrapping_mul(width);
        let row = At {
            ptr: self.code.scaled_sum(src.ptr, selected.value, by),
            offset: src.offset,
        };
        let Some(ok) = selected.in_range else {
            self.inline(dst, row, shape, plan);
            return Ok(());
        };
        let (zero, done) = self.code.unless(ok);
        self.inline(dst, row, shape, plan);
        self.code.jump(done);
        self.code.enter_cold(zero);
        match self.room {
            Some(_) => self.fill_shape(dst, shape.clone(), 0),
            None => {
                let dims: SmallVec<[(i64, i64); 6]> =
                    g.dims.iter().map(|dim| (dim.extent, dim.dst)).collect();
                self.fill_cold(dst, &dims, width)?;
            }
        }
        self.code.jump(done);
        self.code.enter(done);
        Ok(())
    }

    fn index_bytes(&self, index: &Place, stride: i64) -> i64 {
        stride.wrapping_mul(self.width(index))
    }
}
