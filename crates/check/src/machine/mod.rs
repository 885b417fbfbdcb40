//! The processor, as far as generated code uses it.

mod flags;
mod integer;
mod transfer;
mod vector;

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use restride_leaves::Callee;

use crate::label::Label;
use crate::memory::{Lanes, Memory};
use crate::symbol::Symbol;
use crate::value::{Pointer, Region, Value};
use crate::violation::{Kind, Site, Violation};
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

/// Instructions of a piece of code, decoded once.
pub(crate) struct Program<'a> {
    code: &'a [u8],
    /// One more than the place in `known` of what begins at each byte; 0 if not decoded yet.
    at: Vec<u32>,
    known: Vec<Instruction>,
}

impl<'a> Program<'a> {
    pub(crate) fn new(code: &'a [u8]) -> Self {
        Self {
            code,
            at: vec![0; code.len()],
            known: Vec::new(),
        }
    }

    /// How many instructions were executed.
    pub(crate) fn executed(&self) -> impl Iterator<Item = usize> + '_ {
        self.known.iter().map(|known| known.ip() as usize)
    }

    fn get(&mut self, offset: i64) -> Result<Instruction, Kind> {
        let missing = Kind::NoCode { offset };
        let Ok(start) = usize::try_from(offset) else {
            return Err(missing);
        };
        let Some(slot) = self.at.get_mut(start) else {
            return Err(missing);
        };
        if let Some(known) = (*slot as usize).checked_sub(1) {
            return self.known.get(known).copied().ok_or(missing);
        }
        let bytes = self.code.get(start..).unwrap_or_default();
        let mut decoder = Decoder::with_ip(64, bytes, start as u64, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let strange = instruction.is_invalid()
            || instruction.has_lock_prefix()
            || instruction.has_rep_prefix()
            || instruction.has_repne_prefix()
            || instruction.has_op_mask()
            || instruction.is_broadcast()
            || instruction.segment_prefix() != Register::None;
        if strange {
            return Err(Kind::Unknown);
        }
        self.known.push(instruction);
        *slot = self.known.len() as u32;
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
    ) -> Result<u64, Violation> {
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
            let next = self.step(&instruction).map_err(|kind| Violation {
                kind: Box::new(kind),
                site: Some(Site {
                    offset: at as usize,
                    instruction: instruction.to_string(),
                }),
            })?;
            at = match next {
                Next::Go => instruction.next_ip() as i64,
                Next::Jump(to) => to,
                Next::Done => return Ok(self.result()?),
            };
        }
    }

    /// Spends steps.
    pub(crate) fn count(&mut self, steps: u64) -> Result<(), Kind> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.limit {
            return Err(Kind::Steps { limit: self.limit });
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

    fn result(&self) -> Result<u64, Kind> {
        for (register, name) in KEPT {
            match self.general[register] {
                Value::Kept(which) if usize::from(which) == register => {}
                _ => return Err(Kind::NotKept { register: name }),
            }
        }
        match self.general[RAX] {
            Value::Number(number) if number.is_known() => Ok(number.bits),
            other => Err(Kind::Value {
                what: other.what().to_owned(),
                wanted: "a status",
            }),
        }
    }

    fn step(&mut self, i: &Instruction) -> Result<Next, Kind> {
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
        Err(Kind::Unknown)
    }

    /// The address of a memory operand.
    fn address(&mut self, i: &Instruction) -> Result<Pointer, Kind> {
        match self.effective(i)? {
            Value::Pointer(pointer) => Ok(pointer),
            other => Err(Kind::NotAnAddress {
                what: other.what().to_owned(),
            }),
        }
    }

    /// The sum that a memory operand spells.
    fn effective(&mut self, i: &Instruction) -> Result<Value, Kind> {
        if i.is_ip_rel_memory_operand() {
            if i.memory_base() != Register::RIP {
                return Err(Kind::Unknown);
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

    pub(crate) fn pointer(&self, register: usize) -> Result<Pointer, Kind> {
        match self.general[register] {
            Value::Pointer(pointer) => Ok(pointer),
            other => Err(Kind::Value {
                what: other.what().to_owned(),
                wanted: "an address",
            }),
        }
    }

    /// The arguments of a call, in order.
    pub(crate) fn argument(&self, number: usize) -> Value {
        self.general[[RDI, RSI, RDX, RCX][number.min(3)]]
    }

    pub(crate) fn argument_pointer(&self, number: usize) -> Result<Pointer, Kind> {
        self.pointer([RDI, RSI, RDX, RCX][number.min(3)])
    }

    /// What a called function leaves behind.
    pub(crate) fn after_call(&mut self, result: Option<Value>) -> Result<(), Kind> {
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
fn general(register: Register) -> Result<usize, Kind> {
    if register.is_gpr64() {
        Ok(register.number())
    } else {
        Err(Kind::Unknown)
    }
}

/// The number and size of a general register that is not the second byte of one.
fn sized(register: Register) -> Result<(usize, usize), Kind> {
    match register {
        Register::AH | Register::BH | Register::CH | Register::DH => Err(Kind::Unknown),
        _ if register.is_gpr() => Ok((register.full_register().number(), register.size())),
        _ => Err(Kind::Unknown),
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
