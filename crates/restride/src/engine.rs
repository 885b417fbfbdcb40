//! The engine: compiles graphs, shares kernels, remembers specialisations.

use crate::cache::Cache;
use crate::code::RunnableKernel;
use crate::config::Code;
use crate::jit::Jit;
use crate::template::{InputShape, Template};
use crate::{CompileError, Config, Options, Program};
use restride_graph::Graph;
use restride_loops::Verified;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher as _;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Compiles and remembers. Cheap to clone; all clones share one cache. Two engines share nothing.
///
/// No thread is started except under [`Code::Background`], nothing is printed and no environment
/// variable is read. Memory stays within the bounds of the [`Config`], however many shapes pass.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    options: Options,
    jit: Arc<Jit>,
    programs: Cache<Program>,
    kernels: Mutex<Kernels>,
}

/// Kernels that are alive, by their hash, so that equal ones share their code.
struct Kernels {
    alive: FxHashMap<u64, Weak<RunnableKernel>>,
    /// The number of entries at which those that have died are swept out.
    sweep_at: usize,
}

/// What an engine has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Specialisations answered from the cache.
    pub hits: u64,
    /// Specialisations that had to be compiled.
    pub misses: u64,
    /// Programs dropped to stay within the bounds.
    pub evictions: u64,
    /// Programs in the cache.
    pub entries: usize,
    /// Their estimated bytes.
    pub bytes: usize,
    /// Kernels compiled to machine code.
    pub compiled: u64,
    /// Kernels for which machine code was wanted and refused; they run generically.
    pub refused: u64,
    /// Programs that were given no machine code because their template had had its share.
    pub over_budget: u64,
    /// Kernels whose machine code was followed and proved, where [`Config::verify`] asks for it.
    pub proved: u64,
    /// Kernels whose machine code was over the limit of [`Config::verify`].
    pub unproved: u64,
    /// Kernels whose machine code was found to be wrong and refused.
    pub violations: u64,
    /// Bytes of machine code that are live in the arena.
    pub code_bytes: usize,
}

impl Engine {
    /// An engine. Nothing is allocated for code until the first kernel is compiled.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let options = Options {
            copy_views: config.copy_views,
            machine: config.machine.clone(),
            form: config.form,
        };
        let inner = Inner {
            jit: Arc::new(Jit::new(config.features, config.memory, config.verify)),
            programs: Cache::new(config.cache_entries, config.cache_bytes),
            kernels: Mutex::new(Kernels {
                alive: FxHashMap::default(),
                sweep_at: 64,
            }),
            options,
            config,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    /// The configuration it was made with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Compiles a graph for the shapes it has. Equal kernels share their code.
    pub fn compile(&self, graph: &Graph) -> Result<Program, CompileError> {
        let program = self.program(graph)?;
        self.make_code(&program, self.inner.config.code)?;
        Ok(program)
    }

    /// The program of a template for these input shapes: a lookup if they have been seen.
    ///
    /// The first [`Config::shapes_per_template`] shapes are compiled to machine code when they
    /// are first seen. Later ones run generically until [`Config::calls_to_settle`] calls have
    /// asked for them, so that a model whose shapes never repeat does not spend its time
    /// compiling.
    #[inline]
    pub fn specialise(
        &self,
        template: &Template,
        inputs: &[InputShape<'_>],
    ) -> Result<Program, CompileError> {
        let key = template.key(inputs);
        match self.inner.programs.get(&key) {
            Some(program) => {
                if program.asked() == self.inner.config.calls_to_settle {
                    self.make_code(&program, self.inner.config.code)?;
                }
                Ok(program)
            }
            None => self.specialise_anew(template, inputs, &key),
        }
    }

    #[cold]
    fn specialise_anew(
        &self,
        template: &Template,
        inputs: &[InputShape<'_>],
        key: &[i64],
    ) -> Result<Program, CompileError> {
        let make = || {
            let graph = template.specialised(inputs)?;
            let program = self.program(&graph)?;
            let seen = template.inner.shapes.fetch_add(1, Ordering::Relaxed);
            let code = if seen < self.inner.config.shapes_per_template {
                self.inner.config.code
            } else {
                // The count stays where it is, so that it cannot come round to 0 again.
                template.inner.shapes.fetch_sub(1, Ordering::Relaxed);
                self.inner
                    .jit
                    .counts
                    .over_budget
                    .fetch_add(1, Ordering::Relaxed);
                Code::Generic
            };
            self.make_code(&program, code)?;
            Ok(program)
        };
        self.inner.programs.get_or_make(key, make, Program::bytes)
    }

    /// A kernel that can be given code: the one that is alive if there is an equal one.
    pub(crate) fn runnable(&self, kernel: Verified) -> Result<Arc<RunnableKernel>, CompileError> {
        let mut kernels = self
            .inner
            .kernels
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let hash = FxBuildHasher.hash_one(&*kernel);
        let known = kernels.alive.get(&hash).and_then(Weak::upgrade);
        if let Some(alive) = known.filter(|known| **known.kernel() == *kernel) {
            return Ok(alive);
        }
        if kernels.alive.len() >= kernels.sweep_at {
            kernels.alive.retain(|_, weak| weak.strong_count() > 0);
            kernels.sweep_at = kernels.alive.len() * 5 / 4 + 64;
        }
        let made = Arc::new(RunnableKernel::new(kernel));
        kernels.alive.insert(hash, Arc::downgrade(&made));
        Ok(made)
    }

    fn make_code(&self, program: &Program, code: Code) -> Result<(), CompileError> {
        let kernel = &program.inner.kernel;
        if program.is_view() || kernel.native().is_some() {
            return Ok(());
        }
        let generic = || kernel.ensure_generic(self.inner.config.features.leaves());
        match code {
            Code::Generic => generic(),
            Code::Native if self.inner.jit.compile(kernel) => Ok(()),
            Code::Native => generic(),
            Code::Background => {
                generic()?;
                self.inner.jit.clone().compile_later(kernel);
                Ok(())
            }
        }
    }

    /// The machine code that this engine makes for a program, as text: the intermediate code and
    /// the assembly. Works for programs that run generically, too.
    pub fn listing(&self, program: &Program) -> Result<restride_jit::Listing, CompileError> {
        Ok(self.inner.jit.listing(&program.inner.kernel)?)
    }

    /// What it has done and holds.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let count = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
        let (entries, bytes) = self.inner.programs.size();
        let (cache, jit) = (&self.inner.programs.counts, &self.inner.jit.counts);
        Stats {
            hits: count(&cache.hits),
            misses: count(&cache.misses),
            evictions: count(&cache.evictions),
            entries,
            bytes,
            compiled: count(&jit.compiled),
            refused: count(&jit.refused),
            over_budget: count(&jit.over_budget),
            proved: count(&jit.proved),
            unproved: count(&jit.unproved),
            violations: count(&jit.violations),
            code_bytes: self.inner.jit.code_bytes(),
        }
    }

    /// Forgets every specialisation. Programs that somebody holds live on.
    pub fn clear(&self) {
        self.inner.programs.clear();
    }
}

impl Default for Engine {
    fn default() -> Self {
        Self::new(Config::default())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.jit.stop();
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
