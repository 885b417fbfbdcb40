//! A text through all stages, each measured.

use std::fmt;

use restride::{Budget, Graph, Target, ViewPolicy};
use restride_budget::{Meter, Stage};
use restride_canon::canonicalise;
use restride_exec::Executable;
use restride_jit::{CompileOptions, Compiler, Features};
use restride_loops::verify;
use restride_lower::plan::{PlanOptions, plan};
use restride_lower::schedule;
use restride_moves::Planner;

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

/// How a text is compiled and measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    /// What it may spend.
    pub(crate) budget: Budget,
    /// Short stages run several times.
    pub(crate) again: bool,
    /// For what every machine of the architecture has, and no time is told: the same everywhere.
    pub(crate) exact: bool,
}

/// What one stage took, and what it says it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Took {
    pub(crate) spent: Spent,
    /// Units of work that it declared.
    pub(crate) work: u64,
    /// Bytes that it declared, in all.
    pub(crate) charged: u64,
    /// How long what it read and what it made are, printed; only for texts that are run again.
    pub(crate) size: u64,
}

/// What compiling a text took.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Costs {
    /// Of each stage that was entered.
    pub(crate) stages: Vec<Took>,
    /// What ended it before its end, if anything did.
    pub(crate) end: Option<String>,
    /// It was ended from outside, or ended itself by a fault: all else is unknown.
    pub(crate) died: bool,
}

impl Costs {
    /// Nanoseconds of all stages.
    pub(crate) fn time(&self) -> u64 {
        self.sum(|stage| stage.spent.time)
    }

    /// The most bytes that any stage took beyond what stood before it.
    pub(crate) fn bytes(&self) -> u64 {
        let stages = self.stages.iter();
        stages.map(|stage| stage.spent.bytes).max().unwrap_or(0)
    }

    /// The sum of something over all stages.
    pub(crate) fn sum(&self, of: fn(&Took) -> u64) -> u64 {
        self.stages.iter().map(of).fold(0, u64::saturating_add)
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |f: &mut fmt::Formatter<'_>, name: &str, took: &Took| {
            let Spent {
                time,
                bytes,
                asked,
                allocations,
            } = took.spent;
            let mb = |bytes: u64| bytes as f64 / 1e6;
            write!(f, "  {name:12}")?;
            if time > 0 {
                write!(f, " {:10.3} ms", time as f64 / 1e6)?;
            }
            writeln!(
                f,
                " {:10.3} MB at once {:10.3} MB in {allocations:8} pieces; declared {:10.3} M units {:10.3} MB",
                mb(bytes),
                mb(asked),
                took.work as f64 / 1e6,
                mb(took.charged)
            )
        };
        for (name, took) in STAGES.iter().zip(&self.stages) {
            row(f, name, took)?;
        }
        let all = Took {
            spent: Spent {
                time: self.time(),
                bytes: self.bytes(),
                asked: self.sum(|stage| stage.spent.asked),
                allocations: self.sum(|stage| stage.spent.allocations),
            },
            work: self.sum(|stage| stage.work),
            charged: self.sum(|stage| stage.charged),
            size: 0,
        };
        row(f, "all", &all)?;
        match &self.end {
            Some(end) => writeln!(f, "  {end}"),
            None => Ok(()),
        }
    }
}

/// Takes a text as far as it goes.
pub(crate) fn compile(text: &str, how: How) -> Costs {
    let mut run = Run {
        how,
        costs: Costs::default(),
    };
    run.costs.end = run.all(text).err();
    run.costs
}

struct Run {
    how: How,
    costs: Costs,
}

impl Run {
    /// One stage, with what the others before it have left of the budget.
    fn stage<T, E: fmt::Display>(
        &mut self,
        work: impl Fn(&Meter) -> Result<T, E>,
    ) -> Result<T, String> {
        let Budget { work: most, bytes } = self.how.budget;
        let left = Budget {
            work: most.saturating_sub(self.costs.sum(|stage| stage.work)),
            bytes: bytes.saturating_sub(self.costs.sum(|stage| stage.charged)),
        };
        let ((done, work, charged), mut spent) = measured(self.how.again, || {
            let meter = Meter::new(left);
            let done = work(&meter);
            (done, meter.spent_work(), meter.spent_bytes())
        });
        if self.how.exact {
            spent.time = 0;
        }
        self.costs.stages.push(Took {
            spent,
            work,
            charged,
            size: 0,
        });
        done.map_err(|error| error.to_string().lines().next().unwrap_or("").to_owned())
    }

    /// Says of the stage that was the last how much it read and made.
    fn sized(&mut self, read: &dyn fmt::Display, made: &dyn fmt::Display) {
        if self.how.again
            && let Some(stage) = self.costs.stages.last_mut()
        {
            stage.size = printed(read) + printed(made);
        }
    }

    fn all(&mut self, text: &str) -> Result<(), String> {
        let graph = self.stage(|_| Graph::parse(text))?;
        self.sized(&text, &"");
        let canonical = self.stage(|meter| canonicalise(&graph, meter, None))?;
        self.sized(&graph, &canonical);
        let plan = self.stage(|meter| {
            plan(
                &canonical,
                PlanOptions {
                    views: ViewPolicy::Copy,
                },
                meter,
            )
        })?;
        self.sized(&canonical, &plan);
        let kernel = self
            .stage(|meter| schedule(&plan, &Target::default(), meter))?
            .kernel;
        self.sized(&plan, &kernel);
        let kernel = self.stage(|meter| {
            meter.enter(Stage::Prepare);
            meter.things(kernel.statements(), 3000, 2000);
            meter.check().map_err(|e| e.to_string())?;
            verify(kernel.clone()).map_err(|e| e.to_string())
        })?;
        self.sized(&*kernel, &"");
        let features = match self.how.exact {
            true => Features::Sse2,
            false => Features::detect(),
        };
        self.stage(|_| Executable::new(&kernel, &Planner::new(&Target::with(features))))?;
        self.sized(&*kernel, &"");
        let spent = self.costs.sum(|stage| stage.work);
        let left = self.how.budget.work.saturating_sub(spent);
        self.stage(|_| {
            let mut options = CompileOptions::default();
            options.features = features;
            let mut compiler = Compiler::new(options)?;
            compiler.compile_within(&kernel, left).map(|_| ())
        })?;
        self.sized(&*kernel, &"");
        Ok(())
    }
}

/// How long something is when it is printed.
fn printed(it: &dyn fmt::Display) -> u64 {
    struct Count(u64);
    impl fmt::Write for Count {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len() as u64;
            Ok(())
        }
    }
    let mut count = Count(0);
    match fmt::write(&mut count, format_args!("{it}")) {
        Ok(()) => count.0,
        Err(fmt::Error) => 0,
    }
}
