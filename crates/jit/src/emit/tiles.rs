//! Small transposes in registers: a perfect-shuffle network per square tile.

use cranelift_codegen::ir::{Value, types};
use restride_moves::Step;
use smallvec::SmallVec;

use super::{At, Emitter};

/// The bytes of two vectors interleaved by elements: those of the low halves, or of the high.
fn interleave(element: u8, high: bool) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (byte, at) in bytes.iter_mut().zip(0u8..) {
        let (lane, within) = (at / element, at % element);
        let half = if high { 8 } else { 0 };
        *byte = (lane % 2) * 16 + half + lane / 2 * element + within;
    }
    bytes
}

impl Emitter<'_, '_> {
    /// Transposes a plane: `down` is contiguous in the destination, `across` in the source, and
    /// both hold at least one tile. The last tiles overlap the ones before.
    pub(super) fn tiles(&mut self, dst: At, src: At, element: i64, down: Step, across: Step) {
        let side = 16 / element;
        let starts = |extent: i64| {
            (0..(extent + side - 1) / side).map(move |at| (at * side).min(extent - side))
        };
        for column in starts(across.extent as i64) {
            for line in starts(down.extent as i64) {
                let dst = dst.plus(column * across.dst as i64 + line * down.dst as i64);
                let src = src.plus(column * across.src as i64 + line * down.src as i64);
                self.tile(dst, src, element, down, across);
            }
        }
    }

    /// One square tile of as many elements as fit a vector.
    fn tile(&mut self, dst: At, src: At, element: i64, down: Step, across: Step) {
        let side = 16 / element;
        let mut rows: SmallVec<[Value; 16]> = (0..side)
            .map(|row| {
                self.code
                    .load(types::I8X16, src.plus(row * down.src as i64))
            })
            .collect();
        let (low, high) = (
            interleave(element as u8, false),
            interleave(element as u8, true),
        );
        let half = rows.len() / 2;
        let mut span = 1;
        while span < rows.len() {
            let mut next: SmallVec<[Value; 16]> = SmallVec::new();
            for at in 0..half {
                next.push(self.code.shuffle(rows[at], rows[at + half], low));
                next.push(self.code.shuffle(rows[at], rows[at + half], high));
            }
            rows = next;
            span *= 2;
        }
        for (row, value) in (0..).zip(rows) {
            self.code.store(value, dst.plus(row * across.dst as i64));
        }
    }
}
