//! A model: tensors, and the nodes that make them. What only moves data can be told as operators of
//! a [`Graph`]; everything else is a name with inputs and outputs.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use restride_graph::{Constant, TensorType};

use crate::rewrite::{DOMAIN, OPERATOR};
use crate::spell::{Attribute, Attributes, Framework, Spelling};

/// A tensor of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorId(pub(crate) u32);

/// A node of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

impl TensorId {
    /// The position among the tensors.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl NodeId {
    /// The position among the nodes.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A model at certain sizes of its inputs.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its name, as far as the file has one.
    pub name: String,
    /// What the file is, in words: `ONNX, operators of version 17`.
    pub format: String,
    /// Whose operators it uses.
    pub framework: Framework,
    /// Every tensor.
    pub tensors: Vec<Tensor>,
    /// Every node, each after those that it reads from.
    pub nodes: Vec<ModelNode>,
    /// The main graph, then the bodies of nodes that have some.
    pub scopes: Vec<Scope>,
    /// What a caller gives.
    pub inputs: Vec<TensorId>,
    /// What a caller gets.
    pub outputs: Vec<TensorId>,
    /// Sizes that the file leaves open.
    pub open: Vec<OpenSize>,
}

/// A list of nodes that run together: the model itself, or the body of an If, a Loop or a Scan.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The way to it: empty for the model, else such as `If_12.then_branch`.
    pub path: String,
    /// What it hands out.
    pub outputs: Vec<TensorId>,
    /// Whose body it is; the model is nobody's.
    pub(crate) place: Option<BodyPlace>,
}

/// Whose body a list of nodes is.
#[derive(Clone, Debug)]
pub(crate) struct BodyPlace {
    /// The list that the node is in.
    pub(crate) outer: usize,
    /// The first output of the node.
    pub(crate) output: String,
    /// The attribute that is the body.
    pub(crate) attribute: &'static str,
}

/// A size that the file leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSize {
    /// The size's own name, or none.
    pub symbol: String,
    /// The input that has it, and the axis.
    pub input: String,
    /// The axis.
    pub axis: usize,
    /// What it is taken to be.
    pub size: i64,
    /// Whether somebody said so.
    pub given: bool,
}

impl OpenSize {
    /// What it is taken to be, in words: `batch as 1`.
    #[must_use]
    pub fn taken(&self) -> String {
        match self.symbol.as_str() {
            "" => format!("axis {} as {}", self.axis, self.size),
            symbol => format!("{} as {}", crate::error::shown(symbol), self.size),
        }
    }
}

/// A tensor.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name in the file.
    pub name: String,
    /// Its type, or why nobody knows.
    pub ty: Result<TensorType, Unknown>,
    /// What it holds, if that is known and small.
    pub value: Option<Constant>,
    /// Whether it is the same for all inputs of these sizes: weights, and what follows from weights
    /// and sizes alone.
    pub fixed: bool,
    /// The node that makes it.
    pub maker: Option<NodeId>,
}

/// Why a type is not known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unknown {
    /// Whose fault it is: `NonZero "/a/NonZero"`.
    pub node: Arc<str>,
    /// What hides the type there.
    pub why: Arc<str>,
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.node, self.why)
    }
}

/// What a node is to somebody who moves data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// It does not run: what it makes follows from weights and sizes.
    Fixed,
    /// Nobody reads what it makes, but for its shape.
    Unused,
    /// It moves data, and its operands are these.
    Movement(Vec<TensorId>),
    /// It moves data, but cannot be compiled ahead: why.
    Hidden(Unknown),
    /// Anything else.
    Compute,
}

/// A call of an operator.
#[derive(Clone, Debug)]
pub struct ModelNode {
    /// Its name in the file; may be empty.
    pub name: String,
    /// The operator.
    pub op: String,
    /// Whose operator it is; empty for the framework's own.
    pub domain: String,
    /// The version of the operators.
    pub version: i64,
    /// The list of nodes that it is in.
    pub scope: usize,
    /// Its inputs; some may be left out.
    pub inputs: Vec<Option<TensorId>>,
    /// What its bodies read from outside of them.
    pub captured: Vec<TensorId>,
    /// Its outputs; some may be left out.
    pub outputs: Vec<Option<TensorId>>,
    /// Its attributes.
    pub attributes: Arc<Attributes>,
    /// What it is here.
    pub role: Role,
}

impl ModelNode {
    /// How a message names it: `Slice "/model/Slice_3"`.
    #[must_use]
    pub fn label(&self) -> String {
        let op = crate::error::shown(&self.op);
        match self.name.as_str() {
            "" => op,
            name => format!("{op} \"{}\"", crate::error::shown(name)),
        }
    }

    /// Whether it is a group that has been rewritten.
    #[must_use]
    pub fn is_program(&self) -> bool {
        self.domain == DOMAIN && self.op == OPERATOR
    }

    /// The call, as the operators are spelled from.
    pub(crate) fn spelling(&self, framework: Framework) -> Spelling<'_> {
        Spelling {
            framework,
            op: &self.op,
            version: self.version,
            attributes: &self.attributes,
            outputs: self.outputs.len(),
        }
    }
}

impl Model {
    /// A tensor.
    ///
    /// # Panics
    /// If it is of another model, as [`Model::node`].
    #[must_use]
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// A node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &ModelNode {
        &self.nodes[id.index()]
    }

    /// Every node by its id.
    pub fn numbered(&self) -> impl Iterator<Item = (NodeId, &ModelNode)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// Takes transposes of the last two axes for no movement where matrix products are all who read them.
    pub(crate) fn leave_to_products(&mut self) {
        let handed_out = self.scopes.iter().flat_map(|scope| &scope.outputs);
        let mut others: HashSet<TensorId> = handed_out.chain(&self.outputs).copied().collect();
        let mut read: HashSet<TensorId> = HashSet::new();
        for node in self.nodes.iter().filter(|node| node.role != Role::Unused) {
            let inputs = node.inputs.iter().flatten();
            match PRODUCTS.contains(&node.op.as_str()) {
                true => read.extend(inputs),
                false => others.extend(inputs.chain(&node.captured)),
            }
        }
        let tensors = &self.tensors;
        for node in &mut self.nodes {
            let (Role::Movement(_), "Transpose", [Some(made)]) =
                (&node.role, node.op.as_str(), node.outputs.as_slice())
            else {
                continue;
            };
            let perm = match (node.attributes.get("perm"), node.inputs.get(1)) {
                (Some(Attribute::Ints(perm)), _) => Some(perm.clone()),
                (_, Some(Some(perm))) => {
                    let perm = tensors[perm.index()].value.as_ref();
                    perm.and_then(crate::spell::integers)
                }
                _ => None,
            };
            if perm.is_some_and(|perm| turns_last_two(&perm))
                && read.contains(made)
                && !others.contains(made)
            {
                node.role = Role::Compute;
            }
        }
    }

    /// How many nodes are like this.
    #[must_use]
    pub fn count(&self, like: impl Fn(&Role) -> bool) -> usize {
        self.nodes.iter().filter(|node| like(&node.role)).count()
    }
}

/// The operators that may take a matrix turned.
const PRODUCTS: [&str; 2] = ["MatMul", "FusedMatMul"];

/// Whether only the last two axes change their places.
fn turns_last_two(perm: &[i64]) -> bool {
    let Some(from) = perm.len().checked_sub(2) else {
        return false;
    };
    let mut turned: Vec<i64> = (0..perm.len() as i64).collect();
    turned.swap(from, from + 1);
    turned == perm
}
