//! The plan, every promise of it checked, run element by element.

use restride_lower::plan::{EvalError, eval};

use super::{BadIndex, Outcome, Rung, RungError, Subject};

pub(super) struct Plan;

impl Rung for Plan {
    fn name(&self) -> &'static str {
        "plan"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        let plan = subject.plan()?;
        plan.check()
            .map_err(|flaw| RungError::Broken(format!("{flaw}\n{plan}")))?;
        match eval(plan, &subject.buffers()) {
            Ok(outputs) => subject.dense(outputs),
            Err(EvalError::OutOfRange {
                op,
                position,
                value,
                ..
            }) => Err(RungError::OutOfRange(BadIndex {
                op,
                position: position as u64,
                value,
            })),
            Err(other) => Err(RungError::broken(other)),
        }
    }
}
