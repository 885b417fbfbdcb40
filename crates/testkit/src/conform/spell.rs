//! From a case to a graph: data and indices come in, what came out of the framework goes out.

use restride_graph::{Constant, Graph, TensorType, ValueId, oracle::Tensor};
use restride_import::spell::{self as import, Attribute, Framework, Inputs, SpellError, Spelling};
use serde_json::Value;

use super::case::GoldenCase;
use super::values;

/// A case as a graph, with the tensors for its inputs.
#[derive(Clone, Debug)]
pub struct SpelledCase {
    /// The graph.
    pub graph: Graph,
    /// One tensor per input of the graph.
    pub inputs: Vec<Tensor>,
}

/// The graph that a case spells.
pub fn spell(case: &GoldenCase) -> Result<SpelledCase, SpellError> {
    let framework = match case.peer.as_str() {
        "openvino" => Framework::OpenVino,
        "tensorflow" => Framework::TensorFlow,
        "mindspore" => Framework::MindSpore,
        "onnx" | "onnxruntime" => Framework::Onnx,
        other => {
            return Err(SpellError::Unreadable(format!(
                "peer `{other}` is not known"
            )));
        }
    };
    let version = case
        .opset
        .rsplit_once('-')
        .map_or("", |(_, version)| version);
    let attributes = case.attrs.iter().filter(|(_, value)| !value.is_null());
    let spelling = Spelling {
        framework,
        op: &case.op,
        version: version.parse().unwrap_or(0),
        attributes: &attributes
            .map(|(name, value)| (name.clone(), attribute(value)))
            .collect(),
        outputs: case.expect.outputs().map_or(1, <[_]>::len),
    };
    let mut given = Given::of(case)?;
    let mut graph = Graph::new("case");
    for value in import::spell(spelling, &mut given, &mut graph)? {
        graph.output(value)?;
    }
    Ok(SpelledCase {
        graph,
        inputs: given.taken,
    })
}

/// An attribute as the case's file has it.
fn attribute(value: &Value) -> Attribute {
    match value {
        Value::Bool(flag) => Attribute::Int(i64::from(*flag)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Attribute::Int(whole),
            (None, Some(number)) => Attribute::Float(number),
            (None, None) => Attribute::Other("a number out of range"),
        },
        Value::String(word) => Attribute::Word(word.clone()),
        Value::Array(list) => {
            let whole: Option<Vec<i64>> = list.iter().map(Value::as_i64).collect();
            whole.map_or(Attribute::Other("a mixed list"), Attribute::Ints)
        }
        Value::Object(_) => Attribute::Other("an object"),
        Value::Null => Attribute::Other("nothing"),
    }
}

/// The inputs of a case: all of them have values; those that are operands are taken one by one.
struct Given<'a> {
    case: &'a GoldenCase,
    tensors: Vec<Tensor>,
    values: Vec<Constant>,
    taken: Vec<Tensor>,
}

impl<'a> Given<'a> {
    fn of(case: &'a GoldenCase) -> Result<Self, SpellError> {
        let unreadable =
            |reason: &dyn std::fmt::Display| SpellError::Unreadable(reason.to_string());
        let tensors = case.inputs.iter().map(values::tensor);
        let tensors: Vec<Tensor> = tensors
            .collect::<Result<_, _>>()
            .map_err(|reason| unreadable(&reason))?;
        let constant = |tensor: &Tensor| Constant::new(tensor.ty().clone(), tensor.bytes());
        let values = tensors.iter().map(constant);
        Ok(Self {
            case,
            values: values
                .collect::<Result<_, _>>()
                .map_err(|reason| unreadable(&reason))?,
            tensors,
            taken: Vec::new(),
        })
    }
}

impl Inputs for Given<'_> {
    fn count(&self) -> usize {
        self.tensors.len()
    }

    fn name(&self, at: usize) -> &str {
        self.case.inputs.get(at).map_or("", |array| &array.name)
    }

    fn ty(&self, at: usize) -> Option<&TensorType> {
        self.tensors.get(at).map(Tensor::ty)
    }

    fn value(&self, at: usize) -> Option<&Constant> {
        self.values.get(at)
    }

    fn operand(&mut self, at: usize, graph: &mut Graph) -> Result<ValueId, SpellError> {
        let Some(tensor) = self.tensors.get(at) else {
            return Err(SpellError::Unreadable(format!("input {at} is missing")));
        };
        let name = format!("in{}", self.taken.len());
        let value = graph.typed_input(&name, tensor.ty().clone())?;
        self.taken.push(tensor.clone());
        Ok(value)
    }
}
