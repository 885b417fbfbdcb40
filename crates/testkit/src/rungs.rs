//! The rungs of the ladder: ways to run a graph that must agree to the bit.
//!
//! A rung takes a spelled graph and dense inputs and gives dense outputs. The oracle is the lowest;
//! every stage of the compiler adds one, and so does every way to run what it made.

use restride_graph::{
    Graph,
    oracle::{self, OracleError, Tensor},
};

/// Why a rung gave no outputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RungError {
    /// The run was refused, as the operators' definitions ask: an index outside its axis.
    #[error("{0}")]
    Refused(String),
    /// The rung itself failed, which no graph and no data justify.
    #[error("broken: {0}")]
    Broken(String),
}

/// One way to run a graph.
pub trait Rung: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// The outputs, dense and in order, or why there are none.
    fn run(&self, graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, RungError>;
}

/// The rungs of this crate, lowest first.
pub fn rungs() -> Vec<&'static dyn Rung> {
    vec![&Oracle]
}

/// The definition itself.
struct Oracle;

impl Rung for Oracle {
    fn name(&self) -> &'static str {
        "oracle"
    }

    fn run(&self, graph: &Graph, inputs: &[Tensor]) -> Result<Vec<Tensor>, RungError> {
        oracle::eval(graph, inputs).map_err(|error| match error {
            OracleError::Op { .. } => RungError::Refused(error.to_string()),
            other => RungError::Broken(other.to_string()),
        })
    }
}
