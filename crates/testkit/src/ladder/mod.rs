//! The ladder: `oracle(graph) = run(canonical) = eval(plan) = interpret(kernel) = execute(kernel)`
//! over random graphs, and whatever other rungs there are.

mod check;
mod compare;
mod file;
mod report;
mod shrink;

pub use check::{Disagreement, Facts, check, guarded};
pub use compare::difference;
pub use file::{read, write};
pub use report::{FailedCase, KindShare, Report};
pub use shrink::shrink;

use crate::generate::{Kind, case};
use crate::rungs::Rung;

/// Which cases to run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The seed of the run.
    pub seed: u64,
    /// The number of the first case.
    pub first: u64,
    /// How many cases.
    pub count: u64,
    /// The most operators of a graph.
    pub max_ops: usize,
    /// The kind of all cases; a mix if absent.
    pub kind: Option<Kind>,
    /// How many threads to share the cases out to.
    pub threads: usize,
    /// How many disagreements to make small and keep.
    pub keep: usize,
}

/// Runs cases on rungs. `progress` is told now and then how many are done.
pub fn climb(options: &Options, rungs: &[&dyn Rung], progress: impl Fn(u64) + Sync) -> Report {
    let threads = options.threads.max(1) as u64;
    let done = std::sync::atomic::AtomicU64::new(0);
    let share = |thread: u64| {
        let mut report = Report::new(rungs);
        for number in (options.first..options.first.saturating_add(options.count))
            .skip(thread as usize)
            .step_by(threads as usize)
        {
            one(options, number, rungs, &mut report);
            let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            if done.is_multiple_of(256) {
                progress(done);
            }
        }
        report
    };
    let mut reports: Vec<Report> = std::thread::scope(|scope| {
        let share = &share;
        let others: Vec<_> = (1..threads)
            .map(|t| scope.spawn(move || share(t)))
            .collect();
        let mut all = vec![share(0)];
        all.extend(others.into_iter().filter_map(|other| other.join().ok()));
        all
    });
    let mut report = reports.swap_remove(0);
    for other in reports {
        report.add(other);
    }
    report.settle(options.keep);
    report
}

fn one(options: &Options, number: u64, rungs: &[&dyn Rung], report: &mut Report) {
    let kind = options.kind.unwrap_or_else(|| Kind::of_number(number));
    let drawn = case(options.seed, number, kind, options.max_ops);
    match check(&drawn, rungs) {
        Ok(facts) => report.held(kind, &facts),
        Err(found) => {
            let small = report.failures.len() < options.keep;
            let (case, found) = match small {
                true => shrink(drawn, found, rungs),
                false => (drawn, found),
            };
            report.failed(FailedCase::new(options, number, kind, &case, found));
        }
    }
}
