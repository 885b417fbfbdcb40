//! From a case to a spelled graph: whose dialect, which inputs are attributes, and the checks that
//! a framework makes on them before its operator runs.

mod call;
mod mindspore;
mod onnx;
mod openvino;
mod openvino_related;
mod tensorflow;

use restride_graph::{Graph, GraphError, oracle::Tensor};

use super::case::Case;
use call::Call;

/// A case as a graph, with the tensors for its inputs.
#[derive(Clone, Debug)]
pub struct Spelled {
    /// The graph: data and indices come in, everything that came out of the framework goes out.
    pub graph: Graph,
    /// One tensor per input of the graph.
    pub inputs: Vec<Tensor>,
}

/// Why a case is no graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpellError {
    /// It has no meaning, as the framework finds too (or should).
    #[error("{0}")]
    Refused(String),
    /// The reader does not understand it: the case is broken or of a kind not known here.
    #[error("{0}")]
    Unreadable(String),
}

impl From<GraphError> for SpellError {
    fn from(error: GraphError) -> SpellError {
        SpellError::Refused(error.to_string())
    }
}

/// The graph that a case spells.
pub fn spell(case: &Case) -> Result<Spelled, SpellError> {
    let mut call = Call::new(case);
    match case.peer.as_str() {
        "openvino" => openvino::spell(&mut call)?,
        "tensorflow" => tensorflow::spell(&mut call)?,
        "mindspore" => mindspore::spell(&mut call)?,
        "onnx" | "onnxruntime" => onnx::spell(&mut call)?,
        other => {
            return Err(SpellError::Unreadable(format!(
                "peer `{other}` is not known"
            )));
        }
    }
    Ok(call.finish())
}

/// Leaves with a refusal unless the condition holds.
macro_rules! require {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err($crate::conform::SpellError::Refused(format!($($reason)+)));
        }
    };
}
use require;
