//! Two dimensions, one contiguous in the destination and one in the source.
//!
//! The unit is a block of full vectors of the destination: `K` rows of it, `K` being the elements
//! in sixteen bytes, from sixteen bytes of each of `LANES * K` rows of the source. Loads put source
//! rows into lanes, so the transposition stays inside lanes and every store is a whole vector. Edges
//! are blocks that overlap their neighbours.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::copy::{Copier, Many};
use crate::lanes::{Lanes, transpose};
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::{Nest, walk};
use crate::shape::{Shape, Step, Steps};
use crate::vector::{Vector, fence};

/// What a transposition needs to know. `columns` run along the destination's rows.
#[derive(Clone)]
pub(crate) struct TransposeParams {
    nest: Nest,
    /// The dimension that is contiguous in the source.
    rows: usize,
    /// Destination stride of a row.
    dst: isize,
    /// The dimension that is contiguous in the destination.
    columns: usize,
    /// Source stride of a column.
    src: isize,
    /// Rows and columns of a tile.
    tile: (usize, usize),
    /// Whether tiles are copied out past the caches.
    stream: bool,
}

/// Where a rectangle lies.
#[derive(Clone, Copy)]
struct Rect {
    dst: *mut u8,
    dst_stride: isize,
    src: *const u8,
    src_stride: isize,
    rows: usize,
    columns: usize,
}

/// Starts of blocks of `size` that cover `0..extent`; the last one overlaps if it must.
struct Blocks {
    at: usize,
    last: usize,
    size: usize,
    more: bool,
}

impl Blocks {
    /// `size` is at most `extent`.
    #[inline(always)]
    fn new(extent: usize, size: usize) -> Blocks {
        let last = extent.wrapping_sub(size);
        Blocks {
            at: 0,
            last,
            size,
            more: true,
        }
    }
}

impl Iterator for Blocks {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if !self.more {
            return None;
        }
        if self.at < self.last {
            let at = self.at;
            self.at = at.wrapping_add(self.size);
            return Some(at);
        }
        self.more = false;
        Some(self.last)
    }
}

/// # Safety
/// The rectangle lies in the caller's box and has at least one block's rows and columns.
#[inline(always)]
unsafe fn rectangle<V: Lanes, const K: usize>(rect: Rect) {
    let width = 16 / K;
    let lane_stride = rect.src_stride.wrapping_mul(K as isize);
    for column in Blocks::new(rect.columns, V::LANES * K) {
        let src = at(rect.src.cast_mut(), column, rect.src_stride, 0);
        let dst = rect.dst.wrapping_add(column.wrapping_mul(width));
        for row in Blocks::new(rect.rows, K) {
            let mut src = src.wrapping_add(row.wrapping_mul(width)).cast_const();
            let mut dst = at(dst, row, rect.dst_stride, 0);
            // SAFETY: the block lies in the rectangle.
            unsafe {
                let mut square = [V::splat(0); K];
                for v in &mut square {
                    *v = V::load_lanes(src, lane_stride);
                    src = src.wrapping_offset(rect.src_stride);
                }
                for v in transpose(square) {
                    v.store(dst);
                    dst = dst.wrapping_offset(rect.dst_stride);
                }
            }
        }
    }
}

/// Runs a block with first row, first column, rows and columns of every tile. Tiles at the edges
/// are as large as the others and overlap them.
macro_rules! tiles {
    ($params:expr, |$row:ident, $column:ident, $rows:ident, $columns:ident| $body:expr) => {{
        let $rows = $params.tile.0.min($params.rows);
        let $columns = $params.tile.1.min($params.columns);
        for $row in Blocks::new($params.rows, $rows) {
            for $column in Blocks::new($params.columns, $columns) {
                $body
            }
        }
    }};
}

/// Straight from source to destination.
struct Direct<V, const K: usize>(PhantomData<V>);

impl<V: Lanes, const K: usize> Body for Direct<V, K> {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        walk!(&params.nest, dst, src, |dst, src| {
            tiles!(params, |row, column, rows, columns| {
                let rect = Rect {
                    dst: at(dst, row, params.dst, column * (16 / K)),
                    dst_stride: params.dst,
                    src: at(src.cast_mut(), column, params.src, row * (16 / K)),
                    src_stride: params.src,
                    rows,
                    columns,
                };
                // SAFETY: the tile lies in the box and was made at least a block large.
                unsafe { rectangle::<V, K>(rect) }
            });
        });
    }
}

#[inline(always)]
fn at(base: *mut u8, outer: usize, stride: isize, inner: usize) -> *mut u8 {
    base.wrapping_offset(stride.wrapping_mul(outer as isize))
        .wrapping_add(inner)
}

/// The bytes of the staging tile; half of a first-level cache.
const STAGE: usize = 24 << 10;

/// Bytes after each row of the tile, so that its rows fall into different sets.
const PAD: usize = 64;

#[repr(C, align(64))]
struct Stage([MaybeUninit<u8>; STAGE]);

/// Through a padded tile on the stack: rows leave it in long runs.
struct Staged<V, const K: usize>(PhantomData<V>);

