//! Kernels as text.

use std::fmt::{Display, Formatter, Result, Write as _};

use restride_text::is_seen;

use crate::ir::{
    Addr, Buffer, BufferId, Form, IndexType, Kernel, Norm, Place, Role, Stmt, Var, Width,
};

/// How many bytes of constant data stand on one line.
const BYTES_PER_LINE: usize = 32;

impl Display for BufferId {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "b{}", self.0)
    }
}

impl Display for Var {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "v{}", self.0)
    }
}

impl Display for Width {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "w{}", self.bytes())
    }
}

impl Display for Form {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.name())
    }
}

impl Display for IndexType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.name())
    }
}

impl Display for Addr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.base != 0 || self.terms.is_empty() {
            write!(f, "{}", self.base)?;
        }
        for (at, (var, coeff)) in self.terms.iter().enumerate() {
            let plus = if at == 0 && self.base == 0 { "" } else { " + " };
            write!(f, "{plus}{coeff}*{var}")?;
        }
        Ok(())
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}[{}]", self.buffer, self.addr)
    }
}

impl Display for Norm {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let wrap = if self.wrap { " wrap" } else { "" };
        let outside = if self.clamp { "clamp" } else { "zero" };
        write!(f, "{} limit {}{wrap} {outside}", self.ty, self.limit)
    }
}

/// A box as ` box [(extent, stride...), ...]`, or nothing for a single element.
fn write_box<const N: usize>(
    f: &mut Formatter<'_>,
    dims: impl Iterator<Item = [i64; N]>,
) -> Result {
    let mut dims = dims.peekable();
    if dims.peek().is_none() {
        return Ok(());
    }
    f.write_str(" box [")?;
    for (at, dim) in dims.enumerate() {
        f.write_str(if at == 0 { "(" } else { ", (" })?;
        for (at, number) in dim.iter().enumerate() {
            write!(f, "{}{number}", if at == 0 { "" } else { ", " })?;
        }
        f.write_char(')')?;
    }
    f.write_char(']')
}

/// The first line of a statement: all of it, or a loop without its body.
pub(crate) struct Head<'a>(&'a Stmt);

impl Stmt {
    pub(crate) fn head(&self) -> Head<'_> {
        Head(self)
    }
}

impl Display for Head<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Stmt::For {
                var,
                extent,
                parallel,
                ..
            } => {
                let parallel = if *parallel { " parallel" } else { "" };
                write!(f, "for {var} in 0..{extent}{parallel} {{")
            }
            Stmt::Check {
                index,
                dims,
                norm,
                code,
            } => {
                write!(f, "check {code}: {index}")?;
                write_box(f, dims.iter().map(|d| [d.0, d.1]))?;
                write!(f, " {norm}")
            }
            Stmt::Index { var, place, norm } => write!(f, "index {var} = {place} {norm}"),
            Stmt::Move(m) => {
                write!(f, "move {} <- {}", m.dst, m.src)?;
                write_box(f, m.dims.iter().map(|d| [d.extent, d.dst, d.src]))?;
                match m.form {
                    Form::Elements => Ok(()),
                    Form::Rows
                    | Form::Stream
                    | Form::Strided
                    | Form::Transpose
                    | Form::Staged
                    | Form::Lines => write!(f, " as {}", m.form),
                }
            }
            Stmt::Gather(g) => {
                write!(
                    f,
                    "gather {} rows {} step {}",
                    g.extent, g.dst, g.dst_stride
                )?;
                write!(f, " <- {} step {}", g.src, g.coeff)?;
                write!(f, " at {} step {} {}", g.index, g.index_stride, g.norm)?;
                write_box(f, g.dims.iter().map(|d| [d.extent, d.dst, d.src]))
            }
            Stmt::Fill { dst, dims, bits } => {
                write!(f, "fill {dst} <- {bits:#x}")?;
                write_box(f, dims.iter().map(|d| [d.0, d.1]))
            }
        }
    }
}

fn write_buffer(f: &mut Formatter<'_>, id: BufferId, buffer: &Buffer) -> Result {
    let (width, len) = (buffer.width, buffer.len);
    match &buffer.role {
        Role::In(n) => write!(f, "  {id} = in {n} {width} [{len}]"),
        Role::Scratch => write!(f, "  {id} = scratch {width} [{len}]"),
        Role::Out(n, image) => {
            write!(f, "  {id} = out {n} {width} [{len}]")?;
            if image.offset != 0 || image.dims.as_slice() != [(len, 1)] {
                write!(f, " image {}", image.offset)?;
                write_box(f, image.dims.iter().map(|d| [d.0, d.1]))?;
            }
            Ok(())
        }
        Role::Const(data) => {
            write!(f, "  {id} = const {width} [{len}]")?;
            for line in data.chunks(BYTES_PER_LINE) {
                f.write_str("\n    \"")?;
                line.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_char('"')?;
            }
            Ok(())
        }
    }
}

fn write_block(f: &mut Formatter<'_>, stmts: &[Stmt]) -> Result {
    let mut blocks = vec![stmts.iter()];
    while let Some(block) = blocks.last_mut() {
        match block.next() {
            Some(stmt) => {
                let indent = 2 * blocks.len();
                writeln!(f, "{:indent$}{}", "", stmt.head())?;
                if let Stmt::For { body, .. } = stmt {
                    blocks.push(body.iter());
                }
            }
            None => {
                blocks.pop();
                if !blocks.is_empty() {
                    writeln!(f, "{:indent$}}}", "", indent = 2 * blocks.len())?;
                }
            }
        }
    }
    Ok(())
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("kernel \"")?;
        for c in self.name.chars() {
            f.write_char(if c == '"' || !is_seen(c) { '_' } else { c })?;
        }
        f.write_str("\" {\n")?;
        for (id, buffer) in self.numbered() {
            write_buffer(f, id, buffer)?;
            f.write_char('\n')?;
        }
        for (at, phase) in self.phases.iter().enumerate() {
            f.write_str(if at == 0 { "\n" } else { "\n  barrier\n\n" })?;
            write_block(f, phase)?;
        }
        f.write_str("}\n")
    }
}
