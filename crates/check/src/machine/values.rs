//! What values become, whichever processor computes with them.

use super::CodeRun;
use super::flags::{Cause, Condition};
use super::lanes::Bitwise;
use crate::label::Label;
use crate::symbol::Symbol;
use crate::value::{Area, IndexedBytes, Number, Pointer, Value};
use crate::violation::Stop;

/// The low bytes of a number.
pub(super) const fn low(bits: u64, size: usize) -> u64 {
    match size {
        0..8 => bits & ((1 << (8 * size)) - 1),
        _ => bits,
    }
}

/// The low bytes of a number, read with their sign.
pub(super) const fn signed(bits: u64, size: usize) -> u64 {
    let unused = 64 - 8 * size as u32;
    ((bits << unused) as i64 >> unused) as u64
}

impl CodeRun<'_> {
    /// The low bytes of a value, extended by zeros.
    pub(super) fn shortened(&mut self, value: Value, size: usize) -> Result<Value, Stop> {
        if size >= 8 {
            return Ok(value);
        }
        Ok(match value {
            Value::Number(number) => Value::Number(Number {
                bits: low(number.bits, size),
                symbol: self.lost(number.symbol),
            }),
            Value::Truth(..) => value,
            Value::Data(data) if data.bytes[size..].iter().all(|b| *b == Label::ZERO) => value,
            Value::Data(mut data) => {
                data.bytes[size..].fill(Label::ZERO);
                Value::Data(self.memory.data(data.bytes, size))
            }
            Value::Undefined | Value::Kept(_) | Value::Return | Value::Pointer(_) => {
                return Err(value.unexpected("a number"));
            }
        })
    }

    /// The low bytes of a value, extended by their sign.
    pub(super) fn widened(&mut self, value: Value, size: usize) -> Result<Value, Stop> {
        if size >= 8 {
            return Err(Stop::unknown());
        }
        match value {
            Value::Number(number) => Ok(Value::Number(Number {
                bits: signed(number.bits, size),
                symbol: self.lost(number.symbol),
            })),
            Value::Data(data) => {
                let bits = self.memory.sources.number(&data.bytes[..size]);
                let bits = signed(bits.ok_or_else(|| value.unexpected("a number"))?, size);
                let from = data.number.map(|number| number.symbol);
                let symbols = &mut self.memory.symbols;
                let symbol = symbols.extended(from, size, bits as i64);
                Ok(Value::Number(Number { bits, symbol }))
            }
            Value::Undefined
            | Value::Kept(_)
            | Value::Return
            | Value::Truth(..)
            | Value::Pointer(_) => Err(value.unexpected("a number")),
        }
    }

    /// The history of a number of which bits were cut off.
    pub(super) fn lost(&mut self, symbol: Symbol) -> Symbol {
        match symbol {
            Symbol::KNOWN => symbol,
            _ => self.memory.symbols.opaque(),
        }
    }

    pub(super) fn number(&self, value: Value) -> Result<Number, Stop> {
        match value {
            Value::Number(number) => Ok(number),
            Value::Data(IndexedBytes {
                number: Some(number),
                ..
            }) => Ok(number),
            Value::Undefined
            | Value::Kept(_)
            | Value::Return
            | Value::Truth(..)
            | Value::Pointer(_)
            | Value::Data(_) => Err(value.unexpected("a number")),
        }
    }

    pub(super) fn scaled(&mut self, number: Number, times: u64) -> Number {
        Number {
            bits: number.bits.wrapping_mul(times),
            symbol: self.memory.symbols.scaled(number.symbol, times as i64, 0),
        }
    }

    /// A product with a constant.
    pub(super) fn times(&mut self, value: Value, times: u64) -> Result<Value, Stop> {
        let number = self.number(value)?;
        Ok(Value::Number(self.scaled(number, times)))
    }

    /// A sum of two numbers, or of an address and a number.
    pub(super) fn plus(&mut self, a: Value, b: Value) -> Result<Value, Stop> {
        match (a, b) {
            (Value::Pointer(pointer), other) | (other, Value::Pointer(pointer)) => {
                let number = self.number(other)?;
                let symbols = &mut self.memory.symbols;
                let sum = symbols.sum(pointer.sum, number.symbol);
                Ok(Value::Pointer(Pointer {
                    region: pointer.region,
                    offset: pointer.offset.wrapping_add(number.bits as i64),
                    sum,
                }))
            }
            (a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                let symbols = &mut self.memory.symbols;
                let symbol = match (a.is_known(), b.is_known()) {
                    (true, true) => Symbol::KNOWN,
                    (false, true) => symbols.scaled(a.symbol, 1, b.bits as i64),
                    (true, false) => symbols.scaled(b.symbol, 1, a.bits as i64),
                    (false, false) => symbols.opaque(),
                };
                Ok(Value::Number(Number {
                    bits: a.bits.wrapping_add(b.bits),
                    symbol,
                }))
            }
        }
    }

    /// A truth value, or a number that is one.
    pub(super) fn as_truth(&self, value: Value) -> Result<(bool, Symbol), Stop> {
        match value {
            Value::Truth(bit, symbol) => Ok((bit, symbol)),
            Value::Number(number) if number.is_known() && number.bits < 2 => {
                Ok((number.bits == 1, Symbol::KNOWN))
            }
            other => Err(other.unexpected("a truth value")),
        }
    }

    /// What two truth values are together.
    pub(super) fn both(
        &mut self,
        (a, x): (bool, Symbol),
        (b, y): (bool, Symbol),
    ) -> (bool, Symbol) {
        match (x == Symbol::KNOWN, y == Symbol::KNOWN) {
            (true, _) if !a => (false, Symbol::KNOWN),
            (_, true) if !b => (false, Symbol::KNOWN),
            _ => (a && b, self.memory.symbols.both(x, y)),
        }
    }

    pub(super) fn negation(&mut self, (bit, symbol): (bool, Symbol)) -> (bool, Symbol) {
        (!bit, self.memory.symbols.negation(symbol))
    }

    /// Two values bit by bit: known numbers, or truth values.
    pub(super) fn combined(
        &mut self,
        operation: Bitwise,
        a: Value,
        b: Value,
    ) -> Result<Value, Stop> {
        if let (Value::Number(a), Value::Number(b)) = (a, b)
            && a.is_known()
            && b.is_known()
        {
            return Ok(Value::known(match operation {
                Bitwise::And => a.bits & b.bits,
                Bitwise::Or => a.bits | b.bits,
                Bitwise::AndNot => !a.bits & b.bits,
                Bitwise::Xor => a.bits ^ b.bits,
            }));
        }
        let (a, b) = (self.as_truth(a)?, self.as_truth(b)?);
        let (bit, symbol) = match operation {
            Bitwise::And => self.both(a, b),
            Bitwise::Or => {
                let (a, b) = (self.negation(a), self.negation(b));
                let neither = self.both(a, b);
                self.negation(neither)
            }
            Bitwise::Xor if b == (true, Symbol::KNOWN) => self.negation(a),
            Bitwise::Xor | Bitwise::AndNot => return Err(Stop::unknown()),
        };
        Ok(Value::Truth(bit, symbol))
    }

    /// One of two numbers, as a condition says.
    pub(super) fn chosen(
        &mut self,
        condition: Condition,
        then: Value,
        otherwise: Value,
    ) -> Result<Value, Stop> {
        let (holds, cause) = self.condition(condition)?;
        let chosen = if holds { then } else { otherwise };
        Ok(match cause {
            Cause::Known => chosen,
            Cause::Test(test) => {
                let (yes, no) = (self.number(then)?, self.number(otherwise)?);
                let bits = if holds { yes.bits } else { no.bits };
                let symbol = self.memory.symbols.chosen(
                    test,
                    (yes.bits as i64, yes.symbol),
                    (no.bits as i64, no.symbol),
                    bits as i64,
                );
                Value::Number(Number { bits, symbol })
            }
            Cause::Opaque | Cause::Truth(..) => {
                let bits = self.number(chosen)?.bits;
                let symbol = self.memory.symbols.opaque();
                Value::Number(Number { bits, symbol })
            }
        })
    }

    /// A number known now; the address of one of the kernel's constants is an address.
    pub(super) fn constant(&self, bits: u64) -> Value {
        let region = self.constants.iter().find(|(start, _)| *start == bits);
        match region {
            None => Value::known(bits),
            Some((_, region)) => Value::Pointer(Pointer {
                region: *region,
                offset: 0,
                sum: Symbol::KNOWN,
            }),
        }
    }

    /// A product, of which one side is known.
    pub(super) fn product(&mut self, a: Value, b: Value) -> Result<Number, Stop> {
        let (x, y) = (self.number(a)?, self.number(b)?);
        match (x.is_known(), y.is_known()) {
            (_, true) => Ok(self.scaled(x, y.bits)),
            (true, false) => Ok(self.scaled(y, x.bits)),
            (false, false) => Err(Value::Number(x).unexpected("a number that is no index")),
        }
    }

    /// A number with the other sign.
    pub(super) fn minus(&mut self, value: Value) -> Result<Value, Stop> {
        self.times(value, u64::MAX)
    }

    /// Stores the low bytes of a value.
    pub(super) fn store_value(
        &mut self,
        at: Pointer,
        value: Value,
        size: usize,
    ) -> Result<(), Stop> {
        if at.region == Area::Stack && size == 8 {
            self.memory.bounds(at, 0, 8)?;
            return self.memory.store_slot(at.offset, value);
        }
        match value {
            Value::Data(data) => self.memory.store(at, &data.bytes[..size.min(8)]),
            Value::Number(number) if number.is_known() => {
                let bytes = number.bits.to_le_bytes().map(Label::literal);
                self.memory.store(at, &bytes[..size.min(8)])
            }
            other => Err(other.unexpected("data to store")),
        }
    }
}

/// The bytes of data or of a constant.
pub(super) fn bytes_of(value: Value) -> Result<[Label; 8], Stop> {
    match value {
        Value::Data(data) => Ok(data.bytes),
        Value::Number(number) if number.is_known() => {
            Ok(number.bits.to_le_bytes().map(Label::literal))
        }
        other => Err(other.unexpected("data")),
    }
}
