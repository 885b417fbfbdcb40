//! From a verified kernel to installed code.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use restride_leaves::stack_left;
use restride_loops::Verified;
use restride_moves::{Features, Planner, Target};
use smallvec::SmallVec;
use target_lexicon::Triple;

use crate::attach::Attachments;
use crate::cpu;
use crate::emit::{Emitter, Statuses, signature};
use crate::error::JitError;
use crate::isa::{self, Paranoia};
use crate::kernel::NativeKernel;
use crate::listing::Listing;
use crate::memory::{CODE_ALIGN, CodeMemory, Installer};

/// The bytes of stack that making machine code needs; on a thread that has fewer left, it is
/// refused. No kernel is known to take more than 73 KiB, and 350 without optimisation.
pub const CODE_STACK: usize = if cfg!(debug_assertions) {
    512 << 10
} else {
    96 << 10
};

fn enough_stack() -> Result<(), JitError> {
    match stack_left() {
        Some(left) if left < CODE_STACK => Err(JitError::StackTooSmall {
            need: CODE_STACK,
            left,
        }),
        Some(_) | None => Ok(()),
    }
}

/// What a compiler is made with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompileOptions {
    /// What inline code and leaves may use; by default what the machine has.
    pub features: Features,
    /// Where code goes.
    pub memory: CodeMemory,
    /// The most instructions, as Cranelift counts them, that a kernel may have (16,384).
    pub instructions: usize,
    /// Self-checks, off by default.
    pub paranoia: Paranoia,
    /// Whether kernels remember what the functions that they call do, for a checker of their
    /// code; off by default.
    pub contracts: bool,
    /// Who plans moves, if for these features; by default the compiler has a planner of its own.
    pub planner: Option<Arc<Planner>>,
    /// Whether code does everything itself, without calls of precompiled leaves or anything else; off
    /// by default.
    pub self_contained: bool,
}

impl Default for CompileOptions {
    fn default() -> Self {
        Self {
            features: Features::detect(),
            memory: CodeMemory::auto(),
            instructions: 1 << 14,
            paranoia: Paranoia::default(),
            contracts: false,
            planner: None,
            self_contained: false,
        }
    }
}

/// Turns kernels into native code, keeping what it needs from one to the next. It is `Send`; one
/// that is shared wants a lock around it.
pub struct Compiler {
    pub(crate) isa: OwnedTargetIsa,
    /// Too large to be moved about on a small stack.
    pub(crate) context: Box<Context>,
    pub(crate) functions: FunctionBuilderContext,
    installer: Installer,
    pub(crate) features: Features,
    pub(crate) instructions: usize,
    contracts: bool,
    pub(crate) planner: Arc<Planner>,
    self_contained: bool,
}

/// Units of work that an instruction takes at worst.
const INSTRUCTION: u64 = 8_000;

/// A kernel's phases, compiled and not installed.
pub(crate) struct Blob {
    pub(crate) bytes: Vec<u8>,
    /// Where each phase begins.
    pub(crate) phases: SmallVec<[usize; 2]>,
    pub(crate) attachments: Attachments,
}

impl Compiler {
    /// A compiler for this machine.
    pub fn new(options: CompileOptions) -> Result<Self, JitError> {
        enough_stack()?;
        if !options.features.is_available() {
            let message = format!("this machine lacks {:?}", options.features);
            return Err(JitError::Target(message));
        }
        Ok(Self::with(
            isa::target(&Triple::host(), options.features, options.paranoia)?,
            options,
        ))
    }

    pub(crate) fn with(isa: OwnedTargetIsa, options: CompileOptions) -> Self {
        let own = || Arc::new(Planner::new(&Target::with(options.features)));
        let shared = options.planner;
        let shared = shared.filter(|it| it.features() == options.features.available());
        Self {
            planner: shared.unwrap_or_else(own),
            isa,
            context: Box::new(Context::new()),
            functions: FunctionBuilderContext::new(),
            installer: Installer::new(options.memory),
            features: options.features,
            instructions: options.instructions,
            contracts: options.contracts,
            self_contained: options.self_contained,
        }
    }

    /// Compiles a kernel and installs its code.
    pub fn compile(&mut self, kernel: &Verified) -> Result<NativeKernel, JitError> {
        self.compile_within(kernel, u64::MAX)
    }

    /// As [`Compiler::compile`], if it takes no more than so many units of work, which are
    /// nanoseconds of a server's core.
    pub fn compile_within(
        &mut self,
        kernel: &Verified,
        work: u64,
    ) -> Result<NativeKernel, JitError> {
        let begun = Instant::now();
        let most = usize::try_from(work / INSTRUCTION).unwrap_or(usize::MAX);
        let all = self.instructions;
        self.instructions = all.min(most);
        let blob = self.guarded(|compiler| compiler.generate(kernel, &mut None));
        self.instructions = all;
        let blob = blob?;
        let code = self.installer.install(&blob.bytes, &self.isa)?;
        Ok(NativeKernel::new(kernel, blob, code, begun))
    }

