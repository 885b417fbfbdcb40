//! Groups of nodes that only move data, each as a program.

use std::collections::{HashMap, HashSet};

use restride_graph::{Constant, Graph, TensorType, ValueId};
use restride_partition::Partition;

use crate::error::ImportError;
use crate::model::{Model, NodeId, Role, TensorId};
use crate::spell::{self, Inputs, SpellError};

/// The most bytes of a weight that a program holds itself; larger ones are inputs.
const MAX_CONSTANT: usize = 1 << 10;

/// The same for weights that name places.
const MAX_TABLE: usize = 1 << 19;

/// Nodes of one scope that can run as one, and what goes in and out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeGroup {
    /// The list of nodes that they are in.
    pub scope: usize,
    /// The nodes, in order.
    pub nodes: Vec<NodeId>,
    /// What they read and do not make.
    pub inputs: Vec<TensorId>,
    /// What they make and somebody else reads.
    pub outputs: Vec<TensorId>,
}

/// A group as a graph that compiles.
#[derive(Clone, Debug)]
pub struct GroupProgram {
    /// The graph.
    pub graph: Graph,
    /// The tensor of each input of the graph.
    pub inputs: Vec<TensorId>,
    /// The tensor of each output of the graph.
    pub outputs: Vec<TensorId>,
    /// How many values the graph had after each node of the group.
    pub(crate) ends: Vec<usize>,
}

impl Model {
    /// The groups of nodes that move data, in the order of their first nodes.
    #[must_use]
    pub fn groups(&self) -> Vec<NodeGroup> {
        let mut groups = Vec::new();
        for scope in 0..self.scopes.len() {
            self.groups_of(scope, &mut groups);
        }
        groups.sort_by_key(|group: &NodeGroup| group.nodes.first().copied());
        groups
    }

    fn groups_of(&self, scope: usize, groups: &mut Vec<NodeGroup>) {
        let mut graph = Partition::new();
        let mut numbers = Vec::new();
        for (id, node) in self.numbered().filter(|(_, node)| node.scope == scope) {
            let reads: Vec<usize> = match &node.role {
                Role::Fixed | Role::Unused => continue,
                Role::Movement(operands) => operands.iter().map(|id| id.index()).collect(),
                Role::Hidden(_) | Role::Compute => {
                    let inputs = node.inputs.iter().flatten();
                    inputs.chain(&node.captured).map(|id| id.index()).collect()
                }
            };
            let makes: Vec<usize> = node.outputs.iter().flatten().map(|id| id.index()).collect();
            let movement = matches!(node.role, Role::Movement(_));
            // A node reads what was made before it, so that this is always sorted.
            if graph.node(movement, &reads, &makes).is_ok() {
                numbers.push(id);
            }
        }
        for output in &self.scopes[scope].outputs {
            graph.hand_out(output.index());
        }
        let tensor = |&value: &usize| TensorId(value as u32);
        groups.extend(graph.groups().into_iter().map(|group| NodeGroup {
            scope,
            nodes: group.nodes.iter().map(|&node| numbers[node]).collect(),
            inputs: group.inputs.iter().map(tensor).collect(),
            outputs: group.outputs.iter().map(tensor).collect(),
        }));
    }

    /// A group as a program. Small weights stand in it, large ones are inputs of it.
    pub fn program(&self, group: &NodeGroup) -> Result<GroupProgram, ImportError> {
        // Once to find the inputs, and once with all of them before the first operator.
        let (_, inputs, _) = self.spelled(group, &[])?;
        let (graph, _, ends) = self.spelled(group, &inputs)?;
        Ok(GroupProgram {
            graph,
            inputs,
            outputs: group.outputs.clone(),
            ends,
        })
    }

    /// A group as a graph that begins with these inputs, all inputs that it has, and how many values
    /// the graph has after each node.
    fn spelled(
        &self,
        group: &NodeGroup,
        first: &[TensorId],
    ) -> Result<(Graph, Vec<TensorId>, Vec<usize>), ImportError> {
        let name = match group.nodes.first() {
            Some(&first) if !self.node(first).name.is_empty() => &self.node(first).name,
            _ => "group",
        };
        let mut taken = Taken {
            model: self,
            inputs: &[],
            known: HashMap::new(),
            taken: Vec::new(),
            names: HashSet::new(),
        };
        let mut graph = Graph::new(identifier(name));
        for &id in first {
            let added = taken.add(id, &mut graph);
            added.map_err(|error| ImportError::new(error.to_string()))?;
        }
        let mut ends = Vec::new();
        for &id in &group.nodes {
            let node = self.node(id);
            taken.inputs = &node.inputs;
            let values = spell::spell(node.spelling(self.framework), &mut taken, &mut graph);
            let values =
                values.map_err(|error| ImportError::new(error.to_string()).inside(node.label()))?;
            for (output, value) in node.outputs.iter().zip(values) {
                let Some(id) = *output else { continue };
                taken.known.insert(id, value);
                let name = taken.unique(&self.tensor(id).name);
                // A value that is handed on as it is keeps the name that it has.
                if graph.value_name(value).is_none() {
                    let _ = graph.set_name(value, &name);
                }
            }
            ends.push(graph.len());
        }
        for id in &group.outputs {
            // What a model hands out may be an input or a weight.
            let value = taken
                .held(*id, &mut graph)
                .map_err(|error| ImportError::new(error.to_string()))?;
            graph
                .output(value)
                .map_err(|error| ImportError::new(error.to_string()))?;
        }
        Ok((graph, taken.taken, ends))
    }

