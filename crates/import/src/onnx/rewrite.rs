//! ONNX files in which groups of nodes are one node each, `Move` of the domain `restride`, that has
//! the group's program as its attribute. Everything else stays as it is, byte for byte.

use std::collections::{HashMap, HashSet};

use super::schema::{AttributeProto, GraphProto, ModelProto, NodeProto};
use super::tensor::number;
use super::wire::{Fields, ReadBudget, put_bytes, put_int};
use crate::error::ImportError;
use crate::group::{GroupProgram, NodeGroup};
use crate::model::{Model, TensorId};
use crate::rewrite::{DOMAIN, Item, Move, OPERATOR, PROGRAM, RewritePlan, RewriteStep, Rewritten};

/// The attribute, 1, of a node whose open sizes are to have no names: those that the file left to arithmetic. ONNX Runtime
/// does more where it knows sizes to be equal, and not all of that is faster.
const UNSURE: &str = "unsure";

/// An ONNX file with groups of its model replaced by nodes that have their programs, in bodies, too. A
/// group stays where it is if it is in a function.
pub(crate) fn rewrite(
    file: &[u8],
    model: &Model,
    groups: &[(&NodeGroup, &GroupProgram)],
) -> Result<Rewritten, ImportError> {
    let read = ModelProto::read(file, &mut ReadBudget::new())?;
    let Some(graph) = &read.graph else {
        return Err(ImportError::new("it has no graph: no ONNX model"));
    };
    let not_found = Some("its nodes are not in the graph itself");
    let mut of_scope = vec![Vec::new(); model.scopes.len()];
    for (at, (group, _)) in groups.iter().enumerate() {
        of_scope[group.scope].push(at);
    }
    let places = model.scopes.iter().enumerate();
    let places = places.filter_map(|(at, scope)| {
        let place = scope.place.as_ref()?;
        Some(((place.outer, place.output.as_str(), place.attribute), at))
    });
    let mut task = Task {
        model,
        groups,
        of_scope,
        bodies: places.collect(),
        stays: vec![not_found; groups.len()],
        dropped: 0,
    };
    let new = task.graph(graph, Some(0), &[]);
    let mut out = Vec::with_capacity(file.len());
    let mut fields = Fields::new(file);
    let mut graphs = 0;
    while let Some((number, value, raw)) = fields.next_raw()? {
        match number {
            7 => {
                graphs += 1;
                put_bytes(7, new.bytes(value.bytes()?)?, &mut out);
            }
            _ => out.extend_from_slice(raw),
        }
    }
    if graphs > 1 {
        return Err(ImportError::new("it has several graphs"));
    }
    let replaced = task.stays.iter().any(Option::is_none);
    if replaced && read.opsets.iter().all(|opset| opset.domain != DOMAIN) {
        let mut opset = Vec::new();
        put_bytes(1, DOMAIN, &mut opset);
        put_int(2, 1, &mut opset);
        put_bytes(8, opset, &mut out);
    }
    Ok(Rewritten {
        bytes: out,
        stays: task.stays,
        dropped: task.dropped,
    })
}

/// What is to be rewritten, and what became of it so far.
struct Task<'t> {
    model: &'t Model,
    groups: &'t [(&'t NodeGroup, &'t GroupProgram)],
    /// The numbers of the groups of each scope.
    of_scope: Vec<Vec<usize>>,
    /// The scope of each body: by that of its node, the node's first output and the attribute.
    bodies: HashMap<(usize, &'t str, &'t str), usize>,
    stays: Vec<Option<&'static str>>,
    dropped: usize,
}

/// What becomes of a graph, or of a body.
struct NewGraph<'a> {
    proto: &'a GraphProto<'a>,
    plan: RewritePlan<&'a str>,
    /// The new nodes, in the order of the plan's moves.
    nodes: Vec<Vec<u8>>,
    /// Types of their outputs, as the file notes them: ONNX Runtime asks for those of other operators.
    infos: Vec<Vec<u8>>,
    /// The bodies that are not what they were, by node and attribute.
    bodies: HashMap<(usize, usize), NewGraph<'a>>,
}

