//! Strided and reversed rows by shuffles of two vectors, without reading past the last element.

use cranelift_codegen::ir::{Value, types};

use super::{At, Emitter};

/// Whether the lanes of a stride can be put together from whole vectors within the source, with
/// shuffles that every x86-64 and aarch64 has as one instruction.
pub(crate) const fn has_lanes(element: i64, stride: i64) -> bool {
    match element {
        4 => matches!(stride, -2 | -1 | 2 | 3),
        8 => stride == -1,
        _ => false,
    }
}

impl Emitter<'_, '_> {
    /// `count` elements to consecutive places from places `stride` elements apart; at least one
    /// vector of them. The last vector overlaps the one before.
    pub(super) fn lanes(&mut self, dst: At, src: At, element: i64, count: i64, stride: i64) {
        let per_vector = 16 / element;
        let mut at = 0;
        while at < count {
            let first = at.min(count - per_vector);
            let value = self.lane_vector(src.plus(first * stride * element), element, stride);
            self.code.store(value, dst.plus(first * element));
            at += per_vector;
        }
    }

    /// One vector of lanes, the first of them at `src`.
    fn lane_vector(&mut self, src: At, element: i64, stride: i64) -> Value {
        // The vectors loaded, in elements from the first lane, and the lanes picked out of both.
        let (a, b, picks): (i64, i64, &[u8]) = match (element, stride) {
            (4, -1) => (-3, -3, &[3, 2, 1, 0]),
            (4, 2) => (0, 3, &[0, 2, 5, 7]),
            (4, 3) => (0, 6, &[0, 3, 4, 7]),
            (4, -2) => (-3, -6, &[3, 1, 6, 4]),
            // Eight bytes, backwards.
            _ => (-1, -1, &[1, 0]),
        };
        let first = self.code.load(types::I8X16, src.plus(a * element));
        let second = if a == b {
            first
        } else {
            self.code.load(types::I8X16, src.plus(b * element))
        };
        let size = element as u8;
        let mut bytes = [0; 16];
        for (byte, lane) in bytes.iter_mut().zip(0u8..) {
            *byte = picks[usize::from(lane / size)] * size + lane % size;
        }
        self.code.shuffle(first, second, bytes)
    }
}
