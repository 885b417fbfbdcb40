//! Graphs whose input shapes are only known when they run.

use crate::CompileError;
use crate::common_plan::CommonPlans;
use restride_graph::{ElementType, Graph, Shape, Strided, TensorType, TypeError};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A graph to be specialised to input shapes again and again: one per node of a model.
///
/// It is made from a graph with sample shapes; its operators are replayed on the shapes at hand.
/// Cheap to clone.
#[derive(Clone)]
pub struct Template {
    pub(crate) inner: Arc<TemplateInner>,
}

pub(crate) struct TemplateInner {
    pub(crate) graph: Graph,
    /// Tells templates and families apart in the cache; never reused within a process.
    pub(crate) id: u64,
    pub(crate) common: CommonPlans,
}

/// What programs of one node of a model have in common, where the host builds a graph for each of them: see
/// [`Engine::keyed`](crate::Engine::keyed). One per node.
#[derive(Debug)]
pub struct Family {
    id: u64,
}

impl Family {
    /// One that no program belongs to.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "no two are alike")]
    pub fn new() -> Self {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id }
    }

    /// The cache key for a key of the host's: no template has this number.
    pub(crate) fn key(&self, key: &[i64]) -> Key {
        let mut all = Key::new();
        all.push(self.id as i64);
        all.extend_from_slice(key);
        all
    }
}

/// What the cache knows a program by, when its graph need not be looked at.
pub(crate) type Key = SmallVec<[i64; 48]>;

/// The shape, and if it is not dense the layout, of one input.
///
/// ```
/// use restride::InputShape;
///
/// // As the host has it: every second row, from the second on, of a matrix of eight columns.
/// let (sizes, strides): (&[usize], &[isize]) = (&[4, 8], &[16, 1]);
/// let shape = InputShape::of(sizes).with_strides(8, strides);
/// assert_eq!(format!("{shape:?}"), format!("{:?}", InputShape::strided(&[4, 8], 8, &[16, 1])));
/// ```
#[derive(Clone, Copy)]
pub struct InputShape<'a> {
    shape: Numbers<'a>,
    /// Offset and strides in elements; `None` is dense row-major.
    layout: Option<(i64, Numbers<'a>)>,
}

/// A list of sizes or strides, in whichever type the host keeps them.
#[derive(Clone, Copy)]
pub enum Numbers<'a> {
    /// As restride has them.
    I64(&'a [i64]),
    /// As most libraries have sizes, and some have strides.
    Usize(&'a [usize]),
    /// As others have strides.
    Isize(&'a [isize]),
}

impl Numbers<'_> {
    fn len(self) -> usize {
        match self {
            Self::I64(list) => list.len(),
            Self::Usize(list) => list.len(),
            Self::Isize(list) => list.len(),
        }
    }

    /// Adds them to a list. What no address reaches becomes the largest number, which is refused
    /// like others that are too large.
    #[inline]
    fn append_to<const N: usize>(self, list: &mut SmallVec<[i64; N]>)
    where
        [i64; N]: smallvec::Array<Item = i64>,
    {
        match self {
            Self::I64(numbers) => list.extend_from_slice(numbers),
            Self::Usize(numbers) => {
                let large = |n: &usize| i64::try_from(*n).unwrap_or(i64::MAX);
                list.extend(numbers.iter().map(large));
            }
            Self::Isize(numbers) => list.extend(numbers.iter().map(|n| *n as i64)),
        }
    }

    fn list(self) -> Shape {
        let mut list = Shape::new();
        self.append_to(&mut list);
        list
    }
}

impl<'a> From<&'a [i64]> for Numbers<'a> {
    fn from(list: &'a [i64]) -> Self {
        Self::I64(list)
    }
}

impl<'a> From<&'a [usize]> for Numbers<'a> {
    fn from(list: &'a [usize]) -> Self {
        Self::Usize(list)
    }
}

impl<'a> From<&'a [isize]> for Numbers<'a> {
    fn from(list: &'a [isize]) -> Self {
        Self::Isize(list)
    }
}

impl std::fmt::Debug for Numbers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.list().fmt(f)
    }
}

impl std::fmt::Debug for InputShape<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.shape.fmt(f)?;
        match &self.layout {
            None => Ok(()),
            Some((offset, strides)) => write!(f, " strides {strides:?} offset {offset}"),
        }
    }
}

impl<'a> InputShape<'a> {
    /// A dense input, with its sizes in any of the types of [`Numbers`].
    #[must_use]
    pub fn of(shape: impl Into<Numbers<'a>>) -> Self {
        Self {
            shape: shape.into(),
            layout: None,
        }
    }

