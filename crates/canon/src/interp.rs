//! The canonical IR run by plain index arithmetic: the `canonical` rung of the ladder.
//!
//! Nothing here is fast and nothing is shared with the rest of the pipeline: every node is made
//! dense, element by element, from the definition of its kind.

use crate::ir::{Canonical, Check, Coordinate, Gather, Node, Type};
use crate::scalar;
use smallvec::SmallVec;

/// Why a run gave no outputs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum RunError {
    /// The first obligation that does not hold.
    #[error(
        "op {op}: index {value} at position {position} is outside an axis of size {limit}{}",
        if *wrap { " (negative ones count from the end)" } else { "" }
    )]
    OutOfRange {
        op: u32,
        position: usize,
        value: i128,
        limit: i64,
        wrap: bool,
    },
    /// Not one buffer per input.
    #[error("{found} buffers for {expected} inputs")]
    InputCount { found: usize, expected: usize },
    /// A buffer that does not hold all of its input.
    #[error("input {input}: element {address} is outside its buffer of {bytes} bytes")]
    InputTooShort {
        input: usize,
        address: i128,
        bytes: usize,
    },
    /// More than this machine can hold.
    #[error("a value of {bytes} bytes cannot be allocated")]
    Memory { bytes: usize },
}

/// Runs a canonical graph. Each input is the caller's buffer, read through the input's layout;
/// each output comes back dense and row-major.
pub fn run(graph: &Canonical, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, RunError> {
    if inputs.len() != graph.inputs().len() {
        return Err(RunError::InputCount {
            found: inputs.len(),
            expected: graph.inputs().len(),
        });
    }
    let mut values: Vec<Vec<u8>> = Vec::with_capacity(graph.len());
    for (_, node, ty) in graph.nodes() {
        let value = match node {
            Node::Input { ordinal } => read_input(graph, *ordinal as usize, ty, inputs)?,
            Node::Constant { .. }
            | Node::View { .. }
            | Node::Gather(_)
            | Node::Concat { .. }
            | Node::Fill { .. } => evaluate(graph, node, ty, &values)?,
        };
        values.push(value);
    }
    check(graph, &values)?;
    let outputs = graph.outputs().iter();
    Ok(outputs.map(|o| values[o.node.index()].clone()).collect())
}

type Point = SmallVec<[i64; 8]>;

/// Calls `see` with every point of a shape in row-major order.
fn each_point(shape: &[i64], mut see: impl FnMut(&[i64])) {
    if shape.contains(&0) {
        return;
    }
    let mut point: Point = SmallVec::from_elem(0, shape.len());
    'points: loop {
        see(&point);
        for axis in (0..shape.len()).rev() {
            point[axis] += 1;
            if point[axis] < shape[axis] {
                continue 'points;
            }
            point[axis] = 0;
        }
        return;
    }
}

/// The row-major position of a point.
fn position(point: &[i64], shape: &[i64]) -> usize {
    let step = |at: i64, (&x, &size): (&i64, &i64)| at * size + x;
    point.iter().zip(shape).fold(0, step) as usize
}

fn buffer(ty: &Type) -> Result<Vec<u8>, RunError> {
    let bytes = ty.count() as usize * ty.element.width();
    let mut out = Vec::new();
    match out.try_reserve_exact(bytes) {
        Ok(()) => Ok(out),
        Err(_) => Err(RunError::Memory { bytes }),
    }
}

fn read_input(
    graph: &Canonical,
    input: usize,
    ty: &Type,
    inputs: &[&[u8]],
) -> Result<Vec<u8>, RunError> {
    let (bytes, width) = (inputs[input], ty.element.width());
    let layout = graph.inputs()[input].layout.as_ref();
    let mut out = buffer(ty)?;
    let mut outside = None;
    each_point(&ty.shape, |point| {
        let address = match layout {
            None => position(point, &ty.shape) as i128,
            Some(layout) => point
                .iter()
                .zip(&layout.strides)
                .fold(i128::from(layout.offset), |sum, (&x, &stride)| {
                    sum + i128::from(x) * i128::from(stride)
                }),
        };
        let element = usize::try_from(address)
            .ok()
            .and_then(|at| scalar::bits(bytes, at, width));
        match element {
            Some(bits) => scalar::push(&mut out, width, bits),
            None => {
                outside.get_or_insert(address);
            }
        }
    });
    match outside {
        Some(address) => Err(RunError::InputTooShort {
            input,
            address,
            bytes: bytes.len(),
        }),
        None => Ok(out),
    }
}

