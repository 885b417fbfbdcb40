//! Every address of every statement lies in its buffer.
//!
//! An address is linear in variables that take every value of their range independently, so its
//! least and greatest value are reached at corners and the interval computed here is exact. Sums
//! saturate: each runs one way only, so a saturated one stays outside of every buffer.

use super::Reason;
use super::walk::Walker;
use crate::ir::{Place, Stmt};

/// The least and the greatest of `base + sum(stride * i)` over `i` in `0..extent`.
pub(super) fn reach(base: i64, dims: impl Iterator<Item = (i64, i64)>) -> (i128, i128) {
    let mut reach = (i128::from(base), i128::from(base));
    for (extent, stride) in dims {
        let span = (i128::from(extent) - 1) * i128::from(stride);
        if span < 0 {
            reach.0 = reach.0.saturating_add(span);
        } else {
            reach.1 = reach.1.saturating_add(span);
        }
    }
    reach
}

/// The addresses of one statement.
pub(super) fn stmt(walker: &Walker<'_>, stmt: &Stmt) -> Result<(), Reason> {
    match stmt {
        Stmt::For { .. } => Ok(()),
        Stmt::Check { index, dims, .. } => within(walker, index, dims.iter().copied()),
        Stmt::Index { place, .. } => within(walker, place, [].into_iter()),
        Stmt::Move(m) => {
            within(walker, &m.dst, m.dims.iter().map(|d| (d.extent, d.dst)))?;
            within(walker, &m.src, m.dims.iter().map(|d| (d.extent, d.src)))
        }
        Stmt::Gather(g) => {
            let index = (g.extent, g.index_stride);
            within(walker, &g.index, [index].into_iter())?;
            let dst = g.dims.iter().map(|d| (d.extent, d.dst));
            within(walker, &g.dst, dst.chain([(g.extent, g.dst_stride)]))?;
            let src = g.dims.iter().map(|d| (d.extent, d.src));
            within(walker, &g.src, src.chain([(g.norm.limit, g.coeff)]))
        }
        Stmt::Fill { dst, dims, .. } => within(walker, dst, dims.iter().copied()),
    }
}

fn within(
    walker: &Walker<'_>,
    place: &Place,
    own: impl Iterator<Item = (i64, i64)>,
) -> Result<(), Reason> {
    let id = place.buffer;
    let Some(buffer) = walker.kernel.buffer(id) else {
        let count = walker.kernel.buffers.len();
        return Err(Reason::UnknownBuffer { buffer: id, count });
    };
    let (low, high) = reach(place.addr.base, walker.mentioned(&place.addr).chain(own));
    if low < 0 || high >= i128::from(buffer.len) {
        return Err(Reason::OutOfBounds {
            buffer: id,
            low,
            high,
            len: buffer.len,
        });
    }
    Ok(())
}
