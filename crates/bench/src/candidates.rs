//! The planner's choice beside what it did not choose.
//!
//! Every workload is run as planned, then with its boxes moved in each other way that they have, slice by slice in
//! turn, so that a drift of the machine meets all of them. In each turn tensors lie elsewhere: which lines of one share sets with
//! those of another decides between some ways, and no program chooses that. What counts is the geometric mean of the time of the
//! choice over that of the other in the same turn.

use super::engine;
use super::memory::GAP;
use super::outcome::{Effort, Outcome};
use super::subject::Subject;
use super::then_read::ThenRead;
use restride::{Budget, Code, Config, Engine, Stmt, Target, ViewPolicy};
use restride_moves::{ByteBox, Manner, Planner};
use restride_testkit::workloads::Workload;
use std::io::{self, Write};

/// How much faster another way must be to be listed of a sweep.
const NOTABLE: f64 = 1.10;

/// Tensors have as many places in a page as it has lines, of which each turn takes another: a good part of a page further.
const PLACES: usize = 64;
const APART: usize = 23;

/// The choice, and what it is held against.
pub struct Subjects {
    planner: Planner,
    engine: Engine,
    chosen: Box<dyn Subject>,
    /// Code that calls nothing.
    own: Box<dyn Subject>,
    held: Vec<(Manner, &'static str, Box<dyn Subject>)>,
}

impl Subjects {
    /// For a machine. `then_read`: what follows is a sum over the output.
    #[must_use]
    pub fn new(budget: Budget, target: &Target, then_read: bool) -> Self {
        let of = |subject| match then_read {
            true => Box::new(ThenRead(subject)),
            false => subject,
        };
        let held = |(it, name)| (it, name, of(engine::held_to(it, budget, target)));
        Self {
            planner: Planner::new(target),
            engine: Engine::new(Config {
                code: Code::Generic,
                views: ViewPolicy::Copy,
                budget,
                target: target.clone(),
                ..Config::default()
            }),
            chosen: of(engine::subject(Code::Native, budget, target)),
            own: of(engine::subject(Code::SelfContained, budget, target)),
            held: Manner::ALL.into_iter().map(held).collect(),
        }
    }

    /// What else there is for a workload, by name.
    fn others(&self, workload: &Workload) -> Result<Vec<(&'static str, &dyn Subject)>, String> {
        self.engine.clear();
        let program = self.engine.compile(&workload.graph);
        let program = program.map_err(|e| e.to_string())?;
        let kernel = program.kernel();
        let mut boxes = Vec::new();
        kernel.visit(|stmt| {
            if let Stmt::Move(it) = stmt {
                let width = kernel.buffer(it.dst.buffer).map(|it| it.width.bytes());
                let shape = width.and_then(|width| ByteBox::of_move(&it.dims, width).ok());
                boxes.extend(shape.map(|shape| (shape, it.form)));
            }
        });
        let manners = self.planner.alternatives(&boxes);
        let held = self.held.iter().filter(|(it, ..)| manners.contains(it));
        let held = held.map(|(_, name, subject)| (*name, &**subject));
        Ok([("own", &*self.own)].into_iter().chain(held).collect())
    }
}

/// Measures and prints, all or only what is notably faster in another way; returns how many workloads could not be run.
pub fn run(
    (workloads, only_notable): (&[Workload], bool),
    subjects: &Subjects,
    effort: &Effort,
    out: &mut dyn Write,
) -> io::Result<usize> {
    let (mut failed, mut measured, mut gain) = (0, 0, 0.0);
    writeln!(out, "{:<24} speed of each other way", "workload")?;
    for workload in workloads.iter().filter(|w| !w.is_view()) {
        match one(workload, subjects, effort) {
            Ok(speeds) => {
                let best = speeds.iter().fold(1.0, |best, (_, speed)| speed.max(best));
                gain += f64::ln(best);
                measured += 1;
                if best > NOTABLE || !only_notable {
                    writeln!(out, "{}", line(&workload.id, &speeds))?;
                }
            }
            Err(problem) => {
                failed += 1;
                writeln!(out, "{:<24} FAILED: {problem}", workload.id)?;
            }
        }
    }
    if measured > 0 {
        let mean = f64::exp(gain / f64::from(measured));
        writeln!(
            out,
            "the fastest way of each: {mean:.3} times as fast in the mean"
        )?;
    }
    Ok(failed)
}

/// How fast each other way is beside the choice, the fastest first.
fn one(
    workload: &Workload,
    subjects: &Subjects,
    effort: &Effort,
) -> Result<Vec<(&'static str, f64)>, String> {
    let others = subjects.others(workload)?;
    let mut speeds = vec![0.0; others.len()];
    for round in 0..effort.rounds {
        let turn = Effort {
            rounds: 1,
            compilations: 1,
            gap: GAP * (1 + APART * round % PLACES),
            ..*effort
        };
        let base = Outcome::measure(&*subjects.chosen, workload, &turn)?;
        for ((_, subject), speed) in others.iter().zip(&mut speeds) {
            let other = Outcome::measure(*subject, workload, &turn)?;
            *speed += f64::ln(base.time() / other.time());
        }
    }
    let mean = |sum: f64| f64::exp(sum / effort.rounds.max(1) as f64);
    let names = others.into_iter().map(|(name, _)| name);
    let mut all: Vec<_> = names.zip(speeds.into_iter().map(mean)).collect();
    all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    Ok(all)
}

fn line(id: &str, speeds: &[(&'static str, f64)]) -> String {
    let mut line = format!("{id:<24}");
    for (name, speed) in speeds {
        line.push_str(&format!(" {name} {speed:.2}"));
    }
    line
}
