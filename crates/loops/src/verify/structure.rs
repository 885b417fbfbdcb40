//! Buffers and statements taken by themselves: numbers in their ranges, variables in scope, roles
//! and widths that match.

use super::Reason;
use super::bounds::reach;
use super::walk::Walker;
use crate::ir::{Addr, Buffer, BufferId, Kernel, Norm, Place, Role, Stmt};
use smallvec::SmallVec;

/// The most dimensions of one box.
const MAX_DIMS: usize = 32;

/// All buffers.
pub(super) fn buffers(kernel: &Kernel) -> Result<(), Reason> {
    let limit = isize::MAX as i128;
    let mut bytes = 0i128;
    let mut outputs: SmallVec<[(u32, BufferId); 4]> = SmallVec::new();
    for (id, buffer) in kernel.numbered() {
        let len = buffer.len;
        if len < 0 {
            return Err(Reason::Length { buffer: id, len });
        }
        let own = i128::from(len) * buffer.width.bytes() as i128;
        bytes = bytes.saturating_add(own);
        if bytes > limit {
            return Err(Reason::TotalBytes { bytes, limit });
        }
        match &buffer.role {
            Role::In(_) | Role::Scratch => {}
            Role::Const(data) => {
                if data.len() as i128 != own {
                    let bytes = data.len();
                    return Err(Reason::ConstData {
                        buffer: id,
                        bytes,
                        expected: own,
                    });
                }
            }
            Role::Out(output, _) => {
                image(id, buffer)?;
                outputs.push((*output, id));
            }
        }
    }
    outputs.sort_unstable();
    match outputs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(()),
        Some(pair) => Err(Reason::DuplicateOutput {
            output: pair[0].0,
            first: pair[0].1,
            second: pair[1].1,
        }),
    }
}

fn image(id: BufferId, buffer: &Buffer) -> Result<(), Reason> {
    let Role::Out(_, image) = &buffer.role else {
        return Ok(());
    };
    if image.dims.len() > MAX_DIMS {
        return Err(Reason::TooManyDims {
            dims: image.dims.len(),
            limit: MAX_DIMS,
        });
    }
    if let Some(&(extent, _)) = image.dims.iter().find(|&&(extent, _)| extent < 0) {
        return Err(Reason::ImageExtent { buffer: id, extent });
    }
    if image.dims.iter().any(|&(extent, _)| extent == 0) {
        return Ok(());
    }
    let (low, high) = reach(image.offset, image.dims.iter().copied());
    if low < 0 || high >= buffer.len.into() {
        return Err(Reason::ImageOutOfBounds {
            buffer: id,
            low,
            high,
            len: buffer.len,
        });
    }
    Ok(())
}

/// One statement.
pub(super) fn stmt(walker: &Walker<'_>, stmt: &Stmt, depth: usize) -> Result<(), Reason> {
    match stmt {
        Stmt::For {
            extent, parallel, ..
        } => {
            at_least_one(*extent)?;
            if *parallel && depth > 0 {
                Err(Reason::InnerParallel)
            } else {
                Ok(())
            }
        }
        Stmt::Check {
            index, dims, norm, ..
        } => {
            extents(dims.iter().map(|d| d.0))?;
            no_index_var(walker, &index.addr, "check")?;
            index_place(walker, index, norm, 0)
        }
        Stmt::Index { place, norm, .. } => index_place(walker, place, norm, 1),
        Stmt::Move(m) => {
            extents(m.dims.iter().map(|d| d.extent))?;
            widths(walker, &m.dst, &m.src)
        }
        Stmt::Gather(g) => {
            at_least_one(g.extent)?;
            extents(g.dims.iter().map(|d| d.extent))?;
            index_place(walker, &g.index, &g.norm, 1)?;
            widths(walker, &g.dst, &g.src)
        }
        Stmt::Fill { dst, dims, .. } => {
            extents(dims.iter().map(|d| d.0))?;
            destination(walker, dst).map(|_| ())
        }
    }
}

fn at_least_one(extent: i64) -> Result<(), Reason> {
    if extent < 1 {
        Err(Reason::Extent { extent })
    } else {
        Ok(())
    }
}

fn extents(mut all: impl ExactSizeIterator<Item = i64>) -> Result<(), Reason> {
    if all.len() > MAX_DIMS {
        return Err(Reason::TooManyDims {
            dims: all.len(),
            limit: MAX_DIMS,
        });
    }
    all.try_for_each(at_least_one)
}

fn index_place(w: &Walker<'_>, place: &Place, norm: &Norm, least: i64) -> Result<(), Reason> {
    if norm.limit < least {
        return Err(Reason::Limit {
            limit: norm.limit,
            least,
        });
    }
    let buffer = source(w, place)?;
    if buffer.width != norm.ty.width() {
        let (buffer, width) = (place.buffer, buffer.width);
        return Err(Reason::IndexWidth {
            buffer,
            width,
            ty: norm.ty,
        });
    }
    Ok(())
}

fn widths(walker: &Walker<'_>, dst: &Place, src: &Place) -> Result<(), Reason> {
    let dst_width = destination(walker, dst)?.width;
    let src_width = source(walker, src)?.width;
    if dst_width != src_width {
        let (dst, src) = (dst.buffer, src.buffer);
        return Err(Reason::Widths {
            dst,
            dst_width,
            src,
            src_width,
        });
    }
    Ok(())
}

fn destination<'k>(walker: &Walker<'k>, dst: &Place) -> Result<&'k Buffer, Reason> {
    let buffer = known(walker, dst)?;
    if !buffer.role.is_writable() {
        return Err(Reason::NotWritable { buffer: dst.buffer });
    }
    no_index_var(walker, &dst.addr, "write")?;
    Ok(buffer)
}

fn source<'k>(walker: &Walker<'k>, src: &Place) -> Result<&'k Buffer, Reason> {
    let buffer = known(walker, src)?;
    if !buffer.role.is_readable() {
        return Err(Reason::NotReadable { buffer: src.buffer });
    }
    Ok(buffer)
}

fn known<'k>(walker: &Walker<'k>, place: &Place) -> Result<&'k Buffer, Reason> {
    let terms = &place.addr.terms;
    for (at, &(var, coeff)) in terms.iter().enumerate() {
        if coeff == 0 {
            return Err(Reason::ZeroCoefficient { var });
        }
        if walker.scope.extent(var).is_none() {
            return Err(Reason::UnknownVar { var });
        }
        if terms[..at].iter().any(|t| t.0 == var) {
            return Err(Reason::RepeatedVar { var });
        }
    }
    let (kernel, buffer) = (walker.kernel, place.buffer);
    let count = kernel.buffers.len();
    kernel
        .buffer(buffer)
        .ok_or(Reason::UnknownBuffer { buffer, count })
}

fn no_index_var(walker: &Walker<'_>, addr: &Addr, what: &'static str) -> Result<(), Reason> {
    match addr.terms.iter().find(|t| walker.scope.is_loaded(t.0)) {
        Some(&(var, _)) => Err(Reason::IndexVarIn { var, what }),
        None => Ok(()),
    }
}
