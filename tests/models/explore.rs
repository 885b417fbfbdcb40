//! Running a model.

use crate::world;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Runs a model on every schedule with at most so many preemptions. How many there were is printed
/// and must be more than a few.
pub(crate) fn schedules(name: &str, preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let count = Arc::new(AtomicU64::new(0));
    let counted = count.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 100_000;
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        world::begin();
        model();
    });
    let count = count.load(Ordering::Relaxed);
    println!("{name}: {count} schedules, at most {preemptions} preemptions");
    assert!(count >= 5, "{name}: only {count} schedules");
}
