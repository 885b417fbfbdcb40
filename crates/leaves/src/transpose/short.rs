//! Planes of bytes whose rows are longer than sixteen of them and shorter than thirty-two.

use std::arch::x86_64::*;

use super::TransposeParams;
use super::block::Blocks;
use super::side::at;
use crate::lanes::{Lanes, transpose};
use crate::level::Body;
use crate::nest::walk;

const LANE: usize = 16;

/// Sixteen rows at a time. One lane has the first columns, the other one those behind them, and a row is stored as far as it goes:
/// two stores for each would take longer than to transpose it.
pub(super) struct Short;

impl Body for Short {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        let behind = params.columns.wrapping_sub(LANE);
        let row_bytes = (1u32 << (params.columns % 32)).wrapping_sub(1);
        let next = params.src.wrapping_mul(LANE as isize);
        walk!(&params.nest, dst, src, |dst, src| {
            for row in Blocks::new(params.rows, LANE) {
                let mut from = src.wrapping_add(row);
                let mut to = at(dst, row, params.dst, 0);
                // SAFETY: the block lies in the box, and the body is run at AVX-512.
                unsafe {
                    let mut square = [_mm256_setzero_si256(); LANE];
                    for (column, v) in square.iter_mut().enumerate() {
                        let other = from.wrapping_offset(if column < behind { next } else { 0 });
                        *v = Lanes::load_lanes([from, other, from, other]);
                        from = from.wrapping_offset(params.src);
                    }
                    for v in transpose(square) {
                        _mm256_mask_storeu_epi8(to.cast(), row_bytes, v);
                        to = to.wrapping_offset(params.dst);
                    }
                }
            }
        });
    }
}