/// The names of a graph.
struct Names<'a> {
    /// The node that makes each.
    made: HashMap<&'a str, usize>,
    /// Those that are there from the beginning.
    given: HashSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(proto: &'a GraphProto<'a>) -> Self {
        let mut made = HashMap::new();
        for (at, node) in proto.node.iter().enumerate() {
            made.extend(node.output.iter().map(|&name| (name, at)));
        }
        let inputs = proto.input.iter().map(|info| info.name);
        let weights = proto.initializer.iter().map(|weight| weight.name);
        let given = inputs.chain(weights).collect();
        Self { made, given }
    }

    /// A name as the file has it.
    fn known(&self, name: &str) -> Option<&'a str> {
        let made = self.made.get_key_value(name).map(|(name, _)| *name);
        made.or_else(|| self.given.get(name).copied())
    }
}

impl Task<'_> {
    /// What becomes of a graph, which is a scope of the model if that is known.
    fn graph<'a>(
        &mut self,
        proto: &'a GraphProto<'a>,
        scope: Option<usize>,
        around: &[&Names<'a>],
    ) -> NewGraph<'a> {
        let names = Names::of(proto);
        let mut inside: Vec<&Names<'a>> = around.to_vec();
        inside.push(&names);
        let mut bodies = HashMap::new();
        let mut steps = Vec::new();
        for (at, node) in proto.node.iter().enumerate() {
            let mut step = RewriteStep {
                reads: node.input.clone(),
                makes: node.output.clone(),
                formerly: Vec::new(),
                stays: false,
            };
            for (which, attribute) in node.attribute.iter().enumerate() {
                let Some(body) = &attribute.g else { continue };
                let scope = scope.and_then(|scope| self.body(scope, node, attribute));
                let new = self.graph(body, scope, &inside);
                new.reads(&mut step.reads);
                if new.is_new() {
                    reads_of(body, &mut step.formerly);
                    bodies.insert((at, which), new);
                }
            }
            // Nothing makes an output that is left out, and nobody reads it.
            for list in [&mut step.reads, &mut step.makes, &mut step.formerly] {
                list.retain(|name| !name.is_empty());
            }
            steps.push(step);
        }
        let mut candidates = Vec::new();
        for at in scope.map_or_else(Vec::new, |scope| self.of_scope[scope].clone()) {
            match self.candidate(proto, &inside, at) {
                Ok(it) => candidates.push(it),
                Err(why) => self.stays[at] = Some(why),
            }
        }
        let handed_out: Vec<&str> = proto.output.iter().map(|info| info.name).collect();
        let plan = RewritePlan::new(steps, &handed_out, candidates);
        self.dropped += plan.dropped;
        for &(at, why) in &plan.stays {
            self.stays[at] = Some(why);
        }
        let typed = proto.value_info.iter().chain(&proto.output);
        let typed = typed.chain(&proto.input);
        let typed: HashSet<&str> = typed
            .filter(|info| info.ty.as_ref().is_some_and(|ty| ty.tensor.is_some()))
            .map(|info| info.name)
            .collect();
        let (mut nodes, mut infos) = (Vec::new(), Vec::new());
        for it in &plan.moves {
            self.stays[it.group] = None;
            let first = it.nodes.iter().copied().min().unwrap_or_default();
            let (_, program) = self.groups[it.group];
            let unsure = self::unsure(it, proto, &names);
            nodes.push(node(it, program, proto.node[first].name, unsure));
            let outputs = program.graph.outputs().iter().zip(&it.outputs);
            for (output, name) in outputs.filter(|(_, name)| !typed.contains(*name)) {
                let element = program.graph.output_type(output).element();
                infos.extend(number(element).map(|number| info(name, number)));
            }
        }
        NewGraph {
            proto,
            plan,
            nodes,
            infos,
            bodies,
        }
    }

    /// The scope that the body of a node is.
    fn body(&self, outer: usize, node: &NodeProto<'_>, body: &AttributeProto<'_>) -> Option<usize> {
        let first = *node.output.iter().find(|name| !name.is_empty())?;
        self.bodies.get(&(outer, first, body.name)).copied()
    }

    /// One node in place of a group, or why it stays.
    fn candidate<'a>(
        &self,
        proto: &'a GraphProto<'a>,
        names: &[&Names<'a>],
        at: usize,
    ) -> Result<Move<&'a str>, &'static str> {
        let (group, program) = self.groups[at];
        let name = |id: &TensorId| self.model.tensor(*id).name.as_str();
        let own = names.last().ok_or("it is nowhere")?;
        let node = |&id| {
            let node = self.model.node(id);
            let list = |ids: &[Option<TensorId>]| -> Vec<String> {
                let name = |id: &Option<TensorId>| id.as_ref().map_or("", name).to_owned();
                ids.iter().map(name).collect()
            };
            let outputs = list(&node.outputs);
            let first = outputs.iter().find(|name| !name.is_empty())?;
            let &at = own.made.get(first.as_str())?;
            let found = &proto.node[at];
            let same = found.op_type == node.op
                && found.name == node.name
                && found.output == outputs
                && found.input == list(&node.inputs);
            same.then_some(at)
        };
        let nodes: Option<Vec<usize>> = group.nodes.iter().map(node).collect();
        let nodes = nodes.ok_or("its nodes are not in the graph itself")?;
        let known = |id: &TensorId| names.iter().rev().find_map(|it| it.known(name(id)));
        let inputs: Option<Vec<&str>> = program.inputs.iter().map(known).collect();
        let inputs = inputs.filter(|inputs| !inputs.is_empty());
        let outputs: Option<Vec<&str>> = program.outputs.iter().map(known).collect();
        let mut types = program.graph.outputs().iter();
        if types.any(|it| number(program.graph.output_type(it).element()).is_none()) {
            return Err("ONNX has no such element");
        }
        Ok(Move {
            group: at,
            nodes,
            inputs: inputs.ok_or("what it reads is not in the graph itself")?,
            outputs: outputs.ok_or("what it makes is not in the graph itself")?,
        })
    }
}

