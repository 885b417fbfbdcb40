//! The way from a graph to a proved kernel, each stage kept for those who want to look.

use crate::CompileError;
use restride_budget::{Budget, Meter, Stage};
use restride_canon::ir::Canonical;
use restride_graph::{Graph, ViewPolicy};
use restride_loops::{Verified, verify};
use restride_lower::plan::{Plan, PlanOptions, plan};
use restride_lower::{Decision, schedule};
use restride_moves::Target;

/// Every stage of one graph's way, before code is made.
///
/// ```
/// # use restride::{Graph, Stages, ElementType};
/// let mut g = Graph::new("demo");
/// let x = g.input("x", ElementType::F32, [4, 6])?;
/// let y = g.transpose(x, [1, 0])?;
/// g.output(y)?;
/// let stages = Stages::of(&g, &Default::default())?;
/// println!("{}\n{}\n{}", stages.canonical, stages.plan, *stages.kernel);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stages {
    /// The graph without its spelling.
    pub canonical: Canonical,
    /// The passes over memory that are left.
    pub plan: Plan,
    /// The loops, proved.
    pub kernel: Verified,
    /// What the scheduler decided, and why.
    pub decisions: Vec<Decision>,
    /// What they left of the budget.
    pub left: Budget,
}

/// What to make of a graph.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Which views of an input may answer an output, if the graph is content with them too.
    pub views: ViewPolicy,
    /// What it may cost.
    pub budget: Budget,
    /// The machine to schedule for.
    pub target: Target,
}

#[cfg(feature = "unstable")]
impl Options {
    /// Options under which every output is written.
    #[must_use]
    pub fn copying() -> Self {
        Self {
            views: ViewPolicy::Copy,
            ..Self::default()
        }
    }
}

impl Stages {
    /// Takes a graph through every stage.
    pub fn of(graph: &Graph, options: &Options) -> Result<Self, CompileError> {
        crate::stack::enough_to_compile()?;
        Self::on_enough_stack(graph, options)
    }

    /// [`Stages::of`] after a look at the stack, of which it takes a part itself.
    #[inline(never)]
    pub(crate) fn on_enough_stack(graph: &Graph, options: &Options) -> Result<Self, CompileError> {
        let meter = Meter::new(options.budget);
        let canonical = restride_canon::canonicalise(graph, &meter, None)?;
        let views = options.views;
        let plan = Box::new(plan(&canonical, PlanOptions { views }, &meter)?);
        let lowered = Lowered::of(plan, options, &meter)?;
        Ok(Self {
            canonical,
            plan: *lowered.plan,
            kernel: lowered.kernel,
            decisions: lowered.decisions,
            left: lowered.left,
        })
    }

    /// Without the canonical form.
    pub(crate) fn lowered(self) -> Lowered {
        Lowered {
            plan: Box::new(self.plan),
            kernel: self.kernel,
            decisions: self.decisions,
            left: self.left,
        }
    }
}

/// The plan of a graph.
pub(crate) fn planned(graph: &Graph, options: &Options) -> Result<Plan, CompileError> {
    let meter = Meter::new(options.budget);
    let canonical = restride_canon::canonicalise(graph, &meter, None)?;
    let views = options.views;
    Ok(plan(&canonical, PlanOptions { views }, &meter)?)
}

/// A plan, and what is made of it.
pub(crate) struct Lowered {
    pub(crate) plan: Box<Plan>,
    pub(crate) kernel: Verified,
    pub(crate) decisions: Vec<Decision>,
    pub(crate) left: Budget,
}

impl Lowered {
    /// The proved loops of a plan.
    pub(crate) fn of(
        plan: Box<Plan>,
        options: &Options,
        meter: &Meter,
    ) -> Result<Self, CompileError> {
        let scheduled = schedule(&plan, &options.target, meter)?;
        let kernel = scheduled.kernel;
        // Whatever runs it needs tables for its statements.
        meter.enter(Stage::Prepare);
        meter.things(kernel.statements(), 3000, 2000);
        meter.check()?;
        let kernel = verify(kernel).map_err(|e| CompileError::Refused(e.to_string()))?;
        Ok(Self {
            plan,
            kernel,
            decisions: scheduled.decisions,
            left: meter.left(),
        })
    }
}
