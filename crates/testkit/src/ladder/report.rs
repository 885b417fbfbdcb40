//! What came of a run.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::check::{Disagreement, Facts};
use super::{Options, file};
use crate::generate::{Case, Kind};
use crate::rungs::Rung;

/// A case on which a rung disagrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCase {
    /// Its number in the run.
    pub number: u64,
    /// The rung.
    pub rung: &'static str,
    /// What differs.
    pub message: String,
    /// The case, made small, as a file that `restride bisect` reads.
    pub text: String,
}

impl FailedCase {
    pub(super) fn new(
        options: &Options,
        number: u64,
        kind: Kind,
        case: &Case,
        found: Disagreement,
    ) -> FailedCase {
        let remarks = format!(
            "seed {} case {number} kind {} max-ops {}\nrung {}: {}",
            options.seed,
            kind.name(),
            options.max_ops,
            found.rung,
            found.message
        );
        FailedCase {
            number,
            rung: found.rung,
            text: file::write(case, &remarks),
            message: found.message,
        }
    }
}

/// How many of some cases were one pass over memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindShare {
    /// Cases.
    pub cases: u64,
    /// Those where every output is a view, or written by a stage of its own with no temporary.
    pub fused: u64,
    /// Those where every output is a view.
    pub views: u64,
}

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The rungs, lowest first.
    pub rungs: Vec<&'static str>,
    /// Cases on which all rungs agree.
    pub passed: u64,
    /// Cases on which some rung disagrees.
    pub failed: u64,
    /// Cases that passed because all rungs refuse the run alike.
    pub refused: u64,
    /// Operators that inference and definition refuse alike.
    pub refused_ops: u64,
    /// By kind, how many cases were one stage.
    pub shares: BTreeMap<Kind, KindShare>,
    /// Why temporaries were needed, by kind, with numbers left out.
    pub breaks: BTreeMap<(Kind, String), u64>,
    /// Failures by rung.
    pub by_rung: BTreeMap<&'static str, u64>,
    /// The first failures.
    pub failures: Vec<FailedCase>,
}

impl Report {
    pub(super) fn new(rungs: &[&dyn Rung]) -> Report {
        Report {
            rungs: rungs.iter().map(|rung| rung.name()).collect(),
            ..Report::default()
        }
    }

    pub(super) fn held(&mut self, kind: Kind, facts: &Facts) {
        self.passed += 1;
        self.refused += u64::from(facts.refused);
        self.refused_ops += facts.refused_ops as u64;
        let share = self.shares.entry(kind).or_default();
        share.cases += 1;
        share.fused += u64::from(facts.breaks.is_empty());
        share.views += u64::from(facts.stages == 0);
        for reason in &facts.breaks {
            *self
                .breaks
                .entry((kind, without_numbers(reason)))
                .or_default() += 1;
        }
    }

    pub(super) fn failed(&mut self, failure: FailedCase) {
        self.failed += 1;
        *self.by_rung.entry(failure.rung).or_default() += 1;
        // More than anyone reads is not kept.
        if self.failures.len() < 256 {
            self.failures.push(failure);
        }
    }

    pub(super) fn add(&mut self, other: Report) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.refused += other.refused;
        self.refused_ops += other.refused_ops;
        for (kind, share) in other.shares {
            let sum = self.shares.entry(kind).or_default();
            sum.cases += share.cases;
            sum.fused += share.fused;
            sum.views += share.views;
        }
        for (reason, count) in other.breaks {
            *self.breaks.entry(reason).or_default() += count;
        }
        for (rung, count) in other.by_rung {
            *self.by_rung.entry(rung).or_default() += count;
        }
        self.failures.extend(other.failures);
    }

    pub(super) fn settle(&mut self, keep: usize) {
        self.failures.sort_by_key(|failure| failure.number);
        self.failures.truncate(keep);
    }
}

/// A reason with its numbers left out, so that like reasons are counted together.
fn without_numbers(reason: &str) -> String {
    let mut out = String::new();
    for c in reason.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "rungs: {}", self.rungs.join(", "))?;
        writeln!(
            f,
            "{} runs refused by all rungs alike, {} operators refused by inference and definition alike",
            self.refused, self.refused_ops
        )?;
        for (kind, share) in &self.shares {
            let percent = |part: u64| 100.0 * part as f64 / share.cases.max(1) as f64;
            writeln!(
                f,
                "{:<11} {:>8} cases, no temporary in {:.2} %, views only {:.2} %",
                kind.name(),
                share.cases,
                percent(share.fused),
                percent(share.views)
            )?;
        }
        let mut breaks: Vec<_> = self.breaks.iter().collect();
        breaks.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for ((kind, reason), count) in breaks {
            writeln!(f, "{:<11} {count:>8} x {reason}", kind.name())?;
        }
        for (rung, count) in &self.by_rung {
            writeln!(f, "rung {rung}: {count} disagreements")?;
        }
        for failure in &self.failures {
            let mut text = String::new();
            for line in failure.text.lines() {
                writeln!(text, "  {line}")?;
            }
            writeln!(f, "case {}:\n{text}", failure.number)?;
        }
        writeln!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}