/// Whether the file leaves it to arithmetic what sizes come out of a group: another node, that is no constant, makes
/// what its nodes read beside their data. Who reads the file has not known the sizes then.
fn unsure(it: &Move<&str>, proto: &GraphProto<'_>, names: &Names<'_>) -> bool {
    let reads = it.nodes.iter().flat_map(|&at| &proto.node[at].input);
    let mut parameters = reads.filter(|name| !it.inputs.contains(*name));
    parameters.any(|name| {
        let maker = names.made.get(name);
        maker.is_some_and(|at| !it.nodes.contains(at) && proto.node[*at].op_type != "Constant")
    })
}

/// The node that stands for a group.
fn node(it: &Move<&str>, program: &GroupProgram, name: &str, unsure: bool) -> Vec<u8> {
    let (mut attribute, mut node) = (Vec::new(), Vec::new());
    put_bytes(1, PROGRAM, &mut attribute);
    put_bytes(4, program.graph.to_string(), &mut attribute);
    put_int(20, 3, &mut attribute);
    it.inputs
        .iter()
        .for_each(|name| put_bytes(1, name, &mut node));
    it.outputs
        .iter()
        .for_each(|name| put_bytes(2, name, &mut node));
    put_bytes(3, name, &mut node);
    put_bytes(4, OPERATOR, &mut node);
    put_bytes(5, attribute, &mut node);
    if unsure {
        let mut attribute = Vec::new();
        put_bytes(1, UNSURE, &mut attribute);
        put_int(3, 1, &mut attribute);
        put_int(20, 2, &mut attribute);
        put_bytes(5, attribute, &mut node);
    }
    put_bytes(7, DOMAIN, &mut node);
    node
}

