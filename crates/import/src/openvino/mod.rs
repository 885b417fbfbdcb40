//! OpenVINO's intermediate representation: layers and edges in XML, weights in a file beside it.

mod element;
mod layers;
mod rewrite;

use std::collections::HashMap;

use restride_graph::{Constant, TensorType};
use roxmltree::{Document, Node as Xml, ParsingOptions};

use crate::builder::{Builder, Fact, MAX_VALUE, NodeCall, unknown};
use crate::error::{ImportError, shown};
use crate::model::{Model, OpenSize, TensorId};
use crate::options::ImportOptions;
use crate::spell::Framework;
use layers::{Layer, sorted};

pub(crate) use element::element;
pub(crate) use rewrite::rewrite;

/// The most elements and texts of a file.
const MAX_XML: u32 = 1 << 22;

/// The most attributes of one element: the parser compares each with all others.
const MAX_ATTRIBUTES: usize = 256;

/// The most elements of a tensor of floats that is looked at: larger ones are weights.
const MAX_FLOATS: usize = 1 << 12;

/// Reads an OpenVINO IR: its XML, and the weights if they are at hand.
pub fn import(
    text: &str,
    weights: Option<&[u8]>,
    options: &ImportOptions,
) -> Result<Model, ImportError> {
    let document = parse(text)?;
    let net = document.root_element();
    if net.tag_name().name() != "net" {
        let name = shown(net.tag_name().name());
        return Err(ImportError::new(format!(
            "it is a <{name}>: no OpenVINO IR"
        )));
    }
    let version = net.attribute("version").unwrap_or("?");
    if !matches!(version, "10" | "11") {
        let what = format!("version {} of the IR; 10 and 11 are known", shown(version));
        return Err(ImportError::new(what).inside("net"));
    }
    let mut builder = Builder::new(Framework::OpenVino, format!("OpenVINO IR {version}"));
    builder.model.name = shown(net.attribute("name").unwrap_or_default());
    let layers = layers::read(net)?;
    let mut reader = Reader {
        builder,
        weights,
        options,
        made: HashMap::new(),
    };
    for at in sorted(&layers)? {
        let layer = &layers[at];
        let done = reader.layer(layer);
        done.map_err(|error| error.inside(layer.shown()).inside("net.layers"))?;
    }
    let known = |name: &str| {
        let names = layers.iter().flat_map(|layer| layer.outputs.iter());
        names.clone().any(|port| port.names.contains(&name))
            || layers.iter().any(|layer| layer.name == name)
    };
    options.check(known, &reader.builder.model.open)?;
    Ok(reader.builder.finish(options))
}

/// The XML, unless it would take the parser long.
fn parse(text: &str) -> Result<Document<'_>, ImportError> {
    let mut attributes = 0;
    for byte in text.bytes() {
        match byte {
            b'<' => attributes = 0,
            b'=' => attributes += 1,
            _ => continue,
        }
        if attributes > MAX_ATTRIBUTES {
            let what = format!("an element of more than {MAX_ATTRIBUTES} attributes");
            return Err(ImportError::new(what));
        }
    }
    let options = ParsingOptions {
        nodes_limit: MAX_XML,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options);
    document.map_err(|error| ImportError::new(error.to_string()))
}

struct Reader<'a> {
    builder: Builder,
    weights: Option<&'a [u8]>,
    options: &'a ImportOptions,
    /// The tensor of each output, by layer and port.
    made: HashMap<(&'a str, &'a str), TensorId>,
}

impl<'a> Reader<'a> {
    fn layer(&mut self, layer: &Layer<'a>) -> Result<(), ImportError> {
        let mut inputs = Vec::new();
        for (port, from) in &layer.inputs {
            inputs.push(match from {
                None => None,
                Some(from) => Some(*self.made.get(from).ok_or_else(|| {
                    let what = format!("layer {} has no port {}", shown(from.0), shown(from.1));
                    ImportError::new(what).inside(format!("input {}", shown(port)))
                })?),
            });
        }
        match layer.kind {
            "Parameter" => {
                let fact = self.parameter(layer)?;
                let id = self.builder.tensor(&layer.tensor(0), fact, None);
                self.builder.model.inputs.push(id);
                self.hand_on(layer, &[Some(id)]);
            }
            "Const" => {
                let fact = self.constant(layer)?;
                let id = self.builder.tensor(&layer.tensor(0), fact, None);
                self.hand_on(layer, &[Some(id)]);
            }
            "Result" => {
                let id = inputs.first().copied().flatten();
                let id = id.ok_or_else(|| ImportError::new("nothing leads to it"))?;
                self.builder.model.outputs.push(id);
                self.builder.model.scopes[0].outputs.push(id);
            }
            _ => {
                let outputs = (0..layer.outputs.len()).map(|at| {
                    let given = self.given(layer, at);
                    let recorded = given.or_else(|| layer.outputs[at].ty.clone());
                    Some((layer.tensor(at), recorded))
                });
                let call = NodeCall {
                    name: layer.name.to_owned(),
                    op: layer.kind.to_owned(),
                    domain: layer.domain().to_owned(),
                    version: layer.version,
                    scope: 0,
                    inputs,
                    attributes: layer.attributes.clone(),
                    outputs: outputs.collect(),
                };
                let made = self.builder.node(call)?;
                self.hand_on(layer, &made);
            }
        }
        Ok(())
    }

    /// The shape that somebody gave an output, with the element that the file records.
    fn given(&self, layer: &Layer<'_>, at: usize) -> Option<TensorType> {
        let port = &layer.outputs[at];
        let names = port.names.iter().copied().chain([layer.name]);
        let shape = names
            .into_iter()
            .find_map(|name| self.options.shapes.get(name))?;
        TensorType::dense(port.element?, shape).ok()
    }

