//! The graph: an arena of values, each made by one operator from values before it.

use smallvec::SmallVec;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use restride_text::Span;

use crate::error::{MAX_NAME, Place, Problem};
use crate::{ElementType, GraphError, Op, Sample, Shape, Strided, TensorType, ValueId, infer};

/// The most values a graph may have.
pub const MAX_VALUES: usize = 1 << 20;

/// A chain (or web) of data movement: inputs, operators as their frameworks spell them, outputs.
///
/// Every value has a type from the moment it is added; operands refer backwards only. Two graphs
/// are equal when they print the same: source spans and samples of inputs do not count.
///
/// ```
/// # extern crate restride_graph as restride;
/// use restride::{ElementType, Graph, Op};
///
/// let mut g = Graph::new("turn");
/// let x = g.input("x", ElementType::F32, [8, 16])?;
/// let y = g.push(Op::Transpose { x, perm: [1, 0].as_slice().into() })?;
/// g.output(y)?;
///
/// assert_eq!(g.ty(y).shape(), [16, 8]);
/// assert_eq!(g.to_string(), "\
/// func @turn(%x: f32[8, 16]) {
///   %1 = transpose %x perm [1, 0] : f32[16, 8]
///   return %1
/// }
/// ");
/// # Ok::<(), restride::GraphError>(())
/// ```
#[derive(Clone)]
pub struct Graph {
    name: Arc<str>,
    values: Vec<Definition>,
    inputs: Vec<ValueId>,
    outputs: Vec<Output>,
    names: Arc<HashMap<Arc<str>, ValueId>>,
    samples: Vec<(ValueId, Sample)>,
    /// The host's node that is being added.
    node: Option<Arc<str>>,
}

/// One value with the operator that makes it.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    op: Op,
    ty: TensorType,
    name: Option<Arc<str>>,
    node: Option<Arc<str>>,
    span: Option<Span>,
}

/// A value that the graph hands out, and where its elements are to lie.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Output {
    /// The value.
    pub value: ValueId,
    /// Its layout in the caller's buffer; `None` is dense row-major.
    pub layout: Option<Strided>,
    /// Which views may answer it, if the engine is content with them too. One with a layout is written.
    pub views: ViewPolicy,
}

/// Whether an output may be answered by a view of an input instead of being written. Of two, the
/// greater is the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViewPolicy {
    /// By any view, whatever its offset and strides.
    #[default]
    Any,
    /// By one that is all of an input, dense and in order: the same buffer under another shape.
    /// For hosts whose tensors have no strides.
    Dense,
    /// By none: it is written.
    Copy,
}

impl ViewPolicy {
    /// All of them.
    pub const ALL: [ViewPolicy; 3] = [Self::Any, Self::Dense, Self::Copy];

    /// What the text form says after an output.
    #[must_use]
    pub const fn word(self) -> Option<&'static str> {
        match self {
            Self::Any => None,
            Self::Dense => Some("dense"),
            Self::Copy => Some("copy"),
        }
    }

    /// The policy whose word a text has here, as `eat` finds out; any if there is none.
    pub fn read(mut eat: impl FnMut(&str) -> bool) -> Self {
        let said = |views: &Self| views.word().is_some_and(&mut eat);
        Self::ALL.into_iter().find(said).unwrap_or_default()
    }
}

impl Graph {
    /// An empty graph. A name that the text form could not read back is replaced by `main`.
    pub fn new(name: impl Into<Arc<str>>) -> Graph {
        let name = name.into();
        Graph {
            name: if is_name(&name) { name } else { "main".into() },
            values: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            names: Arc::default(),
            samples: Vec::new(),
            node: None,
        }
    }

    /// Says which node of the host's all that follows is a part of, up to the next. Errors name it: those of this graph,
    /// of a template on other shapes, of a compile, and of an index that is out of range when a program runs. It is
    /// no part of what the graph means or prints.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph};
    ///
    /// let mut g = Graph::new("group");
    /// let x = g.input("x", ElementType::F32, [8, 16])?;
    /// g.begin_node("encoder/Transpose_3");
    /// let error = g.transpose(x, [0, 2]).unwrap_err();
    /// assert!(error.to_string().ends_with("(in encoder/Transpose_3)"), "{error}");
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn begin_node(&mut self, label: impl Into<Arc<str>>) {
        self.node = Some(label.into());
    }

