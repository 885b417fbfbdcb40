//! Layers with their ports and attributes, and the order in which they can be read.

use std::collections::HashMap;

use restride_graph::{ElementType, TensorType};
use roxmltree::Node as Xml;

use super::{children, element};
use crate::error::{ImportError, shown};
use crate::rewrite::DOMAIN;
use crate::spell::{Attribute, Attributes};

/// A layer of the file.
pub(super) struct Layer<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    /// The operator.
    pub(super) kind: &'a str,
    /// The version of the operator, which is that of the set it came with.
    pub(super) version: i64,
    domain: &'static str,
    pub(super) attributes: Attributes,
    data: Vec<(&'a str, &'a str)>,
    /// Each port's id, and the layer and port that lead to it.
    pub(super) inputs: Vec<(&'a str, Option<(&'a str, &'a str)>)>,
    pub(super) outputs: Vec<Port<'a>>,
}

/// An output.
pub(super) struct Port<'a> {
    pub(super) id: &'a str,
    pub(super) names: Vec<&'a str>,
    pub(super) element: Option<ElementType>,
    /// Its type, if the file records all sizes.
    pub(super) ty: Option<TensorType>,
}

impl Layer<'_> {
    /// An attribute as it is written.
    pub(super) fn data(&self, name: &str) -> Option<&str> {
        let found = self.data.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text)
    }

    /// The name of an output.
    pub(super) fn tensor(&self, at: usize) -> String {
        let named = self.outputs.get(at).and_then(|port| port.names.first());
        match named {
            Some(name) => (*name).to_owned(),
            None if self.outputs.len() < 2 => self.name.to_owned(),
            None => format!("{}.{at}", self.name),
        }
    }

    /// Whose operator it is; empty for OpenVINO's own.
    pub(super) fn domain(&self) -> &'static str {
        self.domain
    }

    /// How a message names it.
    pub(super) fn shown(&self) -> String {
        format!(
            "layer[id={}] ({} \"{}\")",
            shown(self.id),
            shown(self.kind),
            shown(self.name)
        )
    }
}

/// The layers in the words of the file.
pub(super) fn elements<'a>(net: Xml<'a, 'a>) -> impl Iterator<Item = Xml<'a, 'a>> {
    children(net, "layers").flat_map(|list| children(list, "layer"))
}

/// The edges in the words of the file.
pub(super) fn edges<'a>(net: Xml<'a, 'a>) -> impl Iterator<Item = Xml<'a, 'a>> {
    children(net, "edges").flat_map(|list| children(list, "edge"))
}

/// Reads all layers, and leads the edges to their inputs.
pub(super) fn read<'a>(net: Xml<'a, 'a>) -> Result<Vec<Layer<'a>>, ImportError> {
    let mut layers: Vec<Layer<'a>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for xml in elements(net) {
        let layer = layer(xml).map_err(|error| {
            let id = shown(xml.attribute("id").unwrap_or("?"));
            error.inside(format!("layer[id={id}]")).inside("net.layers")
        })?;
        if known.insert(layer.id, layers.len()).is_some() {
            let what = format!("two layers have the id {}", shown(layer.id));
            return Err(ImportError::new(what).inside("net.layers"));
        }
        layers.push(layer);
    }
    let mut ports: HashMap<(usize, &str), usize> = HashMap::new();
    for (at, layer) in layers.iter().enumerate() {
        ports.extend(
            layer
                .inputs
                .iter()
                .enumerate()
                .map(|(port, (id, _))| ((at, *id), port)),
        );
    }
    for (at, edge) in edges(net).enumerate() {
        let wrong =
            |what: String| Err(ImportError::new(what).inside(format!("net.edges.edge[{at}]")));
        let word = |name: &str| edge.attribute(name).unwrap_or("?");
        let [from, from_port] = [word("from-layer"), word("from-port")];
        let [to, to_port] = [word("to-layer"), word("to-port")];
        if !known.contains_key(from) {
            return wrong(format!("there is no layer {}", shown(from)));
        }
        let Some(&layer) = known.get(to) else {
            return wrong(format!("there is no layer {}", shown(to)));
        };
        let Some(&port) = ports.get(&(layer, to_port)) else {
            return wrong(format!(
                "layer {} has no input {}",
                shown(to),
                shown(to_port)
            ));
        };
        if layers[layer].inputs[port]
            .1
            .replace((from, from_port))
            .is_some()
        {
            return wrong(format!(
                "input {} of layer {} has two",
                shown(to_port),
                shown(to)
            ));
        }
    }
    Ok(layers)
}

