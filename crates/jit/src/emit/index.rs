//! Indices: loaded once, widened, wrapped, compared; the register compared is the one used.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use restride_loops::{Norm, Place, Stmt, Var};
use restride_moves::Steps;

use super::{At, Emitter};
use crate::checks::{CheckBox, check_box};
use crate::error::JitError;

/// Indices that a check tests without a call.
const SHORT_CHECK: i64 = 8;

/// An index after normalisation.
#[derive(Clone, Copy)]
pub(super) struct Selected {
    /// In `0..limit` if it is in range, anything otherwise.
    pub(super) value: Value,
    /// Whether it is in range; nothing when that is certain.
    pub(super) in_range: Option<Value>,
}

impl Emitter<'_, '_> {
    /// Defines an index variable and the pointers that the rest of its block takes from it.
    pub(super) fn index<S: core::borrow::Borrow<Stmt>>(
        &mut self,
        var: Var,
        place: &Place,
        norm: &Norm,
        rest: &[S],
    ) -> Result<(), JitError> {
        let at = self.at(place)?;
        let selected = match self.all_in_range(place) {
            None => self.select(at, norm),
            Some(ok) => self.select_if(ok, at, norm),
        };
        if let Some(ok) = selected.in_range {
            self.in_range.push((var, ok));
        }
        for (key, coeff) in self.pointers.enter(var, rest) {
            let outer = self.pointers.get(&key.without(var))?;
            let by = coeff.wrapping_mul(self.width_of(key.buffer()));
            let pointer = self.code.scaled_sum(outer, selected.value, by);
            self.pointers.define(key, pointer);
        }
        Ok(())
    }

    /// Loads and normalises one index.
    pub(super) fn select(&mut self, at: At, norm: &Norm) -> Selected {
        let wrapped = self.wrapped(at, norm);
        if !norm.clamp {
            let limit = norm.limit;
            let ok = self
                .code
                .ins()
                .icmp_imm_s(IntCC::UnsignedLessThan, wrapped, limit);
            return Selected {
                value: wrapped,
                in_range: Some(ok),
            };
        }
        let mut value = wrapped;
        if norm.ty.is_signed() {
            let zero = self.code.constant(0);
            let below = self.code.ins().icmp_imm_s(IntCC::SignedLessThan, value, 0);
            value = self.code.ins().select(below, zero, value);
        }
        let last = self.code.constant(norm.limit - 1);
        let above = self
            .code
            .ins()
            .icmp(IntCC::UnsignedGreaterThan, value, last);
        value = self.code.ins().select(above, last, value);
        Selected {
            value,
            in_range: None,
        }
    }

    /// As [`Emitter::select`], without a load and out of range if `ok` is false.
    fn select_if(&mut self, ok: Value, at: At, norm: &Norm) -> Selected {
        let (otherwise, done) = self.code.unless(ok);
        let value = self.code.param(done, types::I64);
        let in_range = self.code.param(done, types::I8);
        let selected = self.select(at, norm);
        let loaded_ok = match selected.in_range {
            Some(ok) => ok,
            None => self.code.ins().iconst(types::I8, 1),
        };
        self.code.jump_with(done, &[selected.value, loaded_ok]);
        self.code.enter_cold(otherwise);
        let zero = self.code.constant(0);
        let never = self.code.ins().iconst(types::I8, 0);
        self.code.jump_with(done, &[zero, never]);
        self.code.enter(done);
        Selected {
            value,
            in_range: Some(in_range),
        }
    }

    /// Loads one index, widened to 64 bits, with `limit` added if it is negative and wraps. The
    /// sum cannot overflow: one term is negative, the other is not.
    fn wrapped(&mut self, at: At, norm: &Norm) -> Value {
        let bytes = norm.ty.width().bytes();
        let value = self.code.load_wide(bytes, norm.ty.is_signed(), at);
        if !(norm.wrap && norm.ty.is_signed()) {
            return value;
        }
        let negative = self.code.ins().icmp_imm_s(IntCC::SignedLessThan, value, 0);
        let from_end = self.code.ins().iadd_imm_s(value, norm.limit);
        self.code.ins().select(negative, from_end, value)
    }

    /// Ends the run with a status unless every index of a box is in range.
    pub(super) fn check(
        &mut self,
        index: &Place,
        dims: &[(i64, i64)],
        norm: &Norm,
        status: i64,
    ) -> Result<(), JitError> {
        let at = self.at(index)?;
        let checked = CheckBox::new(dims, *norm);
        if self.room.is_some() && checked.looks() > SHORT_CHECK {
            let (fail, done) = self.code.refusal(status);
            let steps: Steps = checked.rows().collect();
            self.nest(at, at, &steps, 1, &mut |emit, at, _| {
                let value = emit.wrapped(at, norm);
                let below = emit
                    .code
                    .ins()
                    .icmp_imm_s(IntCC::UnsignedLessThan, value, norm.limit);
                emit.code.go_on_if(below, fail);
            });
            self.code.join(done);
            return Ok(());
        }
        let bad = if checked.looks() <= SHORT_CHECK {
            let mut any = None;
            for (_, offset) in checked.places() {
                let value = self.wrapped(at.plus(offset), norm);
                let bad = self.code.ins().icmp_imm_s(
                    IntCC::UnsignedGreaterThanOrEqual,
                    value,
                    norm.limit,
                );
                any = Some(match any {
                    None => bad,
                    Some(before) => self.code.ins().bor(before, bad),
                });
            }
            match any {
                Some(any) => any,
                None => return Ok(()),
            }
        } else {
            let first = self.code.pointer(at);
            let params = self.attachments.check(checked, dims, norm);
            let params = self.code.address(params);
            self.code
                .call(check_box as *const u8, &[first, params], 1)
                .ok_or_else(|| JitError::Internal("a check has no result".into()))?
        };
        self.code.fail_if(bad, status);
        Ok(())
    }
}
