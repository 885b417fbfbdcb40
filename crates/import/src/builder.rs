//! A model while it is read: each node is given its role, and its outputs their types and, if they
//! are small, their values.

use std::sync::Arc;

use restride_graph::{Constant, Graph, TensorType, ValueId, oracle};

use crate::error::{ImportError, shown};
use crate::fold;
use crate::model::{Model, ModelNode, NodeId, Role, Scope, Tensor, TensorId, Unknown};
use crate::options::ImportOptions;
use crate::rewrite::{DOMAIN, OPERATOR};
use crate::rules::{self, Ask};
use crate::spell::{self, Attributes, Framework, Inputs, SpellError, blocks};

/// The most nodes of a model, bodies and functions included each time that they are used.
const MAX_NODES: usize = 1 << 17;

/// The most elements of a value that is kept.
pub(crate) const MAX_VALUE: usize = 1 << 16;

/// The most elements that are worked out altogether.
const MAX_WORK: usize = 1 << 25;

/// A node as its file has it.
pub(crate) struct NodeCall {
    pub(crate) name: String,
    pub(crate) op: String,
    pub(crate) domain: String,
    pub(crate) version: i64,
    pub(crate) scope: usize,
    pub(crate) inputs: Vec<Option<TensorId>>,
    pub(crate) attributes: Attributes,
    /// Name of each output, and its type if the file records it; nothing where one is left out.
    pub(crate) outputs: Vec<Option<(String, Option<TensorType>)>>,
}

/// What is known of an output.
#[derive(Clone)]
pub(crate) struct Fact {
    pub(crate) ty: Result<TensorType, Unknown>,
    pub(crate) value: Option<Constant>,
    pub(crate) fixed: bool,
}

impl Fact {
    /// Of a tensor of which no more than its type is known, or why not even that.
    pub(crate) fn of(ty: Result<TensorType, Unknown>) -> Self {
        Self {
            ty,
            value: None,
            fixed: false,
        }
    }
}

/// A model that grows.
pub(crate) struct Builder {
    pub(crate) model: Model,
    work: usize,
    /// How many nodes have been looked at; a body may be looked at several times.
    nodes: usize,
}

impl Builder {
    pub(crate) fn new(framework: Framework, format: String) -> Builder {
        let scopes = vec![Scope {
            path: String::new(),
            outputs: Vec::new(),
            place: None,
        }];
        Builder {
            model: Model {
                name: String::new(),
                format,
                framework,
                tensors: Vec::new(),
                nodes: Vec::new(),
                scopes,
                inputs: Vec::new(),
                outputs: Vec::new(),
                open: Vec::new(),
            },
            work: MAX_WORK,
            nodes: 0,
        }
    }

    /// Adds a tensor.
    pub(crate) fn tensor(&mut self, name: &str, fact: Fact, maker: Option<NodeId>) -> TensorId {
        let id = TensorId(self.model.tensors.len() as u32);
        self.model.tensors.push(Tensor {
            name: name.to_owned(),
            ty: fact.ty,
            value: fact.value,
            fixed: fact.fixed,
            maker,
        });
        id
    }

    /// A constant of the file.
    pub(crate) fn constant(&mut self, name: &str, value: Constant) -> TensorId {
        let fact = Fact {
            ty: Ok(value.ty().clone()),
            value: Some(value),
            fixed: true,
        };
        self.tensor(name, fact, None)
    }

    /// Adds a node whose role and outputs follow from what is known; gives its outputs.
    pub(crate) fn node(&mut self, call: NodeCall) -> Result<Vec<Option<TensorId>>, ImportError> {
        let (role, facts) = self.judge(&call);
        self.add(call, Vec::new(), role, facts)
    }

