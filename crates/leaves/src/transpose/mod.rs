//! Two dimensions, one contiguous in the destination and one in the source.
//!
//! - `blended` has one short side of dense rows, on machines with vectors of 32 bytes,
//! - `block` transposes rectangles in registers,
//! - `channels` has one of ten to sixteen bytes, on machines with vectors of 64 bytes,
//! - `direct` writes them where they belong,
//! - `folded` has sides of several dimensions,
//! - `packed` brings together first what steps through the source,
//! - `short` has rows of one lane of bytes and a part of another, on machines with masks,
//! - `squares` has elements whose width is no power of two,
//! - `staged` collects a tile of them first, where the addresses are unfavourable,
//! - `widened` makes elements fit registers whose width is no power of two, on machines without permutations of lines.

#[cfg(target_arch = "x86_64")]
pub(crate) mod blended;
mod block;
#[cfg(target_arch = "x86_64")]
pub(crate) mod channels;
mod direct;
pub(crate) mod folded;
#[cfg(target_arch = "x86_64")]
pub(crate) mod packed;
#[cfg(target_arch = "x86_64")]
pub(crate) mod pixels;
#[cfg(target_arch = "x86_64")]
mod short;
mod side;
#[cfg(target_arch = "x86_64")]
pub(crate) mod squares;
mod staged;
#[cfg(target_arch = "x86_64")]
pub(crate) mod widened;

use restride_moves::{ByteBox, Plane, Route, STAGED, Tiling, pitch};

use crate::lanes::Lanes;
use crate::leaf::Leaf;
#[cfg(target_arch = "x86_64")]
use crate::level::Avx512;
use crate::level::{Body, Level};
use crate::nest::Nest;
pub(crate) use block::Blocks;
use block::{InBlocks, InRows, InRuns, InSquares, Parts};
use direct::{ByFours, Direct, OneTile, Paneled};
#[cfg(target_arch = "x86_64")]
use short::Short;
use staged::{AskedFor, ByRows, Collected, InBands, PastCaches, Staged};

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
    /// Of a plane of a box.
    fn new(shape: &ByteBox, plane: &Plane) -> TransposeParams {
        let mut outer = plane.outer.clone();
        let (rows, columns) = plane.tile;
        let staged = match (plane.route, plane.tiling) {
            (Route::Collected | Route::Afar, _) | (Route::Past, Tiling::Bands) => {
                // The innermost loop is over planes that are moved together.
                outer.push(plane.together);
                columns.saturating_mul(pitch(plane.together.extent * rows * plane.cell))
            }
            (Route::Staged | Route::Past, _) => rows.saturating_mul(pitch(columns * plane.cell)),
            (Route::Straight | Route::Tiles, _) => 0,
        };
        assert!(
            staged <= STAGED,
            "a stage holds no tile of {:?}",
            plane.tile
        );
        TransposeParams {
            nest: Nest::new(shape, plane.start, &outer),
            rows: plane.row.extent,
            dst: plane.row.dst,
            columns: plane.column.extent,
            src: plane.column.src,
            along: plane.row.src.unsigned_abs(),
            tile: plane.tile,
        }
    }
}

/// Prepares a transposition.
pub(crate) fn prepare<L: Level>(shape: &ByteBox, plane: &Plane) -> Leaf {
    if plane.lanes == L::Wide::LANES {
        of_width::<L, L::Wide>(shape, plane)
    } else if plane.lanes == L::Half::LANES {
        of_width::<L, L::Half>(shape, plane)
    } else {
        of_width::<L, crate::level::Sixteen>(shape, plane)
    }
}

fn of_width<L: Level, V: Lanes>(shape: &ByteBox, plane: &Plane) -> Leaf {
    match shape.run {
        1 => of::<L, V, 16>(shape, plane),
        2 => of::<L, V, 8>(shape, plane),
        4 => of::<L, V, 4>(shape, plane),
        8 => of::<L, V, 2>(shape, plane),
        _ => of::<L, V, 1>(shape, plane),
    }
}

fn of<L: Level, V: Lanes, const K: usize>(shape: &ByteBox, plane: &Plane) -> Leaf {
    /// One that goes by way of a stage on the stack, where there is room.
    fn staged<L: Level, V: Lanes, const K: usize, B>(params: TransposeParams) -> Leaf
    where
        B: Body<Params = TransposeParams>,
    {
        Leaf::with_room::<L, B, Direct<V, K, InBlocks>, { staged::ROOM }>(params)
    }
    /// One that goes straight to the destination.
    fn direct<L: Level, V: Lanes, const K: usize, P: Parts>(params: TransposeParams) -> Leaf {
        let all = (params.rows, Plane::in_blocks(K, params.columns));
        match params.nest.is_one() && params.tile.0 >= all.0 && params.tile.1 == all.1 {
            true => Leaf::new::<L, OneTile<V, K, P>>(params),
            false => Leaf::new::<L, Direct<V, K, P>>(params),
        }
    }
    let params = TransposeParams::new(shape, plane);
    match (plane.route, plane.tiling) {
        (Route::Collected, Tiling::Bands) => staged::<L, V, K, Collected<V, K, InBands>>(params),
        (Route::Collected, _) => staged::<L, V, K, Collected<V, K, ByRows>>(params),
        (Route::Afar, _) => staged::<L, V, K, Collected<V, K, AskedFor>>(params),
        (Route::Past, Tiling::Bands) => staged::<L, V, K, Collected<V, K, PastCaches>>(params),
        (Route::Staged, Tiling::Panels) => staged::<L, V, K, Staged<V, K, true, false>>(params),
        (Route::Staged, _) => staged::<L, V, K, Staged<V, K, false, false>>(params),
        (Route::Past, Tiling::Panels) => staged::<L, V, K, Staged<V, K, true, true>>(params),
        (Route::Past, _) => staged::<L, V, K, Staged<V, K, false, true>>(params),
        (_, Tiling::Panels) => Leaf::new::<L, Paneled<V, K>>(params),
        (_, Tiling::Runs) => direct::<L, V, K, InRuns>(params),
        (_, Tiling::Squares) => direct::<L, V, K, InSquares>(params),
        (_, Tiling::Fours) if params.along == 16 => Leaf::new::<L, ByFours<V, false>>(params),
        (_, Tiling::Fours) => Leaf::new::<L, ByFours<V, true>>(params),
        (_, Tiling::Bands) => direct::<L, V, K, InRows>(params),
        #[cfg(target_arch = "x86_64")]
        (_, Tiling::Short) => Leaf::new::<Avx512, Short>(params),
        #[cfg(not(target_arch = "x86_64"))]
        (_, Tiling::Short) => unreachable!("its stores need AVX-512"),
        (_, Tiling::Blocks) => direct::<L, V, K, InBlocks>(params),
    }
}
