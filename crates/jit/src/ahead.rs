//! Kernels for machines that need not be this one: one function each, which brings its constants along
//! and refers to nothing else.

use cranelift_codegen::binemit::{Addend, Reloc};
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::ExternalName;
use cranelift_codegen::{FinalizedMachReloc, FinalizedRelocTarget};
use cranelift_frontend::FunctionBuilder;
use restride_loops::{BufferId, Kernel, Role, ScratchLayout, Standalone, Stmt, Verified};
use restride_moves::Features;
use target_lexicon::Triple;

use crate::attach::Attachments;
use crate::compiler::{CompileOptions, Compiler, calls_anything};
use crate::emit::{Emitter, Statuses, signature};
use crate::error::JitError;
use crate::isa::{self, Paranoia};
use crate::memory::CodeMemory;

/// How much code a statement may have, as a part of this.
const ROOM: usize = 1 << 14;

/// The most instructions that a function may have, as Cranelift counts them.
const MOST: usize = 1 << 18;

/// Constants are aligned to this.
const CONSTANT: usize = 16;

impl Compiler {
    /// A compiler of [`Standalone`] functions for a machine that need not be this one.
    pub fn for_machine(triple: &Triple, features: Features) -> Result<Self, JitError> {
        let options = CompileOptions {
            features,
            instructions: MOST,
            memory: CodeMemory::Module,
            paranoia: Paranoia {
                verifier: true,
                regalloc: false,
            },
            contracts: false,
            planner: None,
            self_contained: true,
        };
        let isa = isa::target(triple, features, options.paranoia)?;
        Ok(Self::with(isa, options))
    }

    /// A kernel as a function that needs nothing of this process. The same kernel gives the same bytes
    /// wherever it is compiled.
    pub fn standalone(&mut self, kernel: &Verified) -> Result<Standalone, JitError> {
        self.guarded(|compiler| compiler.make_standalone(kernel))
    }

    fn make_standalone(&mut self, kernel: &Verified) -> Result<Standalone, JitError> {
        let limit = self.instructions;
        let statements = kernel.statements();
        if statements > limit / 8 {
            return Err(JitError::TooLarge { limit });
        }
        if statuses(kernel) > i32::MAX as u32 {
            return Err(JitError::Internal("a check whose code is no int".into()));
        }
        let large = || JitError::Internal("scratch of more bytes than there are".into());
        let scratch = kernel.scratch_layout(Standalone::ALIGN).ok_or_else(large)?;
        self.emit_whole(kernel, &scratch, ROOM / statements.max(1))?;
        let mut control = ControlPlane::default();
        let function = self
            .context
            .compile(&*self.isa, &mut control)
            .map_err(|error| JitError::Internal(format!("{:?}", error.inner)))?;
        let mut bytes = function.buffer.data().to_vec();
        let code = bytes.len();
        let relocations = function.buffer.relocs().to_vec();
        let constants = append_constants(kernel, &mut bytes);
        let names = &self.context.func.params;
        let mut resolver = Resolver {
            bytes: &mut bytes,
            pair: None,
        };
        for relocation in &relocations {
            let target = match &relocation.target {
                FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => {
                    let number = BufferId(names.user_named_funcs()[*name].index);
                    let mut known = constants.iter();
                    known.find(|(id, _)| *id == number).map(|(_, at)| *at)
                }
                FinalizedRelocTarget::ExternalName(_) | FinalizedRelocTarget::Func(_) => None,
            };
            resolver.resolve(relocation, target)?;
        }
        Ok(Standalone {
            bytes,
            code,
            constants,
            scratch: scratch.bytes,
        })
    }

    /// Makes the intermediate code.
    fn emit_whole(
        &mut self,
        kernel: &Verified,
        scratch: &ScratchLayout,
        room: usize,
    ) -> Result<(), JitError> {
        let mut attachments = Attachments::new(self.planner.clone(), false);
        self.context.clear();
        self.context.func.signature = signature(&*self.isa);
        let machine = self.machine()?;
        Emitter::new(
            FunctionBuilder::new(&mut self.context.func, &mut self.functions),
            kernel,
            &mut attachments,
            machine,
            Some(room),
            Statuses::Codes,
            self.instructions,
        )
        .whole(scratch)?;
        match calls_anything(&self.context.func) {
            true => Err(JitError::Internal("self-contained code has a call".into())),
            false => Ok(()),
        }
    }
}

