//! Boxes whose vectors are put together by shuffles.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use restride_moves::{Cells, Shuffles, Vector};
use smallvec::SmallVec;

use super::{At, Emitter};

/// Windows that stay in registers for the vectors that follow.
const KEPT: usize = 8;
type Kept = SmallVec<[(isize, Value); KEPT]>;

/// Tables of shuffles that stay in registers, where a shuffle takes its table from one. What the code
/// generator makes of a shuffle there loads its table each time, and puts both windows beside each other.
const TABLES: usize = 14;
type Tables = SmallVec<[([u8; 16], Value); TABLES]>;

impl Emitter<'_, '_> {
    /// All vectors of a box.
    pub(super) fn cells(&mut self, dst: At, src: At, cells: &Cells) {
        for part in &cells.parts {
            let (dst, src) = (dst.plus(part.dst as i64), src.plus(part.src as i64));
            // A shuffle may take two instructions.
            let cost = part.cell.len() as i64 * 3 / 2;
            let tables = match self.shuffles {
                Some(Shuffles::Tables) => self.tables(&part.cell, !part.steps.is_empty()),
                _ => Tables::new(),
            };
            self.nest(dst, src, &part.steps, cost, &mut |emit, dst, src| {
                emit.cell(dst, src, &part.cell, &tables);
            });
        }
    }

    /// The tables that the vectors of a cell take, ahead of what repeats it: those of one window and, if it
    /// is repeated, those of several.
    fn tables(&mut self, cell: &[Vector], repeated: bool) -> Tables {
        let mut tables = Tables::new();
        for vector in cell {
            let by_tables = vector.joined_by_tables().1 && !vector.shuffles.is_empty();
            if !by_tables || (vector.windows.len() > 1 && !repeated) {
                continue;
            }
            for bytes in vector.tables() {
                if tables.len() < TABLES && !tables.iter().any(|(known, _)| *known == bytes) {
                    let table = self.code.vector(u128::from_le_bytes(bytes));
                    tables.push((bytes, table));
                }
            }
        }
        tables
    }

    /// A vector put together by tables, if those that it takes are there.
    fn by_tables(
        &mut self,
        src: At,
        vector: &Vector,
        kept: &mut Kept,
        tables: &Tables,
    ) -> Option<Value> {
        if tables.is_empty() || vector.shuffles.is_empty() || !vector.joined_by_tables().1 {
            return None;
        }
        let table = |bytes: [u8; 16]| Some(tables.iter().find(|(known, _)| *known == bytes)?.1);
        let all: Option<SmallVec<[Value; 4]>> = vector.tables().into_iter().map(table).collect();
        let mut joined = None;
        for (at, table) in vector.windows.iter().zip(all?) {
            let window = self.window(src, *at, kept);
            let taken = self.code.ins().swizzle(window, table);
            joined = Some(match joined {
                None => taken,
                Some(before) => self.code.ins().bor(before, taken),
            });
        }
        joined
    }

    /// One cell. A window is loaded where it is first needed, so that the load can become part of
    /// the shuffle if nothing else needs it.
    fn cell(&mut self, dst: At, src: At, cell: &[Vector], tables: &Tables) {
        let mut kept = Kept::new();
        for vector in cell {
            let value = self.by_tables(src, vector, &mut kept, tables);
            let value = value.or_else(|| self.one_by_one(src, vector, &mut kept));
            if let Some(value) = value {
                self.code.store(value, dst.plus(vector.dst as i64));
            }
        }
    }

    /// A vector whose windows are joined by shuffles, one after the other.
    fn one_by_one(&mut self, src: At, vector: &Vector, kept: &mut Kept) -> Option<Value> {
        let mut windows = vector.windows.iter();
        let mut value = self.window(src, *windows.next()?, kept);
        for lanes in &vector.shuffles {
            let next = windows.next();
            let next = next.map_or(value, |at| self.window(src, *at, kept));
            value = self.code.shuffle(value, next, *lanes);
        }
        Some(value)
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
