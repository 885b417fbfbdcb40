//! Transpositions in square register tiles of sixteen bytes by sixteen, for code of a box's own.

use crate::byte_box::{ByteBox, extent};
use crate::cost::LINE;
use crate::features::Features;
use crate::processor::Shuffles;
use crate::transpose::Plane;

/// How a plane is cut into tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// The two dimensions, and what is around them.
    pub plane: Plane,
    /// Rows and columns that are moved in a straight line: whole tiles, the last of which may overlap
    /// others.
    pub straight: (usize, usize),
    /// Rows and columns that are moved before others, by as many straight lines as it takes.
    pub block: (usize, usize),
    /// Whether a block is put together on the stack, and its rows leave whole: rows of one side share
    /// too few sets of the nearest cache.
    pub staged: bool,
}

/// The most bytes of a block that is staged. It lies on the stack of whoever calls.
pub const STAGE: usize = 2048;

/// Instructions of a straight line inside of a loop, about.
const STRAIGHT: usize = 100;

impl Tiles {
    /// The plane of a box, if it is large enough for a tile and its elements are as wide as those that
    /// registers have.
    pub(crate) fn plane(shape: &ByteBox, shuffles: Shuffles) -> Option<Plane> {
        let features = match shuffles {
            Shuffles::Words => Features::Sse2,
            Shuffles::Bytes | Shuffles::Tables => Features::Avx2,
        };
        Plane::of(shape, features).filter(|plane| plane.cell == shape.run)
    }

    /// A plane without loops.
    pub(crate) fn straight(plane: Plane) -> Tiles {
        let all = (plane.row.extent, plane.column.extent);
        Tiles {
            plane,
            straight: all,
            block: all,
            staged: false,
        }
    }

    /// A plane in loops: by blocks that are lines of memory on both sides.
    pub(crate) fn looped(plane: Plane, staged: bool) -> Tiles {
        let (k, width) = (plane.per_lane, plane.cell);
        let tile = Tiles::tile_cost(&plane);
        let line = LINE / width;
        let tiles = (STRAIGHT / tile).clamp(1, line / k);
        let (straight, block) = match staged {
            false => ((k, tiles * k), (line, tiles * k)),
            true => {
                // As many rows of the source as a tile has are read to the end of their lines.
                let rows = line.min(32);
                let columns = STAGE / width / rows;
                ((tiles * k, k), (rows, columns.min(4 * line)))
            }
        };
        Tiles {
            plane,
            straight,
            block,
            staged,
        }
    }

    /// Loads, shuffles and stores of a tile.
    fn tile_cost(plane: &Plane) -> usize {
        let k = plane.per_lane;
        // What steps is loaded in parts that are joined.
        let load = 1 + 3 * (plane.step - 1);
        k * (1 + load + k.ilog2() as usize)
    }

    /// The same of the whole box.
    pub(crate) fn cost(&self) -> usize {
        let plane = &self.plane;
        let k = plane.per_lane;
        let tiles = plane.row.extent.div_ceil(k) * plane.column.extent.div_ceil(k);
        let leave = if self.staged { 2 * k } else { 0 };
        let each = Tiles::tile_cost(plane) + leave;
        tiles
            .saturating_mul(each)
            .saturating_mul(extent(&plane.outer))
    }

    /// About how many instructions its code has.
    pub(crate) fn code(&self) -> usize {
        let k = self.plane.per_lane;
        let (rows, columns) = self.straight;
        let tiles = rows.div_ceil(k).saturating_mul(columns.div_ceil(k));
        // What is left at the end of each dimension has code of its own.
        let copies = if self.straight == self.block { 1 } else { 4 };
        tiles.saturating_mul(Tiles::tile_cost(&self.plane) * copies)
    }
}