/// The largest status of a kernel's function.
fn statuses(kernel: &Kernel) -> u32 {
    let mut largest = 0;
    kernel.visit(|stmt| {
        if let Stmt::Check { code, .. } = stmt {
            largest = largest.max(code.saturating_add(1));
        }
    });
    largest
}

/// Puts the constants of a kernel behind its code; where each begins.
fn append_constants(kernel: &Kernel, bytes: &mut Vec<u8>) -> Vec<(BufferId, usize)> {
    let mut places = Vec::new();
    for (id, buffer) in kernel.numbered() {
        if let Role::Const(constant) = &buffer.role {
            bytes.resize(bytes.len().next_multiple_of(CONSTANT), 0);
            places.push((id, bytes.len()));
            bytes.extend_from_slice(constant);
        }
    }
    places
}

/// Writes distances into the instructions that need them, all of which are known.
struct Resolver<'a> {
    bytes: &'a mut [u8],
    /// The first of two instructions that say a distance together: where it is, and the distance from it.
    pair: Option<(usize, i64)>,
}

impl Resolver<'_> {
    /// `target` is where the constant begins that is meant; nothing for what names no constant.
    fn resolve(
        &mut self,
        relocation: &FinalizedMachReloc,
        target: Option<usize>,
    ) -> Result<(), JitError> {
        let at = relocation.offset as usize;
        let pair = self.pair.take();
        let resolved = match (relocation.kind, target) {
            (Reloc::X86CallPCRel4, Some(target)) => {
                distance(at, target, relocation.addend).and_then(|by| self.set(at, by as u32))
            }
            // A page would have to be known from elsewhere: the address of the instruction itself, plus so
            // many bytes, does as well.
            (Reloc::Aarch64AdrPrelPgHi21, Some(target)) => distance(at, target, relocation.addend)
                .and_then(|by| {
                    self.pair = Some((at, by));
                    let (low, register) = (by as u32 & 0xfff, self.get(at)? & 0x1f);
                    self.set(at, 0x1000_0000 | (low & 3) << 29 | low >> 2 << 5 | register)
                }),
            // And here so many times 4096 bytes.
            (Reloc::Aarch64AddAbsLo12Nc, Some(_)) => pair.and_then(|(first, by)| {
                let pages = u32::try_from(by >> 12).ok().filter(|it| *it < 1 << 12)?;
                let word = self.get(at).filter(|_| at == first + 4)?;
                self.set(at, word | 1 << 22 | pages << 10)
            }),
            (Reloc::RiscvPCRelHi20, Some(target)) => distance(at, target, relocation.addend)
                .and_then(|by| {
                    self.pair = Some((at, by));
                    let word = self.get(at)?;
                    self.set(at, word | (by as u32).wrapping_add(0x800) & 0xffff_f000)
                }),
            (Reloc::RiscvPCRelLo12I, None) => pair.and_then(|(first, by)| {
                let word = self.get(at).filter(|_| at == first + 4)?;
                self.set(at, word | (by as u32) << 20)
            }),
            _ => None,
        };
        resolved.ok_or_else(|| JitError::Internal(format!("cannot resolve {relocation:?}")))
    }

    fn get(&self, at: usize) -> Option<u32> {
        let word = self.bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes(word.try_into().ok()?))
    }

    fn set(&mut self, at: usize, word: u32) -> Option<()> {
        let place = self.bytes.get_mut(at..at + 4)?;
        place.copy_from_slice(&word.to_le_bytes());
        Some(())
    }
}

/// How far it is from an instruction to what lies behind it, if 31 bits can say it.
fn distance(at: usize, target: usize, addend: Addend) -> Option<i64> {
    let by = i64::try_from(target).ok()? - i64::try_from(at).ok()? + addend;
    (0..1 << 31).contains(&by).then_some(by)
}