    /// Adds a node that somebody has judged already.
    pub(crate) fn add(
        &mut self,
        call: NodeCall,
        captured: Vec<TensorId>,
        role: Role,
        mut facts: Vec<Fact>,
    ) -> Result<Vec<Option<TensorId>>, ImportError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(ImportError::new(format!("more than {MAX_NODES} nodes")));
        }
        let id = NodeId(self.model.nodes.len() as u32);
        let label = label(&call);
        facts.reverse();
        let mut outputs = Vec::new();
        for output in &call.outputs {
            let fact = facts.pop();
            let Some((name, recorded)) = output else {
                outputs.push(None);
                continue;
            };
            let mut fact = fact.unwrap_or_else(|| {
                Fact::of(Err(unknown(&label, "it has more outputs than are known")))
            });
            if let (Err(_), Some(recorded)) = (&fact.ty, recorded) {
                fact.ty = Ok(recorded.clone());
            }
            outputs.push(Some(self.tensor(name, fact, Some(id))));
        }
        self.model.nodes.push(ModelNode {
            name: call.name,
            op: call.op,
            domain: call.domain,
            version: call.version,
            scope: call.scope,
            inputs: call.inputs,
            captured,
            outputs: outputs.clone(),
            attributes: Arc::new(call.attributes),
            role,
        });
        Ok(outputs)
    }

    /// The role of a node and what is known of its outputs.
    fn judge(&mut self, call: &NodeCall) -> (Role, Vec<Fact>) {
        let given = call.inputs.iter().flatten();
        let fixed =
            given.clone().all(|&id| self.model.tensor(id).fixed) && !rules::is_random(&call.op);
        let own = matches!(call.domain.as_str(), "" | "ai.onnx");
        let moves = match call.domain.as_str() {
            DOMAIN => call.op == OPERATOR,
            domain => {
                (own || domain == blocks::DOMAIN)
                    && spell::is_movement(self.model.framework, &call.op)
            }
        };
        let types = if moves {
            self.movement(call, fixed)
        } else {
            self.compute(call, own, fixed)
        };
        match types {
            Ok(judged) => judged,
            Err(why) => {
                let fact = Fact {
                    ty: Err(why.clone()),
                    value: None,
                    fixed,
                };
                let role = match (moves && !fixed, fixed) {
                    (true, _) => Role::Hidden(why),
                    (false, true) => Role::Fixed,
                    (false, false) => Role::Compute,
                };
                (role, vec![fact; call.outputs.len()])
            }
        }
    }

    /// A node that moves data, and its types by the rules of the graph.
    fn movement(&mut self, call: &NodeCall, fixed: bool) -> Result<(Role, Vec<Fact>), Unknown> {
        let label = label(call);
        for &id in call.inputs.iter().flatten() {
            if let Err(why) = &self.model.tensor(id).ty {
                return Err(why.clone());
            }
        }
        let mut graph = Graph::new("node");
        let mut operands = Operands::new(&self.model, &call.inputs);
        let spelling = spell::Spelling {
            framework: self.model.framework,
            op: &call.op,
            version: call.version,
            attributes: &call.attributes,
            outputs: call.outputs.len(),
        };
        let values = spell::spell(spelling, &mut operands, &mut graph)
            .map_err(|error| unknown(&label, &error.to_string()))?;
        let taken = operands.taken;
        if values.len() < call.outputs.len() {
            let why = format!("{} outputs of {}", call.outputs.len(), values.len());
            return Err(unknown(&label, &why));
        }
        let mut facts: Vec<Fact> = values
            .iter()
            .map(|&value| Fact {
                ty: Ok(graph.ty(value).clone()),
                value: None,
                fixed,
            })
            .collect();
        self.evaluate(&mut graph, &values, &taken, &mut facts);
        let role = match fixed {
            true => Role::Fixed,
            false => Role::Movement(taken),
        };
        Ok((role, facts))
    }

    /// The values of a node that moves values that are known.
    fn evaluate(
        &mut self,
        graph: &mut Graph,
        values: &[ValueId],
        operands: &[TensorId],
        facts: &mut [Fact],
    ) {
        let size = graph.values().map(|value| graph.ty(value).numel());
        let elements: usize = size.fold(0, usize::saturating_add);
        if elements > MAX_VALUE || !self.afford(elements) {
            return;
        }
        let inputs = operands.iter().map(|&id| {
            let value = self.model.tensor(id).value.as_ref()?;
            oracle::Tensor::new(value.ty().clone(), value.bytes().to_vec()).ok()
        });
        let Some(inputs) = inputs.collect::<Option<Vec<_>>>() else {
            return;
        };
        let handed: Result<(), _> = values.iter().try_for_each(|&value| graph.output(value));
        let (Ok(()), Ok(results)) = (handed, oracle::eval(graph, &inputs)) else {
            return;
        };
        for (fact, result) in facts.iter_mut().zip(results) {
            fact.value = Constant::new(result.ty().clone(), result.into_bytes()).ok();
        }
    }

    /// Any other node.
    fn compute(
        &mut self,
        call: &NodeCall,
        own: bool,
        fixed: bool,
    ) -> Result<(Role, Vec<Fact>), Unknown> {
        let label = label(call);
        let tensors = call.inputs.iter();
        let tensors: Vec<Option<&Tensor>> = tensors
            .map(|id| id.map(|id| self.model.tensor(id)))
            .collect();
        let ask = Ask {
            framework: self.model.framework,
            op: &call.op,
            own,
            version: call.version,
            attributes: &call.attributes,
            inputs: &tensors,
            outputs: call.outputs.len(),
        };
        if let Some(found) = fold::fold(&ask) {
            let value = found.map_err(|why| unknown(&label, &why))?;
            let elements = value.ty.as_ref().map_or(0, TensorType::numel);
            self.work = self.work.saturating_sub(elements.min(MAX_VALUE));
            let fixed = value.fixed;
            let role = if fixed { Role::Fixed } else { Role::Compute };
            return Ok((role, vec![value]));
        }
        let role = if fixed { Role::Fixed } else { Role::Compute };
        // Another domain may mean something else by the same name.
        let types = match own || matches!(call.domain.as_str(), "com.microsoft" | blocks::DOMAIN) {
            true => rules::infer(&ask),
            false => Err(rules::Why::Here("it is not known here".into())),
        };
        let types = types.map_err(|why| match why {
            rules::Why::Input(unknown) => unknown,
            rules::Why::Here(why) => unknown(&label, &why),
        });
        let facts = match types {
            Ok(types) => types
                .into_iter()
                .map(|ty| Fact {
                    ty: ty.ok_or_else(|| unknown(&label, "its type is not worked out")),
                    value: None,
                    fixed,
                })
                .collect(),
            Err(why) => {
                let fact = Fact {
                    ty: Err(why),
                    value: None,
                    fixed,
                };
                vec![fact; call.outputs.len()]
            }
        };
        Ok((role, facts))
    }

    /// Whether so many elements may still be worked out.
    fn afford(&mut self, elements: usize) -> bool {
        match self.work.checked_sub(elements) {
            Some(left) => {
                self.work = left;
                true
            }
            None => false,
        }
    }

    /// The model, with the nodes marked that nobody needs.
    pub(crate) fn finish(mut self, options: &ImportOptions) -> Model {
        let model = &mut self.model;
        let mut needed = vec![false; model.tensors.len()];
        let roots = model.scopes.iter().flat_map(|scope| &scope.outputs);
        for &id in roots.chain(&model.outputs) {
            needed[id.index()] = true;
        }
        for node in model.nodes.iter_mut().rev() {
            let wanted = node.outputs.iter().flatten().any(|id| needed[id.index()]);
            let reads: Vec<TensorId> = match &node.role {
                Role::Fixed | Role::Unused => continue,
                _ if !wanted => {
                    node.role = Role::Unused;
                    continue;
                }
                Role::Movement(operands) => operands.clone(),
                Role::Hidden(_) | Role::Compute => {
                    let inputs = node.inputs.iter().flatten();
                    inputs.chain(&node.captured).copied().collect()
                }
            };
            for id in reads {
                needed[id.index()] = true;
            }
        }
        if options.products_turn {
            model.leave_to_products();
        }
        self.model
    }
}

