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
    /// Whether whole lines are stored past the caches.
    stream: bool,
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
unsafe fn rectangle<V: Lanes, const K: usize, const SQUARE: bool>(rect: Rect) {
    let width = 16 / K;
    let side = V::LANES * K;
    for column in Blocks::new(rect.columns, side) {
        let src = at(rect.src.cast_mut(), column, rect.src_stride, 0);
        let dst = rect.dst.wrapping_add(column.wrapping_mul(width));
        for row in Blocks::new(rect.rows, if SQUARE { side } else { K }) {
            let src = src.wrapping_add(row.wrapping_mul(width)).cast_const();
            let dst = at(dst, row, rect.dst_stride, 0);
            // SAFETY: the block lies in the rectangle.
            unsafe {
                match SQUARE {
                    true if K <= 4 => square::<V, K>(dst, src, rect),
                    true => through_pane::<V, K>(dst, src, rect),
                    false => block::<V, K>(dst, src, rect),
                }
            }
        }
    }
}

/// `K` rows of the destination.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn block<V: Lanes, const K: usize>(dst: *mut u8, src: *const u8, rect: Rect) {
    let (mut dst, mut src) = (dst, src);
    let lane_stride = rect.src_stride.wrapping_mul(K as isize);
    // SAFETY: the caller's.
    unsafe {
        let mut square = [V::splat(0); K];
        for v in &mut square {
            *v = V::load_lanes(src, lane_stride);
            src = src.wrapping_offset(rect.src_stride);
        }
        for v in transpose(square) {
            leave_line(v, dst, rect.stream);
            dst = dst.wrapping_offset(rect.dst_stride);
        }
    }
}

/// # Safety
/// A vector is writable at `dst`.
#[inline(always)]
unsafe fn leave_line<V: Vector>(v: V, dst: *mut u8, stream: bool) {
    // SAFETY: the caller's.
    unsafe {
        if stream && V::BYTES == 64 && dst.addr().is_multiple_of(64) {
            v.stream(dst);
        } else {
            v.store(dst);
        }
    }
}

/// Between the rows of a pane, so that they fall into different sets.
const PANE_PITCH: usize = 64 + 16;

#[repr(C, align(64))]
struct Pane([MaybeUninit<u8>; 64 * PANE_PITCH]);

/// `LANES * K` rows of the destination, from whole vectors of the source that are copied together
/// first: a square of narrow elements has more rows than there are registers, and reading the
/// source in parts would fetch its lines once per part where they compete for a few sets.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn through_pane<V: Lanes, const K: usize>(dst: *mut u8, src: *const u8, rect: Rect) {
    let mut pane = Pane([const { MaybeUninit::uninit() }; 64 * PANE_PITCH]);
    let pane = pane.0.as_mut_ptr().cast::<u8>();
    let (mut src, mut dst) = (src, dst);
    // SAFETY: the pane has 64 rows of 64 bytes, and `LANES * K` and `LANES * 16` are no more.
    unsafe {
        for row in 0..V::LANES * K {
            V::load(src).store(pane.wrapping_add(row * PANE_PITCH));
            src = src.wrapping_offset(rect.src_stride);
        }
        let from_pane = Rect {
            src_stride: PANE_PITCH as isize,
            ..rect
        };
        for lane in 0..V::LANES {
            block::<V, K>(dst, pane.wrapping_add(16 * lane), from_pane);
            dst = dst.wrapping_offset(rect.dst_stride.wrapping_mul(K as isize));
        }
    }
}

