//! Boxes whose vectors are put together by shuffles.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use restride_moves::cells::{Cells, Vector};
use smallvec::SmallVec;

use super::{At, Emitter};

/// Windows that stay in registers for the vectors that follow.
const KEPT: usize = 8;
type Kept = SmallVec<[(isize, Value); KEPT]>;

/// Tables of shuffles that stay in registers, where a shuffle takes its table from one. What the code
/// generator makes of a shuffle there loads its table each time, and puts both windows beside each other.
const TABLES: usize = 12;
type Tables = SmallVec<[([u8; 16], Value); TABLES]>;

/// What a shuffle takes from each of two windows; no byte is at 255.
fn halves(lanes: &[u8; 16]) -> [[u8; 16]; 2] {
    let of = |low: u8| lanes.map(|lane| if lane & 16 == low { lane & 15 } else { 255 });
    [of(0), of(16)]
}

/// Whether a shuffle needs no table on any machine that has them: elements that are zipped, unzipped,
/// transposed, repeated or in reverse, or bytes that follow each other.
fn is_instruction(lanes: &[u8; 16]) -> bool {
    let is = |f: &dyn Fn(usize) -> usize| (0..16).all(|at| usize::from(lanes[at]) == f(at));
    let first = usize::from(lanes[0]);
    if is(&|at| first + at) {
        return true;
    }
    [1, 2, 4, 8].into_iter().any(|size| {
        let network = |half: usize| {
            is(&|at| at / size % 2 * 16 + (half * 8 / size + at / size / 2) * size + at % size)
                || is(&|at| (2 * (at / size) + half) * size + at % size)
                || is(&|at| at / size % 2 * 16 + (at / size / 2 * 2 + half) * size + at % size)
        };
        let mut groups = [2, 4, 8].into_iter().filter(|group| *group > size);
        let turned = |group: usize| {
            is(&|at| at / group * group + group - (at % group / size + 1) * size + at % size)
        };
        network(0) || network(1) || is(&|at| first / size * size + at % size) || groups.any(turned)
    })
}

impl Emitter<'_, '_> {
    /// All vectors of a box.
    pub(super) fn cells(&mut self, dst: At, src: At, cells: &Cells) {
        for part in &cells.parts {
            let (dst, src) = (dst.plus(part.dst as i64), src.plus(part.src as i64));
            // A shuffle may take two instructions.
            let cost = part.cell.len() as i64 * 3 / 2;
            let tables = match self.has_tables {
                true => self.tables(&part.cell, !part.steps.is_empty()),
                false => Tables::new(),
            };
            self.nest(dst, src, &part.steps, cost, &mut |emit, dst, src| {
                emit.cell(dst, src, &part.cell, &tables);
            });
        }
    }

    /// The tables that the shuffles of a cell take, ahead of what repeats it: those of one window and, if it
    /// is repeated, those of two.
    fn tables(&mut self, cell: &[Vector], repeated: bool) -> Tables {
        let mut tables = Tables::new();
        for vector in cell {
            let joins = vector.windows.len() > 1;
            for lanes in &vector.shuffles {
                if is_instruction(lanes) || (joins && !repeated) {
                    continue;
                }
                let both = halves(lanes);
                for half in &both[..if joins { 2 } else { 1 }] {
                    if tables.len() < TABLES && !tables.iter().any(|(known, _)| known == half) {
                        let table = self.code.vector(u128::from_le_bytes(*half));
                        tables.push((*half, table));
                    }
                }
            }
        }
        tables
    }

    /// A shuffle by tables that are there, or as the code generator has it.
    fn shuffled(
        &mut self,
        value: Value,
        next: Option<Value>,
        lanes: [u8; 16],
        tables: &Tables,
    ) -> Value {
        let table = |half: [u8; 16]| tables.iter().find(|(known, _)| *known == half);
        let [first, second] = halves(&lanes).map(table);
        match (first, second, next) {
            (Some((_, first)), _, None) if !is_instruction(&lanes) => {
                self.code.ins().swizzle(value, *first)
            }
            (Some((_, first)), Some((_, second)), Some(next)) if !is_instruction(&lanes) => {
                let first = self.code.ins().swizzle(value, *first);
                let second = self.code.ins().swizzle(next, *second);
                self.code.ins().bor(first, second)
            }
            _ => self.code.shuffle(value, next.unwrap_or(value), lanes),
        }
    }

    /// One cell. A window is loaded where it is first needed, so that the load can become part of
    /// the shuffle if nothing else needs it.
    fn cell(&mut self, dst: At, src: At, cell: &[Vector], tables: &Tables) {
        let mut kept = Kept::new();
        for vector in cell {
            let mut windows = vector.windows.iter();
            let Some(first) = windows.next() else {
                continue;
            };
            let mut value = self.window(src, *first, &mut kept);
            for lanes in &vector.shuffles {
                let next = windows.next();
                let next = next.map(|at| self.window(src, *at, &mut kept));
                value = self.shuffled(value, next, *lanes, tables);
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
