//! ONNX files.

mod control;
mod graph;
mod rewrite;
mod schema;
mod tensor;
mod wire;

use std::collections::HashMap;

use restride_graph::{Constant, ElementType, TensorType};

use crate::builder::{Builder, Fact, unknown};
use crate::error::{ImportError, shown};
use crate::model::{Model, OpenSize};
use crate::options::ImportOptions;
use crate::spell::Framework;
use graph::{Env, OnnxReader};
use schema::{ModelProto, OpsetProto, TensorProto, TypeProto, ValueInfoProto};
use wire::ReadBudget;

pub(crate) use rewrite::rewrite;
pub(crate) use tensor::element;

/// Reads an ONNX model.
pub fn import(bytes: &[u8], options: &ImportOptions) -> Result<Model, ImportError> {
    let file = ModelProto::read(bytes, &mut ReadBudget::new())?;
    let Some(graph) = &file.graph else {
        return Err(ImportError::new("it has no graph: no ONNX model"));
    };
    if file.opsets.is_empty() {
        let what = "it does not say whose operators it uses: no ONNX model";
        return Err(ImportError::new(what).inside("opset_import"));
    }
    let version = opset(&file.opsets, "");
    let format = format!("ONNX, operators of version {version}");
    let mut builder = Builder::new(Framework::Onnx, format);
    builder.model.name = shown(graph.name);
    let functions = file.functions.iter();
    let mut reader = OnnxReader {
        builder,
        options,
        functions: functions
            .enumerate()
            .map(|(at, function)| ((function.domain, function.name), at))
            .collect(),
        file: &file,
        depth: 0,
    };
    let mut env = Env::new(0, &file.opsets);
    let done = main(&mut reader, &mut env, graph);
    done.map_err(|error| error.inside("graph"))?;
    let known = |name: &str| reader.builder.model.tensors.iter().any(|t| t.name == name);
    options.check(known, &reader.builder.model.open)?;
    Ok(reader.builder.finish(options))
}

/// Reads a tensor that stands in a file by itself.
pub fn read_tensor(bytes: &[u8]) -> Result<Constant, ImportError> {
    let tensor = TensorProto::read(bytes, &mut ReadBudget::new())?;
    tensor::constant(&tensor)
}

/// The version of a domain's operators; 1 where the file does not say.
fn opset(opsets: &[OpsetProto<'_>], domain: &str) -> i64 {
    let same = |other: &str| other == domain || domain.is_empty() && other == "ai.onnx";
    let found = opsets.iter().find(|opset| same(opset.domain));
    found.map_or(1, |opset| opset.version)
}

/// The main graph: its weights, its inputs at the sizes at hand, its nodes, its outputs.
fn main<'a>(
    reader: &mut OnnxReader<'a>,
    env: &mut Env<'a, '_>,
    graph: &'a schema::GraphProto<'a>,
) -> Result<(), ImportError> {
    reader.weights(env, graph)?;
    let mut sizes: HashMap<&str, i64> = HashMap::new();
    // Shapes that are given bind the names of sizes for all other inputs.
    for info in &graph.input {
        if let (Some(given), Some(dims)) = (reader.options.shapes.get(info.name), dims(info)) {
            for (dim, &size) in dims.iter().zip(given) {
                if dim.value.is_none() && !dim.name.is_empty() {
                    sizes.entry(dim.name).or_insert(size);
                }
            }
        }
    }
    for (at, info) in graph.input.iter().enumerate() {
        if env.names.contains_key(info.name) {
            // Old files list weights among the inputs.
            continue;
        }
        let fact = input(reader, info, &mut sizes);
        let fact =
            fact.map_err(|error| error.inside(format!("input[{at}] ({})", shown(info.name))))?;
        let id = reader.builder.tensor(info.name, fact, None);
        env.names.insert(info.name, Some(id));
        reader.builder.model.inputs.push(id);
    }
    env.sizes = sizes;
    reader.record(env, &graph.value_info, &graph.output);
    reader.nodes(env, &graph.node)?;
    for (at, info) in graph.output.iter().enumerate() {
        let id = env.resolve(info.name).flatten().ok_or_else(|| {
            let what = format!("nothing makes `{}`", shown(info.name));
            ImportError::new(what).inside(format!("output[{at}]"))
        })?;
        reader.builder.model.outputs.push(id);
        reader.builder.model.scopes[0].outputs.push(id);
    }
    Ok(())
}