    /// The same, lying in a larger buffer: this many elements from its start, with these strides.
    #[must_use]
    pub fn with_strides(self, offset: usize, strides: impl Into<Numbers<'a>>) -> Self {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        Self {
            layout: Some((offset, strides.into())),
            ..self
        }
    }

    /// The type of an input of this shape, for graphs that are built for the shapes at hand.
    pub fn tensor_type(&self, element: ElementType) -> Result<TensorType, TypeError> {
        let ty = TensorType::dense(element, self.shape.list())?;
        match self.layout {
            None => Ok(ty),
            Some((offset, strides)) => ty.with_layout(Strided {
                offset,
                strides: strides.list(),
            }),
        }
    }

    /// How many axes it has.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// A dense input.
    #[must_use]
    pub fn dense(shape: &'a [i64]) -> Self {
        Self::of(shape)
    }

    /// An input that lies in a larger buffer.
    #[must_use]
    pub fn strided(shape: &'a [i64], offset: i64, strides: &'a [i64]) -> Self {
        Self {
            shape: Numbers::I64(shape),
            layout: Some((offset, Numbers::I64(strides))),
        }
    }

    /// The shape and layout of a type.
    #[must_use]
    pub fn of_type(ty: &'a TensorType) -> Self {
        let layout = ty.layout();
        Self {
            shape: Numbers::I64(ty.shape()),
            layout: layout.map(|at| (at.offset, Numbers::I64(&at.strides))),
        }
    }
}

impl Template {
    /// A template of a graph; the shapes of its inputs are samples.
    #[must_use]
    pub fn new(graph: Graph) -> Self {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            inner: Arc::new(TemplateInner {
                graph,
                id,
                common: CommonPlans::default(),
            }),
        }
    }

    /// The graph with its sample shapes.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.inner.graph
    }

    /// The cache key of shapes. Every list is preceded by its length, so that no two differ only
    /// in where they are cut.
    pub(crate) fn key(&self, inputs: &[InputShape<'_>]) -> Key {
        let mut key = Key::new();
        key.push(self.inner.id as i64);
        for input in inputs {
            key.push(input.shape.len() as i64);
            input.shape.append_to(&mut key);
            match input.layout {
                None => key.push(-1),
                Some((offset, strides)) => {
                    key.push(strides.len() as i64);
                    key.push(offset);
                    strides.append_to(&mut key);
                }
            }
        }
        key
    }

    /// The graph on other input shapes.
    pub fn specialised(&self, inputs: &[InputShape<'_>]) -> Result<Graph, CompileError> {
        self.inner.specialised(inputs)
    }
}

/// The shapes that a key of a template stands for; nothing if it stands for none.
pub(crate) fn shapes(key: &[i64]) -> Option<SmallVec<[InputShape<'_>; 2]>> {
    let take = |rest: &mut &'_ [i64]| -> Option<i64> {
        let (first, others) = rest.split_first()?;
        *rest = others;
        Some(*first)
    };
    let mut shapes = SmallVec::new();
    let mut rest = key.get(1..)?;
    while let Some(rank) = take(&mut rest) {
        let (sizes, others) = rest.split_at_checked(usize::try_from(rank).ok()?)?;
        rest = others;
        shapes.push(match usize::try_from(take(&mut rest)?) {
            Err(_) => InputShape::dense(sizes),
            Ok(rank) => {
                let offset = take(&mut rest)?;
                let (strides, others) = rest.split_at_checked(rank)?;
                rest = others;
                InputShape::strided(sizes, offset, strides)
            }
        });
    }
    Some(shapes)
}

impl TemplateInner {
    /// The types of inputs of these shapes.
    pub(crate) fn types(&self, inputs: &[InputShape<'_>]) -> Result<Vec<TensorType>, CompileError> {
        let old = &self.graph;
        let expected = old.inputs().len();
        if inputs.len() != expected {
            return Err(CompileError::InputCount {
                expected,
                got: inputs.len(),
            });
        }
        let mut types = Vec::with_capacity(expected);
        for (input, (value, shape)) in old.inputs().iter().zip(inputs).enumerate() {
            let ty = shape.tensor_type(old.ty(*value).element());
            types.push(ty.map_err(|problem| CompileError::InputType { input, problem })?);
        }
        Ok(types)
    }

    /// The graph on inputs of these shapes.
    pub(crate) fn specialised(&self, inputs: &[InputShape<'_>]) -> Result<Graph, CompileError> {
        Ok(self.graph.on_inputs(self.types(inputs)?)?)
    }
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Template")
            .field("id", &self.inner.id)
            .finish_non_exhaustive()
    }
}
