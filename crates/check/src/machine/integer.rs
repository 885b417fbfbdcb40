//! Instructions on general registers.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::flags::{Cause, Flags};
use super::{Machine, RAX, RDX, sized};
use crate::label::Label;
use crate::symbol::{Interval, Symbol};
use crate::value::{Data, Number, Pointer, Value};
use crate::violation::{Kind, Stop};

/// The low bytes of a number.
const fn low(bits: u64, size: usize) -> u64 {
    match size {
        0..8 => bits & ((1 << (8 * size)) - 1),
        _ => bits,
    }
}

/// The low bytes of a number, read with their sign.
const fn signed(bits: u64, size: usize) -> u64 {
    let unused = 64 - 8 * size as u32;
    ((bits << unused) as i64 >> unused) as u64
}

/// How far a shift by a number shifts.
const fn counted(bits: u64, size: usize) -> u32 {
    (bits & if size == 8 { 63 } else { 31 }) as u32
}

impl Machine<'_> {
    /// Executes an instruction of this kind; whether it is one.
    pub(super) fn integer(&mut self, i: &Instruction) -> Result<bool, Stop> {
        match i.mnemonic() {
            Mnemonic::Mov => self.mov(i)?,
            Mnemonic::Movzx => {
                let (value, size) = self.operand(i, 1)?;
                let value = self.shortened(value, size)?;
                self.put(i, value)?;
            }
            Mnemonic::Movsx | Mnemonic::Movsxd => {
                let (value, size) = self.operand(i, 1)?;
                let value = self.widened(value, size)?;
                self.put(i, value)?;
            }
            Mnemonic::Lea => {
                let value = self.effective(i)?;
                self.put(i, value)?;
            }
            Mnemonic::Add => self.binary(i, |machine, a, b| machine.plus(a, b))?,
            Mnemonic::Sub => self.binary(i, |machine, a, b| {
                let b = machine.number(b)?;
                let b = machine.scaled(b, u64::MAX);
                machine.plus(a, Value::Number(b))
            })?,
            Mnemonic::Imul => self.imul(i)?,
            Mnemonic::Shl | Mnemonic::Sal => self.binary(i, |machine, a, b| {
                let by = machine.number(b)?;
                if !by.is_known() {
                    return Err(Value::Number(by).unexpected("a number that is no index"));
                }
                let (_, size) = sized(i.op0_register())?;
                machine.times(a, 1 << counted(by.bits, size))
            })?,
            Mnemonic::Xor if Self::is_same(i) => self.put(i, Value::known(0))?,
            Mnemonic::And | Mnemonic::Or | Mnemonic::Xor => self.logic(i)?,
            Mnemonic::Shr | Mnemonic::Sar => self.binary(i, |machine, a, b| {
                let (x, y) = (machine.number(a)?, machine.number(b)?);
                if !(x.is_known() && y.is_known()) {
                    return Err(Value::Number(x).unexpected("a number that is no index"));
                }
                let (_, size) = sized(i.op0_register())?;
                let by = counted(y.bits, size);
                Ok(Value::known(match i.mnemonic() {
                    Mnemonic::Shr => low(x.bits, size) >> by,
                    _ => (signed(x.bits, size) as i64 >> by) as u64,
                }))
            })?,
            Mnemonic::Div => self.div(i)?,
            Mnemonic::Cmp | Mnemonic::Test => self.compare(i)?,
            Mnemonic::Sete
            | Mnemonic::Setne
            | Mnemonic::Setb
            | Mnemonic::Setae
            | Mnemonic::Setbe
            | Mnemonic::Seta
            | Mnemonic::Setl
            | Mnemonic::Setge
            | Mnemonic::Setle
            | Mnemonic::Setg
                if i.op0_kind() == OpKind::Register =>
            {
                let (holds, cause) = self.condition(i.condition_code())?;
                let symbol = self.truth(cause);
                let (register, _) = sized(i.op0_register())?;
                self.set_general(register, Value::Truth(holds, symbol))?;
            }
            Mnemonic::Cmove
            | Mnemonic::Cmovne
            | Mnemonic::Cmovb
            | Mnemonic::Cmovae
            | Mnemonic::Cmovbe
            | Mnemonic::Cmova
            | Mnemonic::Cmovl
            | Mnemonic::Cmovge
            | Mnemonic::Cmovle
            | Mnemonic::Cmovg => self.conditional(i)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether both operands are one register.
    fn is_same(i: &Instruction) -> bool {
        i.op0_kind() == OpKind::Register
            && i.op1_kind() == OpKind::Register
            && i.op0_register() == i.op1_register()
    }

    /// A value and how many bytes of it count.
    pub(super) fn operand(
        &mut self,
        i: &Instruction,
        operand: u32,
    ) -> Result<(Value, usize), Stop> {
        if let Some(bits) = Self::immediate(i, operand) {
            return Ok((Value::known(bits), 8));
        }
        match i.op_kind(operand) {
            OpKind::Register => {
                let (register, size) = sized(i.op_register(operand))?;
                Ok((self.general[register], size))
            }
            OpKind::Memory => {
                let size = i.memory_size().size();
                let at = self.address(i)?;
                Ok((self.memory.load_value(at, size)?, size))
            }
            _ => Err(Stop::unknown()),
        }
    }

    /// Writes the first operand, a register of 32 or 64 bits.
    fn put(&mut self, i: &Instruction, value: Value) -> Result<(), Stop> {
        if i.op0_kind() != OpKind::Register {
            return Err(Stop::unknown());
        }
        let (register, size) = sized(i.op0_register())?;
        let value = match size {
            8 => value,
            4 => self.shortened(value, 4)?,
            _ => return Err(Stop::unknown()),
        };
        self.set_general(register, value)
    }

    /// The low bytes of a value, extended by zeros.
    fn shortened(&mut self, value: Value, size: usize) -> Result<Value, Stop> {
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
    fn widened(&mut self, value: Value, size: usize) -> Result<Value, Stop> {
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
                let half = 1i64 << (8 * size - 1);
                let may_be = Interval {
                    low: -half,
                    high: half - 1,
                };
                let symbol = self.memory.symbols.root(bits as i64, may_be);
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
    fn lost(&mut self, symbol: Symbol) -> Symbol {
        match symbol {
            Symbol::KNOWN => symbol,
            _ => self.memory.symbols.opaque(),
        }
    }

    pub(super) fn number(&self, value: Value) -> Result<Number, Stop> {
        match value {
            Value::Number(number) => Ok(number),
            Value::Data(Data {
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

    fn scaled(&mut self, number: Number, times: u64) -> Number {
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

    fn binary(
        &mut self,
        i: &Instruction,
        f: impl FnOnce(&mut Self, Value, Value) -> Result<Value, Stop>,
    ) -> Result<(), Stop> {
        let (a, size) = self.operand(i, 0)?;
        let (b, _) = self.operand(i, 1)?;
        if size == 4 {
            // Only what is wholly known is computed in 32 bits.
            let (a, b) = (self.number(a)?, self.number(b)?);
            if !(a.is_known() && b.is_known()) {
                return Err(Value::Number(a).unexpected("a number that is no index"));
            }
        }
        let value = f(self, a, b)?;
        self.flags = Flags::Arithmetic;
        self.put(i, value)
    }

    fn imul(&mut self, i: &Instruction) -> Result<(), Stop> {
        let (first, second) = match i.op_count() {
            2 => (0, 1),
            3 => (1, 2),
            _ => return Err(Stop::unknown()),
        };
        let (a, size) = self.operand(i, first)?;
        let (b, _) = self.operand(i, second)?;
        if size != 8 {
            return Err(Stop::unknown());
        }
        let (x, y) = (self.number(a)?, self.number(b)?);
        let product = match (x.is_known(), y.is_known()) {
            (_, true) => self.scaled(x, y.bits),
            (true, false) => self.scaled(y, x.bits),
            (false, false) => {
                return Err(Value::Number(x).unexpected("a number that is no index"));
            }
        };
        self.flags = Flags::Arithmetic;
        self.put(i, Value::Number(product))
    }

    fn div(&mut self, i: &Instruction) -> Result<(), Stop> {
        let (divisor, size) = self.operand(i, 0)?;
        let parts = [self.general[RAX], self.general[RDX], divisor];
        let mut known = [0u64; 3];
        for (known, part) in known.iter_mut().zip(parts) {
            let number = self.number(part)?;
            if !number.is_known() {
                return Err(Value::Number(number).unexpected("a number that is no index"));
            }
            *known = number.bits;
        }
        let [low, high, divisor] = known;
        if size != 8 {
            return Err(Stop::unknown());
        }
        if divisor == 0 || high >= divisor {
            return Err(Kind::Division.into());
        }
        let dividend = u128::from(high) << 64 | u128::from(low);
        let by = u128::from(divisor);
        self.general[RAX] = Value::known((dividend / by) as u64);
        self.general[RDX] = Value::known((dividend % by) as u64);
        self.flags = Flags::Arithmetic;
        Ok(())
    }

    /// A truth value, or a number that is one.
    fn as_truth(&self, value: Value) -> Result<(bool, Symbol), Stop> {
        match value {
            Value::Truth(bit, symbol) => Ok((bit, symbol)),
            Value::Number(number) if number.is_known() && number.bits < 2 => {
                Ok((number.bits == 1, Symbol::KNOWN))
            }
            other => Err(other.unexpected("a truth value")),
        }
    }

    /// What two truth values are together.
    fn both(&mut self, (a, x): (bool, Symbol), (b, y): (bool, Symbol)) -> (bool, Symbol) {
        match (x == Symbol::KNOWN, y == Symbol::KNOWN) {
            (true, _) if !a => (false, Symbol::KNOWN),
            (_, true) if !b => (false, Symbol::KNOWN),
            _ => (a && b, self.memory.symbols.both(x, y)),
        }
    }

    fn negation(&mut self, (bit, symbol): (bool, Symbol)) -> (bool, Symbol) {
        (!bit, self.memory.symbols.negation(symbol))
    }

    fn logic(&mut self, i: &Instruction) -> Result<(), Stop> {
        let (a, size) = self.operand(i, 0)?;
        let (b, _) = self.operand(i, 1)?;
        self.flags = Flags::Arithmetic;
        if let (Value::Number(a), Value::Number(b)) = (a, b)
            && a.is_known()
            && b.is_known()
        {
            let bits = match i.mnemonic() {
                Mnemonic::And => a.bits & b.bits,
                Mnemonic::Or => a.bits | b.bits,
                _ => a.bits ^ b.bits,
            };
            return self.put(i, Value::known(bits));
        }
        let (a, b) = (self.as_truth(a)?, self.as_truth(b)?);
        let (bit, symbol) = match i.mnemonic() {
            Mnemonic::And => self.both(a, b),
            Mnemonic::Or => {
                let (a, b) = (self.negation(a), self.negation(b));
                let neither = self.both(a, b);
                self.negation(neither)
            }
            _ if b == (true, Symbol::KNOWN) => self.negation(a),
            _ => return Err(Stop::unknown()),
        };
        let (register, _) = sized(i.op0_register())?;
        if i.op0_kind() != OpKind::Register || size == 2 {
            return Err(Stop::unknown());
        }
        self.set_general(register, Value::Truth(bit, symbol))
    }

    fn compare(&mut self, i: &Instruction) -> Result<(), Stop> {
        let (a, size) = self.operand(i, 0)?;
        let (b, _) = self.operand(i, 1)?;
        let is_test = i.mnemonic() == Mnemonic::Test;
        if matches!(a, Value::Truth(..)) || matches!(b, Value::Truth(..)) {
            // Only the low byte of a truth value is anything.
            if !is_test || size != 1 {
                let truth = if matches!(a, Value::Truth(..)) { a } else { b };
                return Err(truth.unexpected("a number"));
            }
            let (a, b) = (self.as_truth(a)?, self.as_truth(b)?);
            let (bit, symbol) = self.both(a, b);
            self.flags = Flags::Truth(bit, symbol);
            return Ok(());
        }
        let (mut x, y) = (self.number(a)?, self.number(b)?);
        let mut y = y;
        if is_test {
            if !Self::is_same(i) {
                if !(x.is_known() && y.is_known()) {
                    return Err(Value::Number(x).unexpected("a number that is no index"));
                }
                x = Number::known(x.bits & y.bits);
            }
            // The flags are those of a compare with 0.
            y = Number::known(0);
        }
        self.flags = Flags::Compare {
            a: x,
            b: y,
            bits: 8 * size as u32,
        };
        Ok(())
    }

    fn conditional(&mut self, i: &Instruction) -> Result<(), Stop> {
        let (otherwise, size) = self.operand(i, 0)?;
        let (then, _) = self.operand(i, 1)?;
        if size != 8 {
            return Err(Stop::unknown());
        }
        let (holds, cause) = self.condition(i.condition_code())?;
        let chosen = if holds { then } else { otherwise };
        let value = match cause {
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
        };
        self.put(i, value)
    }

    fn mov(&mut self, i: &Instruction) -> Result<(), Stop> {
        if i.op0_kind() == OpKind::Memory {
            let size = i.memory_size().size();
            let (value, _) = self.operand(i, 1)?;
            let at = self.address(i)?;
            return self.store(at, value, size);
        }
        let (value, size) = self.operand(i, 1)?;
        let value = match value {
            Value::Number(number) if i.op1_kind() == OpKind::Immediate64 => self
                .constants
                .iter()
                .find(|(start, _)| *start == number.bits)
                .map_or(value, |(_, region)| {
                    Value::Pointer(Pointer {
                        region: *region,
                        offset: 0,
                        sum: Symbol::KNOWN,
                    })
                }),
            value => value,
        };
        if size == 8 && matches!(value, Value::Undefined) {
            return Err(value.unexpected("a value"));
        }
        self.put(i, value)
    }

    fn store(&mut self, at: Pointer, value: Value, size: usize) -> Result<(), Stop> {
        if at.region == crate::value::Region::Stack && size == 8 {
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
