//! Transpositions in registers: a perfect-shuffle network per square tile.

use cranelift_codegen::ir::{Value, types};
use restride_moves::{Plane, Step, Tiles};
use smallvec::SmallVec;

use super::{At, Emitter};

/// The bytes of two vectors interleaved by elements: those of the low halves, or of the high.
pub(super) fn interleave(element: u8, high: bool) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (byte, at) in bytes.iter_mut().zip(0u8..) {
        let (lane, within) = (at / element, at % element);
        let half = if high { 8 } else { 0 };
        *byte = (lane % 2) * 16 + half + lane / 2 * element + within;
    }
    bytes
}

/// A stretch of a dimension that is cut into blocks of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    /// Where it begins.
    at: usize,
    /// How many blocks it has, one behind the other.
    blocks: usize,
    /// The extent of each.
    size: usize,
}

/// Blocks of `size`, a multiple of `unit`, that cover a dimension; what is left is one smaller block at
/// the end, of whole units if there is room for these, which may overlap the one before.
fn stretches(extent: usize, size: usize, unit: usize) -> impl Iterator<Item = Stretch> {
    let (blocks, rest) = (extent / size, extent % size);
    let whole = Stretch {
        at: 0,
        blocks,
        size,
    };
    let last = rest.next_multiple_of(unit).min(extent);
    let end = Stretch {
        at: extent - last,
        blocks: 1,
        size: last,
    };
    let whole = (blocks > 0).then_some(whole);
    whole.into_iter().chain((rest > 0).then_some(end))
}

impl Stretch {
    /// From block to block of a dimension.
    fn step(self, dimension: Step) -> Step {
        let by = self.size as isize;
        Step {
            extent: self.blocks,
            dst: dimension.dst * by,
            src: dimension.src * by,
        }
    }
}

impl At {
    /// So many steps of a dimension further, in the destination or in the source.
    pub(super) fn along(self, stride: isize, steps: usize) -> Self {
        self.plus((stride as i64).wrapping_mul(steps as i64))
    }
}

impl Emitter<'_, '_> {
    /// Transposes all planes of a box.
    pub(super) fn tiles(&mut self, dst: At, src: At, tiles: &Tiles) {
        let plane = &tiles.plane;
        let (dst, src) = (
            dst.plus(plane.start.0 as i64),
            src.plus(plane.start.1 as i64),
        );
        let all = plane.row.extent.saturating_mul(plane.column.extent);
        let cost = all.saturating_mul(plane.cell) / 16;
        self.nest(
            dst,
            src,
            &plane.outer,
            cost as i64,
            &mut |emit, dst, src| {
                emit.blocks(dst, src, tiles);
            },
        );
    }

    /// Block by block of a plane, those beside each other in the destination first.
    fn blocks(&mut self, dst: At, src: At, tiles: &Tiles) {
        let Tiles { plane, block, .. } = tiles;
        let (row, column) = (plane.row, plane.column);
        for rows in stretches(row.extent, block.0, plane.per_lane) {
            for columns in stretches(column.extent, block.1, plane.per_lane) {
                let dst = dst.along(row.dst, rows.at).along(column.dst, columns.at);
                let src = src.along(row.src, rows.at).along(column.src, columns.at);
                let steps = [rows.step(row), columns.step(column)];
                let size = (rows.size, columns.size);
                self.nest(dst, src, &steps, LOOP, &mut |emit, dst, src| {
                    // The stage has whole vectors.
                    if tiles.staged && size.1.is_multiple_of(plane.per_lane) {
                        emit.through_stage(dst, src, tiles, size);
                    } else {
                        emit.one_block(dst, src, tiles, size, row, column);
                    }
                });
            }
        }
    }

    /// A block of so many rows and columns, these of the given strides.
    fn one_block(
        &mut self,
        dst: At,
        src: At,
        tiles: &Tiles,
        size: (usize, usize),
        row: Step,
        column: Step,
    ) {
        let Tiles {
            plane, straight, ..
        } = tiles;
        for columns in stretches(size.1, straight.1, plane.per_lane) {
            for rows in stretches(size.0, straight.0, plane.per_lane) {
                let dst = dst.along(row.dst, rows.at).along(column.dst, columns.at);
                let src = src.along(row.src, rows.at).along(column.src, columns.at);
                let steps = [columns.step(column), rows.step(row)];
                let size = (rows.size, columns.size);
                self.nest(dst, src, &steps, LOOP, &mut |emit, dst, src| {
                    emit.straight(dst, src, plane, size, row, column);
                });
            }
        }
    }

