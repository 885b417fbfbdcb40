//! Tests of whole ONNX models, as the ONNX project hands them out: a model, inputs and outputs.

use std::collections::HashMap;

use restride_graph::{Constant, oracle::Tensor};
use restride_import::{ImportOptions, NodeGroup, Role, onnx, onnx_tensor};
use serde::Deserialize;

use super::{Holds, Miss};
use crate::ladder::guarded;
use crate::rungs::{Rung, Subject};

/// A test, with the bytes of all files that it has.
#[derive(Clone, Debug, Deserialize)]
pub struct ModelCase {
    /// A name, for reports.
    #[serde(rename = "onnx")]
    pub id: String,
    /// `model.onnx`.
    #[serde(with = "hex")]
    pub model: Vec<u8>,
    /// `input_0.pb` and so on, in the order of the model's inputs.
    #[serde(with = "hexes")]
    pub inputs: Vec<Vec<u8>>,
    /// `output_0.pb` and so on.
    #[serde(with = "hexes")]
    pub outputs: Vec<Vec<u8>>,
}

/// Checks one test on these rungs. What the model computes from sizes alone has to come out of the
/// importer; what it moves has to come out of every rung.
pub fn check_model(case: &ModelCase, rungs: &[&dyn Rung]) -> Holds {
    let read = |what: &str, files: &[Vec<u8>]| -> Result<Vec<Constant>, Miss> {
        let tensors = files.iter().enumerate();
        tensors
            .map(|(at, bytes)| {
                onnx_tensor(bytes).map_err(|error| Miss::Refused(format!("{what} {at}: {error}")))
            })
            .collect()
    };
    let inputs = read("input", &case.inputs)?;
    let expected = read("output", &case.outputs)?;
    // The names of the inputs are known once it has been read.
    let said = |error: restride_import::ImportError| Miss::Refused(error.to_string());
    let bare = onnx(&case.model, &ImportOptions::default()).map_err(said)?;
    if bare.inputs.len() != inputs.len() || bare.outputs.len() != expected.len() {
        return Err(format!(
            "{} inputs and {} outputs for a model of {} and {}",
            inputs.len(),
            expected.len(),
            bare.inputs.len(),
            bare.outputs.len()
        )
        .into());
    }
    let mut options = ImportOptions::default();
    for (&id, value) in bare.inputs.iter().zip(&inputs) {
        options.value(&bare.tensor(id).name, value.clone());
    }
    let model = onnx(&case.model, &options).map_err(said)?;

    let mut moved = Vec::new();
    let mut wanted = Vec::new();
    for (&id, expected) in model.outputs.iter().zip(&expected) {
        let tensor = model.tensor(id);
        match tensor.maker.map(|maker| &model.node(maker).role) {
            Some(Role::Movement(_)) => {
                moved.push(id);
                wanted.push(expected);
            }
            Some(Role::Hidden(why)) => return Err(Miss::Refused(why.to_string())),
            Some(Role::Fixed | Role::Unused | Role::Compute) | None => {
                let value = tensor.value.as_ref();
                let value = value.ok_or_else(|| {
                    Miss::Refused(format!("nobody knows what {} holds", tensor.name))
                })?;
                if value != expected {
                    let found = format!("{} is {value:?}, expected {expected:?}", tensor.name);
                    return Err(Miss::Wrong(found));
                }
            }
        }
    }
    if moved.is_empty() {
        return Ok(());
    }
    let nodes = model.numbered();
    let nodes = nodes.filter(|(_, node)| matches!(node.role, Role::Movement(_)));
    let program = model.program(&NodeGroup {
        scope: 0,
        nodes: nodes.map(|(id, _)| id).collect(),
        inputs: Vec::new(),
        outputs: moved,
    });
    let program = program.map_err(said)?;
    let values: HashMap<_, _> = model.inputs.iter().zip(&inputs).collect();
    let tensors = program.inputs.iter().map(|id| {
        // What is worked out on the way is an input of the program, too.
        let value = values.get(id).copied().or(model.tensor(*id).value.as_ref());
        let value =
            value.ok_or_else(|| format!("nothing is given for {}", model.tensor(*id).name))?;
        Tensor::new(value.ty().clone(), value.bytes().to_vec()).map_err(|error| error.to_string())
    });
    let tensors: Vec<Tensor> = tensors.collect::<Result<_, _>>()?;
    let subject = Subject::new(&program.graph, &tensors);
    for rung in rungs {
        let found = guarded(*rung, &subject);
        let found = found
            .map_err(|error| format!("on rung {}: {error}\n{}", rung.name(), program.graph))?;
        for (at, (found, expected)) in found.iter().zip(&wanted).enumerate() {
            if found.ty() != expected.ty() || found.bytes() != &expected.bytes()[..] {
                return Err(format!(
                    "on rung {}: output {at} is another {}, expected {}\n{}",
                    rung.name(),
                    found.ty(),
                    expected.ty(),
                    program.graph
                )
                .into());
            }
        }
    }
    Ok(())
}

/// Bytes as hexadecimal digits.
mod hex {
    use serde::{Deserialize, Deserializer, de::Error};

    pub(super) fn bytes(text: &str) -> Option<Vec<u8>> {
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let byte = |&[high, low]: &[u8; 2]| Some((digit(high)? << 4 | digit(low)?) as u8);
        rest.is_empty().then(|| pairs.iter().map(byte).collect())?
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        bytes(&text).ok_or_else(|| D::Error::custom("no hexadecimal digits"))
    }
}

/// The same for lists.
mod hexes {
    use serde::{Deserialize, Deserializer, de::Error};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Vec<u8>>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        let texts = texts.iter().map(|text| super::hex::bytes(text));
        let all: Option<_> = texts.collect();
        all.ok_or_else(|| D::Error::custom("no hexadecimal digits"))
    }
}
