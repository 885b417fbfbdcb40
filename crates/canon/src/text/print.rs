//! Printing, see [`crate::text`] for the grammar.

use crate::ir::{Canonical, Check, Coordinate, Index, Node, Policy, Type};
use crate::scalar;
use restride_graph::Strided;
use std::fmt::{Display, Formatter, Result};

impl Display for Canonical {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "canonical {{")?;
        for (id, node, ty) in self.nodes() {
            write!(f, "  {id} = ")?;
            self.write_node(f, node, ty)?;
            writeln!(f, " : {ty}")?;
        }
        for check in self.checks() {
            writeln!(f, "  {check}")?;
        }
        for output in self.outputs() {
            write!(f, "  output {}", output.node)?;
            write_layout(f, output.layout.as_ref())?;
            if let Some(word) = output.views.word() {
                write!(f, " {word}")?;
            }
            writeln!(f)?;
        }
        write!(f, "}}")
    }
}

impl Canonical {
    fn write_node(&self, f: &mut Formatter<'_>, node: &Node, ty: &Type) -> Result {
        match node {
            Node::Input { ordinal } => {
                write!(f, "input")?;
                let input = self.inputs().get(*ordinal as usize);
                write_layout(f, input.and_then(|input| input.layout.as_ref()))
            }
            Node::Constant { bytes } => {
                write!(f, "constant ")?;
                write_constant(f, ty, bytes)
            }
            Node::Slice { x, spans } => {
                write!(f, "slice {x} ")?;
                list(f, spans, |f, s| {
                    write!(f, "{}:{}:{}", s.start, s.len, s.step)
                })
            }
            Node::Permute { x, perm } => {
                write!(f, "permute {x} ")?;
                list(f, perm, |f, axis| write!(f, "{axis}"))
            }
            Node::Collapse { x, groups } => {
                write!(f, "collapse {x} ")?;
                write_groups(f, groups)
            }
            Node::Expand { x, groups } => {
                write!(f, "expand {x} ")?;
                write_groups(f, groups)
            }
            Node::Broadcast { x } => write!(f, "broadcast {x}"),
            Node::Gather(gather) => {
                write!(f, "gather {} ", gather.data)?;
                list(f, &gather.coordinates, |f, c| match c {
                    Coordinate::Output(axis) => write!(f, "o{axis}"),
                    Coordinate::Index(index) => write_index(f, index),
                })
            }
            Node::Concat { parts, axis } => {
                write!(f, "concat ")?;
                list(f, parts, |f, part| write!(f, "{part}"))?;
                write!(f, " axis {axis}")
            }
            Node::Fill { bits } => write!(f, "fill {bits:#x}"),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.element)?;
        list(f, &self.shape, |f, size| write!(f, "{size}"))
    }
}

impl Display for Check {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "check {} limit {}", self.node, self.limit)?;
        if self.wrap {
            write!(f, " wrap")?;
        }
        write!(f, " op {}", self.op)?;
        if self.columns != 1 {
            write!(f, " column {} of {}", self.column, self.columns)?;
        }
        Ok(())
    }
}

fn write_index(f: &mut Formatter<'_>, index: &Index) -> Result {
    write!(f, "{}(", index.node)?;
    separated(f, &index.outputs, |f, axis| write!(f, "o{axis}"))?;
    write!(f, ")")?;
    if index.wrap {
        write!(f, " wrap")?;
    }
    match index.policy {
        Policy::Zero => Ok(()),
        Policy::Clamp => write!(f, " clamp"),
    }
}

fn write_constant(f: &mut Formatter<'_>, ty: &Type, bytes: &[u8]) -> Result {
    let width = ty.element.width();
    let elements = (0..bytes.len() / width).filter_map(|at| scalar::bits(bytes, at, width));
    let elements: Vec<u128> = elements.collect();
    list(f, &elements, |f, &bits| {
        if ty.element.is_signed_integer() {
            write!(f, "{}", scalar::number(ty.element, bits))
        } else if ty.element.is_integer() || bits < 2 {
            write!(f, "{bits}")
        } else {
            write!(f, "{bits:#x}")
        }
    })
}

fn write_layout(f: &mut Formatter<'_>, layout: Option<&Strided>) -> Result {
    let Some(layout) = layout else {
        return Ok(());
    };
    write!(f, " strides ")?;
    list(f, &layout.strides, |f, stride| write!(f, "{stride}"))?;
    match layout.offset {
        0 => Ok(()),
        offset => write!(f, " offset {offset}"),
    }
}

fn write_groups(f: &mut Formatter<'_>, groups: &[u8]) -> Result {
    let mut first = 0;
    list(f, groups, |f, &count| {
        let axes: Vec<u32> = (first..first + u32::from(count)).collect();
        first += u32::from(count);
        list(f, &axes, |f, axis| write!(f, "{axis}"))
    })
}

fn list<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    item: impl FnMut(&mut Formatter<'_>, &T) -> Result,
) -> Result {
    write!(f, "[")?;
    separated(f, items, item)?;
    write!(f, "]")
}

fn separated<T>(
    f: &mut Formatter<'_>,
    items: &[T],
    mut item: impl FnMut(&mut Formatter<'_>, &T) -> Result,
) -> Result {
    for (k, x) in items.iter().enumerate() {
        if k > 0 {
            write!(f, ", ")?;
        }
        item(f, x)?;
    }
    Ok(())
}
