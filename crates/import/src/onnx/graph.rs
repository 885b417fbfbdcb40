//! The nodes of an ONNX graph, one after the other.

use std::collections::HashMap;

use restride_graph::TensorType;

use super::schema::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OpsetProto, ValueInfoProto,
};
use super::{opset, recorded, tensor};
use crate::builder::{Builder, Fact, NodeCall, unknown};
use crate::error::{ImportError, shown};
use crate::model::TensorId;
use crate::options::ImportOptions;
use crate::spell::{Attribute, Attributes, blocks};

/// A file that is being read.
pub(super) struct OnnxReader<'a> {
    pub(super) builder: Builder,
    pub(super) options: &'a ImportOptions,
    pub(super) file: &'a ModelProto<'a>,
    /// The functions of the file by domain and name.
    pub(super) functions: HashMap<(&'a str, &'a str), usize>,
    /// How many bodies and functions are open.
    pub(super) depth: u32,
}

/// What names mean in a graph, a body or a function.
pub(super) struct Env<'a, 'p> {
    pub(super) names: HashMap<&'a str, Option<TensorId>>,
    /// The graph around a body; functions see nothing of what is around them.
    pub(super) parent: Option<&'p Env<'a, 'p>>,
    pub(super) scope: usize,
    /// What is read of the graphs around it.
    pub(super) captured: std::cell::RefCell<Vec<TensorId>>,
    pub(super) infos: HashMap<&'a str, &'a ValueInfoProto<'a>>,
    /// Sizes that have names.
    pub(super) sizes: HashMap<&'a str, i64>,
    pub(super) opsets: &'a [OpsetProto<'a>],
    /// The attributes of the call, inside of a function.
    pub(super) attributes: Option<&'p Attributes>,
    /// What stands before names of nodes and tensors.
    pub(super) prefix: String,
}