fn evaluate(
    graph: &Canonical,
    node: &Node,
    ty: &Type,
    values: &[Vec<u8>],
) -> Result<Vec<u8>, RunError> {
    let width = ty.element.width();
    let mut out = buffer(ty)?;
    let copy = |out: &mut Vec<u8>, from: &[u8], at: usize| {
        let start = at * width;
        out.extend_from_slice(&from[start..start + width]);
    };
    match node {
        Node::Input { .. } => {}
        Node::Constant { bytes } => out.extend_from_slice(bytes),
        Node::View { x, layout } => {
            let from = &values[x.index()];
            each_point(&ty.shape, |point| {
                if let Some(at) = layout.at(point) {
                    copy(&mut out, from, at[0] as usize);
                }
            });
        }
        Node::Gather(gather) => {
            let (from, shape) = (&values[gather.data.index()], &graph.ty(gather.data).shape);
            each_point(&ty.shape, |point| {
                match gathered(graph, gather, point, values) {
                    Some(source) => copy(&mut out, from, position(&source, shape)),
                    None => out.extend(std::iter::repeat_n(0, width)),
                }
            });
        }
        Node::Concat { parts, axis } => {
            let axis = usize::from(*axis);
            each_point(&ty.shape, |point| {
                let mut source = Point::from_slice(point);
                for part in parts {
                    let shape = &graph.ty(*part).shape;
                    if source[axis] < shape[axis] {
                        return copy(&mut out, &values[part.index()], position(&source, shape));
                    }
                    source[axis] -= shape[axis];
                }
            });
        }
        Node::Fill { bits } => {
            for _ in 0..ty.count() {
                scalar::push(&mut out, width, *bits);
            }
        }
    }
    Ok(out)
}

/// The point of the data that a point of the result reads; `None` for zero bits.
fn gathered(
    graph: &Canonical,
    gather: &Gather,
    point: &[i64],
    values: &[Vec<u8>],
) -> Option<Point> {
    let sizes = &graph.ty(gather.data).shape;
    let coordinate = |(c, &limit): (&Coordinate, &i64)| match c {
        Coordinate::Output(axis) => Some(point[usize::from(*axis)]),
        Coordinate::Index(index) => {
            let ty = graph.ty(index.node);
            let outputs = index.outputs.iter();
            let at: Point = outputs.map(|&o| point[usize::from(o)]).collect();
            let value = number(&values[index.node.index()], ty, position(&at, &ty.shape))?;
            index.policy.row(value, limit, index.wrap)
        }
    };
    gather
        .coordinates
        .iter()
        .zip(sizes)
        .map(coordinate)
        .collect()
}

fn number(bytes: &[u8], ty: &Type, at: usize) -> Option<i128> {
    let bits = scalar::bits(bytes, at, ty.element.width())?;
    Some(ty.element.number(bits))
}

/// The obligations in order; those of one operator together, so that its first position counts.
fn check(graph: &Canonical, values: &[Vec<u8>]) -> Result<(), RunError> {
    for of_one in graph.checks().chunk_by(|a, b| a.op == b.op) {
        let failures = of_one
            .iter()
            .filter_map(|c| first_failure(graph, c, values));
        if let Some((_, error)) = failures.min_by_key(|(position, _)| *position) {
            return Err(error);
        }
    }
    Ok(())
}

fn first_failure(
    graph: &Canonical,
    check: &Check,
    values: &[Vec<u8>],
) -> Option<(usize, RunError)> {
    let ty = graph.ty(check.node);
    for at in 0..ty.count() as usize {
        let value = number(&values[check.node.index()], ty, at)?;
        if scalar::normalise(value, check.limit, check.wrap).is_none() {
            let position = at * check.columns as usize + check.column as usize;
            let Check {
                op, limit, wrap, ..
            } = *check;
            let error = RunError::OutOfRange {
                op,
                position,
                value,
                limit,
                wrap,
            };
            return Some((position, error));
        }
    }
    None
}
