//! Compiled programs: what each output is, and how to run what must be computed.

use crate::call::Call;
use crate::code::{ARC, RunnableKernel};
use crate::common_plan::Origin;
use crate::config::Code;
use crate::guard::{Point, guarded, point};
use crate::meta::{Meta, Output};
use crate::pipeline::{Lowered, Stages};
use crate::scratch::{Region, Scratch};
use crate::stack::enough_to_compile;
use crate::{CompileError, Engine, OutputBuffer, ParallelFor, RunError, TensorMut, TensorRef};
use restride_budget::Meter;
use restride_graph::{Graph, TensorType};
use restride_loops::Verified;
use restride_lower::Traffic;
use restride_lower::plan::Plan;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// How [`Program::run_with`] has answered an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<B> {
    /// It was written here.
    Written(B),
    /// It lies in an input, where [`Output::View`] says.
    View {
        /// Which input.
        input: usize,
    },
}

pub(crate) struct Inner {
    pub(crate) meta: Meta,
    pub(crate) kernel: Arc<RunnableKernel>,
    scratch: Arc<Scratch>,
    /// Where scratch was found for the last call.
    near: AtomicUsize,
    /// How often a specialisation without machine code has been asked for.
    asked: AtomicU32,
    /// What a host keeps with it.
    #[cfg(feature = "unstable")]
    pub(crate) kept: crate::raw::Kept,
}

/// A compiled graph. Cheap to clone, and to be called from any number of threads at once.
#[derive(Clone)]
pub struct Program {
    pub(crate) inner: Arc<Inner>,
}

/// What a program costs and consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Passes over memory.
    pub stages: usize,
    /// The forms of the moves, each once.
    pub forms: Vec<&'static str>,
    /// Bytes of machine code; 0 if, or as long as, it runs generically.
    pub code_bytes: usize,
    /// Bytes of scratch that a call needs.
    pub scratch_bytes: usize,
    /// Whether there is machine code.
    pub native: bool,
    /// The bytes and cache lines that a call moves, beside the least that it has to.
    pub traffic: Traffic,
}

impl Program {
    fn new(meta: Meta, kernel: Arc<RunnableKernel>, scratch: Arc<Scratch>) -> Self {
        if meta.scratch > 0 {
            scratch.begin();
        }
        Self {
            inner: Arc::new(Inner {
                meta,
                kernel,
                scratch,
                near: AtomicUsize::new(usize::MAX),
                asked: AtomicU32::new(0),
                #[cfg(feature = "unstable")]
                kept: crate::raw::Kept::new(),
            }),
        }
    }

    /// The types of the inputs, in order.
    #[must_use]
    #[inline]
    pub fn inputs(&self) -> &[TensorType] {
        &self.inner.meta.inputs
    }

    /// How each output is answered, in the graph's order.
    #[must_use]
    #[inline]
    pub fn outputs(&self) -> &[Output] {
        &self.inner.meta.outputs
    }

    /// How many outputs a run writes: those that are no views.
    #[must_use]
    #[inline]
    pub fn computed(&self) -> usize {
        self.inner.meta.computed.len()
    }

    /// Whether a run has nothing to do: every output is a view, and no gather asks that its indices
    /// be checked.
    #[must_use]
    pub fn is_view(&self) -> bool {
        self.inner.meta.computed.is_empty() && !self.inner.meta.is_checked()
    }

    /// The loops that run.
    #[cfg(feature = "unstable")]
    #[must_use]
    pub fn kernel(&self) -> &Verified {
        self.loops()
    }

    pub(crate) fn loops(&self) -> &Verified {
        self.inner.kernel.kernel()
    }

    /// The machine code, disassembled; `None` while the program runs generically.
    #[must_use]
    pub fn disassembly(&self) -> Option<String> {
        self.inner
            .kernel
            .native()
            .map(|native| native.disassembly())
    }

    /// The machine code; `None` while the program runs generically.
    #[must_use]
    pub fn code(&self) -> Option<&[u8]> {
        self.inner.kernel.native().map(|native| native.code())
    }

    /// How long making the machine code took.
    #[must_use]
    pub fn compile_time(&self) -> Option<std::time::Duration> {
        self.inner
            .kernel
            .native()
            .map(|native| native.compile_time())
    }

