//! From one call of a framework's operator to operators of a graph: whose dialect, which inputs are
//! parameters, and the checks that a framework makes on them before its operator runs.
//!
//! Importers spell the nodes of models here, the conformance reader the cases of frameworks.

mod attribute;
pub(crate) mod blocks;
mod call;
mod mindspore;
mod onnx;
mod openvino;
mod openvino_related;
mod program;
mod tensorflow;

use restride_graph::{Constant, Graph, GraphError, TensorType, ValueId};

pub use attribute::{Attribute, Attributes};
pub(crate) use call::integers;
use call::{Row, SpelledCall};

use crate::rewrite::OPERATOR;

/// A framework whose operators can be spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    /// ONNX, as the standard and ONNX Runtime have it.
    Onnx,
    /// OpenVINO.
    OpenVino,
    /// TensorFlow's raw operators.
    TensorFlow,
    /// MindSpore's `ops`.
    MindSpore,
}

/// One call of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Spelling<'a> {
    /// Whose operator.
    pub framework: Framework,
    /// Its name.
    pub op: &'a str,
    /// Its version; 0 where the framework has none.
    pub version: i64,
    /// Its attributes.
    pub attributes: &'a Attributes,
    /// How many outputs the call has.
    pub outputs: usize,
}

/// The inputs of a call, by position.
pub trait Inputs {
    /// How many there are, those included that are left out between others.
    fn count(&self) -> usize;

    /// The name of an input, where inputs are told apart by names rather than by position.
    fn name(&self, at: usize) -> &str {
        let _ = at;
        ""
    }

    /// The type of an input; nothing if it is left out.
    fn ty(&self, at: usize) -> Option<&TensorType>;

    /// The value of an input, if it is known before the call runs.
    fn value(&self, at: usize) -> Option<&Constant>;

    /// Makes an input an operand in the graph.
    fn operand(&mut self, at: usize, graph: &mut Graph) -> Result<ValueId, SpellError>;
}

/// Why a call is no graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpellError {
    /// It has no meaning, as the framework finds too (or should).
    #[error("{0}")]
    Refused(String),
    /// It is not understood: broken or of a kind not known here.
    #[error("{0}")]
    Unreadable(String),
    /// A parameter is known only when the model runs.
    #[error("its `{0}` is known only when it runs")]
    AtRunTime(&'static str),
}

impl From<GraphError> for SpellError {
    fn from(error: GraphError) -> SpellError {
        SpellError::Refused(error.to_string())
    }
}

/// Adds a call to a graph, and gives what comes out of it.
pub fn spell(
    spelling: Spelling<'_>,
    inputs: &mut dyn Inputs,
    graph: &mut Graph,
) -> Result<Vec<ValueId>, SpellError> {
    if spelling.op == OPERATOR {
        return program::spell(spelling, inputs, graph);
    }
    let mut call = SpelledCall::new(spelling, inputs, graph);
    match operator(spelling.framework, spelling.op) {
        Some(row) => call.spell(row)?,
        None => return Err(call.unknown()),
    }
    Ok(call.finish())
}

fn operator(framework: Framework, op: &str) -> Option<&'static Row> {
    let (some, more): (&[Row], &[Row]) = match framework {
        Framework::Onnx => (onnx::OPERATORS, &[]),
        Framework::OpenVino => (openvino::OPERATORS, openvino_related::OPERATORS),
        Framework::TensorFlow => (tensorflow::OPERATORS, &[]),
        Framework::MindSpore => (mindspore::OPERATORS, &[]),
    };
    some.iter().chain(more).find(|(name, ..)| *name == op)
}

/// Whether a framework's operator only moves data, so that [`spell`] may know it.
#[must_use]
pub fn is_movement(framework: Framework, op: &str) -> bool {
    operator(framework, op).is_some()
}

/// Leaves with a refusal unless the condition holds.
macro_rules! require {
    ($condition:expr, $($reason:tt)+) => {
        if !$condition {
            return Err($crate::spell::SpellError::Refused(format!($($reason)+)));
        }
    };
}
use require;
