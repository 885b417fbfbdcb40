//! The scheduler's choice beside what it did not choose.
//!
//! Every workload is run as scheduled and once with each form forced wherever it fits, slice by
//! slice in turn, so that a drift of the machine meets all of them. What counts is the median of
//! each slice's time over the time of the choice in the same turn.

use super::engine;
use super::outcome::{Effort, Outcome};
use super::subject::Subject;
use super::then_read::ThenRead;
use restride::{Budget, Code, Form, Target};
use restride_testkit::workloads::Workload;
use std::io::{self, Write};

/// How much faster another form must be to be pointed out.
const NOTABLE: f64 = 1.10;

/// The choice, and every form forced.
pub struct Subjects {
    chosen: Box<dyn Subject>,
    others: Vec<(Form, Box<dyn Subject>)>,
}

impl Subjects {
    /// For a machine. `then_read`: what follows is a sum over the output.
    #[must_use]
    pub fn new(budget: Budget, target: &Target, then_read: bool) -> Self {
        let of = |subject| match then_read {
            true => Box::new(ThenRead(subject)),
            false => subject,
        };
        let forced = |form| (form, of(engine::forced(form, budget, target)));
        Self {
            chosen: of(engine::subject(Code::Native, budget, target)),
            others: Form::ALL.into_iter().map(forced).collect(),
        }
    }
}

/// Measures and prints; returns how many workloads could not be run.
pub fn run(
    workloads: &[Workload],
    subjects: &Subjects,
    effort: &Effort,
    out: &mut dyn Write,
) -> io::Result<usize> {
    let turn = Effort {
        rounds: 1,
        compilations: 1,
        ..*effort
    };
    let mut failed = 0;
    writeln!(
        out,
        "{:<24} {:<18} speed of each other form against it",
        "workload", "chosen"
    )?;
    for workload in workloads.iter().filter(|w| !w.is_view()) {
        match one(workload, subjects, &turn, effort.rounds) {
            Ok(line) => writeln!(out, "{line}")?,
            Err(problem) => {
                failed += 1;
                writeln!(out, "{:<24} FAILED: {problem}", workload.id)?;
            }
        }
    }
    Ok(failed)
}

fn one(
    workload: &Workload,
    subjects: &Subjects,
    turn: &Effort,
    rounds: usize,
) -> Result<String, String> {
    let Subjects { chosen, others } = subjects;
    let mut speeds = vec![Vec::new(); others.len()];
    let mut facts = None;
    for _ in 0..rounds {
        let base = Outcome::measure(&**chosen, workload, turn)?;
        for ((_, subject), speeds) in others.iter().zip(&mut speeds) {
            let other = Outcome::measure(&**subject, workload, turn)?;
            speeds.push(base.time() / other.time());
        }
        facts = Some(base.facts);
    }
    let chosen = facts.map_or_else(String::new, |facts| facts.forms.join("+"));
    let mut line = format!("{:<24} {chosen:<18}", workload.id);
    for ((form, _), mut speeds) in others.iter().zip(speeds) {
        speeds.sort_by(f64::total_cmp);
        let speed = speeds[speeds.len() / 2];
        let mark = if speed > NOTABLE { "!" } else { "" };
        line.push_str(&format!(" {}{mark} {speed:.2}", form.name()));
    }
    Ok(line)
}
