//! The x86-64, as far as generated code uses it.

mod integer;
mod transfer;
mod vector;

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};

use super::flags::Condition;
use super::{CodeRun, Convention, Next};
use crate::symbol::Symbol;
use crate::value::{Area, Pointer, Value};
use crate::violation::{Kind, Stop};

const RAX: usize = 0;
const RCX: usize = 1;
const RDX: usize = 2;
const RSP: usize = 4;
const RSI: usize = 6;
const RDI: usize = 7;

/// The System V convention.
pub(super) const CONVENTION: Convention = Convention {
    kept: &[
        (3, "rbx"),
        (5, "rbp"),
        (12, "r12"),
        (13, "r13"),
        (14, "r14"),
        (15, "r15"),
    ],
    kept_vectors: 0..0,
    arguments: [RDI, RSI, RDX, RCX],
    result: RAX,
    stack: RSP,
    link: None,
};

/// A byte of an instruction that is not its first.
const INSIDE: u32 = u32::MAX;

/// Instructions of a piece of code, decoded once.
pub(crate) struct X86Code<'a> {
    code: &'a [u8],
    /// One more than the place in `known` of what begins at each byte; 0 if not decoded yet, and
    /// [`INSIDE`] if an instruction has begun before it.
    at: Vec<u32>,
    known: Vec<Instruction>,
    /// Where instructions begin if there is nothing but instructions from each function's beginning
    /// to its end.
    in_order: Vec<bool>,
    /// An instruction that was executed and begins elsewhere.
    pub(super) astray: Option<i64>,
}

impl<'a> X86Code<'a> {
    pub(crate) fn new(code: &'a [u8], entries: &[usize]) -> Self {
        let mut in_order = vec![false; code.len()];
        for entry in entries {
            let bytes = code.get(*entry..).unwrap_or_default();
            let decoder = Decoder::with_ip(64, bytes, *entry as u64, DecoderOptions::NONE);
            for instruction in decoder {
                match in_order.get_mut(instruction.ip() as usize) {
                    Some(begins) if !*begins && !instruction.is_invalid() => *begins = true,
                    _ => break,
                }
            }
        }
        Self {
            code,
            at: vec![0; code.len()],
            known: Vec::new(),
            in_order,
            astray: None,
        }
    }

    /// Decodes all that may be reached from some places, and refuses instructions that overlap.
    /// What is not known to be generated is left to be found when it is executed.
    pub(crate) fn survey(mut self, entries: &[usize]) -> Result<(), Kind> {
        let mut open: Vec<i64> = entries.iter().map(|entry| *entry as i64).collect();
        while let Some(at) = open.pop() {
            if self.is_decoded(at) {
                continue;
            }
            let i = match self.get(at) {
                Ok(instruction) => instruction,
                Err(Stop::Wrong(kind)) => return Err(kind),
                Err(Stop::NotUnderstood(_) | Stop::Limit(_)) => continue,
            };
            if matches!(
                i.flow_control(),
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
            ) {
                open.push(i.near_branch_target() as i64);
            }
            if matches!(
                i.flow_control(),
                FlowControl::Next
                    | FlowControl::ConditionalBranch
                    | FlowControl::Call
                    | FlowControl::IndirectCall
            ) {
                open.push(i.next_ip() as i64);
            }
        }
        Ok(())
    }

    /// Where the instructions begin that were decoded.
    pub(crate) fn decoded(&self) -> impl Iterator<Item = usize> + '_ {
        self.known.iter().map(|known| known.ip() as usize)
    }

    fn is_decoded(&self, offset: i64) -> bool {
        let slot = usize::try_from(offset).ok().and_then(|at| self.at.get(at));
        slot.is_some_and(|slot| *slot != 0 && *slot != INSIDE)
    }

    pub(crate) fn get(&mut self, offset: i64) -> Result<Instruction, Stop> {
        let missing = || Stop::from(Kind::NoCode { offset });
        let start = usize::try_from(offset).map_err(|_| missing())?;
        let slot = *self.at.get(start).ok_or_else(missing)?;
        if let Some(known) = (slot as usize).checked_sub(1) {
            return self.known.get(known).copied().ok_or_else(missing);
        }
        let bytes = self.code.get(start..).unwrap_or_default();
        let mut decoder = Decoder::with_ip(64, bytes, start as u64, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let within = self.at.get_mut(start..start + instruction.len());
        let within = within.ok_or_else(missing)?;
        // Instructions do not overlap.
        if instruction.is_invalid() || within.iter().any(|slot| *slot != 0) {
            return Err(missing());
        }
        if !self.in_order[start] {
            self.astray.get_or_insert(offset);
        }
        let strange = instruction.has_lock_prefix()
            || instruction.has_rep_prefix()
            || instruction.has_repne_prefix()
            || instruction.has_op_mask()
            || instruction.is_broadcast()
            || instruction.segment_prefix() != Register::None;
        if strange {
            return Err(Stop::unknown());
        }
        within.fill(INSIDE);
        self.known.push(instruction);
        within[0] = self.known.len() as u32;
        Ok(instruction)
    }
}

