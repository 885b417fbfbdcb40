//! The engine's code generators: one for every thread that needs one, and one behind them.

use crate::code::{Failed, RunnableKernel};
use crate::config::{Code, Config, Memory};
use crate::engine::Counts;
use crate::guard::{Point, guarded, point};
use crate::worker::Worker;
pub(crate) use restride_jit::NativeKernel;
use restride_jit::{ArenaOptions, BadIndex, CodeArena, CodeMemory, CompileOptions, Compiler};
#[cfg(feature = "unstable")]
use restride_jit::{JitError, Listing};
use restride_loops::Verified;
use restride_moves::Planner;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

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

/// So many compilers are kept for later; more of them may be at work.
const IDLE: usize = 4;

/// A compiler that has made more code than this is not kept: it would keep its memory, too.
const LARGE: usize = 64 << 10;

pub(crate) struct Jit {
    space: CodeSpace,
    #[cfg(feature = "verify")]
    verify: Option<u64>,
    planner: Arc<Planner>,
    self_contained: bool,
    /// Those that nobody uses. Not locked while code is made.
    idle: Mutex<Vec<Compiler>>,
    worker: Worker<RunnableKernel>,
    pub(crate) counts: Counts,
}

impl Jit {
    pub(crate) fn new(config: &Config, planner: Arc<Planner>) -> Self {
        Self {
            planner,
            self_contained: config.code == Code::SelfContained,
            space: CodeSpace::new(config.memory),
            #[cfg(feature = "verify")]
            verify: config.verify,
            idle: Mutex::new(Vec::new()),
            worker: Worker::new(),
            counts: Counts::default(),
        }
    }

    fn compile_options(&self) -> CompileOptions {
        let mut options = CompileOptions::default();
        options.features = self.planner.features();
        options.memory = self.space.memory.clone();
        #[cfg(feature = "verify")]
        {
            options.contracts = self.verify.is_some();
        }
        options.planner = Some(Arc::clone(&self.planner));
        options.self_contained = self.self_contained;
        options
    }

    /// The code of a kernel as text.
    #[cfg(feature = "unstable")]
    pub(crate) fn listing(&self, kernel: &RunnableKernel) -> Result<Listing, JitError> {
        Compiler::new(self.compile_options())?.listing(kernel.kernel())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Compiler>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Machine code for a kernel, for so many units of work; nothing where it is refused. Others may
    /// do so at the same time.
    pub(crate) fn compile(&self, kernel: &Verified, work: u64) -> Option<NativeKernel> {
        let native = self.generate(kernel, work);
        let count = match native {
            Some(_) => &self.counts.compiled,
            None => &self.counts.refused,
        };
        count.fetch_add(1, Ordering::Relaxed);
        native
    }

    fn generate(&self, kernel: &Verified, work: u64) -> Option<NativeKernel> {
        let idle = self.idle().pop();
        let mut compiler = match idle {
            Some(compiler) => compiler,
            None => Compiler::new(self.compile_options()).ok()?,
        };
        let made = guarded(|| {
            point(Point::Code(kernel));
            compiler.compile_within(kernel, work)
        });
        // A compiler that panicked is not used again.
        let native = made.ok()?.ok();
        if native.as_ref().is_none_or(|it| it.code_bytes() <= LARGE) {
            let mut idle = self.idle();
            if idle.len() < IDLE {
                idle.push(compiler);
            }
        }
        native.filter(|native| self.may_run(kernel, native))
    }

    /// Gives a kernel machine code, unless it has some or somebody is at it.
    pub(crate) fn improve(&self, kernel: &RunnableKernel) {
        kernel.improve(|| self.compile(kernel.kernel(), u64::MAX));
    }

    /// Whether machine code is not known to be wrong.
    #[cfg(not(feature = "verify"))]
    fn may_run(&self, _: &Verified, _: &NativeKernel) -> bool {
        true
    }

    /// Whether machine code is not known to be wrong. Only x86-64 and A64 code can be followed.
    #[cfg(feature = "verify")]
    fn may_run(&self, kernel: &Verified, native: &NativeKernel) -> bool {
        use restride_check::{CallForm, CodeSubject, Limits, Processor, Unproved, check};
        let Some(steps) = self.verify else {
            return true;
        };
        let Some(processor) = Processor::host() else {
            self.counts.unproved.fetch_add(1, Ordering::Relaxed);
            return true;
        };
        let phases: Vec<usize> = native.phase_offsets().collect();
        let subject = CodeSubject {
            processor,
            code: native.code(),
            form: CallForm::Phases(&phases),
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

    /// The same by and by, if anybody still wants it then.
    pub(crate) fn improve_later(self: &Arc<Self>, kernel: &Arc<RunnableKernel>) {
        let jit = Arc::downgrade(self);
        self.worker.push(kernel, move |kernel| {
            if let Some(jit) = jit.upgrade() {
                jit.improve(kernel);
            }
        });
    }

    /// Ends the thread, if there is one, after what it is compiling. It holds what it needs; who
    /// cannot leave it alone may wait for it.
    pub(crate) fn stop(&self) -> Option<JoinHandle<()>> {
        self.worker.stop()
    }

    pub(crate) fn code_bytes(&self) -> usize {
        self.space
            .arena
            .as_ref()
            .map_or(0, |arena| arena.stats().live_bytes)
    }
}

impl From<restride_jit::RunError> for Failed {
    fn from(error: restride_jit::RunError) -> Self {
        let restride_jit::RunError::Check { code, found } = error;
        let at = match found {
            BadIndex::At { position, value } => Some((position, value)),
            BadIndex::Changed => None,
        };
        Self::Check(code, at)
    }
}
