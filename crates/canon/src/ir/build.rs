//! The smart constructors: the only way to make a [`Canonical`].

use super::chain::composed;
use super::{
    Canonical, CanonicalOutput, Coordinate, Gather, Index, Input, IrError, MAX_AXES, Node, NodeId,
    Obligation, Places, Type,
};
use restride_budget::Meter;
use restride_graph::{ElementType, MAX_RANK, Shape, Strided, ViewPolicy};
use restride_layout::{Layout, View};
use smallvec::SmallVec;
use std::sync::Arc;

/// The most nodes that one graph may have.
const MAX_NODES: usize = 1 << 24;

/// Builds a [`Canonical`] node by node; every constructor checks what [`Node`] promises.
#[derive(Clone, Debug)]
pub struct Builder {
    graph: Canonical,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        let graph = Canonical {
            // Most graphs have no more, and this many are still a small allocation.
            nodes: Vec::with_capacity(5),
            inputs: Vec::new(),
            outputs: Vec::new(),
            checks: Vec::new(),
        };
        Self { graph }
    }

    /// The finished graph: what its inputs, outputs and obligations need, in order.
    #[must_use]
    pub fn finish(self) -> Canonical {
        self.finished().0
    }

    /// The finished graph, and where each node has come to.
    pub(crate) fn finished(self) -> (Canonical, Places) {
        self.graph.in_order()
    }

    /// What has been built so far.
    #[must_use]
    pub fn graph(&self) -> &Canonical {
        &self.graph
    }

    /// The next input.
    pub fn input(
        &mut self,
        element: ElementType,
        shape: &[i64],
        layout: Option<Strided>,
    ) -> Result<NodeId, IrError> {
        check_end("input", layout.as_ref(), shape.len())?;
        let ordinal = self.graph.inputs.len() as u32;
        let node = self.push(
            "input",
            Node::Input { ordinal },
            element,
            Shape::from_slice(shape),
        )?;
        self.graph.inputs.push(Input { node, layout });
        Ok(node)
    }

    /// A dense row-major constant.
    pub fn constant(
        &mut self,
        element: ElementType,
        shape: &[i64],
        bytes: Arc<[u8]>,
    ) -> Result<NodeId, IrError> {
        check_shape("constant", element, shape)?;
        let expected = shape.iter().product::<i64>() * element.width() as i64;
        if bytes.len() as i64 != expected {
            let found = bytes.len();
            return Err(IrError::ConstantBytes { found, expected });
        }
        self.push(
            "constant",
            Node::Constant { bytes },
            element,
            Shape::from_slice(shape),
        )
    }

    /// What a view step shows of a node: one more view of what the node is a view of, if that is
    /// one layout.
    pub fn view(&mut self, x: NodeId, step: &View) -> Result<NodeId, IrError> {
        self.view_within(x, step, &Meter::unlimited())
    }

    /// As [`view`](Self::view), of a compile that may not spend everything.
    pub(crate) fn view_within(
        &mut self,
        x: NodeId,
        step: &View,
        meter: &Meter,
    ) -> Result<NodeId, IrError> {
        let op = step.name();
        let ty = self.operand(x)?;
        let element = ty.element;
        let refused = |why| IrError::View { op, why };
        let shape = step.shape(&ty.shape).map_err(refused)?;
        check_shape(op, element, &shape)?;
        if shape.contains(&0) {
            return self.fill(element, &shape, 0);
        }
        match self.graph.node(x) {
            Node::Fill { bits } => return self.fill(element, &shape, *bits),
            Node::View { x: below, layout } => {
                let source = &self.graph.ty(*below).shape;
                if let Ok(layout) = composed(layout, source, step, meter) {
                    return self.shown(*below, layout.into());
                }
            }
            Node::Input { .. } | Node::Constant { .. } | Node::Gather(_) | Node::Concat { .. } => {}
        }
        let whole = Layout::dense(&ty.shape).map_err(refused)?;
        let layout = composed(&whole, &ty.shape, step, meter).map_err(refused)?;
        self.shown(x, layout.into())
    }

    /// All of a node, as something that views are not composed with.
    pub fn whole(&mut self, x: NodeId) -> Result<NodeId, IrError> {
        let ty = self.operand(x)?;
        let refused = |why| IrError::View { op: "whole", why };
        let layout = Layout::dense(&ty.shape).map_err(refused)?;
        match self.graph.node(x) {
            Node::View { .. } => self.push_view(x, layout.into()),
            Node::Input { .. }
            | Node::Constant { .. }
            | Node::Gather(_)
            | Node::Concat { .. }
            | Node::Fill { .. } => Ok(x),
        }
    }

    /// What a layout shows of a node: it is not empty, and a chain of views.
    pub(crate) fn shown(&mut self, x: NodeId, layout: Arc<Layout>) -> Result<NodeId, IrError> {
        match layout.is_dense_over(&self.operand(x)?.shape) {
            true => Ok(x),
            false => self.push_view(x, layout),
        }
    }

    fn push_view(&mut self, x: NodeId, layout: Arc<Layout>) -> Result<NodeId, IrError> {
        let element = self.operand(x)?.element;
        let shape = Shape::from_slice(layout.shape());
        self.push("view", Node::View { x, layout }, element, shape)
    }

    /// Chooses elements of `data` by index tensors.
    pub fn gather(&mut self, data: NodeId, coordinates: &[Coordinate]) -> Result<NodeId, IrError> {
        let ty = self.operand(data)?;
        let element = ty.element;
        check_count("gather", coordinates.len(), ty.rank())?;
        let mut sizes = OutputSizes::default();
        let mut direct = 0u128;
        let mut has_index = false;
        for (axis, (coordinate, &size)) in coordinates.iter().zip(&ty.shape).enumerate() {
            match coordinate {
                Coordinate::Output(output) => {
                    sizes.meet(axis, *output, size)?;
                    if direct & (1 << output) != 0 {
                        let why = "another axis of the data names it already";
                        let output = *output;
                        return Err(IrError::GatherAxis { axis, output, why });
                    }
                    direct |= 1 << output;
                }
                Coordinate::Index(index) => {
                    has_index = true;
                    self.check_index(axis, size, index, &mut sizes)?;
                }
            }
        }
        if !has_index {
            return Err(IrError::GatherWithoutIndex);
        }
        let shape = sizes.shape()?;
        let coordinates = SmallVec::from(coordinates);
        let node = Node::Gather(Gather { data, coordinates });
        self.push("gather", node, element, shape)
    }

    fn check_index(
        &self,
        axis: usize,
        size: i64,
        index: &Index,
        sizes: &mut OutputSizes,
    ) -> Result<(), IrError> {
        let ty = self.operand(index.node)?;
        check_index_type("gather", ty.element)?;
        if size == 0 {
            return Err(IrError::GatherEmptyAxis { axis });
        }
        if ty.rank() != index.outputs.len() {
            return Err(IrError::GatherIndexRank {
                axis,
                rank: ty.rank(),
                found: index.outputs.len(),
            });
        }
        let mut seen = 0u128;
        for (&output, &extent) in index.outputs.iter().zip(&ty.shape) {
            sizes.meet(axis, output, extent)?;
            if seen & (1 << output) != 0 {
                let why = "its index tensor names it twice";
                return Err(IrError::GatherAxis { axis, output, why });
            }
            seen |= 1 << output;
        }
        Ok(())
    }

    /// Parts side by side along `axis`.
    pub fn concat(&mut self, parts: &[NodeId], axis: u8) -> Result<NodeId, IrError> {
        let Some(&first) = parts.first() else {
            return Err(IrError::NoParts);
        };
        let ty = self.operand(first)?;
        let along = usize::from(axis);
        if along >= ty.rank() {
            let rank = ty.rank();
            return Err(IrError::ConcatAxis { axis, rank });
        }
        let element = ty.element;
        let mut shape = ty.shape.clone();
        for (part, &id) in parts.iter().enumerate().skip(1) {
            let other = self.operand(id)?;
            let alike = other.element == element
                && other.rank() == shape.len()
                && (0..shape.len()).all(|k| k == along || other.shape[k] == shape[k]);
            if !alike {
                return Err(IrError::ConcatPart { part, axis });
            }
            shape[along] = shape[along]
                .checked_add(other.shape[along])
                .ok_or(IrError::TooLarge { op: "concat" })?;
        }
        let parts = SmallVec::from_slice(parts);
        self.push("concat", Node::Concat { parts, axis }, element, shape)
    }

    /// The same bits everywhere.
    pub fn fill(
        &mut self,
        element: ElementType,
        shape: &[i64],
        bits: u128,
    ) -> Result<NodeId, IrError> {
        if bits & !element.bit_mask() != 0 {
            let width = element.width();
            return Err(IrError::FillBits { bits, width });
        }
        self.push(
            "fill",
            Node::Fill { bits },
            element,
            Shape::from_slice(shape),
        )
    }

    /// One more obligation.
    pub fn check(&mut self, check: Obligation) -> Result<(), IrError> {
        let ty = self.operand(check.node)?;
        check_index_type("check", ty.element)?;
        if check.limit < 0 {
            let limit = check.limit;
            return Err(IrError::CheckLimit { limit });
        }
        if check.column >= check.columns {
            let Obligation {
                column, columns, ..
            } = check;
            return Err(IrError::CheckColumn { column, columns });
        }
        self.graph.checks.push(check);
        Ok(())
    }

    /// One more output.
    pub fn output(&mut self, node: NodeId, layout: Option<Strided>) -> Result<(), IrError> {
        self.output_as(node, layout, ViewPolicy::Any)
    }

    /// One more output, of which the graph says whether a view may answer it.
    pub fn output_as(
        &mut self,
        node: NodeId,
        layout: Option<Strided>,
        views: ViewPolicy,
    ) -> Result<(), IrError> {
        check_end("output", layout.as_ref(), self.operand(node)?.rank())?;
        self.graph.outputs.push(CanonicalOutput {
            node,
            layout,
            views,
        });
        Ok(())
    }

    fn operand(&self, node: NodeId) -> Result<&Type, IrError> {
        match self.graph.nodes.get(node.index()) {
            Some((_, ty)) => Ok(ty),
            None => Err(IrError::NoSuchNode { node }),
        }
    }

    fn push(
        &mut self,
        op: &'static str,
        node: Node,
        element: ElementType,
        shape: Shape,
    ) -> Result<NodeId, IrError> {
        check_shape(op, element, &shape)?;
        if self.graph.nodes.len() == MAX_NODES {
            return Err(IrError::TooMany { limit: MAX_NODES });
        }
        let id = NodeId(self.graph.nodes.len() as u32);
        self.graph.nodes.push((node, Type { element, shape }));
        Ok(id)
    }
}