    /// The graph's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a dense input. An empty name leaves it unnamed.
    pub fn input(
        &mut self,
        name: &str,
        element: ElementType,
        shape: impl AsRef<[i64]>,
    ) -> Result<ValueId, GraphError> {
        let ty = TensorType::dense(element, shape)
            .map_err(|error| self.refused("input", Place::Whole, error))?;
        self.typed_input(name, ty)
    }

    /// Adds an input of any type, strided ones included. An empty name leaves it unnamed.
    pub fn typed_input(&mut self, name: &str, ty: TensorType) -> Result<ValueId, GraphError> {
        let id = self.next_id("input")?;
        if !name.is_empty() {
            self.check_name("input", name)?;
        }
        self.append(Op::Input, ty);
        self.inputs.push(id);
        if !name.is_empty() {
            self.set_name(id, name)?;
        }
        Ok(id)
    }

    /// Adds an operator and infers the type of its value.
    pub fn push(&mut self, op: Op) -> Result<ValueId, GraphError> {
        let id = self.next_id(op.name())?;
        let ty = infer::infer(&op, self).map_err(|error| error.in_node(self.node.as_deref()))?;
        self.append(op, ty);
        Ok(id)
    }

    /// Hands a value out, dense.
    pub fn output(&mut self, value: ValueId) -> Result<(), GraphError> {
        self.add_output(value, None, ViewPolicy::Any)
    }

    /// Hands a value out, dense if it is written, answered by a view only where this policy and the
    /// engine's allow it.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::{ElementType, Graph, ViewPolicy};
    ///
    /// let mut g = Graph::new("split");
    /// let x = g.input("x", ElementType::F32, [4, 6])?;
    /// let flat = g.reshape(x, [24]).finish()?;
    /// g.output_as(flat, ViewPolicy::Dense)?;
    /// assert!(g.to_string().ends_with("return %1 dense\n}\n"));
    /// # Ok::<(), restride::GraphError>(())
    /// ```
    pub fn output_as(&mut self, value: ValueId, views: ViewPolicy) -> Result<(), GraphError> {
        self.add_output(value, None, views)
    }

    /// Hands a value out into a buffer laid out like this; its elements may not share addresses.
    pub fn strided_output(&mut self, value: ValueId, layout: Strided) -> Result<(), GraphError> {
        self.add_output(value, Some(layout), ViewPolicy::Any)
    }

    /// Hands a value out as another output is, of this graph or of another.
    pub fn output_like(&mut self, value: ValueId, output: &Output) -> Result<(), GraphError> {
        self.add_output(value, output.layout.clone(), output.views)
    }

    /// The same operators, under the same names, on inputs of these types; inputs without one keep theirs.
    pub fn on_inputs(
        &self,
        types: impl IntoIterator<Item = TensorType>,
    ) -> Result<Graph, GraphError> {
        let mut new = Graph {
            name: self.name.clone(),
            values: Vec::with_capacity(self.values.len()),
            inputs: self.inputs.clone(),
            outputs: Vec::with_capacity(self.outputs.len()),
            names: Arc::clone(&self.names),
            samples: Vec::new(),
            node: None,
        };
        let mut types = types.into_iter();
        for value in &self.values {
            let ty = match &value.op {
                Op::Input => types.next().unwrap_or_else(|| value.ty.clone()),
                op => {
                    infer::infer(op, &new).map_err(|error| error.in_node(value.node.as_deref()))?
                }
            };
            new.append(value.op.clone(), ty);
            if let Some(last) = new.values.last_mut() {
                last.name.clone_from(&value.name);
                last.node.clone_from(&value.node);
            }
        }
        for output in &self.outputs {
            new.output_like(output.value, output)?;
        }
        Ok(new)
    }

