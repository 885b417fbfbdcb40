//! A text through all stages, each measured.

use std::fmt;

use restride::{Budget, Graph, Machine, ViewPolicy};
use restride_budget::{Meter, Stage};
use restride_canon::canonicalise;
use restride_exec::{CpuLevel, Executable, Patterns};
use restride_jit::{CompileOptions, Compiler};
use restride_loops::verify;
use restride_lower::plan::{PlanOptions, plan};
use restride_lower::schedule;

use crate::memory::{Spent, measured};

/// The stages, in order. Each takes what the one before it made.
pub(crate) const STAGES: [&str; 7] = [
    "parse",
    "canonicalise",
    "plan",
    "schedule",
    "verify",
    "prepare",
    "code",
];

/// What compiling a text took.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Costs {
    /// Of each stage that was entered.
    pub(crate) stages: Vec<Spent>,
    /// Units of work that the stages say they spent.
    pub(crate) work: u64,
    /// Bytes that they say they spent, in all.
    pub(crate) charged: u64,
    /// What ended it before its end, if anything did.
    pub(crate) end: Option<String>,
    /// It was ended from outside, or ended itself by a fault: all else is unknown.
    pub(crate) died: bool,
}

impl Costs {
    /// Nanoseconds of all stages.
    pub(crate) fn time(&self) -> u64 {
        self.stages.iter().map(|stage| stage.time).sum()
    }

    /// The most bytes that any stage took beyond what stood before it.
    pub(crate) fn bytes(&self) -> u64 {
        self.stages
            .iter()
            .map(|stage| stage.bytes)
            .max()
            .unwrap_or(0)
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, spent) in STAGES.iter().zip(&self.stages) {
            let (ms, mb) = (spent.time as f64 / 1e6, spent.bytes as f64 / 1e6);
            writeln!(f, "  {name:12} {ms:10.3} ms {mb:10.3} MB")?;
        }
        let ms = self.time() as f64 / 1e6;
        write!(
            f,
            "  all          {ms:10.3} ms for {} units and {} bytes",
            self.work, self.charged
        )?;
        match &self.end {
            Some(end) => writeln!(f, "; {end}"),
            None => writeln!(f),
        }
    }
}

/// Takes a text as far as it goes; short stages several times, if `again` says so.
pub(crate) fn compile(text: &str, budget: Budget, again: bool) -> Costs {
    let mut run = Run {
        budget,
        again,
        costs: Costs::default(),
    };
    run.costs.end = run.all(text).err();
    run.costs
}

struct Run {
    budget: Budget,
    again: bool,
    costs: Costs,
}

impl Run {
    /// One stage, with what the others before it have left of the budget.
    fn stage<T, E: fmt::Display>(
        &mut self,
        work: impl Fn(&Meter) -> Result<T, E>,
    ) -> Result<T, String> {
        let spent = self.costs.work;
        let left = Budget {
            work: self.budget.work.saturating_sub(spent),
            bytes: self.budget.bytes.saturating_sub(self.costs.charged),
        };
        let (done, took) = measured(self.again, || {
            let meter = Meter::new(left);
            let done = work(&meter);
            (done, meter.spent_work(), meter.spent_bytes())
        });
        let (done, work, bytes) = done;
        self.costs.stages.push(took);
        self.costs.work = spent.saturating_add(work);
        self.costs.charged = self.costs.charged.saturating_add(bytes);
        done.map_err(|error| error.to_string().lines().next().unwrap_or("").to_owned())
    }

    fn all(&mut self, text: &str) -> Result<(), String> {
        let graph = self.stage(|_| Graph::parse(text))?;
        let canonical = self.stage(|meter| canonicalise(&graph, meter, None))?;
        let plan = self.stage(|meter| {
            plan(
                &canonical,
                PlanOptions {
                    views: ViewPolicy::Copy,
                },
                meter,
            )
        })?;
        let kernel = self
            .stage(|meter| schedule(&plan, &Machine::default(), meter))?
            .kernel;
        let kernel = self.stage(|meter| {
            meter.enter(Stage::Prepare);
            meter.things(kernel.statements(), 3000, 2000);
            meter.check().map_err(|e| e.to_string())?;
            verify(kernel.clone()).map_err(|e| e.to_string())
        })?;
        self.stage(|_| Executable::new(&kernel, &Patterns::new(CpuLevel::detect())))?;
        self.stage(|_| {
            let mut compiler = Compiler::new(CompileOptions::default())?;
            compiler.compile(&kernel).map(|_| ())
        })
    }
}
