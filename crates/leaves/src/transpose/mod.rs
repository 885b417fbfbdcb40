//! Two dimensions, one contiguous in the destination and one in the source.
//!
//! - `block` transposes rectangles in registers,
//! - `channels` has one short side of dense rows,
//! - `direct` writes them where they belong,
//! - `folded` has sides of several dimensions,
//! - `packed` brings together first what steps through the source,
//! - `squares` has elements whose width is no power of two,
//! - `staged` collects a tile of them first, where the addresses are unfavourable,
//! - `widened` makes elements of three and six bytes fit registers.

mod block;
#[cfg(target_arch = "x86_64")]
pub(crate) mod channels;
mod direct;
pub(crate) mod folded;
#[cfg(target_arch = "x86_64")]
pub(crate) mod packed;
#[cfg(target_arch = "x86_64")]
pub(crate) mod squares;
mod staged;
#[cfg(target_arch = "x86_64")]
pub(crate) mod widened;

use restride_moves::{ByteBox, Crowded, Plane};

use crate::copy::LINE;
use crate::lanes::Lanes;
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::Nest;
use block::{InBlocks, InRuns, InSquares};
use direct::{ByFours, Direct, Paneled};
use staged::{Collected, Staged};

/// How the tiles leave.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Straight to the destination.
    Direct,
    /// The same, a few vectors of a row at a time.
    Runs,
    /// Such that rows that share too few sets of the nearest cache are turned to less often.
    Staged(Crowded),
    /// Through a buffer, past the caches.
    Streamed,
}

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
    /// Bytes of the source from one row to the next.
    along: usize,
    /// Rows and columns of a tile.
    tile: (usize, usize),
}

impl TransposeParams {
    /// Of a plane of a box, in tiles of so many rows and columns.
    fn new(shape: &ByteBox, plane: &Plane, tile: (usize, usize)) -> TransposeParams {
        TransposeParams {
            nest: Nest::new(shape, plane.start, &plane.outer),
            rows: plane.row.extent,
            dst: plane.row.dst,
            columns: plane.column.extent,
            src: plane.column.src,
            along: plane.row.src.unsigned_abs(),
            tile,
        }
    }
}

/// Prepares a transposition.
pub(crate) fn prepare<L: Level>(shape: &ByteBox, plane: &Plane, way: Way) -> Leaf {
    let width = shape.run;
    let mut params = TransposeParams::new(shape, plane, (plane.tile, plane.column.extent));
    if let Way::Staged(_) = way {
        // The innermost loop is over planes that may be moved together, and need not be.
        let mut outer = plane.outer.clone();
        outer.push(plane.together);
        params.nest = Nest::new(shape, plane.start, &outer);
    }
    if plane.lanes == L::Wide::LANES {
        of_width::<L, L::Wide>(params, width, way)
    } else if plane.lanes == L::Half::LANES {
        of_width::<L, L::Half>(params, width, way)
    } else {
        of_width::<L, crate::level::Sixteen>(params, width, way)
    }
}

fn of_width<L: Level, V: Lanes>(params: TransposeParams, width: usize, way: Way) -> Leaf {
    match width {
        1 => of::<L, V, 16>(params, way),
        2 => of::<L, V, 8>(params, way),
        4 => of::<L, V, 4>(params, way),
        8 => of::<L, V, 2>(params, way),
        _ => of::<L, V, 1>(params, way),
    }
}

