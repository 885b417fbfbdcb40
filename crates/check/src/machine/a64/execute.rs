//! What A64 instructions do.

use super::super::flags::{Cause, Condition, Flags};
use super::super::lanes::{Bitwise, bitwise, picked};
use super::super::values::{bytes_of, low};
use super::op::{A64Op, Address, Data, Extend, Network, Register};
use super::{CodeRun, LINK, Next, STACK};
use crate::label::Label;
use crate::memory::CarriedLabels;
use crate::symbol::Symbol;
use crate::value::{self, Area, Number, Pointer, Value};
use crate::violation::{Kind, Stop};

impl CodeRun<'_> {
    /// Executes an instruction.
    pub(crate) fn execute_a64(&mut self, at: i64, op: A64Op) -> Result<Next, Stop> {
        match op {
            A64Op::Branch(by) => return Ok(Next::Jump(at + by)),
            A64Op::BranchIf(condition, by) => {
                let (holds, cause) = self.condition(condition)?;
                self.assume(cause, holds);
                return Ok(if holds { Next::Jump(at + by) } else { Next::Go });
            }
            A64Op::BranchZero { size, rt, zero, by } => {
                let value = self.read(rt);
                let with_zero = self.with_zero(value, size)?;
                let flags = std::mem::replace(&mut self.flags, with_zero);
                let condition = if zero {
                    Condition::Equal
                } else {
                    Condition::NotEqual
                };
                let (holds, cause) = self.condition(condition)?;
                self.flags = flags;
                self.assume(cause, holds);
                return Ok(if holds { Next::Jump(at + by) } else { Next::Go });
            }
            A64Op::Call(register) => {
                let target = self.read(register);
                self.call_function(target)?;
                self.general[LINK] = Value::Undefined;
            }
            A64Op::Return => {
                let is_caller = matches!(self.general[LINK], Value::Return);
                if !is_caller || !self.memory.is_at_entry(self.pointer(STACK)?.offset) {
                    let what = "a return that does not go back to the caller as it came";
                    return Err(Kind::Stack { what }.into());
                }
                return Ok(Next::Done);
            }
            A64Op::Trap => return Err(Kind::System.into()),
            A64Op::Nothing => {}
            A64Op::Load {
                data,
                size,
                rt,
                address,
            } => self.access(at, address, |machine, from| {
                machine.load(data, size, rt, from)
            })?,
            A64Op::Store {
                data,
                size,
                rt,
                address,
            } => self.access(at, address, |machine, to| machine.store(data, size, rt, to))?,
            A64Op::LoadPair {
                data,
                size,
                rt,
                address,
            } => self.access(at, address, |machine, from| {
                machine.load(data, size, rt[0], from)?;
                machine.load(data, size, rt[1], behind(from, size))
            })?,
            A64Op::StorePair {
                data,
                size,
                rt,
                address,
            } => self.access(at, address, |machine, to| {
                machine.store(data, size, rt[0], to)?;
                machine.store(data, size, rt[1], behind(to, size))
            })?,
            A64Op::CompareImmediate { size, rn, with } => {
                // There, 31 is the stack pointer.
                if rn == STACK {
                    return Err(Stop::unknown());
                }
                let with = Value::known(with);
                self.flags = self.compared(self.read(rn), with, size)?;
            }
            A64Op::Compare { size, rn, rm } => {
                self.flags = self.compared(self.read(rn), self.read(rm), size)?;
            }
            A64Op::Test { size, rn, with } => {
                let value = self.combined_with(Bitwise::And, self.read(rn), with)?;
                self.flags = match value {
                    Value::Truth(bit, symbol) => Flags::Truth(bit, symbol),
                    Value::Number(number) if number.is_known() => {
                        Flags::Truth(low(number.bits, size) != 0, Symbol::KNOWN)
                    }
                    other => return Err(other.unexpected("a truth value")),
                };
            }
            _ => {
                if !self.in_vectors(op)? {
                    self.in_registers(at, op)?;
                }
            }
        }
        Ok(Next::Go)
    }

    fn read(&self, register: Register) -> Value {
        match register {
            STACK => Value::known(0),
            _ => self.general[register],
        }
    }

    fn write(&mut self, register: Register, value: Value, size: usize) -> Result<(), Stop> {
        let value = self.shortened(value, size)?;
        match register {
            STACK => Ok(()),
            _ => self.set_general(register, value),
        }
    }

    fn compared(&self, a: Value, b: Value, size: usize) -> Result<Flags, Stop> {
        Ok(Flags::Compare {
            a: self.number(a)?,
            b: self.number(b)?,
            bits: 8 * size as u32,
        })
    }

    fn with_zero(&self, value: Value, size: usize) -> Result<Flags, Stop> {
        match value {
            Value::Truth(bit, symbol) => Ok(Flags::Truth(bit, symbol)),
            value => self.compared(value, Value::known(0), size),
        }
    }

    /// Does something at an address.
    fn access(
        &mut self,
        at: i64,
        address: Address,
        f: impl FnOnce(&mut Self, Pointer) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let sum = match address {
            Address::Offset(base, by) | Address::Before(base, by) => {
                self.plus(self.general[base], Value::known(by as u64))?
            }
            Address::After(base, _) => self.general[base],
            Address::Index(base, index, extend, shift) => {
                let index = self.extended(self.read(index), extend, shift)?;
                self.plus(self.general[base], index)?
            }
            Address::Literal(by) => place(at + by),
        };
        let pointer = match sum {
            Value::Pointer(pointer) => pointer,
            other => {
                let what = other.what().to_owned();
                return Err(Kind::NotAnAddress { what }.into());
            }
        };
        if let Address::Before(base, _) = address {
            self.set_general(base, sum)?;
        }
        f(self, pointer)?;
        if let Address::After(base, by) = address {
            let sum = self.plus(sum, Value::known(by as u64))?;
            self.set_general(base, sum)?;
        }
        Ok(())
    }

    fn load(&mut self, data: Data, size: usize, rt: Register, from: Pointer) -> Result<(), Stop> {
        if data == Data::Vector {
            self.vectors[rt] = self.memory.load(from, size)?;
            return Ok(());
        }
        let value = self.memory.load_value(from, size)?;
        let value = match data {
            Data::Signed => self.widened(value, size)?,
            Data::General | Data::Vector => value,
        };
        self.write(rt, value, 8)
    }

    fn store(&mut self, data: Data, size: usize, rt: Register, to: Pointer) -> Result<(), Stop> {
        if data == Data::Vector {
            let lanes = self.vectors[rt];
            return self.memory.store(to, &lanes[..size]);
        }
        self.store_value(to, self.read(rt), size)
    }

    fn extended(&mut self, value: Value, extend: Extend, shift: u32) -> Result<Value, Stop> {
        let value = match extend {
            Extend::Zeros(8) | Extend::Sign(8) => value,
            Extend::Zeros(size) => self.shortened(value, size)?,
            Extend::Sign(size) => self.widened(value, size)?,
        };
        match shift {
            0 => Ok(value),
            by => self.times(value, 1 << by),
        }
    }

    /// Numbers that are computed with in 32 bits are known.
    fn narrow(&self, values: &[Value], size: usize) -> Result<(), Stop> {
        for value in values.iter().filter(|_| size < 8) {
            let number = self.number(*value)?;
            if !number.is_known() {
                return Err(value.unexpected("a number that is no index"));
            }
        }
        Ok(())
    }

    /// A value and a mask.
    fn combined_with(&mut self, by: Bitwise, value: Value, with: u64) -> Result<Value, Stop> {
        match (by, with) {
            // A truth value has nothing above its bit.
            (Bitwise::And, 1 | 0xff | 0xffff | 0xffff_ffff) if is_truth(value) => Ok(value),
            (Bitwise::And, 0xff) => self.shortened(value, 1),
            (Bitwise::And, 0xffff) => self.shortened(value, 2),
            (Bitwise::And, 0xffff_ffff) => self.shortened(value, 4),
            _ => self.combined(by, value, Value::known(with)),
        }
    }

    /// Executes an instruction on general registers.
    fn in_registers(&mut self, at: i64, op: A64Op) -> Result<(), Stop> {
        let (rd, value, size) = match op {
            A64Op::MoveWide {
                size,
                rd,
                bits,
                shift,
                kept,
                inverted,
            } => {
                let old = match (kept, inverted) {
                    (true, _) => self.known(self.read(rd))?,
                    (false, true) => u64::MAX,
                    (false, false) => 0,
                };
                let bits = if inverted { !bits & 0xffff } else { bits };
                let all = low(old & !(0xffff << shift) | bits << shift, size);
                (rd, self.constant(all), size)
            }
            A64Op::AddImmediate { size, rd, rn, by } => {
                let a = self.general[rn];
                self.narrow(&[a], size)?;
                let sum = self.plus(a, Value::known(by as u64))?;
                let sum = self.shortened(sum, size)?;
                return self.set_general(rd, sum);
            }
            A64Op::AddShifted {
                size,
                rd,
                rn,
                rm,
                shift,
                minus,
            } => {
                let (a, b) = (self.read(rn), self.read(rm));
                self.narrow(&[a, b], size)?;
                let mut b = self.extended(b, Extend::Zeros(8), shift)?;
                if minus {
                    b = self.minus(b)?;
                }
                (rd, self.plus(a, b)?, size)
            }
            A64Op::AddExtended {
                rd,
                rn,
                rm,
                extend,
                shift,
            } => {
                let b = self.extended(self.read(rm), extend, shift)?;
                let sum = self.plus(self.general[rn], b)?;
                return self.set_general(rd, sum);
            }
            A64Op::Logic {
                operation: Bitwise::Or,
                size,
                rd,
                rn: STACK,
                rm,
            } => {
                let value = self.read(rm);
                if matches!(value, Value::Undefined) {
                    return Err(value.unexpected("a value"));
                }
                (rd, value, size)
            }
            A64Op::Logic {
                operation,
                size,
                rd,
                rn,
                rm,
            } => (
                rd,
                self.combined(operation, self.read(rn), self.read(rm))?,
                size,
            ),
            A64Op::LogicImmediate {
                operation: Bitwise::Or,
                size,
                rd,
                rn: STACK,
                with,
            } => (rd, self.constant(with), size),
            A64Op::LogicImmediate {
                operation,
                size,
                rd,
                rn,
                with,
            } => (
                rd,
                self.combined_with(operation, self.read(rn), with)?,
                size,
            ),
            A64Op::Bits {
                size,
                rd,
                rn,
                rotate,
                last,
                signed,
            } => {
                let value = self.bits_of(self.read(rn), size, rotate, last, signed)?;
                (rd, value, size)
            }
            A64Op::Multiply {
                size,
                rd,
                rn,
                rm,
                ra,
                minus,
            } => {
                let (a, b, c) = (self.read(rn), self.read(rm), self.read(ra));
                self.narrow(&[a, b, c], size)?;
                let mut product = Value::Number(self.product(a, b)?);
                if minus {
                    product = self.minus(product)?;
                }
                (rd, self.plus(c, product)?, size)
            }
            A64Op::Divide { rd, rn, rm } => {
                let (a, b) = (self.known(self.read(rn))?, self.known(self.read(rm))?);
                (rd, Value::known(a.checked_div(b).unwrap_or(0)), 8)
            }
            A64Op::Select {
                size,
                rd,
                rn,
                rm,
                condition,
            } => {
                let value = self.chosen(condition, self.read(rn), self.read(rm))?;
                (rd, value, size)
            }
            A64Op::Set { rd, condition } => {
                let (holds, cause): (bool, Cause) = self.condition(condition)?;
                let symbol = self.truth(cause);
                (rd, Value::Truth(holds, symbol), 8)
            }
            A64Op::Place { rd, by } => (rd, place(at + by), 8),
            A64Op::ElementToGeneral {
                rd,
                rn,
                element,
                at,
            } => {
                let mut bytes = [Label::ZERO; 8];
                let from = &self.vectors[rn][at * element..];
                bytes[..element].copy_from_slice(&from[..element]);
                let number = None;
                (rd, Value::Data(value::IndexedBytes { bytes, number }), 8)
            }
            _ => return Err(Stop::unknown()),
        };
        self.write(rd, value, size)
    }

    /// A number that does not depend on an index.
    fn known(&self, value: Value) -> Result<u64, Stop> {
        let number = self.number(value)?;
        match number.is_known() {
            true => Ok(number.bits),
            false => Err(Value::Number(number).unexpected("a number that is no index")),
        }
    }

    /// Bits up to `last` of a value, rotated; those above are zeros, or the sign.
    fn bits_of(
        &mut self,
        value: Value,
        size: usize,
        rotate: u32,
        last: u32,
        sign: bool,
    ) -> Result<Value, Stop> {
        let width = 8 * size as u32;
        if let Value::Number(Number { bits, symbol }) = value
            && symbol == Symbol::KNOWN
        {
            let (count, from, to) = match last.checked_sub(rotate) {
                Some(more) => (more + 1, rotate, 0),
                None => (last + 1, 0, width - rotate),
            };
            let field = low(bits, size) >> from << (64 - count);
            let field = match sign {
                true => (field as i64 >> (64 - count)) as u64,
                false => field >> (64 - count),
            };
            return Ok(Value::known(low(field << to, size)));
        }
        let whole = matches!(last, 7 | 15 | 31 | 63).then_some(last.div_ceil(8) as usize);
        let by = match rotate {
            0 => 0,
            by if by > last => width - by,
            _ => return Err(value.unexpected("a number that is no index")),
        };
        // A shift to the left leaves off what goes out.
        let value = match whole {
            Some(bytes) if sign && bytes < 8 => self.widened(value, bytes)?,
            Some(bytes) => self.shortened(value, bytes)?,
            None if size == 8 && last == width - 1 - by => value,
            None => return Err(value.unexpected("a number that is no index")),
        };
        match by {
            0 => Ok(value),
            _ if size < 8 => Err(value.unexpected("a number that is no index")),
            by => self.times(value, 1 << by),
        }
    }

    /// Executes an instruction on vectors; whether it is one.
    fn in_vectors(&mut self, op: A64Op) -> Result<bool, Stop> {
        let (rd, lanes) = match op {
            A64Op::Table { rd, rn, rm, count } => {
                let mut lanes = [Label::ZERO; 16];
                for (lane, by) in lanes.iter_mut().zip(self.vectors[rm]) {
                    let by = by.as_literal().ok_or_else(super::super::lanes::on_data)?;
                    let (vector, at) = (usize::from(by / 16), usize::from(by % 16));
                    if vector < count {
                        *lane = self.vectors[(rn + vector) % 32][at];
                    }
                }
                (rd, lanes)
            }
            A64Op::Network {
                network,
                element,
                second,
                rd,
                rn,
                rm,
            } => {
                let half = usize::from(second);
                let pick = |at: usize| {
                    let (lane, byte) = (at / element, at % element);
                    let (vector, from) = match network {
                        Network::Unzip => (0, 2 * lane + half),
                        Network::Transpose => (lane % 2, lane / 2 * 2 + half),
                        Network::Zip => (lane % 2, half * 8 / element + lane / 2),
                    };
                    vector * 16 + from * element + byte
                };
                (rd, picked(&self.vectors[rn], &self.vectors[rm], pick))
            }
            A64Op::Extract { rd, rn, rm, from } => {
                let pick = |at: usize| at + from;
                (rd, picked(&self.vectors[rn], &self.vectors[rm], pick))
            }
            A64Op::Reverse {
                rd,
                rn,
                element,
                group,
            } => {
                let from = self.vectors[rn];
                let turned = |at: usize| {
                    let (lane, byte) = (at % group / element, at % element);
                    from[at / group * group + group - (lane + 1) * element + byte]
                };
                (rd, std::array::from_fn(turned))
            }
            A64Op::DuplicateElement {
                rd,
                rn,
                element,
                at,
            } => {
                let from = self.vectors[rn];
                (
                    rd,
                    std::array::from_fn(|byte| from[at * element + byte % element]),
                )
            }
            A64Op::LowElement {
                rd,
                rn,
                element,
                at,
            } => {
                let mut lanes = [Label::ZERO; 16];
                lanes[..element].copy_from_slice(&self.vectors[rn][at * element..][..element]);
                (rd, lanes)
            }
            A64Op::DuplicateGeneral { rd, rn, element } => {
                let from = bytes_of(self.read(rn))?;
                (rd, std::array::from_fn(|byte| from[byte % element]))
            }
            A64Op::InsertGeneral {
                rd,
                rn,
                element,
                at,
            } => {
                let from = bytes_of(self.read(rn))?;
                let mut lanes = self.vectors[rd];
                lanes[at * element..][..element].copy_from_slice(&from[..element]);
                (rd, lanes)
            }
            A64Op::InsertElement {
                rd,
                rn,
                element,
                to,
                from,
            } => {
                let source = self.vectors[rn];
                let mut lanes = self.vectors[rd];
                lanes[to * element..][..element]
                    .copy_from_slice(&source[from * element..][..element]);
                (rd, lanes)
            }
            A64Op::VectorLogic {
                operation,
                rd,
                rn,
                rm,
            } => {
                let (a, b): (CarriedLabels, CarriedLabels) = (self.vectors[rn], self.vectors[rm]);
                let mut lanes = [Label::ZERO; 16];
                for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
                    *lane = match (rn == rm, operation) {
                        (true, Bitwise::And | Bitwise::Or) => a,
                        (true, _) => Label::ZERO,
                        (false, _) => bitwise(operation, a, b)?,
                    };
                }
                (rd, lanes)
            }
            A64Op::VectorImmediate { rd, bytes } => (rd, bytes.map(Label::literal)),
            _ => return Ok(false),
        };
        self.vectors[rd] = lanes;
        Ok(true)
    }
}

fn is_truth(value: Value) -> bool {
    matches!(value, Value::Truth(..))
}

fn behind(at: Pointer, bytes: usize) -> Pointer {
    Pointer {
        offset: at.offset.wrapping_add(bytes as i64),
        ..at
    }
}

/// A place in the code.
fn place(offset: i64) -> Value {
    Value::Pointer(Pointer {
        region: Area::Code,
        offset,
        sum: Symbol::KNOWN,
    })
}