impl<V: Lanes, const K: usize> Body for Staged<V, K> {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        let mut stage = Stage([const { MaybeUninit::uninit() }; STAGE]);
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        walk!(&params.nest, dst, src, |dst, src| {
            tiles!(params, |row, column, rows, columns| {
                let bytes = columns * (16 / K);
                let pitch = (bytes + PAD) as isize;
                let rect = Rect {
                    dst: stage,
                    dst_stride: pitch,
                    src: at(src.cast_mut(), column, params.src, row * (16 / K)),
                    src_stride: params.src,
                    rows,
                    columns,
                };
                // SAFETY: the tile lies in the box, is at least a block large, and was chosen to
                // fit the stage.
                unsafe { rectangle::<V, K>(rect) };
                let mut from = stage.cast_const();
                let mut to = at(dst, row, params.dst, column * (16 / K));
                for _ in 0..rows {
                    // SAFETY: the tile's row was just filled, and lies in the box.
                    unsafe { leave::<V>(to, from, bytes, params.stream) };
                    from = from.wrapping_offset(pitch);
                    to = to.wrapping_offset(params.dst);
                }
            });
        });
        if params.stream {
            fence();
        }
    }
}

/// # Safety
/// `bytes`, at least one vector, are readable at `src` and writable at `dst`.
#[inline(always)]
unsafe fn leave<V: Vector>(dst: *mut u8, src: *const u8, bytes: usize, stream: bool) {
    // SAFETY: every vector ends at or before the end.
    unsafe {
        if stream && dst.addr().is_multiple_of(64) && bytes.is_multiple_of(64) {
            let mut at = 0;
            while at < bytes {
                V::load(src.add(at)).stream(dst.add(at));
                at = at.wrapping_add(V::BYTES);
            }
        } else if bytes >= 4 * V::BYTES {
            Many::<V>::copy(dst, src, bytes);
        } else {
            for at in Blocks::new(bytes, V::BYTES) {
                V::load(src.add(at)).store(dst.add(at));
            }
        }
    }
}

/// From this many bytes on a tile's rows bypass the caches.
const STREAM: usize = 16 << 20;

/// Prepares a transposition if the shape has the two dimensions and they are large enough for a
/// block of some vector.
pub(crate) fn prepare<L: Level>(shape: &Shape, staged: bool) -> Option<Leaf> {
    let width = shape.run;
    if !matches!(width, 1 | 2 | 4 | 8 | 16) {
        return None;
    }
    let find = |stride: fn(&Step) -> isize| {
        shape
            .steps
            .iter()
            .position(|step| stride(step) == width as isize)
    };
    let (column_at, row_at) = (find(|step| step.dst)?, find(|step| step.src)?);
    if column_at == row_at {
        return None;
    }
    let (column, row) = (shape.steps[column_at], shape.steps[row_at]);
    let per_lane = 16 / width;
    if row.extent < per_lane || column.extent < per_lane {
        return None;
    }
    let outer: Steps = (0..shape.steps.len())
        .filter(|&at| at != column_at && at != row_at)
        .map(|at| shape.steps[at])
        .collect();
    let params = TransposeParams {
        nest: Nest::new(shape.dst, shape.src, &outer, shape.empty),
        rows: row.extent,
        dst: row.dst,
        columns: column.extent,
        src: column.src,
        tile: (0, 0),
        stream: shape.bytes() >= STREAM,
    };
    let lanes = column.extent / per_lane;
    Some(if lanes >= L::Wide::LANES {
        of_width::<L, L::Wide>(params, width, staged)
    } else if lanes >= L::Half::LANES {
        of_width::<L, L::Half>(params, width, staged)
    } else {
        of_width::<L, crate::level::Sixteen>(params, width, staged)
    })
}

fn of_width<L: Level, V: Lanes>(params: TransposeParams, width: usize, staged: bool) -> Leaf {
    match width {
        1 => of::<L, V, 16>(params, staged),
        2 => of::<L, V, 8>(params, staged),
        4 => of::<L, V, 4>(params, staged),
        8 => of::<L, V, 2>(params, staged),
        _ => of::<L, V, 1>(params, staged),
    }
}

fn of<L: Level, V: Lanes, const K: usize>(mut params: TransposeParams, staged: bool) -> Leaf {
    let line = 4 * K;
    if staged {
        // As many columns as the stage holds of a line's worth of rows.
        let rows = line.min(params.rows);
        let columns = ((STAGE / rows - PAD) / (16 / K)).min(STAGED_COLUMNS * line);
        params.tile = (rows, columns / line * line);
        Leaf::new::<L, Staged<V, K>>("staged", params)
    } else {
        params.tile = (line, DIRECT_COLUMNS * line);
        Leaf::new::<L, Direct<V, K>>("transpose", params)
    }
}

/// Lines of the destination per row of a staged tile.
const STAGED_COLUMNS: usize = 8;
/// Lines of the destination per row of a direct tile.
const DIRECT_COLUMNS: usize = 4;

/// About how many micro-operations a transposition takes.
pub(crate) fn cost(shape: &Shape) -> usize {
    shape.bytes() / 64 * 14
}
