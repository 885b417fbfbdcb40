//! IRs in which groups of layers are one layer each, of type `Move` and version `restride`, that has
//! the group's program as its attribute. Everything else stays as it is, weights included.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use roxmltree::Node as Xml;

use super::layers::{self, Layer, sorted};
use super::{children, parse};
use crate::error::ImportError;
use crate::group::{GroupProgram, NodeGroup};
use crate::model::{Model, TensorId};
use crate::rewrite::{DOMAIN, Move, OPERATOR, PROGRAM, RewritePlan, RewriteStep, Rewritten};

/// An output of a layer, both by number.
type PortKey = (usize, usize);

/// The XML of a model that was read from this text, with groups of it replaced.
pub(crate) fn rewrite(
    text: &str,
    model: &Model,
    groups: &[(&NodeGroup, &GroupProgram)],
) -> Result<Rewritten, ImportError> {
    let document = parse(text)?;
    let net = document.root_element();
    let layers = layers::read(net)?;
    let file = File::of(&layers, model)?;
    let steps = file.steps()?;
    let candidates = groups.iter().enumerate();
    let candidates = candidates.map(|(at, &(group, program))| file.candidate(at, group, program));
    let candidates = candidates.collect::<Option<Vec<_>>>();
    let candidates = candidates.ok_or_else(another)?;
    let plan = RewritePlan::new(steps, &[], candidates);
    // Layers stand in any order, but no group may wait for itself.
    plan.order()?;
    let mut stays = vec![None; groups.len()];
    for &(at, why) in &plan.stays {
        stays[at] = Some(why);
    }
    let edits = Edits {
        text,
        net,
        layers: &layers,
        plan: &plan,
    };
    Ok(Rewritten {
        bytes: edits.apply(groups).into_bytes(),
        stays,
        dropped: plan.dropped,
    })
}

fn another() -> ImportError {
    ImportError::new("the model is not that of this file")
}

/// What the layers of a file are in a model.
struct File<'a> {
    layers: &'a [Layer<'a>],
    known: HashMap<&'a str, usize>,
    /// The layer of each node.
    nodes: Vec<usize>,
    /// The output that each tensor is.
    tensors: Vec<PortKey>,
}

impl<'a> File<'a> {
    fn of(layers: &'a [Layer<'a>], model: &Model) -> Result<Self, ImportError> {
        let (mut nodes, mut tensors) = (Vec::new(), Vec::new());
        // As they are read.
        for at in sorted(layers)? {
            match layers[at].kind {
                "Parameter" | "Const" => tensors.push((at, 0)),
                "Result" => {}
                _ => {
                    nodes.push(at);
                    let outputs = 0..layers[at].outputs.len();
                    tensors.extend(outputs.map(|port| (at, port)));
                }
            }
        }
        if nodes.len() != model.nodes.len() || tensors.len() != model.tensors.len() {
            return Err(another());
        }
        let known = layers.iter().enumerate();
        Ok(Self {
            layers,
            known: known.map(|(at, layer)| (layer.id, at)).collect(),
            nodes,
            tensors,
        })
    }

    /// What each layer reads and makes.
    fn steps(&self) -> Result<Vec<RewriteStep<PortKey>>, ImportError> {
        let steps = self.layers.iter().enumerate().map(|(at, layer)| {
            let from = layer.inputs.iter().filter_map(|(_, from)| *from);
            let reads = from.map(|(id, port)| {
                let from = *self.known.get(id)?;
                let mut ports = self.layers[from].outputs.iter();
                Some((from, ports.position(|it| it.id == port)?))
            });
            let reads: Option<Vec<PortKey>> = reads.collect();
            Ok(RewriteStep {
                reads: reads.ok_or_else(another)?,
                makes: (0..layer.outputs.len()).map(|port| (at, port)).collect(),
                formerly: Vec::new(),
                stays: layer.kind == "Parameter",
            })
        });
        steps.collect()
    }

    fn candidate(
        &self,
        at: usize,
        group: &NodeGroup,
        program: &GroupProgram,
    ) -> Option<Move<PortKey>> {
        let keys = |ids: &[TensorId]| -> Option<Vec<PortKey>> {
            let keys = ids.iter().map(|id| self.tensors.get(id.index()).copied());
            keys.collect()
        };
        let nodes = group.nodes.iter().map(|id| self.nodes.get(id.index()));
        Some(Move {
            group: at,
            nodes: nodes.map(|at| at.copied()).collect::<Option<_>>()?,
            inputs: keys(&program.inputs)?,
            outputs: keys(&program.outputs)?,
        })
    }
}

/// The changes of a text.
struct Edits<'a> {
    text: &'a str,
    net: Xml<'a, 'a>,
    layers: &'a [Layer<'a>],
    plan: &'a RewritePlan<PortKey>,
}

