//! The processor, as far as generated code uses it.

mod flags;
mod integer;
mod transfer;
mod vector;

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind, Register,
};
use restride_leaves::Callee;

use crate::label::Label;
use crate::memory::{Lanes, Memory};
use crate::symbol::Symbol;
use crate::value::{Pointer, Region, Value};
use crate::violation::{Kind, Limit, Site, Stop, Unproved};
use flags::Flags;

const RAX: usize = 0;
const RCX: usize = 1;
const RDX: usize = 2;
const RSP: usize = 4;
const RSI: usize = 6;
const RDI: usize = 7;

/// Registers that a function gives back as they were.
const KEPT: [(usize, &str); 6] = [
    (3, "rbx"),
    (5, "rbp"),
    (12, "r12"),
    (13, "r13"),
    (14, "r14"),
    (15, "r15"),
];

/// A byte of an instruction that is not its first.
const INSIDE: u32 = u32::MAX;

/// Instructions of a piece of code, decoded once.
pub(crate) struct Program<'a> {
    code: &'a [u8],
    /// One more than the place in `known` of what begins at each byte; 0 if not decoded yet, and
    /// [`INSIDE`] if an instruction has begun before it.
    at: Vec<u32>,
    known: Vec<Instruction>,
    /// Where instructions begin if there is nothing but instructions from each function's beginning
    /// to its end.
    in_order: Vec<bool>,
    /// An instruction that was executed and begins elsewhere.
    pub(crate) astray: Option<i64>,
}

impl<'a> Program<'a> {
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

    fn get(&mut self, offset: i64) -> Result<Instruction, Stop> {
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

/// One call of generated code.
pub(crate) struct Machine<'a> {
    pub(crate) memory: Memory<'a>,
    pub(crate) callees: &'a [Callee],
    /// Where the kernel's constants are.
    pub(crate) constants: &'a [(u64, Region)],
    pub(crate) steps: u64,
    pub(crate) limit: u64,
    pub(crate) calls: u64,
    general: [Value; 16],
    vectors: [Lanes; 32],
    flags: Flags,
}

/// What comes after an instruction.
enum Next {
    Go,
    Jump(i64),
    Done,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(
        memory: Memory<'a>,
        callees: &'a [Callee],
        constants: &'a [(u64, Region)],
        limit: u64,
    ) -> Self {
        Self {
            memory,
            callees,
            constants,
            steps: 0,
            limit,
            calls: 0,
            general: [Value::Undefined; 16],
            vectors: [[Label::NOTHING; 16]; 32],
            flags: Flags::Undefined,
        }
    }

    /// Calls the function at `entry` with the table of buffers, a chunk and a number of chunks;
    /// its result.
    pub(crate) fn call(
        &mut self,
        program: &mut Program<'_>,
        entry: usize,
        chunk: u64,
        chunks: u64,
    ) -> Result<u64, Unproved> {
        self.forget_registers();
        for (register, _) in KEPT {
            self.general[register] = Value::Kept(register as u8);
        }
        self.general[RSP] = Value::Pointer(self.memory.enter());
        self.general[RDI] = Value::Pointer(Pointer {
            region: Region::Table,
            offset: 0,
            sum: Symbol::KNOWN,
        });
        self.general[RSI] = Value::known(chunk);
        self.general[RDX] = Value::known(chunks);
        let mut at = entry as i64;
        loop {
            self.count(1)?;
            let instruction = program.get(at)?;
            let next = self.step(&instruction).map_err(|stop| {
                stop.at(Some(Site {
                    offset: at as usize,
                    instruction: instruction.to_string(),
                }))
            })?;
            at = match next {
                Next::Go => instruction.next_ip() as i64,
                Next::Jump(to) => to,
                Next::Done => return Ok(self.result()?),
            };
        }
    }

    /// Spends steps.
    pub(crate) fn count(&mut self, steps: u64) -> Result<(), Stop> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.limit {
            return Err(Limit::Steps { limit: self.limit }.into());
        }
        Ok(())
    }

    /// All that a function called may change.
    fn forget_registers(&mut self) {
        for (register, value) in self.general.iter_mut().enumerate() {
            if register != RSP && !KEPT.iter().any(|(kept, _)| *kept == register) {
                *value = Value::Undefined;
            }
        }
        self.vectors = [[Label::NOTHING; 16]; 32];
        self.flags = Flags::Undefined;
    }

    fn result(&self) -> Result<u64, Stop> {
        for (register, name) in KEPT {
            match self.general[register] {
                Value::Kept(which) if usize::from(which) == register => {}
                _ => return Err(Kind::NotKept { register: name }.into()),
            }
        }
        match self.general[RAX] {
            Value::Number(number) => Ok(number.bits),
            other => Err(other.unexpected("a status")),
        }
    }

    fn step(&mut self, i: &Instruction) -> Result<Next, Stop> {
        match i.mnemonic() {
            Mnemonic::Jmp | Mnemonic::Ret | Mnemonic::Call | Mnemonic::Push | Mnemonic::Pop => {
                return self.transfer(i);
            }
            Mnemonic::Nop => return Ok(Next::Go),
            _ => {}
        }
        if i.is_jcc_short_or_near() {
            let (holds, cause) = self.condition(i.condition_code())?;
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
                region: Region::Code,
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

    pub(crate) fn pointer(&self, register: usize) -> Result<Pointer, Stop> {
        match self.general[register] {
            Value::Pointer(pointer) => Ok(pointer),
            other => Err(Kind::Value {
                what: other.what().to_owned(),
                wanted: "an address",
            }
            .into()),
        }
    }

    /// The arguments of a call, in order.
    pub(crate) fn argument(&self, number: usize) -> Value {
        self.general[[RDI, RSI, RDX, RCX][number.min(3)]]
    }

    pub(crate) fn argument_pointer(&self, number: usize) -> Result<Pointer, Stop> {
        self.pointer([RDI, RSI, RDX, RCX][number.min(3)])
    }

    /// What a called function leaves behind.
    pub(crate) fn after_call(&mut self, result: Option<Value>) -> Result<(), Stop> {
        let top = self.pointer(RSP)?.offset;
        self.memory.forget_below(top);
        self.forget_registers();
        if let Some(result) = result {
            self.general[RAX] = result;
        }
        Ok(())
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
