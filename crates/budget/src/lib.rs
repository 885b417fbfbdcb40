//! What a compile may spend, counted by every stage of it.
//!
//! A few bytes of text can ask for millions of pieces. So each stage says to a [`Meter`] what it
//! is doing, in units that depend on nothing but the graph, and the compile ends with
//! [`TooCostly`] where the [`Budget`] does. A graph is refused on every machine or on none.

#![forbid(unsafe_code)]

use std::cell::Cell;
use std::fmt;

/// What one compile may spend, from the graph to machine code.
///
/// Both are counted, not measured: a unit of work is about a nanosecond of a server's core, a byte
/// is one that some stage asks for, whether or not it gives it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Units of work.
    pub work: u64,
    /// Bytes of memory.
    pub bytes: u64,
}

impl Budget {
    /// No bound: for graphs of one's own.
    pub const UNLIMITED: Self = Self {
        work: u64::MAX,
        bytes: u64::MAX,
    };
}

impl Default for Budget {
    /// A quarter of a second and 64 MB.
    fn default() -> Self {
        Self {
            work: 200_000_000,
            bytes: 56_000_000,
        }
    }
}

/// The parts of a compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// From the spelled graph to its canonical form.
    #[default]
    Canonicalise,
    /// From the canonical form to pieces.
    Plan,
    /// From pieces to loops.
    Schedule,
    /// The proof of the loops.
    Verify,
    /// Tables for the generic executor.
    Prepare,
    /// Machine code.
    Code,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Canonicalise => "canonicalising",
            Self::Plan => "planning",
            Self::Schedule => "scheduling",
            Self::Verify => "verifying",
            Self::Prepare => "preparing",
            Self::Code => "generating code",
        })
    }
}

/// A compile would take more than its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{stage} would exceed the budget of a compile: {}", spent(self))]
#[non_exhaustive]
pub struct TooCostly {
    /// Where it ended.
    pub stage: Stage,
    /// Units of work spent by then, or asked for.
    pub work: u64,
    /// Bytes spent by then, or asked for.
    pub bytes: u64,
    /// What was allowed.
    pub budget: Budget,
}

fn spent(it: &TooCostly) -> String {
    let Budget { work, bytes } = it.budget;
    let mut over = Vec::new();
    if it.work > work {
        over.push(format!("{} of {work} units of work", it.work));
    }
    if it.bytes > bytes {
        over.push(format!("{} of {bytes} bytes", it.bytes));
    }
    over.join(", ")
}

/// Counts what one compile spends.
#[derive(Debug)]
pub struct Meter {
    budget: Budget,
    stage: Cell<Stage>,
    work: Cell<u64>,
    bytes: Cell<u64>,
}

impl Meter {
    /// A meter that has counted nothing.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            stage: Cell::default(),
            work: Cell::new(0),
            bytes: Cell::new(0),
        }
    }

    /// A meter that never ends anything.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::new(Budget::UNLIMITED)
    }

    /// What is spent from now on is spent by this stage.
    pub fn enter(&self, stage: Stage) {
        self.stage.set(stage);
    }

    /// Counts work. [`Meter::check`] says whether that was too much; call it before work that a
    /// few units of input can make large.
    pub fn work(&self, units: u64) {
        self.work.set(self.work.get().saturating_add(units));
    }

    /// Counts bytes, as [`Meter::work`] counts work.
    pub fn bytes(&self, bytes: u64) {
        self.bytes.set(self.bytes.get().saturating_add(bytes));
    }

    /// Counts a number of things, with what each of them costs.
    pub fn things(&self, count: usize, work: u64, bytes: u64) {
        let count = count as u64;
        self.work(count.saturating_mul(work));
        self.bytes(count.saturating_mul(bytes));
    }

    /// Whether everything so far is within the budget.
    pub fn check(&self) -> Result<(), TooCostly> {
        let (work, bytes) = (self.work.get(), self.bytes.get());
        if work <= self.budget.work && bytes <= self.budget.bytes {
            return Ok(());
        }
        Err(TooCostly {
            stage: self.stage.get(),
            work,
            bytes,
            budget: self.budget,
        })
    }

    /// Counts a table before it is made; an error if it must not be.
    pub fn table(&self, entries: u64, entry: u64) -> Result<(), TooCostly> {
        self.work(entries);
        self.bytes(entries.saturating_mul(entry));
        self.check()
    }

    /// Units of work spent so far.
    #[must_use]
    pub fn spent_work(&self) -> u64 {
        self.work.get()
    }

    /// Bytes spent so far.
    #[must_use]
    pub fn spent_bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// What it counts against.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// What is left.
    #[must_use]
    pub fn left(&self) -> Budget {
        Budget {
            work: self.budget.work.saturating_sub(self.work.get()),
            bytes: self.budget.bytes.saturating_sub(self.bytes.get()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_where_the_budget_does_and_says_where() {
        let budget = Budget {
            work: 100,
            bytes: 1000,
        };
        let meter = Meter::new(budget);
        meter.enter(Stage::Plan);
        meter.things(10, 10, 100);
        assert_eq!(meter.check(), Ok(()));
        assert_eq!(meter.left(), Budget { work: 0, bytes: 0 });
        meter.work(1);
        let error = meter.check().unwrap_err();
        assert_eq!((error.stage, error.work), (Stage::Plan, 101));
        let text = "planning would exceed the budget of a compile: 101 of 100 units of work";
        assert_eq!(error.to_string(), text);
        let text = "planning would exceed the budget of a compile: \
                    18446744073709551615 of 100 units of work, 18446744073709551615 of 1000 bytes";
        let error = meter.table(u64::MAX, u64::MAX).unwrap_err();
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn without_bounds_nothing_ends() {
        let meter = Meter::unlimited();
        meter.things(usize::MAX, u64::MAX, u64::MAX);
        assert_eq!(meter.check(), Ok(()));
    }
}
