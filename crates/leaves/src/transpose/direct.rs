//! Straight from source to destination.

use std::marker::PhantomData;

use super::TransposeParams;
use super::block::{Blocks, Rect, at, rectangle};
use crate::lanes::Lanes;
use crate::level::Body;
use crate::nest::walk;

/// Tile by tile, along the destination's rows. Tiles at the edges are as large as the others and
/// overlap them.
pub(super) struct Direct<V, const K: usize, const SQUARE: bool>(PhantomData<V>);

impl<V: Lanes, const K: usize, const SQUARE: bool> Body for Direct<V, K, SQUARE> {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        let rows = params.tile.0.min(params.rows);
        let columns = params.tile.1.min(params.columns);
        walk!(&params.nest, dst, src, |dst, src| {
            for row in Blocks::new(params.rows, rows) {
                for column in Blocks::new(params.columns, columns) {
                    let rect = Rect {
                        dst: at(dst, row, params.dst, column * (16 / K)),
                        dst_stride: params.dst,
                        src: at(src.cast_mut(), column, params.src, row * (16 / K)),
                        src_stride: params.src,
                        rows,
                        columns,
                    };
                    // SAFETY: the tile lies in the box and was made at least a block large.
                    unsafe { rectangle::<V, K, SQUARE>(rect) }
                }
            }
        });
    }
}
