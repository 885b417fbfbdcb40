//! Boxes whose vectors are put together by shuffles.

use cranelift_codegen::ir::{Value, types};
use restride_moves::cells::{Cells, Vector};
use smallvec::SmallVec;

use super::{At, Emitter};

/// Windows that stay in registers for the vectors that follow.
const KEPT: usize = 8;
type Kept = SmallVec<[(isize, Value); KEPT]>;

impl Emitter<'_, '_> {
    /// All vectors of a box.
    pub(super) fn cells(&mut self, dst: At, src: At, cells: &Cells) {
        for part in &cells.parts {
            let (dst, src) = (dst.plus(part.dst as i64), src.plus(part.src as i64));
            // A shuffle may take two instructions.
            let cost = part.cell.len() as i64 * 3 / 2;
            self.nest(dst, src, &part.steps, cost, &mut |emit, dst, src| {
                emit.cell(dst, src, &part.cell);
            });
        }
    }

    /// One cell. A window is loaded where it is first needed, so that the load can become part of
    /// the shuffle if nothing else needs it.
    fn cell(&mut self, dst: At, src: At, cell: &[Vector]) {
        let mut kept = Kept::new();
        for vector in cell {
            let mut windows = vector.windows.iter();
            let Some(first) = windows.next() else {
                continue;
            };
            let first = self.window(src, *first, &mut kept);
            let mut value = first;
            for lanes in &vector.shuffles {
                let next = windows.next();
                let other = next.map_or(first, |at| self.window(src, *at, &mut kept));
                value = self.code.shuffle(value, other, *lanes);
            }
            self.code.store(value, dst.plus(vector.dst as i64));
        }
    }

    fn window(&mut self, src: At, at: isize, kept: &mut Kept) -> Value {
        if let Some((_, value)) = kept.iter().find(|(known, _)| *known == at) {
            return *value;
        }
        let value = self.code.load(types::I8X16, src.plus(at as i64));
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((at, value));
        value
    }
}
