//! The engine: compiles graphs, shares kernels, remembers specialisations.

use crate::cache::{Cache, Secret};
use crate::code::{RunnableKernel, Runner};
use crate::config::Code;
use crate::guard::guarded;
use crate::jit::Jit;
use crate::pipeline::Options;
use crate::registry::Registry;
use crate::scratch::Scratch;
use crate::template::{Family, InputShape, Key, Template, TemplateInner};
use crate::words::Words;
use crate::{CompileError, Config, Program};
use restride_exec::{Executable, code_pays_after};
use restride_graph::Graph;
use restride_loops::Verified;
use restride_moves::Planner;
use restride_process::{Generation, PerProcess, watch_forks};
use std::convert::Infallible;
use std::hash::Hash as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Compiles and remembers. Cheap to clone; all clones share one cache. Two engines share nothing.
///
/// No thread is started except under [`Code::Background`], nothing is printed and no environment
/// variable is read. Memory stays within the bounds of the [`Config`], however many shapes pass.
///
/// After a `fork` the child's copy begins again with an empty cache, so that it never waits for a
/// thread that only its parent has. Programs that it inherits run on.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<EngineInner>,
}

struct EngineInner {
    config: Config,
    options: Options,
    scratch: Arc<Scratch>,
    shares: PerProcess<Generation, Share>,
}

/// What an engine has in one process.
struct Share {
    /// What leaves are made from, by code and by generic runners alike.
    planner: Arc<Planner>,
    jit: Arc<Jit>,
    programs: Cache<Program>,
    /// What graphs are hashed with, twice: two that differ have the same key about once in 2^120 times,
    /// and nobody can choose them.
    secrets: [Secret; 2],
    /// Those that are alive, so that equal ones share their code.
    kernels: Registry<RunnableKernel>,
}

impl Share {
    /// The cache key of a graph: no template has the number 0.
    fn key(&self, graph: &Graph) -> [i64; 3] {
        let mut words = Words::default();
        graph.hash(&mut words);
        let [high, low] = self.secrets.each_ref().map(|secret| secret.hash(&words.0));
        [0, high as i64, low as i64]
    }

    /// What a program costs under a key.
    fn bytes(key: &[i64]) -> impl Fn(&Program) -> usize {
        // Tables are at most half empty, and the first entry of each makes room for four.
        let entry = 2 * size_of_val(key) + 512;
        move |program| program.bytes() + entry
    }
}

/// Counts since the engine was made.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) compiled: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) first_tier: AtomicU64,
    pub(crate) substituted: AtomicU64,
    pub(crate) settled: AtomicU64,
    pub(crate) proved: AtomicU64,
    pub(crate) unproved: AtomicU64,
    pub(crate) not_understood: AtomicU64,
    pub(crate) violations: AtomicU64,
}

/// What an engine has done and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Specialisations and compiles answered from the cache.
    pub hits: u64,
    /// Those that had to be compiled.
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
    /// Programs of templates that began without machine code which would make them faster.
    pub first_tier: u64,
    /// Programs of templates whose plan was that of other sizes, with theirs in it.
    pub substituted: u64,
    /// How often that was asked for since: for those that were asked for often enough, and by
    /// [`Engine::settle`].
    pub settled: u64,
    /// Kernels whose machine code was followed and proved, where `Config::verify` asks for it.
    pub proved: u64,
    /// Kernels whose machine code was over the limit of `Config::verify`.
    pub unproved: u64,
    /// Kernels whose machine code did something that `Config::verify` has no model of. It is used,
    /// as what is over the limit is.
    pub not_understood: u64,
    /// Kernels whose machine code was found to be wrong and refused.
    pub violations: u64,
    /// Bytes of machine code that are live in the arena.
    pub code_bytes: usize,
    /// Bytes of scratch that are kept for calls, and those that calls under way have beyond.
    pub scratch_bytes: usize,
}

