//! Boxes of the same bits.

use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use restride_moves::{ByteBox, Step};
use smallvec::SmallVec;

use super::copy::{chunks, loads};
use super::{At, Emitter, impossible};
use crate::error::JitError;

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
        let run = shape.run as i64;
        let stores = loads(run).saturating_mul(shape.runs() as i64);
        if stores > limit {
            let (entry, params) = self.attachments.fill(dims, width, bits)?;
            self.code.call_leaf(entry, dst, dst, params);
            return Ok(());
        }
        let pattern = repeated(bits, width);
        let dst = dst.plus(shape.dst as i64);
        let mut values: SmallVec<[(Type, Value); 2]> = SmallVec::new();
        for (at, ty) in chunks(run) {
            let value = match values.iter().find(|(known, _)| *known == ty) {
                Some((_, value)) => *value,
                None => {
                    let value = self.pattern(ty, pattern);
                    values.push((ty, value));
                    value
                }
            };
            self.store_all(value, dst.plus(at), &shape.steps);
        }
        Ok(())
    }

    fn store_all(&mut self, value: Value, dst: At, steps: &[Step]) {
        match steps.split_first() {
            None => self.code.store(value, dst),
            Some((step, inner)) => {
                for at in 0..step.extent as i64 {
                    self.store_all(value, dst.plus(at * step.dst as i64), inner);
                }
            }
        }
    }

    fn pattern(&mut self, ty: Type, pattern: u128) -> Value {
        if ty == types::I8X16 {
            return self.code.vector(pattern.to_le_bytes());
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