    /// What the program consists of and what it moves, which is counted anew each time: that may take as long as
    /// planning it did.
    ///
    /// ```
    /// use restride::{ElementType, Engine, Graph};
    ///
    /// let mut g = Graph::new("every second row, turned");
    /// let x = g.input("x", ElementType::F32, [8, 6])?;
    /// let rows = g.slice(x, [0], [8]).step([2]).finish()?;
    /// let turned = g.transpose(rows, [1, 0])?;
    /// let y = g.concat(&[turned, turned], 0)?;
    /// g.output(y)?;
    ///
    /// let summary = Engine::default().compile(&g)?.summary();
    /// assert_eq!(summary.stages, 1);
    /// assert_eq!(summary.traffic.written, 2 * 24 * 4);
    /// assert_eq!(summary.traffic.read, 24 * 4); // the second copy finds them in a cache
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut forms = Vec::new();
        self.loops().visit(|stmt| {
            let form = match stmt {
                restride_loops::Stmt::Move(m) => m.form.name(),
                restride_loops::Stmt::Gather(_) => "gather",
                restride_loops::Stmt::Fill { .. } => "fill",
                restride_loops::Stmt::For { .. }
                | restride_loops::Stmt::Check { .. }
                | restride_loops::Stmt::Index { .. } => return,
            };
            if !forms.contains(&form) {
                forms.push(form);
            }
        });
        let native = self.inner.kernel.native();
        let meta = &self.inner.meta;
        let plan = meta.plan();
        Summary {
            stages: plan.as_ref().map_or(0, |plan| plan.stages.len()),
            forms,
            code_bytes: native.map_or(0, |n| n.code_bytes()),
            scratch_bytes: meta.scratch,
            native: native.is_some(),
            traffic: plan.map_or_else(Traffic::default, |plan| Traffic::of(&plan, meta.lines)),
        }
    }

    /// Checks the arguments and runs. `inputs` are all inputs of the graph, `outputs` those that
    /// are [`Output::Computed`], each in order. On an error nothing has been written.
    #[inline]
    pub fn run(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), RunError> {
        match self.inner.meta.scratch {
            0 => self.run_in(inputs, outputs, Region::NONE),
            _ => self.with_scratch(|scratch| self.run_in(inputs, outputs, scratch)),
        }
    }

    #[inline(always)]
    fn run_in(
        &self,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
        scratch: Region,
    ) -> Result<(), RunError> {
        let mut table = self.inner.table()?;
        self.inner.fill(&mut table, inputs, outputs, scratch)?;
        // SAFETY: the table was just filled, and the arguments are borrowed meanwhile.
        unsafe { self.inner.run(&table) }
    }

    /// Runs, and answers every output of the graph in its order: as written to memory that the host
    /// was asked for, or as the view that it is. The host is asked, for each output that is computed,
    /// for a buffer that has room for the type, its layout included; that may fail in its own way.
    ///
    /// ```
    /// use restride::{Answer, ElementType, Engine, Graph, RunError, TensorRef, ViewPolicy};
    ///
    /// let mut g = Graph::new("heads");
    /// let x = g.input("x", ElementType::F32, [2, 6])?;
    /// let flat = g.reshape(x, [12]).finish()?;
    /// let turned = g.transpose(x, [1, 0])?;
    /// g.output_as(flat, ViewPolicy::Dense)?;
    /// g.output_as(turned, ViewPolicy::Dense)?;
    /// let program = Engine::default().compile(&g)?;
    ///
    /// let x: Vec<f32> = (0..12).map(|n| n as f32).collect();
    /// let answers = program.run_with(&[TensorRef::new(&x)], |_output, ty| {
    ///     Ok::<_, RunError>(vec![0f32; ty.required_elements()])
    /// })?;
    /// let [Answer::View { input: 0 }, Answer::Written(turned)] = &answers[..] else { panic!() };
    /// assert_eq!(turned[..4], [0.0, 6.0, 1.0, 7.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_with<B: OutputBuffer, E: From<RunError>>(
        &self,
        inputs: &[TensorRef<'_>],
        mut buffer: impl FnMut(usize, &TensorType) -> Result<B, E>,
    ) -> Result<Vec<Answer<B>>, E> {
        // Loops, since collecting results asks at every step whether there are more, and for room for four.
        let mut answers = Vec::with_capacity(self.outputs().len());
        for (at, output) in self.outputs().iter().enumerate() {
            answers.push(match output {
                Output::View { input, .. } => Answer::View { input: *input },
                Output::Computed { ty, .. } => Answer::Written(buffer(at, ty)?),
            });
        }
        let mut written = SmallVec::<[TensorMut<'_>; 4]>::new();
        for answer in &mut answers {
            if let Answer::Written(buffer) = answer {
                written.push(buffer.tensor());
            }
        }
        self.run(inputs, &mut written)?;
        drop(written);
        Ok(answers)
    }

    /// As [`Program::run`], with the work shared out by the caller's threads.
    pub fn run_on(
        &self,
        pool: &dyn ParallelFor,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), RunError> {
        self.with_scratch(|scratch| Call::new(&self.inner, inputs, outputs, scratch)?.run_on(pool))
    }

    /// Checks the arguments once, for calls that follow. The call takes the outputs over:
    /// `[TensorMut::new(&mut y)]`, a `Vec`, or [`TensorMut::reborrow`] of some that live longer.
    /// `scratch` needs [`Summary::scratch_bytes`] and may hold anything.
    pub fn bind_in<'a>(
        &'a self,
        inputs: &[TensorRef<'a>],
        outputs: impl IntoIterator<Item = TensorMut<'a>>,
        scratch: &'a mut [u8],
    ) -> Result<Call<'a>, RunError> {
        let mut owned = SmallVec::<[TensorMut<'a>; 4]>::new();
        for output in outputs {
            let bytes = (owned.len() + 1) * size_of::<TensorMut<'_>>();
            owned
                .try_reserve(1)
                .map_err(|_| RunError::OutOfMemory { bytes })?;
            owned.push(output);
        }
        Call::new(&self.inner, inputs, &owned, Region::of(scratch))
    }

    #[inline]
    pub(crate) fn with_scratch<T>(
        &self,
        work: impl FnOnce(Region) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        let inner = &*self.inner;
        match inner.meta.scratch {
            0 => work(Region::NONE),
            bytes => inner.scratch.with(bytes, &inner.near, work),
        }
    }

    /// Counts a request for a program that would gain by machine code and has none; whether it is
    /// the one after which it is given some: after so many, or when they make up for the compile.
    #[inline]
    pub(crate) fn settles(&self, after: Option<u32>) -> bool {
        let Some(pays_after) = self.inner.kernel.pays_after() else {
            return false;
        };
        if self.inner.kernel.native().is_some() {
            return false;
        }
        let asked = self.inner.asked.fetch_add(1, Ordering::Relaxed);
        asked.saturating_add(1) == after.unwrap_or(pays_after)
    }

    /// About how many bytes it keeps alive.
    pub(crate) fn bytes(&self) -> usize {
        ARC + size_of::<Inner>() + self.inner.meta.bytes() + self.inner.kernel.bytes()
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("outputs", &self.inner.meta.outputs)
            .field("summary", &self.summary())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// The program of a graph. What code it is to have is asked once the graph is known to be right.
    pub(crate) fn program(&self, graph: &Graph, code: Code) -> Result<Program, CompileError> {
        enough_to_compile()
            .and_then(|()| self.program_on_enough_stack(graph, code))
            .map_err(|error| error.in_nodes_of(graph))
    }

    #[inline(never)]
    fn program_on_enough_stack(&self, graph: &Graph, code: Code) -> Result<Program, CompileError> {
        self.program_of(graph, code, || {
            let stages = Stages::on_enough_stack(graph, self.options())?;
            let inputs = graph.inputs().iter().map(|v| graph.ty(*v).clone());
            Ok((inputs.collect(), stages.lowered(), None))
        })
    }

    /// The program of a plan that can be had again, for inputs of these types. Its operators have the
    /// names that they have in `graph`.
    pub(crate) fn program_of_plan(
        &self,
        graph: &Graph,
        inputs: Vec<TensorType>,
        (plan, origin): (Box<Plan>, Origin),
        code: Code,
    ) -> Result<Program, CompileError> {
        enough_to_compile()?;
        self.program_of(graph, code, || {
            let options = self.options();
            let lowered = Lowered::of(plan, options, &Meter::new(options.budget))?;
            Ok((inputs, lowered, Some(origin)))
        })
    }

    fn program_of(
        &self,
        graph: &Graph,
        code: Code,
        lower: impl FnOnce() -> Result<(Vec<TensorType>, Lowered, Option<Origin>), CompileError>,
    ) -> Result<Program, CompileError> {
        let (meta, kernel, left) = guarded(|| {
            point(Point::Stages);
            let (inputs, lowered, origin) = lower()?;
            let (kernel, left) = (lowered.kernel.clone(), lowered.left);
            Ok::<_, CompileError>((Meta::of(graph, inputs, lowered, origin)?, kernel, left))
        })
        .map_err(CompileError::Panicked)??;
        let kernel = self.runnable(kernel, code, left.work)?;
        Ok(Program::new(meta, kernel, self.scratch().clone()))
    }
}