fn tensor_type<'p>(ty: Option<&'p TypeProto<'p>>) -> Option<&'p schema::TensorTypeProto<'p>> {
    ty?.tensor.as_deref()
}

fn dims<'p>(info: &'p ValueInfoProto<'p>) -> Option<&'p [schema::DimProto<'p>]> {
    let shape = tensor_type(info.ty.as_deref())?.shape.as_deref()?;
    Some(&shape.dim)
}

/// An input at the sizes at hand.
fn input<'a>(
    reader: &mut OnnxReader<'a>,
    info: &'a ValueInfoProto<'a>,
    sizes: &mut HashMap<&'a str, i64>,
) -> Result<Fact, ImportError> {
    let options = reader.options;
    let hidden = |why: &str| {
        Fact::of(Err(unknown(
            &format!("input \"{}\"", shown(info.name)),
            why,
        )))
    };
    if let Some(value) = options.values.get(info.name) {
        return Ok(Fact {
            ty: Ok(value.ty().clone()),
            value: Some(value.clone()),
            fixed: false,
        });
    }
    let Some(ty) = tensor_type(info.ty.as_deref()) else {
        return Ok(hidden("it is no tensor"));
    };
    let element = match element(ty.element) {
        Ok(element) => element,
        Err(why) => return Ok(hidden(&why)),
    };
    let given = options.shapes.get(info.name);
    let shape = match (dims(info), given) {
        (Some(dims), Some(given)) if dims.len() != given.len() => {
            let what = format!(
                "it has rank {}, a shape of rank {} is given",
                dims.len(),
                given.len()
            );
            return Err(ImportError::new(what));
        }
        (None, Some(given)) => given.clone(),
        (None, None) => return Ok(hidden("its rank is open: give its shape")),
        (Some(dims), given) => {
            let mut shape = Vec::new();
            for (axis, dim) in dims.iter().enumerate() {
                let given = given.map(|given| given[axis]);
                if let Some(size) = dim.value.filter(|&size| size >= 0) {
                    shape.push(given.unwrap_or(size));
                    continue;
                }
                let (size, said) = match (given, sizes.get(dim.name)) {
                    (Some(size), _) | (None, Some(&size)) => (size, true),
                    (None, None) => options.open(dim.name, axis, dims.len()),
                };
                let size = options.varied(dim.name, axis, size);
                if !dim.name.is_empty() && given.is_none() {
                    sizes.insert(dim.name, size);
                }
                let open = &mut reader.builder.model.open;
                if dim.name.is_empty() || open.iter().all(|open| open.symbol != dim.name) {
                    open.push(OpenSize {
                        symbol: dim.name.to_owned(),
                        input: info.name.to_owned(),
                        axis,
                        size,
                        given: said,
                    });
                }
                shape.push(size);
            }
            shape
        }
    };
    let ty =
        TensorType::dense(element, shape).map_err(|error| ImportError::new(error.to_string()))?;
    let value = match options.numbers.get(info.name) {
        None => None,
        Some(numbers) => Some(crate::number::constant(&ty, numbers).map_err(ImportError::new)?),
    };
    Ok(Fact {
        ty: Ok(ty),
        value,
        fixed: false,
    })
}

/// A type that the file records, if all of its sizes are known.
fn recorded(
    info: &ValueInfoProto<'_>,
    env: &Env<'_, '_>,
    options: &ImportOptions,
) -> Option<TensorType> {
    let ty = tensor_type(info.ty.as_deref())?;
    let element: ElementType = element(ty.element).ok()?;
    if let Some(given) = options.shapes.get(info.name) {
        return TensorType::dense(element, given).ok();
    }
    let size = |dim: &schema::DimProto<'_>| match dim.value {
        Some(size) => (size >= 0).then_some(size),
        None => env.size(dim.name),
    };
    let shape: Option<Vec<i64>> = dims(info)?.iter().map(size).collect();
    TensorType::dense(element, shape?).ok()
}