fn layer<'a>(xml: Xml<'a, 'a>) -> Result<Layer<'a>, ImportError> {
    let word = |name: &str| xml.attribute(name);
    let (Some(id), Some(kind)) = (word("id"), word("type")) else {
        return Err(ImportError::new("a layer has an id and a type"));
    };
    let set = word("version").unwrap_or("opset1");
    let version = set.strip_prefix("opset").and_then(|text| text.parse().ok());
    let data = children(xml, "data").flat_map(|data| data.attributes());
    let data: Vec<(&str, &str)> = data.map(|one| (one.name(), one.value())).collect();
    let attributes = data
        .iter()
        .map(|(name, text)| ((*name).to_owned(), attribute(text)));
    let inputs = children(xml, "input").flat_map(|list| children(list, "port"));
    let outputs = children(xml, "output").flat_map(|list| children(list, "port"));
    Ok(Layer {
        id,
        kind,
        name: word("name").unwrap_or_default(),
        domain: match set {
            _ if version.is_some() => "",
            DOMAIN => DOMAIN,
            _ => "extension",
        },
        version: version.unwrap_or(0),
        attributes: attributes.collect(),
        data,
        inputs: inputs
            .map(|port| (port.attribute("id").unwrap_or("?"), None))
            .collect(),
        outputs: outputs.map(port).collect(),
    })
}

fn port<'a>(xml: Xml<'a, 'a>) -> Port<'a> {
    let names = xml.attribute("names").unwrap_or_default().split(',');
    let element = element(xml.attribute("precision").unwrap_or_default()).ok();
    let sizes = children(xml, "dim").map(|dim| dim.text()?.trim().parse::<i64>().ok());
    let sizes: Option<Vec<i64>> = sizes.collect();
    let ty = element
        .zip(sizes)
        .and_then(|(element, sizes)| TensorType::dense(element, sizes).ok());
    Port {
        id: xml.attribute("id").unwrap_or("?"),
        names: names.filter(|name| !name.is_empty()).collect(),
        element,
        ty,
    }
}

/// What the text of an attribute stands for: a flag, whole numbers, a number or a word.
fn attribute(text: &str) -> Attribute {
    let trimmed = text.trim();
    let list = || {
        trimmed
            .split(',')
            .map(|part| part.trim().parse().ok())
            .collect()
    };
    match trimmed {
        "" => Attribute::Ints(Vec::new()),
        "true" | "True" => Attribute::Int(1),
        "false" | "False" => Attribute::Int(0),
        _ => match (trimmed.parse(), trimmed.parse()) {
            (Ok(whole), _) => Attribute::Int(whole),
            (Err(_), Ok(number)) => Attribute::Float(number),
            (Err(_), Err(_)) => {
                let whole: Option<Vec<i64>> = list();
                whole.map_or_else(|| Attribute::Word(text.to_owned()), Attribute::Ints)
            }
        },
    }
}

/// The layers by number, each after those that it reads from.
pub(super) fn sorted(layers: &[Layer<'_>]) -> Result<Vec<usize>, ImportError> {
    let known: HashMap<&str, usize> = layers
        .iter()
        .enumerate()
        .map(|(at, l)| (l.id, at))
        .collect();
    let mut waits = vec![0usize; layers.len()];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); layers.len()];
    for (at, layer) in layers.iter().enumerate() {
        let sources = layer
            .inputs
            .iter()
            .filter_map(|(_, from)| known.get(from.as_ref()?.0));
        for &from in sources {
            readers[from].push(at);
            waits[at] += 1;
        }
    }
    // In the order of the file where that is an order.
    let mut ready: std::collections::BTreeSet<usize> =
        (0..layers.len()).filter(|&at| waits[at] == 0).collect();
    let mut order = Vec::new();
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for &reader in &readers[at] {
            waits[reader] -= 1;
            if waits[reader] == 0 {
                ready.insert(reader);
            }
        }
    }
    match (0..layers.len()).find(|&at| waits[at] > 0) {
        None => Ok(order),
        Some(at) => Err(ImportError::new("it waits for itself")
            .inside(layers[at].shown())
            .inside("net.layers")),
    }
}
