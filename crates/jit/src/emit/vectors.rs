//! Boxes whose vectors are put together by shuffles.

use cranelift_codegen::ir::{Value, types};
use smallvec::SmallVec;

use super::{At, Emitter};
use crate::vectors::{Vector, Vectors};

/// Windows that stay in registers for the vectors that follow.
const KEPT: usize = 8;

impl Emitter<'_, '_> {
    /// All vectors of a box.
    pub(super) fn vectors(&mut self, dst: At, src: At, vectors: &Vectors) {
        for part in &vectors.parts {
            let (dst, src) = (dst.plus(part.dst), src.plus(part.src));
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
        let mut kept: SmallVec<[(i64, Value); KEPT]> = SmallVec::new();
        for vector in cell {
            let [a, b] = vector.windows.map(|window| {
                if let Some((_, value)) = kept.iter().find(|(at, _)| *at == window) {
                    return *value;
                }
                let value = self.code.load(types::I8X16, src.plus(window));
                if kept.len() == KEPT {
                    kept.remove(0);
                }
                kept.push((window, value));
                value
            });
            let value = match vector.is_copy() {
                true => a,
                false => self.code.shuffle(a, b, vector.lanes),
            };
            self.code.store(value, dst.plus(vector.dst));
        }
    }
}