    /// The indices that a value's operator reads, and for each column of them how many numbers are in range.
    #[must_use]
    pub fn indexed(&self, value: ValueId) -> Option<(ValueId, Shape)> {
        let op = self.op(value);
        let (indices, x) = (op.indices()?, *op.operands().first()?);
        let (shape, columns) = (self.ty(x).shape(), self.ty(indices).shape().last());
        let taken = match op {
            Op::DynamicSlice { .. } => self.ty(value).shape(),
            Op::DynamicUpdateSlice { update, .. } => self.ty(*update).shape(),
            _ => &[],
        };
        let columns = columns.map_or(1, |&columns| columns as usize);
        let axes =
            (0..shape.len().min(columns)).filter_map(|column| op.indexed_axis(shape.len(), column));
        let places =
            axes.filter_map(|axis| Some(shape.get(axis)? - taken.get(axis).unwrap_or(&1) + 1));
        Some((indices, places.collect()))
    }

    /// The same graph without names: what it computes, and nothing of where it is from.
    #[must_use]
    pub fn without_names(&self) -> Graph {
        let mut plain = self.clone();
        plain.name = "main".into();
        plain.names = Arc::default();
        for value in &mut plain.values {
            (value.name, value.node) = (None, None);
        }
        plain.samples.clear();
        plain
    }

    fn add_output(
        &mut self,
        value: ValueId,
        layout: Option<Strided>,
        views: ViewPolicy,
    ) -> Result<(), GraphError> {
        let at = Place::Operand(self.outputs.len());
        let refuse = |problem: Problem| self.refused("return", at, problem);
        let Some(stored) = self.values.get(value.index()) else {
            return Err(refuse(Problem::UnknownValue {
                got: value,
                defined: self.values.len(),
            }));
        };
        if self.outputs.len() == MAX_VALUES {
            return Err(refuse(Problem::TooManyValues { limit: MAX_VALUES }));
        }
        if let Some(layout) = &layout {
            let ty = stored.ty.clone().without_layout();
            ty.with_layout(layout.clone())
                .and_then(|ty| ty.check_injective())
                .map_err(|error| refuse(error.into()))?;
        }
        self.outputs.push(Output {
            value,
            layout,
            views,
        });
        Ok(())
    }

    /// Gives a value a name, which no other value may have.
    pub fn set_name(&mut self, value: ValueId, name: &str) -> Result<(), GraphError> {
        let op = match self.values.get(value.index()) {
            Some(stored) => stored.op.name(),
            None => {
                let problem = Problem::UnknownValue {
                    got: value,
                    defined: self.values.len(),
                };
                return Err(self.refused("name", Place::Whole, problem));
            }
        };
        if self.names.get(name) == Some(&value) {
            return Ok(());
        }
        self.check_name(op, name)?;
        let name: Arc<str> = name.into();
        let names = Arc::make_mut(&mut self.names);
        if let Some(old) = self.values[value.index()].name.replace(name.clone()) {
            names.remove(&old);
        }
        names.insert(name, value);
        Ok(())
    }

    fn check_name(&self, op: &'static str, name: &str) -> Result<(), GraphError> {
        let problem = if !is_name(name) {
            Problem::BadName {
                name: name.chars().take(40).collect(),
            }
        } else if let Some(&taken_by) = self.names.get(name) {
            Problem::NameTaken {
                name: name.into(),
                taken_by,
            }
        } else {
            return Ok(());
        };
        Err(self.refused(op, Place::Attribute("name"), problem))
    }

    fn refused(&self, op: &'static str, at: Place, problem: impl Into<Problem>) -> GraphError {
        GraphError::new(op, at, problem).in_node(self.node.as_deref())
    }

    fn next_id(&self, op: &'static str) -> Result<ValueId, GraphError> {
        if self.values.len() == MAX_VALUES {
            let problem = Problem::TooManyValues { limit: MAX_VALUES };
            return Err(self.refused(op, Place::Whole, problem));
        }
        Ok(ValueId::from_u32(self.values.len() as u32))
    }

    fn append(&mut self, op: Op, ty: TensorType) {
        self.values.push(Definition {
            op,
            ty,
            name: None,
            node: self.node.clone(),
            span: None,
        });
    }

    pub(crate) fn set_span(&mut self, value: ValueId, span: Span) {
        if let Some(stored) = self.values.get_mut(value.index()) {
            stored.span = Some(span);
        }
    }

    /// Says what an input may hold where the program is tried out; of no other value anything is said.
    pub fn set_sample(&mut self, input: ValueId, sample: Sample) {
        if !matches!(self.get(input), Some((Op::Input, _))) {
            return;
        }
        match self.samples.binary_search_by_key(&input, |(id, _)| *id) {
            Ok(at) => self.samples[at].1 = sample,
            Err(at) => self.samples.insert(at, (input, sample)),
        }
    }

