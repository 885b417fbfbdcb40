//! The rungs of the ladder: ways to run a graph that must agree to the bit.
//!
//! A rung takes a [`Subject`], a spelled graph on given inputs, and gives dense outputs. The oracle
//! is the lowest; every stage of the compiler adds one, and so does every way to run what it made.
//! [`rungs`] has those that need no code generator; whoever links one adds a [`Rung`] of his own.

mod canonical;
mod exec;
mod loops;
mod meaning;
mod plan;
mod subject;

pub use subject::Subject;

use restride_graph::oracle::Tensor;

/// An index that the operators' definitions refuse: the first in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadIndex {
    /// The value of the graph whose operator refuses it.
    pub op: u32,
    /// Where it stands in the index tensor, flat.
    pub position: u64,
    /// The number there.
    pub value: i128,
}

impl std::fmt::Display for BadIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let BadIndex {
            op,
            position,
            value,
        } = self;
        write!(f, "%{op}: index {value} at position {position}")
    }
}

/// Why a rung gave no outputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RungError {
    /// The run was refused, as the operators' definitions ask: an index outside its axis.
    #[error("{0} is outside its axis")]
    OutOfRange(BadIndex),
    /// The run was refused for what an operator says.
    #[error("{0}")]
    Refused(String),
    /// The rung itself failed, which no graph and no data justify.
    #[error("broken: {0}")]
    Broken(String),
}

impl RungError {
    pub(crate) fn broken(error: impl std::fmt::Display) -> RungError {
        RungError::Broken(error.to_string())
    }
}

/// What a rung gives.
pub type Outcome = Result<Vec<Tensor>, RungError>;

/// One way to run a graph.
pub trait Rung: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// The outputs, dense and in order, or why there are none.
    fn run(&self, subject: &Subject<'_>) -> Outcome;
}

/// The rungs of this crate, lowest first.
#[must_use]
pub fn rungs() -> Vec<&'static dyn Rung> {
    vec![
        &meaning::Oracle,
        &canonical::Canonical,
        &plan::Plan,
        &loops::Loops,
        &exec::Exec,
    ]
}

/// Those of `all` that are named, each once and in their order; all of them when none is named.
pub fn named(
    all: &[&'static dyn Rung],
    names: &[String],
) -> Result<Vec<&'static dyn Rung>, String> {
    for name in names {
        if !all.iter().any(|rung| rung.name() == name) {
            let known: Vec<&str> = all.iter().map(|rung| rung.name()).collect();
            let known = known.join(", ");
            return Err(format!("there is no rung `{name}`; there are {known}"));
        }
    }
    let wanted =
        |rung: &&&dyn Rung| names.is_empty() || names.iter().any(|name| name == rung.name());
    Ok(all.iter().filter(wanted).copied().collect())
}