/// The sizes of a gather's output axes, as its coordinates make them known.
#[derive(Default)]
struct OutputSizes(SmallVec<[Option<i64>; 8]>);

impl OutputSizes {
    fn meet(&mut self, axis: usize, output: u8, size: i64) -> Result<(), IrError> {
        let at = usize::from(output);
        if at >= MAX_AXES {
            let why = "no value has so many axes";
            return Err(IrError::GatherAxis { axis, output, why });
        }
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        match self.0[at] {
            Some(expected) if expected != size => Err(IrError::GatherSize {
                output,
                expected,
                found: size,
            }),
            Some(_) | None => {
                self.0[at] = Some(size);
                Ok(())
            }
        }
    }

    fn shape(&self) -> Result<Shape, IrError> {
        let known =
            |(output, size): (usize, &Option<i64>)| size.ok_or(IrError::GatherUnused { output });
        self.0.iter().enumerate().map(known).collect()
    }
}

fn check_count(op: &'static str, found: usize, rank: usize) -> Result<(), IrError> {
    if found == rank {
        Ok(())
    } else {
        Err(IrError::Count { op, found, rank })
    }
}

fn check_index_type(op: &'static str, element: ElementType) -> Result<(), IrError> {
    if element.is_index() {
        Ok(())
    } else {
        Err(IrError::IndexType { op, element })
    }
}

