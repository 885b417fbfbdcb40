//! The engine's code generator: one at a time, on the caller's thread or behind it.

use crate::code::RunnableKernel;
use crate::config::Memory;
use crate::guard::{Point, guarded, point};
use crate::worker::Worker;
use restride_check::{Limits, Subject, Unproved, check};
use restride_jit::{
    ArenaOptions, CodeArena, CodeMemory, CompileOptions, Compiler, Features, JitError, Listing,
    NativeKernel,
};
use restride_loops::Verified;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Counts since the engine was made.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) compiled: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) over_budget: AtomicU64,
    pub(crate) proved: AtomicU64,
    pub(crate) unproved: AtomicU64,
    pub(crate) not_understood: AtomicU64,
    pub(crate) violations: AtomicU64,
}

/// Where code goes, and the arena to count its bytes if it is one.
pub(crate) struct CodeSpace {
    memory: CodeMemory,
    arena: Option<Arc<CodeArena>>,
}

impl CodeSpace {
    pub(crate) fn new(memory: Memory) -> Self {
        let arena = || Arc::new(CodeArena::new(ArenaOptions::default()));
        match memory {
            Memory::Module => Self {
                memory: CodeMemory::Module,
                arena: None,
            },
            Memory::Arena => {
                let arena = arena();
                Self {
                    memory: CodeMemory::Arena(arena.clone()),
                    arena: Some(arena),
                }
            }
            Memory::Auto => {
                let arena = arena();
                Self {
                    memory: CodeMemory::ArenaOrModule(arena.clone()),
                    arena: Some(arena),
                }
            }
        }
    }
}

pub(crate) struct Jit {
    features: Features,
    space: CodeSpace,
    verify: Option<u64>,
    compiler: Mutex<Option<Compiler>>,
    worker: Worker<Weak<RunnableKernel>>,
    pub(crate) counts: Counts,
}

impl Jit {
    pub(crate) fn new(features: Features, memory: Memory, verify: Option<u64>) -> Self {
        Self {
            features,
            space: CodeSpace::new(memory),
            verify,
            compiler: Mutex::new(None),
            worker: Worker::new(),
            counts: Counts::default(),
        }
    }

    fn compile_options(&self) -> CompileOptions {
        let mut options = CompileOptions::default();
        options.features = self.features;
        options.memory = self.space.memory.clone();
        options.contracts = self.verify.is_some();
        options
    }

    /// The code of a kernel as text.
    pub(crate) fn listing(&self, kernel: &RunnableKernel) -> Result<Listing, JitError> {
        Compiler::new(self.compile_options())?.listing(kernel.kernel())
    }

    /// Gives a kernel machine code; false where it is refused.
    pub(crate) fn compile(&self, kernel: &RunnableKernel) -> bool {
        let mut compiler = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        if kernel.native().is_some() {
            return true;
        }
        if compiler.is_none() {
            *compiler = Compiler::new(self.compile_options()).ok();
        }
        // A compiler that panicked is not used again.
        let native = compiler.take().and_then(|mut usable| {
            let made = guarded(|| {
                point(Point::Code);
                usable.compile(kernel.kernel())
            });
            let made = made.ok()?;
            *compiler = Some(usable);
            made.ok()
                .filter(|native| self.may_run(kernel.kernel(), native))
        });
        match native {
            Some(native) => {
                kernel.set_native(native);
                self.counts.compiled.fetch_add(1, Ordering::Relaxed);
                true
            }
            None => {
                self.counts.refused.fetch_add(1, Ordering::Relaxed);
                false
            }
        }
    }

    /// Whether machine code is not known to be wrong. Only x86-64 code can be followed.
    fn may_run(&self, kernel: &Verified, native: &NativeKernel) -> bool {
        let Some(steps) = self.verify else {
            return true;
        };
        if !cfg!(target_arch = "x86_64") {
            self.counts.unproved.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        let phases: Vec<usize> = native.phase_offsets().collect();
        let subject = Subject {
            code: native.code(),
            phases: &phases,
            kernel,
            callees: native.callees(),
        };
        let mut limits = Limits::default();
        limits.steps = steps;
        let (count, may_run) = match check(&subject, &limits) {
            Ok(_) => (&self.counts.proved, true),
            Err(Unproved::Wrong(_)) => (&self.counts.violations, false),
            Err(Unproved::NotUnderstood { .. }) => (&self.counts.not_understood, true),
            Err(_) => (&self.counts.unproved, true),
        };
        count.fetch_add(1, Ordering::Relaxed);
        may_run
    }

    /// Gives a kernel machine code by and by, if anybody still wants it then.
    pub(crate) fn compile_later(self: &Arc<Self>, kernel: &Arc<RunnableKernel>) {
        let jit = Arc::downgrade(self);
        // Without a thread the kernel stays generic, which is correct if slow.
        self.worker
            .push(Arc::downgrade(kernel), move |kernel: Weak<_>| {
                if let (Some(jit), Some(kernel)) = (jit.upgrade(), kernel.upgrade()) {
                    jit.compile(&kernel);
                }
            });
    }

    /// Ends the thread, if there is one, after what it is compiling.
    pub(crate) fn stop(&self) {
        self.worker.stop();
    }

    pub(crate) fn code_bytes(&self) -> usize {
        self.space
            .arena
            .as_ref()
            .map_or(0, |arena| arena.stats().live_bytes)
    }
}