/// `LANES * K` rows of the destination: whole vectors on both sides, each touched once.
///
/// # Safety
/// The block lies in the rectangle.
#[inline(always)]
unsafe fn square<V: Lanes, const K: usize>(dst: *mut u8, src: *const u8, rect: Rect) {
    let mut src = src;
    // SAFETY: the caller's.
    unsafe {
        let mut groups = [[V::splat(0); K]; 4];
        for group in &mut groups[..V::LANES] {
            for v in group.iter_mut() {
                *v = V::load(src);
                src = src.wrapping_offset(rect.src_stride);
            }
            *group = transpose(*group);
        }
        let mut first = dst;
        let [a, b, c, d] = groups;
        for (((a, b), c), d) in a.into_iter().zip(b).zip(c).zip(d) {
            let lines = V::swap_lanes([a, b, c, d]);
            let mut dst = first;
            for line in &lines[..V::LANES] {
                leave_line(*line, dst, rect.stream);
                dst = dst.wrapping_offset(rect.dst_stride.wrapping_mul(K as isize));
            }
            first = first.wrapping_offset(rect.dst_stride);
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
struct Direct<V, const K: usize, const SQUARE: bool>(PhantomData<V>);

impl<V: Lanes, const K: usize, const SQUARE: bool> Body for Direct<V, K, SQUARE> {
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
                    stream: params.stream,
                };
                // SAFETY: the tile lies in the box and was made at least a block large.
                unsafe { rectangle::<V, K, SQUARE>(rect) }
            });
        });
        if params.stream {
            fence();
        }
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
struct Staged<V, const K: usize, const SQUARE: bool>(PhantomData<V>);

impl<V: Lanes, const K: usize, const SQUARE: bool> Body for Staged<V, K, SQUARE> {
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
                    stream: false,
                };
                // SAFETY: the tile lies in the box, is at least a block large, and was chosen to
                // fit the stage.
                unsafe { rectangle::<V, K, SQUARE>(rect) };
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

/// From this many bytes on whole lines bypass the caches.
const STREAM: usize = 8 << 20;

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

fn of<L: Level, V: Lanes, const K: usize>(params: TransposeParams, staged: bool) -> Leaf {
    let side = V::LANES * K;
    // Squares of narrow elements cost two more operations per line of the source.
    let whole_lines = K <= 4 || conflicts(params.src, side);
    match V::LANES > 1 && params.rows >= side && whole_lines {
        true => of_blocks::<L, V, K, true>(params, staged),
        false => of_blocks::<L, V, K, false>(params, staged),
    }
}

/// Measured: with vectors of whole lines nothing beats going straight to the destination, however
/// its rows lie; narrower ones want a stage.
fn of_blocks<L: Level, V: Lanes, const K: usize, const SQUARE: bool>(
    mut params: TransposeParams,
    staged: bool,
) -> Leaf {
    let (line, width) = (4 * K, 16 / K);
    if staged && V::BYTES < LINE {
        // As many columns as the stage holds of a line's worth of rows.
        let rows = line.min(params.rows);
        let columns = ((STAGE / rows - PAD) / width).min(STAGED_LINES * line);
        params.tile = (rows, columns / line * line);
        return Leaf::new::<L, Staged<V, K, SQUARE>>("staged", params);
    }
    let large = params.rows.saturating_mul(params.columns) >= PAGES / width;
    params.tile = if params.stream || SQUARE && K > 4 && large {
        // Few pages at a time.
        (8 * line, 4 * line)
    } else if params.columns * width <= SHORT && params.rows > params.columns {
        // Rows of the destination follow each other closely: down the columns.
        (params.rows, V::LANES * K)
    } else {
        (line, params.columns)
    };
    Leaf::new::<L, Direct<V, K, SQUARE>>("transpose", params)
}

/// Whether so many lines, so many bytes apart, do not fit the sets of a first-level cache.
fn conflicts(stride: isize, lines: usize) -> bool {
    const SETS: u32 = 64;
    const WAYS: usize = 8;
    let shared = (stride.unsigned_abs() / 64)
        .trailing_zeros()
        .min(SETS.trailing_zeros());
    stride.unsigned_abs().is_multiple_of(64) && lines > (SETS as usize >> shared) * WAYS
}

/// The bytes of a line.
const LINE: usize = 64;
/// From this many bytes on the pages of a plane matter.
const PAGES: usize = 1 << 20;
/// Lines of the destination per row of a staged tile.
const STAGED_LINES: usize = 8;
/// Rows of the destination that are short: a few lines.
const SHORT: usize = 512;

/// About how many micro-operations a transposition takes.
pub(crate) fn cost(shape: &Shape) -> usize {
    shape.bytes() / 64 * 10
}