impl Edits<'_> {
    fn apply(&self, groups: &[(&NodeGroup, &GroupProgram)]) -> String {
        let xml: Vec<Xml<'_, '_>> = layers::elements(self.net).collect();
        let outputs = xml.iter().map(|&layer| {
            let ports = children(layer, "output").flat_map(|it| children(it, "port"));
            ports.collect()
        });
        let ports: Vec<Vec<Xml<'_, '_>>> = outputs.collect();
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        // What an output has become: a port of a layer, by their ids.
        let mut moved: HashMap<PortKey, (usize, usize)> = HashMap::new();
        let mut new: HashMap<usize, String> = HashMap::new();
        for it in &self.plan.moves {
            let place = it.nodes.iter().copied().min().unwrap_or_default();
            new.insert(place, self.layer(&ports, place, it, groups[it.group].1));
            let outputs = it.outputs.iter().enumerate();
            moved.extend(outputs.map(|(at, &key)| (key, (place, it.inputs.len() + at))));
        }
        let gone = self.plan.removed.iter().enumerate();
        for (at, _) in gone.filter(|(_, gone)| **gone) {
            match new.remove(&at) {
                Some(layer) => changes.push((xml[at].range(), layer)),
                None => changes.push((self.with_space(xml[at].range()), String::new())),
            }
        }
        let source = |key: PortKey| match moved.get(&key) {
            Some((layer, port)) => (self.layers[*layer].id, port.to_string()),
            None => {
                let layer = &self.layers[key.0];
                (layer.id, layer.outputs[key.1].id.to_owned())
            }
        };
        let known = self.layers.iter().enumerate();
        let known: HashMap<&str, usize> = known.map(|(at, layer)| (layer.id, at)).collect();
        let edge = |key: PortKey, to: &str, port: &str| {
            let (from, from_port) = source(key);
            format!(
                "<edge from-layer=\"{}\" from-port=\"{}\" to-layer=\"{}\" to-port=\"{}\" />",
                escaped(from),
                escaped(&from_port),
                escaped(to),
                escaped(port)
            )
        };
        let mut end = None;
        for xml in layers::edges(self.net) {
            end = Some(xml.range().end);
            let word = |name: &str| xml.attribute(name).unwrap_or_default();
            let layer = |name: &str| known.get(word(name)).copied();
            let (Some(from), Some(to)) = (layer("from-layer"), layer("to-layer")) else {
                continue;
            };
            if self.plan.removed[to] {
                changes.push((self.with_space(xml.range()), String::new()));
            } else if self.plan.removed[from] {
                let mut ports = self.layers[from].outputs.iter();
                let port = ports.position(|it| it.id == word("from-port"));
                let key = (from, port.unwrap_or_default());
                let edge = edge(key, word("to-layer"), word("to-port"));
                changes.push((xml.range(), edge));
            }
        }
        if let Some(end) = end {
            let mut edges = String::new();
            for it in &self.plan.moves {
                let place = it.nodes.iter().copied().min().unwrap_or_default();
                for (port, &key) in it.inputs.iter().enumerate() {
                    let to = self.layers[place].id;
                    let _ = write!(edges, "\n\t\t{}", edge(key, to, &port.to_string()));
                }
            }
            changes.push((end..end, edges));
        }
        changes.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for (range, new) in changes {
            out.push_str(&self.text[done..range.start]);
            out.push_str(&new);
            done = range.end;
        }
        out.push_str(&self.text[done..]);
        out
    }

    /// A range with the space before it.
    fn with_space(&self, range: Range<usize>) -> Range<usize> {
        let before = self.text[..range.start].trim_end();
        before.len()..range.end
    }

    /// The layer that stands for a group; it has the id and the name of the first of its layers.
    fn layer(
        &self,
        ports: &[Vec<Xml<'_, '_>>],
        place: usize,
        it: &Move<PortKey>,
        program: &GroupProgram,
    ) -> String {
        let old = &self.layers[place];
        let mut layer = format!(
            "<layer id=\"{}\" name=\"{}\" type=\"{OPERATOR}\" version=\"{DOMAIN}\">\n\t\t\t\
             <data {PROGRAM}=\"{}\" />",
            escaped(old.id),
            escaped(old.name),
            escaped(&program.graph.to_string())
        );
        for (side, keys, first) in [
            ("input", &it.inputs, 0),
            ("output", &it.outputs, it.inputs.len()),
        ] {
            let _ = write!(layer, "\n\t\t\t<{side}>");
            for (at, &(from, port)) in keys.iter().enumerate() {
                let port = ports[from][port];
                let _ = write!(layer, "\n\t\t\t\t<port id=\"{}\"", first + at);
                for name in ["precision", "names"] {
                    let word = port.attribute(name);
                    if let Some(word) = word.filter(|_| name == "precision" || side == "output") {
                        let _ = write!(layer, " {name}=\"{}\"", escaped(word));
                    }
                }
                layer.push('>');
                for dim in children(port, "dim") {
                    let size = escaped(dim.text().unwrap_or_default().trim());
                    let _ = write!(layer, "\n\t\t\t\t\t<dim>{size}</dim>");
                }
                layer.push_str("\n\t\t\t\t</port>");
            }
            let _ = write!(layer, "\n\t\t\t</{side}>");
        }
        layer.push_str("\n\t\t</layer>");
        layer
    }
}

/// A text as an attribute has it, line ends included.
fn escaped(text: &str) -> String {
    let ends = [('\n', "&#10;"), ('\r', "&#13;"), ('\t', "&#9;")];
    let text = restride_text::escape(text);
    ends.iter().fold(text, |text, (c, to)| text.replace(*c, to))
}
