//! ONNX files in which groups of nodes are one node each, `Move` of the domain `restride`, that has
//! the group's program as its attribute. Everything else stays as it is, byte for byte.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use super::schema::{AttributeProto, GraphProto, ModelProto, NodeProto};
use super::tensor::number;
use super::wire::{Budget, Fields, put_bytes, put_int};
use crate::error::ImportError;
use crate::group::{Group, Program};
use crate::model::{Model, TensorId};

/// Whose operator stands for a group.
const DOMAIN: &str = "restride";

/// The operator.
const OPERATOR: &str = "Move";

/// Its attribute: a program as text.
const PROGRAM: &str = "program";

/// A file that was rewritten.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The file.
    pub bytes: Vec<u8>,
    /// For each group, why it stays as it is; nothing if it was replaced.
    pub stays: Vec<Option<&'static str>>,
    /// How many nodes are gone besides, since nobody reads any more what they make.
    pub dropped: usize,
}

/// An ONNX file with groups of its model replaced by nodes that have their programs. A group stays
/// where it is if it is in a body or in a function.
pub fn rewrite(
    file: &[u8],
    model: &Model,
    groups: &[(&Group, &Program)],
) -> Result<Rewritten, ImportError> {
    let read = ModelProto::read(file, &mut Budget::new())?;
    let Some(graph) = &read.graph else {
        return Err(ImportError::new("it has no graph: no ONNX model"));
    };
    let mut stays: Vec<Option<&'static str>> = vec![None; groups.len()];
    // A group that has to stay may be what others were dropped for, so all is planned anew then.
    let (plan, dropped) = loop {
        let mut plan = Plan::new(graph);
        for (at, &(group, program)) in groups.iter().enumerate() {
            if stays[at].is_none() {
                stays[at] = plan.replace(model, at, group, program).err();
            }
        }
        let before = plan.removed.len();
        plan.drop_unread();
        let missed = plan.missed();
        if missed.is_empty() {
            let dropped = plan.removed.len() - before;
            break (plan, dropped);
        }
        for at in missed {
            stays[at] = Some("something else reads a tensor inside of it");
        }
    };
    let mut out = Vec::with_capacity(file.len());
    let mut fields = Fields::new(file);
    let mut graphs = 0;
    while let Some((number, value, raw)) = fields.next_raw()? {
        match number {
            7 => {
                graphs += 1;
                put_bytes(7, plan.graph(value.bytes()?)?, &mut out);
            }
            _ => out.extend_from_slice(raw),
        }
    }
    if graphs > 1 {
        return Err(ImportError::new("it has several graphs"));
    }
    if !plan.moves.is_empty() && read.opsets.iter().all(|opset| opset.domain != DOMAIN) {
        let mut opset = Vec::new();
        put_bytes(1, DOMAIN, &mut opset);
        put_int(2, 1, &mut opset);
        put_bytes(8, opset, &mut out);
    }
    Ok(Rewritten {
        bytes: out,
        stays,
        dropped,
    })
}

/// What stands for a group.
struct Move {
    /// The number of the group.
    group: usize,
    /// The nodes that it stands for.
    nodes: Vec<usize>,
    /// Where it would be best, among the nodes.
    place: usize,
    inputs: Vec<String>,
    outputs: Vec<String>,
    node: Vec<u8>,
    /// Types of outputs, as the file notes them: ONNX Runtime asks for those of other operators.
    infos: Vec<Vec<u8>>,
}

/// What becomes of a graph.
struct Plan<'a> {
    proto: &'a GraphProto<'a>,
    /// The node that makes each name.
    made: HashMap<&'a str, usize>,
    /// Names that are there from the beginning.
    given: HashSet<&'a str>,
    typed: HashSet<&'a str>,
    moves: Vec<Move>,
    /// Nodes that are gone.
    removed: HashSet<usize>,
    /// Initialisers that nobody reads any more.
    idle: HashSet<&'a str>,
}

impl<'a> Plan<'a> {
    fn new(proto: &'a GraphProto<'a>) -> Self {
        let mut made = HashMap::new();
        for (at, node) in proto.node.iter().enumerate() {
            made.extend(node.output.iter().map(|&name| (name, at)));
        }
        let inputs = proto.input.iter().map(|info| info.name);
        let weights = proto.initializer.iter().map(|weight| weight.name);
        let typed = proto
            .value_info
            .iter()
            .chain(&proto.output)
            .chain(&proto.input);
        Self {
            proto,
            made,
            given: inputs.chain(weights).collect(),
            typed: typed
                .filter(|info| info.ty.as_ref().is_some_and(|ty| ty.tensor.is_some()))
                .map(|info| info.name)
                .collect(),
            moves: Vec::new(),
            removed: HashSet::new(),
            idle: HashSet::new(),
        }
    }