/// How messages name a node that is not in the model yet.
fn label(call: &NodeCall) -> String {
    match call.name.as_str() {
        "" => match call.outputs.iter().flatten().next() {
            Some((output, _)) => format!("{} \"{}\"", shown(&call.op), shown(output)),
            None => shown(&call.op),
        },
        name => format!("{} \"{}\"", shown(&call.op), shown(name)),
    }
}

pub(crate) fn unknown(node: &str, why: &str) -> Unknown {
    Unknown {
        node: node.into(),
        why: why.into(),
    }
}

/// The inputs of a node of the model, each an input of a graph of this node alone.
struct Operands<'a> {
    model: &'a Model,
    inputs: &'a [Option<TensorId>],
    taken: Vec<TensorId>,
}

impl<'a> Operands<'a> {
    fn new(model: &'a Model, inputs: &'a [Option<TensorId>]) -> Operands<'a> {
        Operands {
            model,
            inputs,
            taken: Vec::new(),
        }
    }

    fn tensor(&self, at: usize) -> Option<&'a Tensor> {
        Some(self.model.tensor((*self.inputs.get(at)?)?))
    }
}

impl Inputs for Operands<'_> {
    fn count(&self) -> usize {
        self.inputs.len()
    }

    fn ty(&self, at: usize) -> Option<&TensorType> {
        self.tensor(at)?.ty.as_ref().ok()
    }

    fn value(&self, at: usize) -> Option<&Constant> {
        self.tensor(at)?.value.as_ref()
    }

    fn operand(&mut self, at: usize, graph: &mut Graph) -> Result<ValueId, SpellError> {
        let id = self.inputs.get(at).copied().flatten();
        let (Some(id), Some(ty)) = (id, self.ty(at)) else {
            return Err(SpellError::Unreadable(format!("input {at} is missing")));
        };
        let value = graph.typed_input("", ty.clone())?;
        self.taken.push(id);
        Ok(value)
    }
}
