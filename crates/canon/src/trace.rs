//! Which rule fired, on what, and why.

use restride_graph::ValueId;

/// What a rule lowers, compared lexicographically. Each rule says what its numbers count.
pub type Measure = [u64; 3];

/// A rewrite of the canonical form. `equation`, `condition` and `measure` are its definition for
/// readers; the code beside it is its definition for the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, also that of its file and of its test.
    pub name: &'static str,
    /// Left side = right side.
    pub equation: &'static str,
    /// When it holds and fires.
    pub condition: &'static str,
    /// What it strictly lowers, in the order of comparison.
    pub measure: &'static str,
}

/// One rewrite that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The rule, or the operator that was spelled out.
    pub rule: &'static str,
    /// The value of the spelled graph that was being canonicalised.
    pub on: ValueId,
    /// The facts that made it fire.
    pub why: String,
}

/// Receives rewrites as they happen. Without one, nothing is formatted.
pub trait Trace {
    /// One more rewrite.
    fn rewrite(&mut self, rewrite: Rewrite);
}

impl Trace for Vec<Rewrite> {
    fn rewrite(&mut self, rewrite: Rewrite) {
        self.push(rewrite);
    }
}

impl std::fmt::Display for Rewrite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.on, self.rule, self.why)
    }
}

/// A number and what it counts.
pub(crate) fn few(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