impl CodeRun<'_> {
    /// Executes an instruction.
    pub(crate) fn execute_x86(&mut self, i: &Instruction) -> Result<Next, Stop> {
        match i.mnemonic() {
            Mnemonic::Jmp | Mnemonic::Ret | Mnemonic::Call | Mnemonic::Push | Mnemonic::Pop => {
                return self.transfer(i);
            }
            Mnemonic::Nop => return Ok(Next::Go),
            _ => {}
        }
        if i.is_jcc_short_or_near() {
            let (holds, cause) = self.condition(condition(i)?)?;
            self.assume(cause, holds);
            return Ok(if holds {
                Next::Jump(i.near_branch_target() as i64)
            } else {
                Next::Go
            });
        }
        if self.integer(i)? || self.vector(i)? {
            return Ok(Next::Go);
        }
        match i.flow_control() {
            // `syscall` is a call, too.
            FlowControl::Interrupt | FlowControl::Exception | FlowControl::Call => {
                Err(Kind::System.into())
            }
            _ => Err(Stop::unknown()),
        }
    }

    /// The address of a memory operand.
    fn address(&mut self, i: &Instruction) -> Result<Pointer, Stop> {
        match self.effective(i)? {
            Value::Pointer(pointer) => Ok(pointer),
            other => Err(Kind::NotAnAddress {
                what: other.what().to_owned(),
            }
            .into()),
        }
    }

    /// The sum that a memory operand spells.
    fn effective(&mut self, i: &Instruction) -> Result<Value, Stop> {
        if i.is_ip_rel_memory_operand() {
            if i.memory_base() != Register::RIP {
                return Err(Stop::unknown());
            }
            return Ok(Value::Pointer(Pointer {
                region: Area::Code,
                offset: i.ip_rel_memory_address() as i64,
                sum: Symbol::KNOWN,
            }));
        }
        let mut sum = Value::known(i.memory_displacement64());
        if i.memory_base() != Register::None {
            let base = self.general[general(i.memory_base())?];
            sum = self.plus(base, sum)?;
        }
        if i.memory_index() != Register::None {
            let index = self.general[general(i.memory_index())?];
            let scaled = match i.memory_index_scale() {
                1 => index,
                scale => self.times(index, u64::from(scale))?,
            };
            sum = self.plus(sum, scaled)?;
        }
        Ok(sum)
    }

    /// An immediate, extended by its sign to 64 bits.
    fn immediate(i: &Instruction, operand: u32) -> Option<u64> {
        match i.op_kind(operand) {
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Some(i.immediate(operand)),
            _ => None,
        }
    }
}

/// The number of a 64-bit register.
fn general(register: Register) -> Result<usize, Stop> {
    if register.is_gpr64() {
        Ok(register.number())
    } else {
        Err(Stop::unknown())
    }
}

/// The number and size of a general register that is not the second byte of one.
fn sized(register: Register) -> Result<(usize, usize), Stop> {
    match register {
        Register::AH | Register::BH | Register::CH | Register::DH => Err(Stop::unknown()),
        _ if register.is_gpr() => Ok((register.full_register().number(), register.size())),
        _ => Err(Stop::unknown()),
    }
}

/// Whether an instruction has its old encoding, with one operand for source and destination.
fn is_legacy(i: &Instruction) -> bool {
    i.encoding() == iced_x86::EncodingKind::Legacy
}

/// Whether a code is a return that leaves the arguments alone.
fn is_plain_return(code: Code) -> bool {
    code == Code::Retnq
}

/// The condition of an instruction that has one.
fn condition(i: &Instruction) -> Result<Condition, Stop> {
    use iced_x86::ConditionCode as Code;
    Ok(match i.condition_code() {
        Code::e => Condition::Equal,
        Code::ne => Condition::NotEqual,
        Code::b => Condition::Below,
        Code::ae => Condition::NotBelow,
        Code::a => Condition::Above,
        Code::be => Condition::NotAbove,
        Code::l => Condition::Less,
        Code::ge => Condition::NotLess,
        Code::g => Condition::Greater,
        Code::le => Condition::NotGreater,
        Code::s => Condition::Negative,
        Code::ns => Condition::NotNegative,
        _ => {
            return Err(Stop::not_understood(
                "flags that are not those of a compare",
            ));
        }
    })
}
