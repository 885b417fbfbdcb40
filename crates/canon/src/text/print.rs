//! Printing, see [`crate::text`] for the grammar.

use crate::ir::{Canonical, Coordinate, Index, Node, Obligation, Policy, Said, TextLine, Type};
use crate::scalar;
use restride_graph::Strided;
use restride_layout::View;
use std::fmt::{Display, Formatter, Result};

impl Display for Canonical {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "canonical {{")?;
        let (lines, last) = self.lines();
        for (number, line) in lines.iter().enumerate() {
            write!(f, "  %{number} = ")?;
            match &line.said {
                Said::Node(node) => self.write_node(f, node, line)?,
                Said::View(view) => write_view(f, view, line.operands[0])?,
                Said::Whole => write!(f, "whole %{}", line.operands[0])?,
            }
            writeln!(f, " : {}", line.ty)?;
        }
        for check in self.checks() {
            write_check(f, check, last[check.node.index()])?;
        }
        for output in self.outputs() {
            write!(f, "  output %{}", last[output.node.index()])?;
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
    fn write_node(&self, f: &mut Formatter<'_>, node: &Node, line: &TextLine<'_>) -> Result {
        let mut operands = line.operands.iter();
        match node {
            Node::Input { ordinal } => {
                write!(f, "input")?;
                let input = self.inputs().get(*ordinal as usize);
                write_layout(f, input.and_then(|input| input.layout.as_ref()))
            }
            Node::Constant { bytes } => {
                write!(f, "constant ")?;
                write_constant(f, &line.ty, bytes)
            }
            Node::View { layout, .. } => write!(f, "view {layout}"),
            Node::Gather(gather) => {
                operands
                    .next()
                    .map_or(Ok(()), |x| write!(f, "gather %{x} "))?;
                list(f, &gather.coordinates, |f, c| match c {
                    Coordinate::Output(axis) => write!(f, "o{axis}"),
                    Coordinate::Index(index) => write_index(f, index, operands.next()),
                })
            }
            Node::Concat { axis, .. } => {
                write!(f, "concat ")?;
                list(f, &line.operands, |f, part| write!(f, "%{part}"))?;
                write!(f, " axis {axis}")
            }
            Node::Fill { bits } => write!(f, "fill {bits:#x}"),
        }
    }
}

fn write_view(f: &mut Formatter<'_>, view: &View, x: usize) -> Result {
    write!(f, "{} %{x}", view.name())?;
    match view {
        View::Slice(spans) => {
            write!(f, " ")?;
            list(f, spans, |f, s| {
                write!(f, "{}:{}:{}", s.start, s.len, s.step)
            })
        }
        View::Permute(perm) => {
            write!(f, " ")?;
            list(f, perm, |f, axis| write!(f, "{axis}"))
        }
        View::Collapse { groups } | View::Expand { groups, .. } => {
            write!(f, " ")?;
            write_groups(f, groups)
        }
        View::Broadcast { .. } => Ok(()),
        View::Windows { axis, size } => write!(f, " axis {axis} size {size}"),
    }
}

fn write_check(f: &mut Formatter<'_>, check: &Obligation, line: usize) -> Result {
    write!(f, "  check %{line} limit {}", check.limit)?;
    if check.wrap {
        write!(f, " wrap")?;
    }
    write!(f, " op {}", check.op)?;
    if check.columns != 1 {
        write!(f, " column {} of {}", check.column, check.columns)?;
    }
    writeln!(f)
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}", self.element)?;
        list(f, &self.shape, |f, size| write!(f, "{size}"))
    }
}

fn write_index(f: &mut Formatter<'_>, index: &Index, line: Option<&usize>) -> Result {
    line.map_or(Ok(()), |line| write!(f, "%{line}("))?;
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
            write!(f, "{}", ty.element.number(bits))
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

fn write_groups(f: &mut Formatter<'_>, groups: &[usize]) -> Result {
    let mut first = 0;
    list(f, groups, |f, &count| {
        let axes: Vec<usize> = (first..first + count).collect();
        first += count;
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