impl<'a, 'p> Env<'a, 'p> {
    pub(super) fn new(scope: usize, opsets: &'a [OpsetProto<'a>]) -> Env<'a, 'p> {
        Env {
            names: HashMap::new(),
            parent: None,
            scope,
            captured: std::cell::RefCell::default(),
            infos: HashMap::new(),
            sizes: HashMap::new(),
            opsets,
            attributes: None,
            prefix: String::new(),
        }
    }

    /// A body inside of this graph.
    pub(super) fn body(&'p self, scope: usize) -> Env<'a, 'p> {
        Env {
            parent: Some(self),
            attributes: self.attributes,
            prefix: self.prefix.clone(),
            ..Env::new(scope, self.opsets)
        }
    }

    /// The tensor of a name; of an input that a call leaves out there is none.
    pub(super) fn resolve(&self, name: &str) -> Option<Option<TensorId>> {
        if let Some(&found) = self.names.get(name) {
            return Some(found);
        }
        let found = self.parent?.resolve(name)?;
        if let Some(id) = found {
            self.captured.borrow_mut().push(id);
        }
        Some(found)
    }

    /// The size of a name.
    pub(super) fn size(&self, name: &str) -> Option<i64> {
        let found = self.sizes.get(name).copied();
        found.or_else(|| self.parent?.size(name))
    }

    /// A name as it stands in the model.
    pub(super) fn full(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl<'a> OnnxReader<'a> {
    /// Adds the weights of a graph.
    pub(super) fn weights(
        &mut self,
        env: &mut Env<'a, '_>,
        graph: &'a GraphProto<'a>,
    ) -> Result<(), ImportError> {
        for (at, weight) in graph.initializer.iter().enumerate() {
            let fact = tensor::fact(weight, self.options.folder.as_deref());
            let fact = fact.map_err(|error| {
                error.inside(format!("initializer[{at}] ({})", shown(weight.name)))
            })?;
            let id = self.builder.tensor(&env.full(weight.name), fact, None);
            env.names.insert(weight.name, Some(id));
        }
        for sparse in &graph.sparse_initializer {
            let Some(values) = sparse.values.as_deref() else {
                continue;
            };
            let ty = tensor::element(values.data_type).and_then(|element| {
                restride_graph::TensorType::dense(element, &sparse.dims).map_err(|e| e.to_string())
            });
            let fact = Fact {
                ty: ty.map_err(|why| unknown(&format!("\"{}\"", shown(values.name)), &why)),
                value: None,
                fixed: true,
            };
            let id = self.builder.tensor(&env.full(values.name), fact, None);
            env.names.insert(values.name, Some(id));
        }
        Ok(())
    }

    /// Notes the types that the file records.
    pub(super) fn record(
        &self,
        env: &mut Env<'a, '_>,
        infos: &'a [ValueInfoProto<'a>],
        outputs: &'a [ValueInfoProto<'a>],
    ) {
        env.infos
            .extend(infos.iter().chain(outputs).map(|info| (info.name, info)));
    }

    /// Adds the nodes of a graph.
    pub(super) fn nodes(
        &mut self,
        env: &mut Env<'a, '_>,
        nodes: &'a [NodeProto<'a>],
    ) -> Result<(), ImportError> {
        for (at, node) in nodes.iter().enumerate() {
            self.node(env, node)
                .map_err(|error| error.inside(format!("node[{at}]{}", node.shown())))?;
        }
        Ok(())
    }

    fn node(&mut self, env: &mut Env<'a, '_>, node: &'a NodeProto<'a>) -> Result<(), ImportError> {
        let mut inputs = Vec::new();
        for (at, name) in node.input.iter().enumerate() {
            inputs.push(match *name {
                "" => None,
                name => env.resolve(name).ok_or_else(|| {
                    let what = format!("nothing before it makes `{}`", shown(name));
                    ImportError::new(what).inside(format!("input[{at}]"))
                })?,
            });
        }
        let mut attributes = self.attributes(env, node)?;
        if node.domain == blocks::DOMAIN {
            attributes.push(blocks::BLOCK, Attribute::Int(self.options.block()));
        }
        // A shape that is given without an element has that of the first input.
        let first = inputs.iter().flatten().next();
        let element =
            first.and_then(|&id| Some(self.builder.model.tensor(id).ty.as_ref().ok()?.element()));
        let record = |name: &str| match (env.infos.get(name), self.options.shapes.get(name)) {
            (Some(info), _) => recorded(info, env, self.options),
            (None, Some(shape)) => TensorType::dense(element?, shape).ok(),
            (None, None) => None,
        };
        let outputs = node.output.iter().map(|name| match *name {
            "" => None,
            name => Some((env.full(name), record(name))),
        });
        let call = NodeCall {
            name: env.full(node.name),
            op: node.op_type.to_owned(),
            domain: node.domain.to_owned(),
            version: opset(env.opsets, node.domain),
            scope: env.scope,
            inputs,
            attributes,
            outputs: outputs.collect(),
        };
        let made = self.call(env, node, call)?;
        for (name, id) in node.output.iter().zip(made) {
            if !name.is_empty() {
                env.names.insert(name, id);
            }
        }
        Ok(())
    }

    /// Adds a call: that of a function, of an operator with bodies, a constant, or any other.
    fn call(
        &mut self,
        env: &Env<'a, '_>,
        node: &'a NodeProto<'a>,
        call: NodeCall,
    ) -> Result<Vec<Option<TensorId>>, ImportError> {
        let own = matches!(node.domain, "" | "ai.onnx");
        if let Some(&at) = self.functions.get(&(node.domain, node.op_type)) {
            return self.function(at, call);
        }
        match node.op_type {
            "Constant" if own => self.constant(&call),
            "If" if own => self.branches(env, node, call),
            "Loop" if own => self.repeated(env, node, call),
            "Scan" if own => self.scanned(env, node, call),
            _ => self.builder.node(call),
        }
    }

    /// A node that is a value, in one of several attributes. It is no node of the model.
    fn constant(&mut self, call: &NodeCall) -> Result<Vec<Option<TensorId>>, ImportError> {
        let Some(Some((name, recorded))) = call.outputs.first() else {
            return Ok(Vec::new());
        };
        let attribute = |name: &str| call.attributes.get(name);
        let value = match (
            attribute("value"),
            attribute("value_int"),
            attribute("value_ints"),
        ) {
            (Some(Attribute::Tensor(value)), _, _) => Some(Ok(value.clone())),
            (_, Some(Attribute::Int(one)), _) => Some(tensor::ints(&[*one], &[])),
            (_, _, Some(Attribute::Ints(list))) => Some(tensor::ints(list, &[list.len() as i64])),
            _ => match (attribute("value_float"), attribute("value_floats")) {
                (Some(Attribute::Float(one)), _) => Some(tensor::floats(&[*one as f32], &[])),
                (_, Some(Attribute::Floats(list))) => {
                    let list: Vec<f32> = list.iter().map(|&n| n as f32).collect();
                    Some(tensor::floats(&list, &[list.len() as i64]))
                }
                _ => None,
            },
        };
        let id = match value {
            Some(value) => self.builder.constant(name, value?),
            None => {
                let why = match attribute("value") {
                    Some(Attribute::Other(what)) => what,
                    _ => "a constant of a kind that is not known",
                };
                let ty = match (recorded, large(attribute("value"))) {
                    (_, Some(ty)) => Ok(ty),
                    (Some(ty), None) => Ok(ty.clone()),
                    (None, None) => Err(unknown(&format!("Constant \"{}\"", shown(name)), why)),
                };
                let fact = Fact {
                    ty,
                    value: None,
                    fixed: true,
                };
                self.builder.tensor(name, fact, None)
            }
        };
        Ok(vec![Some(id)])
    }

    /// The attributes of a node, with those of the function's call put in.
    fn attributes(
        &self,
        env: &Env<'a, '_>,
        node: &'a NodeProto<'a>,
    ) -> Result<Attributes, ImportError> {
        let mut attributes = Attributes::default();
        for (at, attribute) in node.attribute.iter().enumerate() {
            if !attribute.reference.is_empty() {
                let given = env
                    .attributes
                    .and_then(|given| given.get(attribute.reference));
                if let Some(value) = given {
                    attributes.push(attribute.name, value.clone());
                }
                continue;
            }
            let value = self.attribute(attribute).map_err(|error| {
                error.inside(format!("attribute[{at}] ({})", shown(attribute.name)))
            })?;
            attributes.push(attribute.name, value);
        }
        Ok(attributes)
    }

    pub(super) fn attribute(&self, it: &AttributeProto<'a>) -> Result<Attribute, ImportError> {
        let text = |bytes: &[u8]| match std::str::from_utf8(bytes) {
            Ok(text) => Attribute::Word(text.to_owned()),
            Err(_) => Attribute::Other("bytes that are no text"),
        };
        // Very old files do not say which field counts.
        let kind = match it.kind {
            0 if it.s.is_some() => 3,
            0 if it.t.is_some() => 4,
            0 if it.g.is_some() => 5,
            0 if !it.floats.is_empty() => 6,
            0 if !it.ints.is_empty() => 7,
            0 if it.f != 0.0 => 1,
            0 => 2,
            kind => kind,
        };
        Ok(match kind {
            1 => Attribute::Float(f64::from(it.f)),
            2 => Attribute::Int(it.i),
            3 => text(it.s.unwrap_or_default()),
            4 => match &it.t {
                None => Attribute::Other("a tensor that is not there"),
                Some(proto) => {
                    let fact = tensor::fact(proto, self.options.folder.as_deref());
                    let fact = fact.map_err(|error| error.inside("t"))?;
                    match (fact.value, fact.ty) {
                        (Some(value), _) => Attribute::Tensor(value),
                        (None, Ok(ty)) => Attribute::Large(ty),
                        (None, Err(_)) => Attribute::Other("a tensor of elements not known here"),
                    }
                }
            },
            5 => Attribute::Other("a graph"),
            6 => Attribute::Floats(it.floats.iter().map(|&n| f64::from(n)).collect()),
            7 => Attribute::Ints(it.ints.clone()),
            8 => {
                let words: Option<Vec<String>> = it
                    .strings
                    .iter()
                    .map(|bytes| std::str::from_utf8(bytes).ok().map(str::to_owned))
                    .collect();
                words.map_or(Attribute::Other("bytes that are no text"), Attribute::Words)
            }
            _ => Attribute::Other("something not known here"),
        })
    }
}

/// The type of a constant that is too large to look at.
fn large(value: Option<&Attribute>) -> Option<TensorType> {
    match value? {
        Attribute::Large(ty) => Some(ty.clone()),
        _ => None,
    }
}
