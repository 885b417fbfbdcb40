//! The engine: compiles graphs, shares kernels, remembers specialisations.

use crate::cache::Cache;
use crate::code::{RunnableKernel, Runner};
use crate::config::Code;
use crate::jit::Jit;
use crate::registry::Registry;
use crate::template::{InputShape, Template};
use crate::{CompileError, Config, Options, Program};
use restride_exec::{Executable, keeps_pace};
use restride_graph::Graph;
use restride_jit::{Generation, PerProcess, watch_forks};
use restride_loops::Verified;
use rustc_hash::FxBuildHasher;
use std::convert::Infallible;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Compiles and remembers. Cheap to clone; all clones share one cache. Two engines share nothing.
///
/// No thread is started except under [`Code::Background`], nothing is printed and no environment
/// variable is read. Memory stays within the bounds of the [`Config`], however many shapes pass.
///
/// After a `fork` the child's copy begins again with an empty cache, so that it never waits for a
/// thread that only its parent has. Programs that it inherits run on.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    options: Options,
    shares: PerProcess<Generation, Share>,
}

/// What an engine has in one process.
struct Share {
    jit: Arc<Jit>,
    programs: Cache<Program>,
    /// Those that are alive, so that equal ones share their code.
    kernels: Registry<RunnableKernel>,
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
    /// Kernels whose machine code did something that [`Config::verify`] has no model of. It is used,
    /// as what is over the limit is.
    pub not_understood: u64,
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
            budget: config.budget,
            machine: config.machine.clone(),
            form: config.form,
        };
        watch_forks();
        let inner = Inner {
            shares: PerProcess::new(),
            options,
            config,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// What this process has of it, begun if there is nothing yet.
    #[inline]
    fn share(&self) -> &Share {
        match self.inner.shares.get() {
            Some(share) => share,
            None => self.begin(),
        }
    }

    #[cfg(test)]
    pub(crate) fn jit(&self) -> &Arc<Jit> {
        &self.share().jit
    }

    #[cold]
    fn begin(&self) -> &Share {
        let config = &self.inner.config;
        let begun = self.inner.shares.get_or_begin(|| {
            Ok::<_, Infallible>(Share {
                jit: Arc::new(Jit::new(config.features, config.memory, config.verify)),
                programs: Cache::new(config.cache_entries, config.cache_bytes),
                kernels: Registry::new(),
            })
        });
        match begun {
            Ok(share) => share,
            Err(never) => match never {},
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
        self.program(graph, || self.inner.config.code)
    }

    /// The program of a template for these input shapes: a lookup if they have been seen.
    ///
    /// The first [`Config::shapes_per_template`] shapes are compiled to machine code when they
    /// are first seen. Later ones run generically until [`Config::calls_to_settle`] calls have
    /// asked for them, so that a model whose shapes never repeat does not spend its time
    /// compiling. The call that settles compiles, under [`Code::Background`] it only says so; no
    /// other lookup waits for any compile, and no call does.
    #[inline]
    pub fn specialise(
        &self,
        template: &Template,
        inputs: &[InputShape<'_>],
    ) -> Result<Program, CompileError> {
        let key = template.key(inputs);
        match self.share().programs.get(&key) {
            Some(program) => {
                if program.asked() == self.inner.config.calls_to_settle {
                    self.improve(&program.inner.kernel, self.inner.config.code);
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
        let share = self.share();
        let make = || {
            let graph = template.specialised(inputs)?;
            let code = || {
                let seen = template.inner.shapes.fetch_add(1, Ordering::Relaxed);
                if seen < self.inner.config.shapes_per_template {
                    return self.inner.config.code;
                }
                // The count stays where it is, so that it cannot come round to 0 again.
                template.inner.shapes.fetch_sub(1, Ordering::Relaxed);
                let over_budget = &share.jit.counts.over_budget;
                over_budget.fetch_add(1, Ordering::Relaxed);
                Code::Generic
            };
            self.program(&graph, code)
        };
        share.programs.get_or_make(key, make, Program::bytes)
    }

    /// A kernel and what runs it: the one that is alive if there is an equal one. Where two threads
    /// make equal ones at once, both get that of the first.
    pub(crate) fn runnable(
        &self,
        kernel: Verified,
        code: Code,
    ) -> Result<Arc<RunnableKernel>, CompileError> {
        let share = self.share();
        let hash = FxBuildHasher.hash_one(&*kernel);
        let same = |known: &RunnableKernel| *known.kernel() == kernel;
        if let Some(known) = share.kernels.find(hash, same) {
            self.improve(&known, code);
            return Ok(known);
        }
        let native = match code {
            Code::Native if gains_by_code(&kernel) => share.jit.compile(&kernel),
            Code::Native | Code::Background | Code::Generic => None,
        };
        let runner = match native {
            Some(native) => Runner::Native(native),
            None => Runner::Generic(Executable::new(
                &kernel,
                self.inner.config.features.leaves(),
            )?),
        };
        let made = Arc::new(RunnableKernel::new(kernel.clone(), runner));
        let made = share.kernels.find_or_add(hash, made, same);
        if code == Code::Background {
            self.improve(&made, code);
        }
        Ok(made)
    }

    /// Sees to machine code for a kernel that runs generically, where it gains by that.
    fn improve(&self, kernel: &Arc<RunnableKernel>, code: Code) {
        if code == Code::Generic || kernel.native().is_some() || !gains_by_code(kernel.kernel()) {
            return;
        }
        match code {
            Code::Generic => {}
            Code::Native => self.share().jit.improve(kernel),
            Code::Background => self.share().jit.improve_later(kernel),
        }
    }

    /// The machine code that this engine makes for a program, as text: the intermediate code and
    /// the assembly. Works for programs that run generically, too.
    pub fn listing(&self, program: &Program) -> Result<restride_jit::Listing, CompileError> {
        Ok(self.share().jit.listing(&program.inner.kernel)?)
    }

    /// What it has done and holds.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let count = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
        let share = self.share();
        let (entries, bytes) = share.programs.size();
        let (cache, jit) = (&share.programs.counts, &share.jit.counts);
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
            not_understood: count(&jit.not_understood),
            violations: count(&jit.violations),
            code_bytes: share.jit.code_bytes(),
        }
    }

    /// Forgets every specialisation. Programs that somebody holds live on.
    pub fn clear(&self) {
        self.share().programs.clear();
    }

    /// Ends the thread of [`Code::Background`], if there is one, and waits for the compile that is
    /// under way; what had to wait stays generic. A dropped engine leaves its thread to that compile,
    /// which then ends by itself and harms nobody, unless the library that restride is part of is
    /// unloaded meanwhile: call this before.
    pub fn stop_background(&self) {
        if let Some(thread) = self.share().jit.stop() {
            let _ = thread.join();
        }
    }
}

/// Whether machine code makes a kernel faster: one that does nothing, as for a view, or nearly all
/// in a few leaves, has no use for it.
fn gains_by_code(kernel: &Verified) -> bool {
    kernel.phases.iter().any(|phase| !phase.is_empty()) && !keeps_pace(kernel)
}

impl Default for Engine {
    fn default() -> Self {
        Self::new(Config::default())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        drop(self.jit.stop());
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
