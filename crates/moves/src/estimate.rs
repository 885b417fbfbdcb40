//! About how many instructions a kernel executes whose code calls nothing.
//!
//! Nothing can be timed on a machine that is not there. What is said here can be counted under emulation.

use restride_loops::{Dim, Form, Kernel, Place, Stmt};

use crate::byte_box::ByteBox;
use crate::cost::{TURN, inline::loads};
use crate::planner::Planner;

/// An index is loaded, wrapped, clamped and multiplied.
const INDEX: usize = 6;
/// An index that is only compared with its limit.
const COMPARED: usize = 4;
/// About how much code a move may have.
pub(crate) const ROOM: usize = 1 << 12;

impl Planner {
    /// About how many instructions all statements of a kernel take on the planner's machine.
    #[must_use]
    pub fn instructions(&self, kernel: &Kernel) -> usize {
        let width = |place: &Place| {
            let buffer = kernel.buffer(place.buffer);
            buffer.map_or(1, |it| it.width.bytes())
        };
        let moved = |dst: &Place, dims: &[Dim], form: Form| {
            let shape = ByteBox::of_move(dims, width(dst));
            shape.map_or(0, |shape| self.own(&shape, form)[0].1)
        };
        let all = kernel.phases.iter().flatten();
        let mut left: Vec<(&Stmt, usize)> = all.map(|stmt| (stmt, 1)).collect();
        let mut sum = 0usize;
        while let Some((stmt, times)) = left.pop() {
            let once = match stmt {
                Stmt::For { extent, body, .. } => {
                    let times = times.saturating_mul(usize::try_from(*extent).unwrap_or(0));
                    left.extend(body.iter().map(|stmt| (stmt, times)));
                    sum = sum.saturating_add(times.saturating_mul(TURN));
                    continue;
                }
                Stmt::Index { .. } => INDEX,
                Stmt::Check { dims, .. } => {
                    let extents = dims.iter().map(|(extent, _)| *extent);
                    COMPARED.saturating_mul(points(extents))
                }
                Stmt::Move(it) => moved(&it.dst, &it.dims, it.form),
                Stmt::Gather(it) => {
                    let row = moved(&it.dst, &it.dims, Form::Elements);
                    points([it.extent]).saturating_mul(row.saturating_add(INDEX))
                }
                Stmt::Fill { dst, dims, .. } => {
                    let shape = ByteBox::of_fill(dims, width(dst));
                    shape.map_or(0, |shape| shape.runs().saturating_mul(loads(shape.run)))
                }
            };
            sum = sum.saturating_add(times.saturating_mul(once));
        }
        sum
    }
}

fn points(extents: impl IntoIterator<Item = i64>) -> usize {
    let extents = extents.into_iter();
    let extents = extents.map(|extent| usize::try_from(extent).unwrap_or(0));
    extents.fold(1, usize::saturating_mul)
}