    /// Both [`Compiler::compile`] and [`Compiler::listing`]: the addresses in the text are those
    /// of the code that is installed.
    pub fn compile_and_list(
        &mut self,
        kernel: &Verified,
    ) -> Result<(NativeKernel, Listing), JitError> {
        let begun = Instant::now();
        let mut listing = Some(Listing::default());
        let blob = self.guarded(|compiler| compiler.generate(kernel, &mut listing))?;
        let listing = listing.unwrap_or_default().of(&blob);
        let code = self.installer.install(&blob.bytes, &self.isa)?;
        let native = NativeKernel::new(kernel, blob, code, begun);
        Ok((native, listing))
    }

    /// The intermediate and machine code of a kernel, as text; nothing is installed.
    pub fn listing(&mut self, kernel: &Verified) -> Result<Listing, JitError> {
        let mut listing = Some(Listing::default());
        let blob = self.guarded(|compiler| compiler.generate(kernel, &mut listing))?;
        Ok(listing.unwrap_or_default().of(&blob))
    }

    /// As [`Compiler::listing`], for a machine that need not be this one: of code that calls nothing,
    /// since precompiled leaves are this machine's.
    pub fn listing_for(
        triple: &Triple,
        features: Features,
        kernel: &Verified,
    ) -> Result<Listing, JitError> {
        let mut compiler = Self::for_machine(triple, features)?;
        compiler.instructions = usize::MAX;
        compiler.listing(kernel)
    }

    /// Turns a panic of the code generator into an error, and starts afresh after one.
    pub(crate) fn guarded<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, JitError>,
    ) -> Result<T, JitError> {
        enough_stack()?;
        let result = catch_unwind(AssertUnwindSafe(|| work(self)));
        let failed = !matches!(result, Ok(Ok(_)));
        if failed {
            // Whatever was under construction is not to be seen by the next kernel.
            *self.context = Context::new();
            self.functions = FunctionBuilderContext::new();
        }
        result.unwrap_or_else(|panic| {
            let message = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_else(|| "panic without a message".to_owned());
            Err(JitError::Internal(message))
        })
    }

    /// What code is generated for.
    pub(crate) fn machine(&self) -> Result<cpu::Machine, JitError> {
        let triple = self.isa.triple();
        let unknown = || JitError::Target(format!("there is no code for {triple}"));
        Ok(cpu::Machine {
            processor: cpu::processor(triple).ok_or_else(unknown)?,
            features: self.features,
        })
    }

    /// All phases, one after the other, each on a cache line of its own.
    fn generate(
        &mut self,
        kernel: &Verified,
        listing: &mut Option<Listing>,
    ) -> Result<Blob, JitError> {
        let mut blob = Blob {
            bytes: Vec::new(),
            phases: SmallVec::new(),
            attachments: Attachments::new(Arc::clone(&self.planner), self.contracts),
        };
        let limit = self.instructions;
        if kernel.statements() > limit / 8 {
            return Err(JitError::TooLarge { limit });
        }
        let (mut checks, mut left) = (0, limit);
        let room = self
            .self_contained
            .then(|| limit / kernel.statements().max(1));
        let machine = self.machine()?;
        for stmts in &kernel.phases {
            self.context.clear();
            self.context.set_disasm(listing.is_some());
            self.context.func.signature = signature(&*self.isa);
            let builder = FunctionBuilder::new(&mut self.context.func, &mut self.functions);
            Emitter::new(
                builder,
                kernel,
                &mut blob.attachments,
                machine,
                room,
                Statuses::Numbers(&mut checks),
                left,
            )
            .phase(stmts)
            .map_err(|error| match error {
                JitError::TooLarge { .. } => JitError::TooLarge { limit },
                other => other,
            })?;
            if self.self_contained && calls_anything(&self.context.func) {
                return Err(JitError::Internal("self-contained code has a call".into()));
            }
            left = left.saturating_sub(self.context.func.dfg.num_insts());
            if let Some(listing) = listing {
                listing.add_clif(&self.context.func);
            }
            let mut control = ControlPlane::default();
            let code = self
                .context
                .compile(&*self.isa, &mut control)
                .map_err(|error| JitError::Internal(format!("{:?}", error.inner)))?;
            if !code.buffer.relocs().is_empty() {
                let message = format!("relocations: {:?}", code.buffer.relocs());
                return Err(JitError::Internal(message));
            }
            blob.bytes
                .resize(blob.bytes.len().next_multiple_of(CODE_ALIGN), 0xcc);
            blob.phases.push(blob.bytes.len());
            blob.bytes.extend_from_slice(code.buffer.data());
            if let Some(listing) = listing {
                listing.add_code(code);
            }
        }
        Ok(blob)
    }
}

/// Whether a function has an instruction that goes elsewhere. What the code generator would call by
/// itself shows as a relocation, of which there must be none at all.
pub(crate) fn calls_anything(function: &Function) -> bool {
    let blocks = function.layout.blocks();
    let mut all = blocks.flat_map(|block| function.layout.block_insts(block));
    all.any(|inst| function.dfg.insts[inst].opcode().is_call())
}

impl core::fmt::Debug for Compiler {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Compiler")
            .field("target", &self.isa.triple().to_string())
            .field("features", &self.features)
            .field("installer", &self.installer)
            .finish_non_exhaustive()
    }
}
