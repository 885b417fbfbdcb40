//! Instructions on general registers.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::super::CodeRun;
use super::super::flags::Flags;
use super::super::lanes::Bitwise;
use super::super::values::{low, signed};
use super::{RAX, RDX, condition, sized};
use crate::value::{Number, Value};
use crate::violation::{Kind, Stop};

/// How far a shift by a number shifts.
const fn counted(bits: u64, size: usize) -> u32 {
    (bits & if size == 8 { 63 } else { 31 }) as u32
}

impl CodeRun<'_> {
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
                let b = machine.minus(b)?;
                machine.plus(a, b)
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
                let (holds, cause) = self.condition(condition(i)?)?;
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
        let product = self.product(a, b)?;
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

    fn logic(&mut self, i: &Instruction) -> Result<(), Stop> {
        let (a, size) = self.operand(i, 0)?;
        let (b, _) = self.operand(i, 1)?;
        self.flags = Flags::Arithmetic;
        let operation = match i.mnemonic() {
            Mnemonic::And => Bitwise::And,
            Mnemonic::Or => Bitwise::Or,
            _ => Bitwise::Xor,
        };
        match self.combined(operation, a, b)? {
            // Of a truth value only the low byte counts, which an instruction may write alone.
            truth @ Value::Truth(..) if i.op0_kind() == OpKind::Register && size != 2 => {
                let (register, _) = sized(i.op0_register())?;
                self.set_general(register, truth)
            }
            Value::Truth(..) => Err(Stop::unknown()),
            value => self.put(i, value),
        }
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
        let value = self.chosen(condition(i)?, then, otherwise)?;
        self.put(i, value)
    }

    fn mov(&mut self, i: &Instruction) -> Result<(), Stop> {
        if i.op0_kind() == OpKind::Memory {
            let size = i.memory_size().size();
            let (value, _) = self.operand(i, 1)?;
            let at = self.address(i)?;
            return self.store_value(at, value, size);
        }
        let (value, size) = self.operand(i, 1)?;
        let value = match value {
            Value::Number(number) if i.op1_kind() == OpKind::Immediate64 => {
                self.constant(number.bits)
            }
            value => value,
        };
        if size == 8 && matches!(value, Value::Undefined) {
            return Err(value.unexpected("a value"));
        }
        self.put(i, value)
    }
}
