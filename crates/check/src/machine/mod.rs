//! A processor, as far as generated code uses it: registers and what calls do, whichever kind it is
//! of. What instructions there are is the kinds' business.

mod a64;
mod flags;
mod lanes;
mod values;
mod x86;

use std::ops::Range;

use restride_leaves::Callee;

use crate::label::Label;
use crate::memory::{CarriedLabels, CheckedMemory};
use crate::value::{Area, Pointer, Value};
use crate::violation::{Kind, Limit, Site, Stop, Unproved};
use flags::Flags;

/// A kind of processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Processor {
    /// 64-bit code of Intel and AMD, called by the System V convention.
    X86,
    /// The 64-bit code of Arm.
    A64,
}

impl Processor {
    /// The kind of this machine, if it is one of them.
    #[must_use]
    pub const fn host() -> Option<Self> {
        if cfg!(target_arch = "x86_64") {
            Some(Self::X86)
        } else if cfg!(target_arch = "aarch64") {
            Some(Self::A64)
        } else {
            None
        }
    }
}

/// How functions are called.
struct Convention {
    /// Registers that a function gives back as they were.
    kept: &'static [(usize, &'static str)],
    /// Vectors whose first eight bytes it gives back.
    kept_vectors: Range<usize>,
    arguments: [usize; 4],
    result: usize,
    stack: usize,
    /// Where to go on is in this register at entry, or on the stack.
    link: Option<usize>,
}

/// A piece of code, decoded as it is met.
pub(crate) enum Instructions<'a> {
    X86(x86::X86Code<'a>),
    A64(a64::A64Code<'a>),
}

impl<'a> Instructions<'a> {
    pub(crate) fn new(processor: Processor, code: &'a [u8], entries: &[usize]) -> Self {
        match processor {
            Processor::X86 => Self::X86(x86::X86Code::new(code, entries)),
            Processor::A64 => Self::A64(a64::A64Code::new(code)),
        }
    }

    /// Looks at all that may be reached from some places, and refuses what cannot be code. What is not
    /// known to be generated is left to be found when it is executed.
    pub(crate) fn survey(self, entries: &[usize]) -> Result<(), Kind> {
        match self {
            Self::X86(program) => program.survey(entries),
            Self::A64(program) => program.survey(entries),
        }
    }

    /// Where the instructions begin that were decoded.
    pub(crate) fn decoded(&self) -> Vec<usize> {
        match self {
            Self::X86(program) => program.decoded().collect(),
            Self::A64(program) => program.decoded().collect(),
        }
    }

    /// An instruction that was executed and is none that was meant to be.
    pub(crate) fn astray(&self) -> Option<i64> {
        match self {
            Self::X86(program) => program.astray,
            Self::A64(_) => None,
        }
    }

    /// Executes what is at a place.
    fn step(&mut self, machine: &mut CodeRun<'_>, at: i64) -> Result<Next, Unproved> {
        let blame = |stop: Stop, instruction: String| {
            let offset = at as usize;
            let site = Site {
                offset,
                instruction,
            };
            stop.at(Some(site))
        };
        let (length, next) = match self {
            Self::X86(program) => {
                let i = program.get(at)?;
                let next = machine.execute_x86(&i);
                let next = next.map_err(|stop| blame(stop, i.to_string()))?;
                (i.len() as i64, next)
            }
            Self::A64(program) => {
                let i = program.get(at)?;
                let next = machine.execute_a64(at, i);
                let next = next.map_err(|stop| blame(stop, program.text(at)))?;
                (a64::LENGTH, next)
            }
        };
        Ok(match next {
            Next::Go => Next::Jump(at + length),
            next => next,
        })
    }
}

/// One call of generated code.
pub(crate) struct CodeRun<'a> {
    pub(crate) memory: CheckedMemory<'a>,
    pub(crate) callees: &'a [Callee],
    /// Where the kernel's constants are.
    pub(crate) constants: &'a [(u64, Area)],
    pub(crate) steps: u64,
    pub(crate) limit: u64,
    pub(crate) calls: u64,
    convention: &'static Convention,
    general: [Value; 32],
    vectors: [CarriedLabels; 32],
    flags: Flags,
}

/// What comes after an instruction.
pub(crate) enum Next {
    Go,
    Jump(i64),
    Done,
}