    /// A block that is put together on the stack, from where its rows leave.
    fn through_stage(&mut self, dst: At, src: At, tiles: &Tiles, size: (usize, usize)) {
        let (row, column) = (tiles.plane.row, tiles.plane.column);
        let bytes = size.1 * tiles.plane.cell;
        let stage = self.stage();
        let into = Step {
            dst: bytes as isize,
            ..row
        };
        self.one_block(stage, src, tiles, size, into, column);
        let leave = Step {
            extent: size.0,
            dst: row.dst,
            src: bytes as isize,
        };
        let cost = bytes.div_ceil(16) as i64;
        self.nest(dst, stage, &[leave], cost, &mut |emit, dst, src| {
            emit.run(dst, src, bytes as i64);
        });
    }

    /// All tiles of so many rows and columns, the last ones over others.
    fn straight(
        &mut self,
        dst: At,
        src: At,
        plane: &Plane,
        (rows, columns): (usize, usize),
        row: Step,
        column: Step,
    ) {
        let side = plane.per_lane;
        let starts = |extent: usize| {
            (0..extent.div_ceil(side)).map(move |at| (at * side).min(extent - side))
        };
        for first in starts(rows) {
            for at in starts(columns) {
                let dst = dst.along(row.dst, first).along(column.dst, at);
                let src = src.along(row.src, first).along(column.src, at);
                self.tile(dst, src, plane, row, column);
            }
        }
    }

    /// One square tile of as many elements as fit a vector.
    fn tile(&mut self, dst: At, src: At, plane: &Plane, row: Step, column: Step) {
        let side = plane.per_lane;
        let mut lines: SmallVec<[Value; 16]> = (0..side)
            .map(|at| self.packed(src.along(column.src, at), plane))
            .collect();
        let element = plane.cell as u8;
        let (low, high) = (interleave(element, false), interleave(element, true));
        let half = side / 2;
        let mut span = 1;
        while span < side {
            let mut next: SmallVec<[Value; 16]> = SmallVec::new();
            for at in 0..half {
                next.push(self.code.shuffle(lines[at], lines[at + half], low));
                next.push(self.code.shuffle(lines[at], lines[at + half], high));
            }
            lines = next;
            span *= 2;
        }
        for (at, value) in lines.into_iter().enumerate() {
            self.code.store(value, dst.along(row.dst, at));
        }
    }

    /// Sixteen bytes of a row, which may step: then as many windows as elements of a step, of which the
    /// last ends with the last byte that is needed.
    fn packed(&mut self, src: At, plane: &Plane) -> Value {
        let (width, step) = (plane.cell, plane.step);
        let first = self.code.load(types::I8X16, src);
        let end = 16 * step - (step - 1) * width;
        let mut joined = first;
        for number in 1..step {
            let start = (16 * number).min(end - 16);
            let window = self.code.load(types::I8X16, src.plus(start as i64));
            // What windows before this one do not reach.
            let mut lanes = [0; 16];
            for (at, lane) in lanes.iter_mut().enumerate() {
                let from = at / width * width * step + at % width;
                let before = if number == 1 { from } else { at };
                *lane = match from < 16 * number {
                    true => before as u8,
                    false => (16 + (from - start).min(15)) as u8,
                };
            }
            joined = self.code.shuffle(joined, window, lanes);
        }
        joined
    }
}

/// Tiles are long enough for a loop each.
pub(super) const LOOP: i64 = 16;

#[cfg(test)]
mod tests {
    use super::stretches;

    #[test]
    fn stretches_cover_a_dimension_and_stay_inside() {
        for unit in [1, 4, 16] {
            for size in [unit, 2 * unit, 4 * unit] {
                for extent in unit..200 {
                    let mut covered = vec![false; extent];
                    for stretch in stretches(extent, size, unit) {
                        assert!(stretch.size >= unit, "{extent} by {size}: {stretch:?}");
                        let end = stretch.at + stretch.blocks * stretch.size;
                        covered[stretch.at..end].fill(true);
                    }
                    assert!(covered.into_iter().all(|it| it), "{extent} by {size}");
                }
            }
        }
    }
}