/// An input or an output is a tensor.
fn check_end(op: &'static str, layout: Option<&Strided>, rank: usize) -> Result<(), IrError> {
    check_rank(op, rank, MAX_RANK)?;
    match layout {
        Some(layout) if layout.strides.len() != rank => Err(IrError::LayoutRank {
            found: layout.strides.len(),
            rank,
        }),
        Some(_) | None => Ok(()),
    }
}

fn check_rank(op: &'static str, rank: usize, limit: usize) -> Result<(), IrError> {
    match rank > limit {
        true => Err(IrError::Rank { op, rank, limit }),
        false => Ok(()),
    }
}

/// The bound of tensor types: the sizes that are not zero multiply to at most `isize::MAX` bytes.
fn check_shape(op: &'static str, element: ElementType, shape: &[i64]) -> Result<(), IrError> {
    check_rank(op, shape.len(), MAX_AXES)?;
    let mut bytes = element.width() as i64;
    for (axis, &size) in shape.iter().enumerate() {
        if size < 0 {
            return Err(IrError::NegativeSize { op, axis, size });
        }
        bytes = bytes
            .checked_mul(size.max(1))
            .filter(|&bytes| isize::try_from(bytes).is_ok())
            .ok_or(IrError::TooLarge { op })?;
    }
    Ok(())
}