    fn hand_on(&mut self, layer: &Layer<'a>, made: &[Option<TensorId>]) {
        for (port, id) in layer.outputs.iter().zip(made) {
            if let Some(id) = id {
                self.made.insert((layer.id, port.id), *id);
            }
        }
    }

    /// An input at the sizes at hand.
    fn parameter(&mut self, layer: &Layer<'_>) -> Result<Fact, ImportError> {
        let word = |name: &str| layer.data(name).unwrap_or_default();
        let name = layer.tensor(0);
        let hidden =
            |why: &str| Fact::of(Err(unknown(&format!("input \"{}\"", shown(&name)), why)));
        let names = layer
            .outputs
            .iter()
            .flat_map(|port| port.names.iter().copied());
        let names: Vec<&str> = names.chain([layer.name]).collect();
        let said = |name: &&str| self.options.values.get(*name);
        if let Some(value) = names.iter().find_map(said) {
            return Ok(Fact {
                ty: Ok(value.ty().clone()),
                value: Some(value.clone()),
                fixed: false,
            });
        }
        let element = match element(word("element_type")) {
            Ok(element) => element,
            Err(why) => return Ok(hidden(&why)),
        };
        let given = names.iter().find_map(|name| self.options.shapes.get(*name));
        let sizes: Vec<&str> = match word("shape").trim() {
            "" => Vec::new(),
            "..." if given.is_none() => return Ok(hidden("its rank is open: give its shape")),
            text => text.split(',').map(str::trim).collect(),
        };
        let shape = match given {
            Some(given) if given.len() != sizes.len() && sizes != ["..."] => {
                return Err(ImportError::new(format!(
                    "it has rank {}, a shape of rank {} is given",
                    sizes.len(),
                    given.len()
                )));
            }
            Some(given) if sizes == ["..."] => given.clone(),
            given => {
                let mut shape = Vec::new();
                for (axis, text) in sizes.iter().enumerate() {
                    let given = given.map(|given| given[axis]);
                    // What is open is `?`, -1 or a range such as `1..8`.
                    if let Some(size) = text.parse::<i64>().ok().filter(|&size| size >= 0) {
                        shape.push(given.unwrap_or(size));
                        continue;
                    }
                    let (size, given) = match given {
                        Some(size) => (size, true),
                        None => self.options.open("", axis, sizes.len()),
                    };
                    let size = self.options.varied("", axis, size);
                    self.builder.model.open.push(OpenSize {
                        symbol: String::new(),
                        input: name.clone(),
                        axis,
                        size,
                        given,
                    });
                    shape.push(size);
                }
                shape
            }
        };
        let ty = TensorType::dense(element, shape).map_err(|e| ImportError::new(e.to_string()))?;
        let numbers = names
            .iter()
            .find_map(|name| self.options.numbers.get(*name));
        let value = match numbers {
            None => None,
            Some(numbers) => Some(crate::number::constant(&ty, numbers).map_err(ImportError::new)?),
        };
        Ok(Fact {
            ty: Ok(ty),
            value,
            fixed: false,
        })
    }

    /// A weight: its place has to be in the file of weights, also if nobody looks at it.
    fn constant(&self, layer: &Layer<'_>) -> Result<Fact, ImportError> {
        let word = |name: &str| layer.data(name).unwrap_or_default();
        let hidden = |why: &str| Fact {
            ty: Err(unknown(&format!("Const \"{}\"", shown(layer.name)), why)),
            value: None,
            fixed: true,
        };
        let wrong = |what: String| ImportError::new(what).inside("data");
        let number = |name: &str| match word(name).parse::<usize>() {
            Ok(number) => Ok(number),
            Err(_) => Err(wrong(format!("{name} is `{}`", shown(word(name))))),
        };
        let (offset, size) = (number("offset")?, number("size")?);
        let part = match self.weights {
            None => None,
            Some(weights) => {
                let end = offset.checked_add(size);
                match end.and_then(|end| weights.get(offset..end)) {
                    Some(part) => Some(part),
                    None => {
                        return Err(wrong(format!(
                            "{size} bytes at {offset} of {}",
                            weights.len()
                        )));
                    }
                }
            }
        };
        let element = match element(word("element_type")) {
            Ok(element) => element,
            Err(why) => return Ok(hidden(&why)),
        };
        let sizes = word("shape")
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty());
        let shape: Result<Vec<i64>, _> = sizes.map(str::parse).collect();
        let Ok(shape) = shape else {
            return Err(wrong(format!("shape is `{}`", shown(word("shape")))));
        };
        let ty = TensorType::dense(element, shape).map_err(|e| ImportError::new(e.to_string()))?;
        // OpenVINO writes a byte for a tensor that has none.
        if ty.byte_size() != size && ty.numel() > 0 {
            return Err(wrong(format!(
                "{size} bytes for {ty}, which takes {}",
                ty.byte_size()
            )));
        }
        let most = if element.is_integer() {
            MAX_VALUE
        } else {
            MAX_FLOATS
        };
        let value = part.filter(|_| ty.numel() <= most).map(|part| {
            let bytes = part.get(..ty.byte_size()).unwrap_or(part).to_vec();
            let bytes = crate::number::native(bytes, element);
            Constant::new(ty.clone(), bytes)
        });
        Ok(Fact {
            ty: Ok(ty),
            value: value
                .transpose()
                .map_err(|e| ImportError::new(e.to_string()))?,
            fixed: true,
        })
    }
}

/// The element children of a name.
fn children<'a, 'd>(node: Xml<'a, 'd>, name: &'static str) -> impl Iterator<Item = Xml<'a, 'd>> {
    node.children()
        .filter(move |child| child.is_element() && child.tag_name().name() == name)
}
