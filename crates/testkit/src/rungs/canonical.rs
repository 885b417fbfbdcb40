//! The canonical form, run node by node. It is also written and read back, and made
//! canonical once more, which must change nothing.

use restride_budget::Meter;
use restride_canon::{normalise, text};
use restride_lower::plain;

use super::{Outcome, Rung, RungError, Subject};

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
        subject.plain(&plain::plan(canonical))
    }
}
