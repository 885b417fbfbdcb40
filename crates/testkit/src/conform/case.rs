//! A case as it stands in its file.

use serde::Deserialize;
use serde_json::{Map, Number, Value};

/// One case: a framework's operator, its inputs, its answer.
#[derive(Clone, Debug, Deserialize)]
pub struct GoldenCase {
    /// A name, for reports.
    pub id: String,
    /// The framework: `openvino`, `tensorflow`, `mindspore`, `onnxruntime` or `onnx`.
    pub peer: String,
    /// The operator's name, the same for all frameworks.
    pub op: String,
    /// The operator's name and version in the framework.
    pub opset: String,
    /// Attributes by the framework's names.
    #[serde(default)]
    pub attrs: Map<String, Value>,
    /// Inputs by the framework's names, in its order.
    #[serde(default)]
    pub inputs: Vec<Array>,
    /// What came out.
    pub expect: Expect,
}

/// An input.
#[derive(Clone, Debug, Deserialize)]
pub struct Array {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// Its element type's name.
    pub dtype: String,
    /// Its sizes.
    pub shape: Vec<i64>,
    /// Its elements as numbers.
    #[serde(default)]
    pub values: Option<Values>,
    /// Its elements as bit patterns.
    #[serde(default)]
    pub bits: Option<Vec<u64>>,
}

/// Elements as numbers, row-major.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// `iota` (element k is k) or `iota1` (k + 1).
    Named(String),
    /// One number each.
    List(Vec<Number>),
}

/// What came out.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Expect {
    /// The framework refused.
    Error {
        /// A category, for the reader.
        error: String,
        /// The framework's own words.
        #[serde(default)]
        message: String,
    },
    /// Several outputs.
    Outputs {
        /// In order.
        outputs: Vec<ArrayOut>,
    },
    /// One output.
    Output(ArrayOut),
}

/// An expected output; its element type is that of the data.
#[derive(Clone, Debug, Deserialize)]
pub struct ArrayOut {
    /// Its sizes.
    pub shape: Vec<i64>,
    /// Its elements as numbers.
    #[serde(default)]
    pub values: Option<Values>,
    /// Its elements as bit patterns.
    #[serde(default)]
    pub bits: Option<Vec<u64>>,
}

impl Expect {
    /// The expected outputs, or `None` if the case must be refused.
    pub fn outputs(&self) -> Option<&[ArrayOut]> {
        match self {
            Expect::Error { .. } => None,
            Expect::Outputs { outputs } => Some(outputs),
            Expect::Output(output) => Some(std::slice::from_ref(output)),
        }
    }
}
