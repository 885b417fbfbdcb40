//! Rows named by an index tensor.

use restride_loops::{Gather, Place};
use restride_moves::{ByteBox, Inline};
use smallvec::SmallVec;

use super::{At, Emitter, impossible};
use crate::error::JitError;

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
        match Inline::for_gather(&shape, g.extent, self.shuffles) {
            Some(plan) => {
                let index_step = self.index_bytes(&g.index, g.index_stride);
                for row in 0..g.extent {
                    let dst = dst.plus(row.wrapping_mul(g.dst_stride.wrapping_mul(width)));
                    let index = index.plus(row.wrapping_mul(index_step));
                    self.gather_row(g, dst, src, index, &shape, &plan)?;
                }
                Ok(())
            }
            None => {
                let (entry, params) = self.attachments.gather(g, width)?;
                let args = [dst, src, index].map(|at| self.code.pointer(at));
                let params = self.code.address(params);
                self.code
                    .call(entry, &[args[0], args[1], args[2], params], 0);
                Ok(())
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
        let dims: SmallVec<[(i64, i64); 6]> =
            g.dims.iter().map(|dim| (dim.extent, dim.dst)).collect();
        self.fill_cold(dst, &dims, width)?;
        self.code.jump(done);
        self.code.enter(done);
        Ok(())
    }

    fn index_bytes(&self, index: &Place, stride: i64) -> i64 {
        stride.wrapping_mul(self.width(index))
    }
}