/// What a graph notes of a tensor of a name: that its elements are of this number.
fn info(name: &str, element: i64) -> Vec<u8> {
    let (mut tensor, mut ty, mut info) = (Vec::new(), Vec::new(), Vec::new());
    put_int(1, element, &mut tensor);
    put_bytes(1, tensor, &mut ty);
    put_bytes(1, name, &mut info);
    put_bytes(2, ty, &mut info);
    info
}

impl<'a> NewGraph<'a> {
    /// Whether anything is another than it was.
    fn is_new(&self) -> bool {
        !self.plan.moves.is_empty() || !self.bodies.is_empty()
    }

    /// Every name that it reads, its own included.
    fn reads(&self, reads: &mut Vec<&'a str>) {
        reads.extend(self.proto.output.iter().map(|info| info.name));
        reads.extend(self.plan.reads());
    }

    /// Its bytes, from those of the old one.
    fn bytes(&self, old: &[u8]) -> Result<Vec<u8>, ImportError> {
        if !self.is_new() {
            return Ok(old.to_vec());
        }
        let (mut nodes, mut fields, mut weight) = (Vec::new(), Fields::new(old), 0);
        while let Some((number, value, _)) = fields.next_raw()? {
            if number == 1 {
                nodes.push(value.bytes()?);
            }
        }
        let mut out = Vec::with_capacity(old.len());
        let mut fields = Fields::new(old);
        let mut written = false;
        while let Some((number, _, raw)) = fields.next_raw()? {
            match number {
                1 if written => {}
                1 => {
                    written = true;
                    for item in self.plan.order()? {
                        match item {
                            Item::Old(at) => put_bytes(1, self.node(at, nodes[at])?, &mut out),
                            Item::New(at) => put_bytes(1, &self.nodes[at], &mut out),
                        }
                    }
                }
                5 => {
                    let name = self.proto.initializer[weight].name;
                    let given = self.proto.input.iter().any(|info| info.name == name);
                    if given || !self.plan.idle.contains(name) {
                        out.extend_from_slice(raw);
                    }
                    weight += 1;
                }
                _ => out.extend_from_slice(raw),
            }
        }
        for info in &self.infos {
            put_bytes(13, info, &mut out);
        }
        Ok(out)
    }

    /// A node that is left, with its bodies as they are now.
    fn node(&self, at: usize, old: &[u8]) -> Result<Vec<u8>, ImportError> {
        let (mut out, mut fields, mut which) = (Vec::new(), Fields::new(old), 0);
        while let Some((number, value, raw)) = fields.next_raw()? {
            let body = self.bodies.get(&(at, which)).filter(|_| number == 5);
            which += usize::from(number == 5);
            let Some(body) = body else {
                out.extend_from_slice(raw);
                continue;
            };
            let (mut attribute, mut fields) = (Vec::new(), Fields::new(value.bytes()?));
            while let Some((number, value, raw)) = fields.next_raw()? {
                match number {
                    6 => put_bytes(6, body.bytes(value.bytes()?)?, &mut attribute),
                    _ => attribute.extend_from_slice(raw),
                }
            }
            put_bytes(5, attribute, &mut out);
        }
        Ok(out)
    }
}

/// Every name that a graph reads, its bodies included.
fn reads_of<'a>(graph: &GraphProto<'a>, reads: &mut Vec<&'a str>) {
    reads.extend(graph.output.iter().map(|info| info.name));
    for node in &graph.node {
        reads.extend(&node.input);
        let bodies = node.attribute.iter().filter_map(|it| it.g.as_ref());
        bodies.for_each(|body| reads_of(body, reads));
    }
}