    /// The node of the file that a node of the model is.
    fn find(&self, model: &Model, id: crate::model::NodeId) -> Option<usize> {
        let node = model.node(id);
        let names = |list: &[Option<TensorId>]| -> Vec<String> {
            let name =
                |id: &Option<TensorId>| id.map_or("", |id| &model.tensor(id).name).to_owned();
            list.iter().map(name).collect()
        };
        let outputs = names(&node.outputs);
        let first = outputs.iter().find(|name| !name.is_empty())?;
        let &at = self.made.get(first.as_str())?;
        let found = &self.proto.node[at];
        let same = found.op_type == node.op
            && found.name == node.name
            && found.output == outputs
            && found.input == names(&node.inputs);
        same.then_some(at)
    }

    /// Puts one node in place of a group, or says why it stays.
    fn replace(
        &mut self,
        model: &Model,
        at: usize,
        group: &Group,
        program: &Program,
    ) -> Result<(), &'static str> {
        if group.scope != 0 {
            return Err("it is in a body");
        }
        let nodes = group.nodes.iter().map(|&id| self.find(model, id));
        let nodes: Option<Vec<usize>> = nodes.collect();
        let nodes = nodes.ok_or("its nodes are not in the graph itself")?;
        if nodes.iter().any(|at| self.removed.contains(at)) {
            return Err("it shares a node with another group");
        }
        let name = |&id: &TensorId| model.tensor(id).name.clone();
        let inputs: Vec<String> = program.inputs.iter().map(name).collect();
        let known = |name: &String| {
            self.made.contains_key(name.as_str()) || self.given.contains(name.as_str())
        };
        if inputs.is_empty() || !inputs.iter().all(known) {
            return Err("what it reads is not in the graph itself");
        }
        let outputs: Vec<String> = program.outputs.iter().map(name).collect();
        let mut infos = Vec::new();
        for (output, name) in program.graph.outputs().iter().zip(&outputs) {
            if self.typed.contains(name.as_str()) {
                continue;
            }
            let element = program.graph.output_type(output).element();
            let (mut tensor, mut ty, mut info) = (Vec::new(), Vec::new(), Vec::new());
            put_int(
                1,
                number(element).ok_or("ONNX has no such element")?,
                &mut tensor,
            );
            put_bytes(1, tensor, &mut ty);
            put_bytes(1, name, &mut info);
            put_bytes(2, ty, &mut info);
            infos.push(info);
        }
        let (mut attribute, mut node) = (Vec::new(), Vec::new());
        put_bytes(1, PROGRAM, &mut attribute);
        put_bytes(4, program.graph.to_string(), &mut attribute);
        put_int(20, 3, &mut attribute);
        inputs.iter().for_each(|name| put_bytes(1, name, &mut node));
        outputs
            .iter()
            .for_each(|name| put_bytes(2, name, &mut node));
        let first = nodes.iter().copied().min().unwrap_or_default();
        put_bytes(3, self.proto.node[first].name, &mut node);
        put_bytes(4, OPERATOR, &mut node);
        put_bytes(5, attribute, &mut node);
        put_bytes(7, DOMAIN, &mut node);
        self.removed.extend(nodes.iter().copied());
        self.moves.push(Move {
            group: at,
            nodes,
            place: first,
            inputs,
            outputs,
            node,
            infos,
        });
        Ok(())
    }

    /// Removes what only those that are gone have read: the arithmetic on their parameters.
    fn drop_unread(&mut self) {
        let proto = self.proto;
        let mut reads: HashMap<&str, usize> = HashMap::new();
        let mut was_read: HashSet<&str> = HashSet::new();
        for (at, node) in proto.node.iter().enumerate() {
            let gone = self.removed.contains(&at);
            for name in reads_of(node) {
                match gone {
                    true => {
                        was_read.insert(name);
                    }
                    false => *reads.entry(name).or_default() += 1,
                }
            }
        }
        let outputs = proto.output.iter().map(|info| info.name);
        let inputs = self.moves.iter().flat_map(|it| &it.inputs);
        let needed: HashSet<&str> = outputs.chain(inputs.map(String::as_str)).collect();
        let mut unread: Vec<&str> = was_read.into_iter().collect();
        while let Some(name) = unread.pop() {
            if needed.contains(name) || reads.get(name).is_some_and(|&count| count > 0) {
                continue;
            }
            let Some(&at) = self.made.get(name) else {
                self.idle.insert(name);
                continue;
            };
            let node = &proto.node[at];
            let idle = |name: &&str| {
                !needed.contains(*name) && reads.get(*name).is_none_or(|&count| count == 0)
            };
            if self.removed.contains(&at) || !node.output.iter().all(idle) {
                continue;
            }
            self.removed.insert(at);
            for name in reads_of(node) {
                if let Some(count) = reads.get_mut(name) {
                    *count = count.saturating_sub(1);
                }
                unread.push(name);
            }
        }
        for info in &proto.input {
            self.idle.remove(info.name);
        }
    }

    /// The groups of which a tensor is read that is not there any more: such as by a Shape, which asks
    /// for no data.
    fn missed(&self) -> Vec<usize> {
        let mut inside: HashMap<&str, usize> = HashMap::new();
        for it in &self.moves {
            for &at in &it.nodes {
                let outputs = self.proto.node[at].output.iter();
                let gone = outputs.filter(|name| it.outputs.iter().all(|out| out != *name));
                inside.extend(gone.map(|&name| (name, it.group)));
            }
        }
        let nodes = self.proto.node.iter().enumerate();
        let left = nodes.filter(|(at, _)| !self.removed.contains(at));
        let outputs = self.proto.output.iter().map(|info| info.name);
        let reads = left.flat_map(|(_, node)| reads_of(node)).chain(outputs);
        let inputs = self.moves.iter().flat_map(|it| &it.inputs);
        let reads = reads.chain(inputs.map(String::as_str));
        let missed: HashSet<usize> = reads.filter_map(|name| inside.get(name).copied()).collect();
        missed.into_iter().collect()
    }

    /// The bytes of the new graph, from those of the old one.
    fn graph(&self, bytes: &[u8]) -> Result<Vec<u8>, ImportError> {
        let (mut nodes, mut rest, mut weight) = (Vec::new(), Fields::new(bytes), 0);
        while let Some((number, _, raw)) = rest.next_raw()? {
            if number == 1 {
                nodes.push(raw);
            }
        }
        let mut out = Vec::with_capacity(bytes.len());
        let mut fields = Fields::new(bytes);
        let mut written = false;
        while let Some((number, _, raw)) = fields.next_raw()? {
            match number {
                1 if written => {}
                1 => {
                    written = true;
                    for at in self.order()? {
                        match at.checked_sub(nodes.len()) {
                            None => out.extend_from_slice(nodes[at]),
                            Some(at) => put_bytes(1, &self.moves[at].node, &mut out),
                        }
                    }
                }
                5 => {
                    if !self.idle.contains(self.proto.initializer[weight].name) {
                        out.extend_from_slice(raw);
                    }
                    weight += 1;
                }
                _ => out.extend_from_slice(raw),
            }
        }
        for info in self.moves.iter().flat_map(|it| &it.infos) {
            put_bytes(13, info, &mut out);
        }
        Ok(out)
    }

    /// What is left and what is new, each after what it reads: nodes by number, then moves.
    fn order(&self) -> Result<Vec<usize>, ImportError> {
        let count = self.proto.node.len();
        let mut makers: HashMap<&str, usize> = HashMap::new();
        let mut items: Vec<(usize, usize, Vec<&str>)> = Vec::new();
        for (at, node) in self.proto.node.iter().enumerate() {
            if !self.removed.contains(&at) {
                makers.extend(node.output.iter().map(|&name| (name, items.len())));
                items.push((at, at, reads_of(node)));
            }
        }
        for (at, it) in self.moves.iter().enumerate() {
            makers.extend(it.outputs.iter().map(|name| (name.as_str(), items.len())));
            let reads = it.inputs.iter().map(String::as_str).collect();
            items.push((it.place, count + at, reads));
        }
        let mut waits = vec![0usize; items.len()];
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
        for (at, (_, _, reads)) in items.iter().enumerate() {
            for maker in reads.iter().filter_map(|name| makers.get(name)) {
                readers[*maker].push(at);
                waits[at] += 1;
            }
        }
        let ready = (0..items.len()).filter(|&at| waits[at] == 0);
        let mut ready: BinaryHeap<_> = ready.map(|at| Reverse((items[at].0, at))).collect();
        let mut order = Vec::new();
        while let Some(Reverse((_, at))) = ready.pop() {
            order.push(items[at].1);
            for &reader in &readers[at] {
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    ready.push(Reverse((items[reader].0, reader)));
                }
            }
        }
        match order.len() == items.len() {
            true => Ok(order),
            false => Err(ImportError::new("a group waits for itself")),
        }
    }
}

/// Every name that a node reads, its bodies included.
fn reads_of<'a>(node: &NodeProto<'a>) -> Vec<&'a str> {
    let mut reads: Vec<&str> = node.input.clone();
    let mut bodies: Vec<&AttributeProto<'a>> = node.attribute.iter().collect();
    while let Some(attribute) = bodies.pop() {
        let Some(body) = &attribute.g else { continue };
        reads.extend(body.output.iter().map(|info| info.name));
        for inner in &body.node {
            reads.extend(&inner.input);
            bodies.extend(&inner.attribute);
        }
    }
    reads.retain(|name| !name.is_empty());
    reads
}