fn of<L: Level, V: Lanes, const K: usize>(mut params: TransposeParams, way: Way) -> Leaf {
    let (side, width) = (V::LANES * K, 16 / K);
    let panels = params.rows >= side && params.columns >= 2 * K;
    // Rows of few lines have little that could be stored past the caches.
    if way == Way::Streamed && params.columns * width >= STREAMED {
        params.tile = (staged::STREAMED.0, staged::STREAMED.1 / width);
        return match panels {
            true => staged::<L, V, K, true, true>("streamed", params),
            false => staged::<L, V, K, false, true>("streamed", params),
        };
    }
    let squares = V::LANES > 1 && params.rows >= side;
    let row = params.columns * width;
    let whole_lines = row > 4 * LINE && row.is_multiple_of(LINE);
    let over = params.columns.next_multiple_of(side) - params.columns;
    match way {
        // So many columns that blocks of them overlap little, or whole planes together.
        Way::Staged(crowded @ (Crowded::Source | Crowded::Both))
            if K >= 8 && params.rows >= side && 3 * over < params.columns =>
        {
            let [_, together] = params.nest.plane();
            let (rows, columns) = match together.extent {
                1 => staged::collected(width, crowded, params.dst),
                _ => (params.rows, params.columns),
            };
            params.tile = (
                within(params.rows, rows, side),
                within(params.columns, columns, side),
            );
            with_stage::<L, V, K, Collected<V, K, true>>("collected", params)
        }
        Way::Staged(Crowded::Source) if K >= 8 && params.rows >= side => {
            params.tile.0 = within(params.rows, 4 * LINE, side);
            with_stage::<L, V, K, Collected<V, K, false>>("collected", params)
        }
        // Rows of whole lines are written a line at a time, others in longer pieces.
        Way::Staged(Crowded::Source) if K > 1 && squares && whole_lines => {
            params.tile = (params.rows.min(4 * LINE), side);
            direct::<L, V, K>(params)
        }
        Way::Staged(Crowded::Source) if K > 1 && panels => {
            params.tile.0 = within(params.rows, 2 * LINE, side);
            Leaf::new::<L, Paneled<V, K>>("panels", params)
        }
        Way::Staged(Crowded::Destination) if K == 2 || K == 4 => {
            if params.src.unsigned_abs() > 4 * LINE {
                return direct::<L, V, K>(params);
            }
            // Few rows at a time, of a block of the source that stays in the nearest cache.
            let block = BLOCK / params.src.unsigned_abs().next_power_of_two();
            params.tile = (4, block.clamp(side, 2 * LINE));
            Leaf::new::<L, Direct<V, K, InBlocks>>("transpose", params)
        }
        // A panel of bytes has no room in the registers.
        Way::Staged(crowded) if K < 16 && panels => {
            let (rows, columns) = staged::tile(width, crowded);
            params.tile = (
                evenly(params.rows, rows, side),
                evenly(params.columns, columns, 2 * K),
            );
            staged::<L, V, K, true, false>("staged", params)
        }
        Way::Staged(Crowded::Destination) if K == 8 => {
            params.tile = staged::tile(width, Crowded::Destination);
            staged::<L, V, K, false, false>("staged", params)
        }
        Way::Staged(_) if K == 16 && squares => {
            // Few pages at a time.
            params.tile = (
                evenly(params.rows, 8 * LINE, side),
                evenly(params.columns, 4 * LINE, side),
            );
            Leaf::new::<L, Direct<V, K, InSquares>>("staged", params)
        }
        Way::Runs => Leaf::new::<L, Direct<V, K, InRuns>>("transpose in runs", params),
        _ if K == 1 && params.along == 16 => Leaf::new::<L, ByFours<V, false>>("transpose", params),
        _ if K == 1 => Leaf::new::<L, ByFours<V, true>>("transpose", params),
        _ => direct::<L, V, K>(params),
    }
}

/// Straight to the destination, in squares where there is room for them: of narrow elements these cost two more
/// operations per line of the source.
fn direct<L: Level, V: Lanes, const K: usize>(params: TransposeParams) -> Leaf {
    match V::LANES > 1 && K <= 4 && params.rows >= V::LANES * K {
        true => Leaf::new::<L, Direct<V, K, InSquares>>("transpose", params),
        false => Leaf::new::<L, Direct<V, K, InBlocks>>("transpose", params),
    }
}

/// Through a stage on the stack, or straight where there is no room for one.
fn staged<L: Level, V: Lanes, const K: usize, const PANELS: bool, const STREAM: bool>(
    name: &'static str,
    params: TransposeParams,
) -> Leaf {
    with_stage::<L, V, K, Staged<V, K, PANELS, STREAM>>(name, params)
}

fn with_stage<L: Level, V: Lanes, const K: usize, B: Body<Params = TransposeParams>>(
    name: &'static str,
    params: TransposeParams,
) -> Leaf {
    Leaf::with_room::<L, B, Direct<V, K, InBlocks>, { staged::ROOM }>(name, params)
}

/// As [`evenly`], of no more than there is.
fn within(extent: usize, most: usize, unit: usize) -> usize {
    evenly(extent, most, unit).min(extent)
}

/// The size of a tile, at most so large, such that tiles of whole units overlap little.
fn evenly(extent: usize, most: usize, unit: usize) -> usize {
    let tiles = extent.div_ceil(most);
    extent.div_ceil(tiles).next_multiple_of(unit).min(most)
}

/// Rows of the destination that are worth storing past the caches: a few lines.
const STREAMED: usize = 4 * LINE;
/// Bytes of a block of the source of which a few elements of each row are read at a time.
const BLOCK: usize = 16 << 10;