impl<'a> CodeRun<'a> {
    pub(crate) fn new(
        processor: Processor,
        memory: CheckedMemory<'a>,
        callees: &'a [Callee],
        constants: &'a [(u64, Area)],
        limit: u64,
    ) -> Self {
        let convention = match processor {
            Processor::X86 => &x86::CONVENTION,
            Processor::A64 => &a64::CONVENTION,
        };
        Self {
            memory,
            callees,
            constants,
            steps: 0,
            limit,
            calls: 0,
            convention,
            general: [Value::Undefined; 32],
            vectors: [[Label::NOTHING; 16]; 32],
            flags: Flags::Undefined,
        }
    }

    /// Calls the function at `entry`; its result.
    pub(crate) fn call(
        &mut self,
        program: &mut Instructions<'_>,
        entry: usize,
        arguments: [Value; 3],
    ) -> Result<u64, Unproved> {
        let convention = self.convention;
        self.forget_registers();
        for (register, _) in convention.kept {
            self.general[*register] = Value::Kept(*register as u8);
        }
        for register in convention.kept_vectors.clone() {
            self.vectors[register][..8].copy_from_slice(&kept_vector(register));
        }
        if let Some(link) = convention.link {
            self.general[link] = Value::Return;
        }
        let top = self.memory.enter(convention.link.is_none());
        self.general[convention.stack] = Value::Pointer(top);
        for (register, value) in convention.arguments.iter().zip(arguments) {
            self.general[*register] = value;
        }
        let mut at = entry as i64;
        loop {
            self.count(1)?;
            match program.step(self, at)? {
                Next::Go => {}
                Next::Jump(to) => at = to,
                Next::Done => return Ok(self.result()?),
            }
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
        let Convention {
            kept,
            kept_vectors,
            stack,
            ..
        } = self.convention;
        for (register, value) in self.general.iter_mut().enumerate() {
            if register != *stack && !kept.iter().any(|(kept, _)| *kept == register) {
                *value = Value::Undefined;
            }
        }
        for (register, lanes) in self.vectors.iter_mut().enumerate() {
            let from = if kept_vectors.contains(&register) {
                8
            } else {
                0
            };
            lanes[from..].fill(Label::NOTHING);
        }
        self.flags = Flags::Undefined;
    }

    fn result(&self) -> Result<u64, Stop> {
        for (register, name) in self.convention.kept {
            match self.general[*register] {
                Value::Kept(which) if usize::from(which) == *register => {}
                _ => return Err(Kind::NotKept { register: name }.into()),
            }
        }
        for register in self.convention.kept_vectors.clone() {
            if self.vectors[register][..8] != kept_vector(register) {
                let register = "a vector of the caller";
                return Err(Kind::NotKept { register }.into());
            }
        }
        match self.general[self.convention.result] {
            Value::Number(number) => Ok(number.bits),
            other => Err(other.unexpected("a status")),
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
        self.general[self.convention.arguments[number.min(3)]]
    }

    pub(crate) fn argument_pointer(&self, number: usize) -> Result<Pointer, Stop> {
        self.pointer(self.convention.arguments[number.min(3)])
    }

    /// What a called function leaves behind.
    pub(crate) fn after_call(&mut self, result: Option<Value>) -> Result<(), Stop> {
        let top = self.pointer(self.convention.stack)?.offset;
        self.memory.forget_below(top);
        self.forget_registers();
        if let Some(result) = result {
            self.general[self.convention.result] = result;
        }
        Ok(())
    }

    /// Writes a register; the stack pointer keeps pointing at the stack.
    fn set_general(&mut self, register: usize, value: Value) -> Result<(), Stop> {
        if register == self.convention.stack {
            match value {
                Value::Pointer(pointer) if pointer.region == Area::Stack => {
                    self.memory.set_floor(pointer.offset)?;
                }
                _ => {
                    return Err(Kind::Stack {
                        what: "the stack pointer leaves the stack",
                    }
                    .into());
                }
            }
        }
        self.general[register] = value;
        Ok(())
    }

    /// Refuses a call with a stack that is not aligned as the convention says.
    pub(crate) fn demand_aligned_stack(&self) -> Result<(), Stop> {
        if self.pointer(self.convention.stack)?.offset % 16 == 0 {
            Ok(())
        } else {
            Err(Kind::Stack {
                what: "a call with a stack that is not aligned",
            }
            .into())
        }
    }
}

/// What the first bytes of a vector hold at entry that a function gives back.
fn kept_vector(register: usize) -> [Label; 8] {
    std::array::from_fn(|byte| Label::kept(8 * register + byte))
}