    /// What an input may hold where the program is tried out, if that is said.
    pub fn sample(&self, input: ValueId) -> Option<&Sample> {
        let found = self.samples.binary_search_by_key(&input, |(id, _)| *id);
        found.ok().map(|at| &self.samples[at].1)
    }

    /// Every value, each after the values it reads.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + use<> {
        (0..self.values.len() as u32).map(ValueId::from_u32)
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The inputs, in the order in which a caller gives them.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// The outputs, in the order in which a caller gets them. A value may be there twice.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The type of an output: its value's, with the layout it is to have.
    pub fn output_type(&self, output: &Output) -> TensorType {
        let ty = self.ty(output.value).clone().without_layout();
        match &output.layout {
            None => ty,
            // Checked when the output was added; another graph's output falls back to dense.
            Some(layout) => ty.clone().with_layout(layout.clone()).unwrap_or(ty),
        }
    }

    /// The operator that makes a value.
    ///
    /// # Panics
    /// If the value is not of this graph; so do [`Graph::ty`] and the other queries by value.
    pub fn op(&self, value: ValueId) -> &Op {
        &self.values[value.index()].op
    }

    /// The type of a value. Only inputs have layouts.
    pub fn ty(&self, value: ValueId) -> &TensorType {
        &self.values[value.index()].ty
    }

    /// The operator and type of a value, if this graph has it.
    pub fn get(&self, value: ValueId) -> Option<(&Op, &TensorType)> {
        let stored = self.values.get(value.index())?;
        Some((&stored.op, &stored.ty))
    }

    /// The name of a value, if it has one.
    pub fn value_name(&self, value: ValueId) -> Option<&str> {
        self.values.get(value.index())?.name.as_deref()
    }

    /// The host's node that a value is a part of, if [`Graph::begin_node`] has named it.
    pub fn node(&self, value: ValueId) -> Option<&str> {
        self.values.get(value.index())?.node.as_deref()
    }

    /// The value of a name.
    pub fn named(&self, name: &str) -> Option<ValueId> {
        self.names.get(name).copied()
    }

    /// Where the value stands in the text it was read from.
    pub fn span(&self, value: ValueId) -> Option<Span> {
        self.values.get(value.index())?.span
    }

    /// What a value is called in messages and in the text form: `%name`, or `%N`.
    pub fn label(&self, value: ValueId) -> impl fmt::Display + '_ {
        ShownLabel(self.value_name(value), value)
    }

    /// For every value, whether some output depends on it.
    pub fn live(&self) -> SmallVec<[bool; 32]> {
        let mut live = SmallVec::from_elem(false, self.values.len());
        for output in &self.outputs {
            live[output.value.index()] = true;
        }
        for (index, value) in self.values.iter().enumerate().rev() {
            if live[index] {
                for operand in value.op.operands() {
                    live[operand.index()] = true;
                }
            }
        }
        live
    }
}

impl Definition {
    /// What makes it equal to another: all but where it was read from. The host's node belongs to it where a program
    /// that runs may have to name that.
    fn parts(&self) -> (&Op, &TensorType, [Option<&str>; 2]) {
        let node = self.node.as_deref();
        let node = node.filter(|_| self.op.indices().is_some());
        (&self.op, &self.ty, [self.name.as_deref(), node])
    }
}

impl PartialEq for Graph {
    fn eq(&self, other: &Graph) -> bool {
        self.name == other.name
            && self.outputs == other.outputs
            && self.inputs == other.inputs
            && (self.values.iter().map(Definition::parts))
                .eq(other.values.iter().map(Definition::parts))
    }
}

impl Eq for Graph {}

impl Hash for Graph {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        self.outputs.hash(state);
        self.values.len().hash(state);
        for value in &self.values {
            value.parts().hash(state);
        }
    }
}

struct ShownLabel<'a>(Option<&'a str>, ValueId);

impl fmt::Display for ShownLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "%{name}"),
            None => self.1.fmt(f),
        }
    }
}

/// Whether the text form can read this as the name of a value.
pub(crate) fn is_name(name: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(rest)
        && name.len() <= MAX_NAME
}
