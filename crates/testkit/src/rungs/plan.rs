//! The plan, run piece by piece.

use super::{Outcome, Rung, Subject};

pub(super) struct Plan;

impl Rung for Plan {
    fn name(&self) -> &'static str {
        "plan"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        subject.plain(subject.plan()?)
    }
}
