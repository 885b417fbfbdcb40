//! The canonical form, run by its own definition. It is also written and read back, and made
//! canonical once more, which must change nothing.

use restride_budget::Meter;
use restride_canon::interp::{RunError, run};
use restride_canon::{normalise, text};

use super::{BadIndex, Outcome, Rung, RungError, Subject};

pub(super) struct Canonical;

impl Rung for Canonical {
    fn name(&self) -> &'static str {
        "canonical"
    }

    fn run(&self, subject: &Subject<'_>) -> Outcome {
        let canonical = subject.canonical()?;
        let printed = canonical.to_string();
        match text::parse(&printed) {
            Ok(parsed) if parsed == *canonical => {}
            Ok(parsed) => {
                return Err(RungError::Broken(format!(
                    "{printed}\nreads back as\n{parsed}"
                )));
            }
            Err(error) => return Err(RungError::Broken(format!("{printed}\n{error}"))),
        }
        let again = normalise(canonical, &Meter::unlimited(), None).map_err(RungError::broken)?;
        if again != *canonical {
            return Err(RungError::Broken(format!(
                "not settled: {printed}\nbecomes\n{again}"
            )));
        }
        match run(canonical, &subject.buffers()) {
            Ok(outputs) => subject.dense(outputs),
            Err(RunError::OutOfRange {
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
