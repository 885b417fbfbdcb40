//! Boxes of the same bits.

use super::copy::{STRAIGHT, chunk_type, chunks, loads};
use super::{At, Emitter, impossible};
use crate::error::JitError;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use restride_moves::{ByteBox, Step};

/// Stores of a straight line that is cheaper than a call.
const SHORT: i64 = 16;
/// The same where code is not expected to run, so that only its size counts.
const SHORT_COLD: i64 = 4;

impl Emitter<'_, '_> {
    /// Writes the low `width` bytes of `bits` to every element of a box.
    pub(super) fn fill(
        &mut self,
        dst: At,
        dims: &[(i64, i64)],
        width: i64,
        bits: u128,
    ) -> Result<(), JitError> {
        self.fill_within(dst, dims, width, bits, SHORT)
    }

    /// Writes zero bits to a box on a path that is rarely taken.
    pub(super) fn fill_cold(
        &mut self,
        dst: At,
        dims: &[(i64, i64)],
        width: i64,
    ) -> Result<(), JitError> {
        self.fill_within(dst, dims, width, 0, SHORT_COLD)
    }

    fn fill_within(
        &mut self,
        dst: At,
        dims: &[(i64, i64)],
        width: i64,
        bits: u128,
        limit: i64,
    ) -> Result<(), JitError> {
        let shape = ByteBox::of_fill(dims, width as usize).map_err(impossible)?;
        let stores = loads(shape.run as i64).saturating_mul(shape.runs() as i64);
        if stores > limit && self.room.is_none() {
            let (entry, params) = self.attachments.fill(dims, width, bits)?;
            self.code.call_leaf(entry, dst, dst, params);
            return Ok(());
        }
        self.fill_shape(dst, shape, repeated(bits, width));
        Ok(())
    }

    /// Writes sixteen bytes, again and again, to the destination of a box.
    pub(super) fn fill_shape(&mut self, dst: At, shape: ByteBox, pattern: u128) {
        let mut run = shape.run as i64;
        // All chunks of a run are of one type.
        let ty = chunk_type(run);
        let value = self.pattern(ty, pattern);
        let dst = dst.plus(shape.dst as i64);
        let mut steps = shape.steps;
        for step in &mut steps {
            step.src = 0;
        }
        // A long run is many vectors, and perhaps one that overlaps the last of them.
        let mut last = None;
        if loads(run) > STRAIGHT {
            last = (run % 16 > 0).then_some(run - 16);
            steps.push(Step {
                extent: (run / 16) as usize,
                dst: 16,
                src: 0,
            });
            run = 16;
        }
        self.nest(dst, dst, &steps, loads(run), &mut |emit, dst, _| {
            for (at, _) in chunks(run) {
                emit.code.store(value, dst.plus(at));
            }
        });
        if let Some(last) = last {
            steps.pop();
            self.nest(dst.plus(last), dst, &steps, 1, &mut |emit, dst, _| {
                emit.code.store(value, dst);
            });
        }
    }

    fn pattern(&mut self, ty: Type, pattern: u128) -> Value {
        if ty == types::I8X16 {
            return self.code.vector(pattern);
        }
        let unused = 64 - ty.bits();
        let bits = (pattern as u64) << unused >> unused;
        self.code.ins().iconst(ty, bits as i64)
    }
}

/// Sixteen bytes of the pattern.
fn repeated(bits: u128, width: i64) -> u128 {
    let bits_wide = 8 * width as u32;
    let element = bits & (u128::MAX >> (128 - bits_wide));
    (0..128)
        .step_by(bits_wide as usize)
        .fold(0, |all, shift| all | element << shift)
}

#[cfg(test)]
mod tests {
    use super::repeated;

    #[test]
    fn patterns_repeat() {
        assert_eq!(
            repeated(0x1234_5678_9abc_def0, 2) as u64,
            0xdef0_def0_def0_def0
        );
        assert_eq!(repeated(7, 16), 7);
        assert_eq!(repeated(u128::MAX, 1), u128::MAX);
    }
}