    /// One node as a program.
    pub fn node_program(&self, id: NodeId) -> Result<GroupProgram, ImportError> {
        let node = self.node(id);
        self.program(&NodeGroup {
            scope: node.scope,
            nodes: vec![id],
            inputs: Vec::new(),
            outputs: node.outputs.iter().flatten().copied().collect(),
        })
    }

    /// A model of movement alone, as one program from its inputs to its outputs.
    pub fn whole(&self) -> Result<GroupProgram, ImportError> {
        let mut nodes = Vec::new();
        for (id, node) in self.numbered() {
            match &node.role {
                Role::Movement(_) => nodes.push(id),
                Role::Fixed | Role::Unused => {}
                Role::Hidden(why) => return Err(ImportError::new(why.to_string())),
                Role::Compute => {
                    return Err(ImportError::new(format!(
                        "{} does more than move data; `restride model` finds what does not",
                        node.label()
                    )));
                }
            }
        }
        self.program(&NodeGroup {
            scope: 0,
            nodes,
            inputs: Vec::new(),
            outputs: self.outputs.clone(),
        })
    }
}

/// The operands of a program that grows.
struct Taken<'a> {
    model: &'a Model,
    /// Those of the node at hand.
    inputs: &'a [Option<TensorId>],
    known: HashMap<TensorId, ValueId>,
    taken: Vec<TensorId>,
    names: HashSet<String>,
}

impl Taken<'_> {
    /// A name of the text form that nobody has yet.
    fn unique(&mut self, name: &str) -> String {
        let plain = identifier(name);
        let mut unique = plain.clone();
        let mut count = 1;
        while !self.names.insert(unique.clone()) {
            count += 1;
            unique = format!("{plain}_{count}");
        }
        unique
    }

    /// Makes a tensor an input of the graph.
    fn add(&mut self, id: TensorId, graph: &mut Graph) -> Result<ValueId, SpellError> {
        let tensor = self.model.tensor(id);
        let ty = tensor.ty.clone();
        let ty = ty.map_err(|why| SpellError::Unreadable(why.to_string()))?;
        let name = self.unique(&tensor.name);
        let value = graph.typed_input(&name, ty)?;
        self.taken.push(id);
        self.known.insert(id, value);
        Ok(value)
    }

    /// A tensor as a value of the graph.
    fn held(&mut self, id: TensorId, graph: &mut Graph) -> Result<ValueId, SpellError> {
        if let Some(&value) = self.known.get(&id) {
            return Ok(value);
        }
        match self.weight(id).cloned() {
            None => self.add(id, graph),
            Some(weight) => {
                let value = graph.constant(weight)?;
                self.known.insert(id, value);
                Ok(value)
            }
        }
    }

    /// The weight that an operand is, if a program should hold it.
    fn weight(&self, id: TensorId) -> Option<&Constant> {
        let tensor = self.model.tensor(id);
        let value = tensor.value.as_ref().filter(|_| tensor.fixed)?;
        let most = match value.ty().element().is_index() {
            true => MAX_TABLE,
            false => MAX_CONSTANT,
        };
        (value.ty().byte_size() <= most).then_some(value)
    }
}

impl Inputs for Taken<'_> {
    fn count(&self) -> usize {
        self.inputs.len()
    }

    fn ty(&self, at: usize) -> Option<&TensorType> {
        let id = (*self.inputs.get(at)?)?;
        self.model.tensor(id).ty.as_ref().ok()
    }

    fn value(&self, at: usize) -> Option<&Constant> {
        let id = (*self.inputs.get(at)?)?;
        self.model.tensor(id).value.as_ref()
    }

    fn operand(&mut self, at: usize, graph: &mut Graph) -> Result<ValueId, SpellError> {
        let id = self.inputs.get(at).copied().flatten();
        match id {
            Some(id) => self.held(id, graph),
            None => Err(SpellError::Unreadable(format!("input {at} is missing"))),
        }
    }
}

/// A name of a file as a name of the text form: what is neither letter nor digit becomes `_`.
fn identifier(name: &str) -> String {
    let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let mut plain = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if !(c == '_' && plain.ends_with('_')) && plain.len() < 100 {
            plain.push(c);
        }
    }
    match plain.chars().next() {
        None => "t".into(),
        Some(first) if first.is_ascii_digit() => format!("t{plain}"),
        Some(_) => plain,
    }
}
