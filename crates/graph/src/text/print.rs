//! Writing a function.

use std::fmt::{self, Display, Formatter};

use super::remarks::Remarks;
use crate::{Constant, Graph, Op, ValueId};

/// Inputs stand on one line up to this width, one a line beyond.
const MAX_LINE: usize = 96;

impl Graph {
    /// The graph with the comments of the text that it was read from.
    ///
    /// ```
    /// # extern crate restride_graph as restride;
    /// use restride::Graph;
    ///
    /// let text = "\
    /// // Turns an image.
    /// func @turn(%x: u8[4, 6]) {
    ///   %y = transpose %x perm [1, 0] : u8[6, 4] // by a quarter
    ///   return %y
    /// }
    /// ";
    /// assert_eq!(Graph::parse(text)?.with_comments_of(text).to_string(), text);
    /// # Ok::<(), restride_text::Diagnostics>(())
    /// ```
    pub fn with_comments_of<'a>(&'a self, text: &'a str) -> impl Display + 'a {
        fmt::from_fn(|f| write(f, self, &Remarks::of(self, text)))
    }
}

impl Display for Graph {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write(f, self, &Remarks::default())
    }
}

fn write(f: &mut Formatter<'_>, graph: &Graph, remarks: &Remarks<'_>) -> fmt::Result {
    for remark in &remarks.head {
        writeln!(f, "{remark}")?;
    }
    inputs(f, graph, remarks)?;
    let mut values = graph
        .values()
        .filter(|&id| !matches!(graph.op(id), Op::Input));
    while let Some(id) = values.next() {
        before(f, remarks, id)?;
        let parts = split_group(graph, id);
        write!(f, "  {}", graph.label(id))?;
        for part in values.by_ref().take(parts - 1) {
            write!(f, ", {}", graph.label(part))?;
        }
        f.write_str(" = ")?;
        write_op(f, graph, id, parts)?;
        if parts == 1 {
            write!(f, " : {}", graph.ty(id))?;
        }
        beside(f, remarks, id)?;
    }
    for remark in &remarks.last {
        writeln!(f, "  {remark}")?;
    }
    f.write_str("  return")?;
    for (k, output) in graph.outputs().iter().enumerate() {
        f.write_str(if k == 0 { " " } else { ", " })?;
        write!(f, "{}", graph.label(output.value))?;
        if let Some(layout) = &output.layout {
            write!(f, " {layout}")?;
        }
        if let Some(word) = output.views.word() {
            write!(f, " {word}")?;
        }
    }
    f.write_str("\n}\n")
}

/// The name and the inputs: one a line where they are many or have comments.
fn inputs(f: &mut Formatter<'_>, graph: &Graph, remarks: &Remarks<'_>) -> fmt::Result {
    let all = graph.inputs();
    let input = |&id: &ValueId| {
        let (label, ty) = (graph.label(id), graph.ty(id));
        match graph.sample(id) {
            None => format!("{label}: {ty}"),
            Some(sample) => format!("{label}: {ty} = {}", sample.of(ty.element())),
        }
    };
    let texts: Vec<String> = all.iter().map(input).collect();
    let has_remarks =
        |id: &ValueId| remarks.before.contains_key(id) || remarks.beside.contains_key(id);
    let line = texts.join(", ");
    write!(f, "func @{}(", graph.name())?;
    if line.len() <= MAX_LINE && !all.iter().any(has_remarks) {
        return writeln!(f, "{line}) {{");
    }
    writeln!(f)?;
    for (k, (id, text)) in all.iter().zip(&texts).enumerate() {
        before(f, remarks, *id)?;
        let comma = if k + 1 < all.len() { "," } else { "" };
        write!(f, "  {text}{comma}")?;
        beside(f, remarks, *id)?;
    }
    f.write_str(") {\n")
}

fn before(f: &mut Formatter<'_>, remarks: &Remarks<'_>, id: ValueId) -> fmt::Result {
    let before = remarks.before.get(&id).into_iter().flatten();
    before
        .into_iter()
        .try_for_each(|remark| writeln!(f, "  {remark}"))
}

/// The end of a line, with what is said there.
fn beside(f: &mut Formatter<'_>, remarks: &Remarks<'_>, id: ValueId) -> fmt::Result {
    for remark in remarks.beside.get(&id).into_iter().flatten() {
        write!(f, " {remark}")?;
    }
    writeln!(f)
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// How many values from `id` on are all the parts of one split, in order: 1 if they are not.
fn split_group(graph: &Graph, id: ValueId) -> usize {
    let Op::Split {
        lengths, part: 0, ..
    } = graph.op(id)
    else {
        return 1;
    };
    let first = graph.op(id);
    let follows = |k: usize| {
        let id = ValueId::from_u32((id.index() + k) as u32);
        match (graph.get(id), first) {
            (
                Some((
                    Op::Split {
                        x,
                        axis,
                        lengths,
                        part,
                    },
                    _,
                )),
                Op::Split {
                    x: x0,
                    axis: axis0,
                    lengths: lengths0,
                    part: _,
                },
            ) => (x, axis, lengths, *part as usize) == (x0, axis0, lengths0, k),
            _ => false,
        }
    };
    match (1..lengths.len()).all(follows) {
        true => lengths.len(),
        false => 1,
    }
}

fn write_op(f: &mut Formatter<'_>, graph: &Graph, id: ValueId, parts: usize) -> fmt::Result {
    let op = graph.op(id);
    f.write_str(op.name())?;
    for (k, operand) in op.operands().into_iter().enumerate() {
        write!(
            f,
            "{}{}",
            if k == 0 { " " } else { ", " },
            graph.label(operand)
        )?;
    }
    op.write_attributes(f)?;
    match op {
        Op::Constant(value) => constant(f, value),
        Op::Split { lengths, part, .. } if parts != lengths.len() => write!(f, " part {part}"),
        _ => Ok(()),
    }
}

fn constant(f: &mut Formatter<'_>, constant: &Constant) -> fmt::Result {
    write!(f, " {} [", constant.ty())?;
    for position in 0..constant.ty().numel() {
        if position > 0 {
            f.write_str(", ")?;
        }
        let (bits, element) = (constant.bits(position), constant.ty().element());
        match (constant.integer(position), bits) {
            (Some(number), _) => write!(f, "{number}")?,
            (None, Some(bits)) if element.is_integer() => write!(f, "{bits}")?,
            (None, Some(bits)) => write!(f, "{bits:#x}")?,
            (None, None) => {}
        }
    }
    f.write_str("]")
}
