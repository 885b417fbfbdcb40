//! Transpositions of narrow elements by halves and quarters of vectors.

use cranelift_codegen::ir::{Value, types};
use restride_moves::{HalfPart, Halves, Step};
use smallvec::{SmallVec, smallvec};

use super::tiles::{LOOP, interleave};
use super::{At, Emitter};

impl Emitter<'_, '_> {
    /// Transposes all planes of a box.
    pub(super) fn halves(&mut self, dst: At, src: At, plane: &Halves) {
        let (dst, src) = (
            dst.plus(plane.start.0 as i64),
            src.plus(plane.start.1 as i64),
        );
        let all = plane.row.extent.saturating_mul(plane.column.extent);
        let cost = all.saturating_mul(plane.width) / 8;
        let outer = &plane.outer;
        self.nest(dst, src, outer, cost as i64, &mut |emit, dst, src| {
            emit.half_plane(dst, src, plane);
        });
    }

    /// One plane: a loop along its long side, unless it is small.
    fn half_plane(&mut self, dst: At, src: At, plane: &Halves) {
        let (long, short) = match plane.is_tall() {
            true => (plane.row, plane.column),
            false => (plane.column, plane.row),
        };
        let across: SmallVec<[HalfPart; 4]> = plane.all_parts(&short).collect();
        // What begins at most so many elements along the long side.
        let along = |emit: &mut Self, dst: At, src: At, part: HalfPart, most: usize| {
            let before = (most as isize).wrapping_mul(long.src).max(0);
            for other in &across {
                let (dst, src) = (
                    dst.along(short.dst, other.at),
                    src.along(short.src, other.at),
                );
                let sides = match plane.is_tall() {
                    true => (part, *other),
                    false => (*other, part),
                };
                let at = before + short.src * other.at as isize;
                emit.rectangle(dst, src, plane, sides, at);
            }
        };
        let (halves, _) = plane.parts(&long);
        let mut all = plane.all_parts(&long);
        // Behind the rows of the last ones there is less to be read.
        let looped = match plane.is_straight() {
            true => 0,
            false => halves.saturating_sub(1),
        };
        if looped > 0
            && let Some(part) = all.nth(looped - 1)
        {
            let by = part.elements as isize;
            let step = Step {
                extent: looped,
                dst: long.dst * by,
                src: long.src * by,
            };
            self.nest(dst, src, &[step], LOOP, &mut |emit, dst, src| {
                along(emit, dst, src, part, part.at);
            });
        }
        for part in all {
            let (dst, src) = (dst.along(long.dst, part.at), src.along(long.src, part.at));
            along(self, dst, src, part, part.at);
        }
    }

    /// A part of each of some rows of the source, which becomes a part of some rows of the destination. In each step, rows are
    /// joined by two: their elements of one column come next to each other. The first one begins so many bytes into the plane.
    fn rectangle(
        &mut self,
        dst: At,
        src: At,
        plane: &Halves,
        (load, store): (HalfPart, HalfPart),
        at: isize,
    ) {
        let width = plane.width;
        let loads = (0..store.elements).map(|row| {
            let begin = at + plane.column.src * row as isize;
            let row = self.row_part(
                src.along(plane.column.src, row),
                load.bytes,
                begin,
                plane.hull(),
            );
            smallvec![row]
        });
        let mut rows: SmallVec<[SmallVec<[Value; 4]>; 8]> = loads.collect();
        let (mut bytes, mut together) = (load.bytes, width);
        while rows.len() > 1 {
            let (low, high) = (
                interleave(together as u8, false),
                interleave(together as u8, true),
            );
            let mut join = |two: &[SmallVec<[Value; 4]>]| {
                let mut joined: SmallVec<[Value; 4]> = SmallVec::new();
                for (a, b) in two[0].iter().zip(&two[1]) {
                    joined.push(self.code.shuffle(*a, *b, low));
                    if bytes > 8 {
                        joined.push(self.code.shuffle(*a, *b, high));
                    }
                }
                joined
            };
            rows = rows.chunks_exact(2).map(&mut join).collect();
            (bytes, together) = (2 * bytes, 2 * together);
        }
        let parts = 16 / store.bytes;
        for column in 0..load.elements {
            let vector = rows[0][column / parts];
            let to = dst.along(plane.row.dst, column);
            self.code
                .store_part(vector, column % parts, store.bytes, to);
        }
    }

    /// So many bytes of a row that begins so many bytes into what may be read: the first of a vector.
    fn row_part(&mut self, src: At, bytes: usize, begin: isize, (_, end): (isize, isize)) -> Value {
        let left = end - begin;
        // A whole vector takes an instruction less.
        if left >= 16 {
            return self.code.load(types::I8X16, src);
        }
        // The last row may be shorter than what is read of each.
        let missing = (bytes as isize - left).max(0);
        let part = self.code.load_part(bytes, src.plus(-missing as i64));
        match missing {
            0 => part,
            _ => {
                let shifted = std::array::from_fn(|byte| (byte as u8) + missing as u8);
                self.code.shuffle(part, part, shifted)
            }
        }
    }
}
