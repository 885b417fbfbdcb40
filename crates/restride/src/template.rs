//! Graphs whose input shapes are only known when they run.

use crate::CompileError;
use restride_graph::{Graph, Op, Strided, TensorType};
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
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) graph: Graph,
    /// Tells templates apart in the cache; never reused within a process.
    pub(crate) id: u64,
}

/// The shape, and if it is not dense the layout, of one input.
#[derive(Clone, Copy, Debug)]
pub struct InputShape<'a> {
    /// Size of each axis.
    pub shape: &'a [i64],
    /// Offset and strides in elements; `None` is dense row-major.
    pub layout: Option<(i64, &'a [i64])>,
}

impl<'a> InputShape<'a> {
    /// A dense input.
    #[must_use]
    pub fn dense(shape: &'a [i64]) -> Self {
        Self {
            shape,
            layout: None,
        }
    }

    /// An input that lies in a larger buffer.
    #[must_use]
    pub fn strided(shape: &'a [i64], offset: i64, strides: &'a [i64]) -> Self {
        Self {
            shape,
            layout: Some((offset, strides)),
        }
    }
}

impl Template {
    /// A template of a graph; the shapes of its inputs are samples.
    #[must_use]
    pub fn new(graph: Graph) -> Self {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            inner: Arc::new(Inner { graph, id }),
        }
    }

    /// The graph with its sample shapes.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.inner.graph
    }

    /// The cache key of shapes. Every list is preceded by its length, so that no two differ only
    /// in where they are cut.
    pub(crate) fn key(&self, inputs: &[InputShape<'_>]) -> SmallVec<[i64; 48]> {
        let mut key = SmallVec::new();
        key.push(self.inner.id as i64);
        for input in inputs {
            key.push(input.shape.len() as i64);
            key.extend_from_slice(input.shape);
            match input.layout {
                None => key.push(-1),
                Some((offset, strides)) => {
                    key.push(strides.len() as i64);
                    key.push(offset);
                    key.extend_from_slice(strides);
                }
            }
        }
        key
    }

    /// The graph on other input shapes.
    pub fn specialised(&self, inputs: &[InputShape<'_>]) -> Result<Graph, CompileError> {
        let old = &self.inner.graph;
        let expected = old.inputs().len();
        if inputs.len() != expected {
            return Err(CompileError::InputCount {
                expected,
                got: inputs.len(),
            });
        }
        let mut new = Graph::new(old.name());
        let mut shapes = inputs.iter();
        // Values keep their numbers, since every one of them is pushed in its place.
        for value in old.values() {
            match (old.op(value), shapes.len()) {
                (Op::Input, 1..) => {
                    let Some(input) = shapes.next() else { continue };
                    let element = old.ty(value).element();
                    let ty =
                        input_type(element, input).map_err(|problem| CompileError::InputType {
                            input: expected - shapes.len() - 1,
                            problem,
                        })?;
                    let name = old
                        .value_name(value)
                        .map_or_else(String::new, str::to_owned);
                    new.typed_input(&name, ty)?;
                }
                (op, _) => {
                    new.push(op.clone())?;
                }
            }
        }
        for output in old.outputs() {
            match &output.layout {
                None => new.output(output.value)?,
                Some(layout) => new.strided_output(output.value, layout.clone())?,
            }
        }
        Ok(new)
    }
}

fn input_type(
    element: restride_graph::ElementType,
    input: &InputShape<'_>,
) -> Result<TensorType, restride_graph::TypeError> {
    let ty = TensorType::dense(element, input.shape)?;
    match input.layout {
        None => Ok(ty),
        Some((offset, strides)) => ty.with_layout(Strided {
            offset,
            strides: strides.iter().copied().collect(),
        }),
    }
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Template")
            .field("id", &self.inner.id)
            .finish_non_exhaustive()
    }
}