impl Engine {
    /// An engine. Nothing is allocated for code until the first kernel is compiled.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let options = Options {
            views: config.views,
            budget: config.budget,
            target: config.target.clone(),
        };
        watch_forks();
        let inner = EngineInner {
            scratch: Arc::new(Scratch::new(config.scratch_bytes, config.scratch_limit)),
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
            let planner = Planner::new(&config.target);
            #[cfg(feature = "unstable")]
            let planner = match config.held_to {
                Some(manner) => planner.held_to(manner),
                None => planner,
            };
            let planner = Arc::new(planner);
            Ok::<_, Infallible>(Share {
                jit: Arc::new(Jit::new(config, Arc::clone(&planner))),
                planner,
                programs: Cache::new(config.cache_entries, config.cache_bytes),
                secrets: [Secret::random(), Secret::random()],
                kernels: Registry::new(),
            })
        });
        match begun {
            Ok(share) => share,
            Err(never) => match never {},
        }
    }

    pub(crate) fn scratch(&self) -> &Arc<Scratch> {
        &self.inner.scratch
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    /// The configuration it was made with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Compiles a graph for the shapes it has: a lookup if an equal one has been compiled and is still
    /// in the cache. Equal kernels share their code.
    pub fn compile(&self, graph: &Graph) -> Result<Program, CompileError> {
        let share = self.share();
        let key = share.key(graph);
        match share.programs.get(&key) {
            Some(program) => {
                self.improve(&program.inner.kernel, self.inner.config.code);
                Ok(program)
            }
            None => {
                let make = || self.program(graph, self.inner.config.code);
                share.programs.get_or_make(&key, make, Share::bytes(&key))
            }
        }
    }

    /// The program under a key of the host's own, for nodes that are more than a template can say: whose
    /// attributes are only known when they run, or that read tensors for them. The graph is built
    /// if the key has not been seen, and the program has tiers as one of [`Engine::specialise`]. The
    /// key has to tell apart all that the graph depends on: shapes, layouts, attributes.
    ///
    /// ```
    /// use restride::{CompileError, ElementType, Engine, Family, Graph};
    ///
    /// let (engine, window) = (Engine::default(), Family::new());
    /// for start in [3, 4, 3] {
    ///     let program = engine.keyed(&window, &[start], || {
    ///         let mut g = Graph::new("window");
    ///         let x = g.input("x", ElementType::F32, [16, 4])?;
    ///         let y = g.slice(x, [start], [start + 2]).finish()?;
    ///         g.output(y)?;
    ///         Ok::<_, CompileError>(g)
    ///     })?;
    ///     assert!(program.is_view());
    /// }
    /// assert_eq!((engine.stats().misses, engine.stats().hits), (2, 1));
    /// # Ok::<(), CompileError>(())
    /// ```
    pub fn keyed<E: From<CompileError>>(
        &self,
        family: &Family,
        key: &[i64],
        build: impl FnOnce() -> Result<Graph, E>,
    ) -> Result<Program, E> {
        let share = self.share();
        let key = family.key(key);
        if let Some(program) = share.programs.get(&key) {
            return Ok(self.counted(program));
        }
        let make = || {
            let graph = build()?;
            Ok(self.first_tier(|code| self.program(&graph, code))?)
        };
        share.programs.get_or_make(&key, make, Share::bytes(&key))
    }

    /// [`Engine::compile`] for a graph whose shapes change from call to call, as a
    /// host has it that says every size anew: as [`Engine::specialise`] does for a template, it begins
    /// with a plan and makes machine code when the graph has come often enough. A graph is hashed whole
    /// at each call, a template is not.
    pub fn compile_in_tiers(&self, graph: &Graph) -> Result<Program, CompileError> {
        let share = self.share();
        let key = share.key(graph);
        match share.programs.get(&key) {
            Some(program) => Ok(self.counted(program)),
            None => {
                let make = || self.first_tier(|code| self.program(graph, code));
                share.programs.get_or_make(&key, make, Share::bytes(&key))
            }
        }
    }

    /// A program that has been asked for again, with machine code if that was once too often.
    #[inline]
    fn counted(&self, program: Program) -> Program {
        self.count_call(&program);
        program
    }

    /// Counts a call of a program that its host has kept, as lookups are counted: the call with which
    /// machine code pays compiles it.
    #[inline]
    pub fn count_call(&self, program: &Program) {
        if program.settles(self.inner.config.native_after_calls) {
            self.settle_as(program, self.inner.config.code);
        }
    }

    /// A program that may not come again.
    fn first_tier(
        &self,
        make: impl FnOnce(Code) -> Result<Program, CompileError>,
    ) -> Result<Program, CompileError> {
        let code = match self.inner.config.native_after_calls {
            Some(0) => self.inner.config.code,
            Some(_) | None => Code::Generic,
        };
        let program = make(code)?;
        let kernel = &program.inner.kernel;
        if kernel.native().is_none() && kernel.pays_after().is_some() {
            let counts = &self.share().jit.counts;
            counts.first_tier.fetch_add(1, Ordering::Relaxed);
        }
        Ok(program)
    }

    /// Gives a program machine code now, if it has none and gains by it, whatever
    /// [`Config::native_after_calls`] says: for one that is known to stay, or before what must not wait.
    pub fn settle(&self, program: &Program) {
        match self.inner.config.code {
            Code::Generic => {}
            Code::Native | Code::Background => self.settle_as(program, Code::Native),
            Code::SelfContained => self.settle_as(program, Code::SelfContained),
        }
    }

    fn settle_as(&self, program: &Program, code: Code) {
        let kernel = &program.inner.kernel;
        if code != Code::Generic && kernel.native().is_none() && kernel.pays_after().is_some() {
            self.share()
                .jit
                .counts
                .settled
                .fetch_add(1, Ordering::Relaxed);
            self.improve(kernel, code);
        }
    }

    /// The program of a template for these input shapes: a lookup if they have been seen.
    ///
    /// One that has not been seen is planned, and then runs generically: by calls of precompiled
    /// moves. Machine code comes when as many calls have asked for it as make up for the compile
    /// ([`Config::native_after_calls`]). The call that settles it compiles; under [`Code::Background`]
    /// it only says so. No other lookup waits for any compile, and no call does.
    #[inline]
    pub fn specialise(
        &self,
        template: &Template,
        inputs: &[InputShape<'_>],
    ) -> Result<Program, CompileError> {
        let key = template.key(inputs);
        match self.share().programs.get(&key) {
            Some(program) => Ok(self.counted(program)),
            None => self.specialise_anew(template, inputs, &key),
        }
    }

    #[cold]
    fn specialise_anew(
        &self,
        template: &Template,
        inputs: &[InputShape<'_>],
        key: &Key,
    ) -> Result<Program, CompileError> {
        let share = self.share();
        let make = || match self.by_substitution(&template.inner, inputs, key) {
            Some(program) => Ok(program),
            None => {
                let graph = template.specialised(inputs)?;
                let program = self.first_tier(|code| self.program(&graph, code))?;
                // A defect that this meets is met by nobody else.
                let learn = || {
                    let (template, options) = (&template.inner, self.options());
                    template
                        .common
                        .learn(template, key, &program.inner.meta, options);
                };
                let _ = guarded(learn);
                Ok(program)
            }
        };
        share.programs.get_or_make(key, make, Share::bytes(key))
    }

    /// A program from the plan that shapes of a template have in common with those before them, if it
    /// is known. What is wrong with it the graph says.
    fn by_substitution(
        &self,
        template: &TemplateInner,
        inputs: &[InputShape<'_>],
        key: &Key,
    ) -> Option<Program> {
        let plan = template.common.plan(key, self.options().views)?;
        let types = template.types(inputs).ok()?;
        let make = |code| self.program_of_plan(&template.graph, types, plan, code);
        let program = self.first_tier(make).ok()?;
        let counts = &self.share().jit.counts;
        counts.substituted.fetch_add(1, Ordering::Relaxed);
        Some(program)
    }

    /// A kernel and what runs it: the one that is alive if there is an equal one. Where two threads
    /// make equal ones at once, both get that of the first. Machine code may take so much work.
    pub(crate) fn runnable(
        &self,
        kernel: Verified,
        code: Code,
        work: u64,
    ) -> Result<Arc<RunnableKernel>, CompileError> {
        let share = self.share();
        let hash = share.kernels.hash(&*kernel);
        let same = |known: &RunnableKernel| *known.kernel() == kernel;
        if let Some(known) = share.kernels.find(hash, same) {
            self.improve(&known, code);
            return Ok(known);
        }
        let pays_after = self.pays_after(&kernel);
        let native = match code {
            Code::Native | Code::SelfContained if pays_after.is_some() => {
                share.jit.compile(&kernel, work)
            }
            Code::Native | Code::SelfContained | Code::Background | Code::Generic => None,
        };
        let (runner, faster) = match native {
            Some(native) => (Runner::Native(native), None),
            None => {
                let generic = Executable::new(&kernel, &share.planner)?;
                let faster = generic.code_pays_after();
                let faster = faster.filter(|_| cfg!(feature = "jit"));
                (Runner::Generic(generic), faster)
            }
        };
        let pays_after = pays_after.or(faster);
        let made = Arc::new(RunnableKernel::new(kernel.clone(), runner, pays_after));
        let made = share.kernels.find_or_add(hash, made, same);
        match code {
            Code::Background => self.improve(&made, code),
            Code::Native if faster.is_some() => {
                made.improve(|| share.jit.compile(&kernel, work));
            }
            Code::Native | Code::SelfContained | Code::Generic => {}
        }
        Ok(made)
    }

    /// After how many runs machine code of its own has paid for a kernel; nothing if it has no use for
    /// any. Where leaves are not wanted, that is never because they are as fast.
    fn pays_after(&self, kernel: &Verified) -> Option<u32> {
        let runs = code_pays_after(kernel);
        let wanted = self.inner.config.code == Code::SelfContained && kernel.statements() > 0;
        let runs = if wanted { runs.or(Some(1)) } else { runs };
        runs.filter(|_| cfg!(feature = "jit"))
    }

    /// Sees to machine code for a kernel that runs generically, where it gains by that.
    fn improve(&self, kernel: &Arc<RunnableKernel>, code: Code) {
        if kernel.native().is_some() || kernel.pays_after().is_none() {
            return;
        }
        match code {
            Code::Generic => {}
            Code::Native | Code::SelfContained => self.share().jit.improve(kernel),
            Code::Background => self.share().jit.improve_later(kernel),
        }
    }

    /// The machine code that this engine makes for a program, as text: the intermediate code and
    /// the assembly. Works for programs that run generically, too.
    #[cfg(all(feature = "jit", feature = "unstable"))]
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
            first_tier: count(&jit.first_tier),
            substituted: count(&jit.substituted),
            settled: count(&jit.settled),
            proved: count(&jit.proved),
            unproved: count(&jit.unproved),
            not_understood: count(&jit.not_understood),
            violations: count(&jit.violations),
            code_bytes: share.jit.code_bytes(),
            scratch_bytes: self.inner.scratch.held(),
        }
    }

    /// Forgets every specialisation, and frees the scratch that no call is using. Programs that
    /// somebody holds live on.
    pub fn clear(&self) {
        self.share().programs.clear();
        self.inner.scratch.clear();
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
