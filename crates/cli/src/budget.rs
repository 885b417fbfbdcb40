//! What a compile may spend: as `--budget` says, else as in the library.

use std::sync::OnceLock;

use restride::Budget;
use restride_budget::Meter;

use crate::failure::Failure;

/// What the command line asked for.
static ASKED: OnceLock<Budget> = OnceLock::new();

/// Reads `10`, for ten times the default, or `unlimited`.
pub(crate) fn parse(text: &str) -> Result<Budget, String> {
    if text == "unlimited" {
        return Ok(Budget::UNLIMITED);
    }
    let times: f64 = text
        .parse()
        .ok()
        .filter(|times: &f64| times.is_finite() && *times > 0.0)
        .ok_or("a number above 0, for so many times the default, or `unlimited`")?;
    let Budget { work, bytes } = Budget::default();
    let scaled = |n: u64| (n as f64 * times) as u64;
    Ok(Budget {
        work: scaled(work),
        bytes: scaled(bytes),
    })
}

/// Takes effect for the whole run; the first call counts.
pub(crate) fn choose(budget: Option<Budget>) {
    let _ = ASKED.set(budget.unwrap_or_default());
}

/// What a compile may spend.
pub(crate) fn chosen() -> Budget {
    ASKED.get().copied().unwrap_or_default()
}

/// A meter for one compile.
pub(crate) fn meter() -> Meter {
    Meter::new(chosen())
}

/// A program that would take more is no defect.
pub(crate) fn refused(error: restride::TooCostly) -> Failure {
    Failure::Input(format!(
        "{error}\n  help: `--budget 10` allows ten times as much"
    ))
}
