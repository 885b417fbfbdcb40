//! Boxes of the same bits.

use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use smallvec::SmallVec;

use super::copy::chunks;
use super::{At, Emitter};
use crate::error::JitError;
use crate::shape::run_cost;

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
        let (run, steps) = runs(dims, width);
        let stores = steps
            .iter()
            .fold(run_cost(run), |n, (extent, _)| n.saturating_mul(*extent));
        if stores > limit {
            let (entry, params) = self.attachments.fill(dims, width, bits)?;
            self.code.call_leaf(entry, dst, dst, params);
            return Ok(());
        }
        let pattern = repeated(bits, width);
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
            self.store_all(value, dst.plus(at), &steps);
        }
        Ok(())
    }

    fn store_all(&mut self, value: Value, dst: At, steps: &[(i64, i64)]) {
        match steps.split_first() {
            None => self.code.store(value, dst),
            Some(((extent, stride), inner)) => {
                for at in 0..*extent {
                    self.store_all(value, dst.plus(at * stride), inner);
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

/// The run of a box and the steps around it, in bytes.
fn runs(dims: &[(i64, i64)], width: i64) -> (i64, SmallVec<[(i64, i64); 6]>) {
    let mut run = width;
    let mut steps: SmallVec<[(i64, i64); 6]> = dims
        .iter()
        .filter(|(extent, _)| *extent != 1)
        .map(|(extent, stride)| (*extent, stride * width))
        .collect();
    while let Some(at) = steps.iter().position(|(_, stride)| *stride == run) {
        run *= steps.remove(at).0;
    }
    (run, steps)
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
    use super::{repeated, runs};

    #[test]
    fn patterns_repeat() {
        assert_eq!(
            repeated(0x1234_5678_9abc_def0, 2) as u64,
            0xdef0_def0_def0_def0
        );
        assert_eq!(repeated(7, 16), 7);
        assert_eq!(repeated(u128::MAX, 1), u128::MAX);
    }

    #[test]
    fn runs_join() {
        assert_eq!(
            runs(&[(3, 4), (1, 77), (4, 1)], 2),
            (24, [].into_iter().collect())
        );
        assert_eq!(
            runs(&[(3, 5), (4, 1)], 2),
            (8, [(3, 10)].into_iter().collect())
        );
    }
}
