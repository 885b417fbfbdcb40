//! Straight from source to destination.

use std::marker::PhantomData;

use super::TransposeParams;
use super::block::{Apart, Blocks, Rect, at, rectangle};
use crate::lanes::Lanes;
use crate::level::Body;
use crate::nest::walk;

/// Tile by tile, along the destination's rows. A tile at the end overlaps the one before it, or is
/// smaller if less than half of it is left.
pub(super) struct Direct<V, const K: usize, const SQUARE: bool>(PhantomData<V>);

impl<V: Lanes, const K: usize, const SQUARE: bool> Body for Direct<V, K, SQUARE> {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        let rows = params.tile.0.min(params.rows);
        let columns = params.tile.1.min(params.columns);
        walk!(&params.nest, dst, src, |dst, src| {
            let mut row = 0;
            while row < params.rows {
                let left = params.rows.wrapping_sub(row);
                let rows = if left > rows / 2 { rows } else { left.max(K) };
                let first = row.min(params.rows.wrapping_sub(rows));
                for column in Blocks::new(params.columns, columns) {
                    let rect = Rect {
                        dst: Apart {
                            first: at(dst, first, params.dst, column * (16 / K)),
                            stride: params.dst,
                        },
                        src: Apart {
                            first: at(src.cast_mut(), column, params.src, first * (16 / K)),
                            stride: params.src,
                        },
                        rows,
                        columns,
                    };
                    // SAFETY: the tile lies in the box and has `K` rows and columns at least.
                    unsafe { rectangle::<V, K, SQUARE>(rect) }
                }
                row = first.wrapping_add(rows);
            }
        });
    }
}
