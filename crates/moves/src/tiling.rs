//! Into which tiles a transposition is cut, on which way they go, and by what they are moved.

use crate::byte_box::extent;
use crate::cost::LINE;
use crate::crowding::{Crowded, fit, fit_together};
use crate::target::Target;
use crate::transpose::Plane;

/// The way of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Straight to the destination, all columns of some rows at a time.
    Straight,
    /// Straight to the destination, some columns of some rows: rows that share too few sets of the nearest cache are
    /// turned to less often.
    Tiles,
    /// Rows of the source are copied together first, each in a long run, and transposed from there.
    Collected,
    /// By way of a stage in the nearest cache, which rows leave in long runs.
    Staged,
    /// The same, past the caches.
    Past,
}

/// What of a tile is moved at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// As many rows as a lane of sixteen bytes has elements, of a vector's columns.
    Blocks,
    /// Blocks of a few rows, from one end of them to the other before the next.
    Bands,
    /// A few blocks next to each other, of which each row is written to its end before the next.
    Runs,
    /// As many rows as columns: whole vectors on both sides.
    Squares,
    /// Whole vectors of a few rows of the source.
    Panels,
    /// Elements as wide as a lane.
    Fours,
}

/// Bytes of a stage.
pub const STAGED: usize = 48 << 10;

/// Rows, and bytes of each, of a tile that goes past the caches; rows of few lines have little that could.
const PAST: (usize, usize) = (64, 8 * LINE);
const WORTH_PAST: usize = 4 * LINE;

/// Bytes of a block of the source of which a few elements of each row are read at a time.
const BLOCK: usize = 16 << 10;

/// The most bytes of packed rows: rows of the source are read in long runs, and those of the destination are written a line at
/// a time.
pub const PACKED_ROW: usize = 4 * LINE;

/// The most bytes of either side of a tile of elements that are spread out.
pub const WIDENED_ROW: usize = 2 * LINE;

/// The most rows of a tile that goes straight to the destination.
const ROWS: usize = 128;

/// As [`evenly`], of no more than there is.
fn within(extent: usize, most: usize, unit: usize) -> usize {
    evenly(extent, most, unit).min(extent)
}

/// The size of a tile, at most so large, such that tiles of whole units overlap little.
fn evenly(extent: usize, most: usize, unit: usize) -> usize {
    let tiles = extent.div_ceil(most);
    extent.div_ceil(tiles).next_multiple_of(unit).min(most)
}

impl Plane {
    /// Elements of a vector of its lanes.
    fn side(&self) -> usize {
        self.lanes * self.per_lane
    }

    /// What goes straight to the destination.
    fn straight(&self, target: &Target) -> Tiling {
        let elements = self.row.extent * self.column.extent;
        let elements = elements.saturating_mul(extent(&self.outer));
        let near = elements.saturating_mul(2 * self.cell) <= target.l1 as usize;
        match self.squares() {
            // Whole lines of the destination are put together as they are loaded, a part of a line of each of eight rows, or
            // of sixteen whose lines do not fall into few sets; unless the nearest cache has both sides.
            Tiling::Squares if self.lanes == 4 && !near => {
                let spread = !self.column.src.unsigned_abs().is_multiple_of(LINE);
                match self.side() <= 8 || spread {
                    true => Tiling::Blocks,
                    false => Tiling::Squares,
                }
            }
            parts => parts,
        }
    }

    /// Squares where there is room for them, which of narrow elements cost two more operations per line of the source.
    fn squares(&self) -> Tiling {
        match self.per_lane {
            1 => Tiling::Fours,
            2 | 4 if self.lanes > 1 && self.row.extent >= self.side() => Tiling::Squares,
            _ => Tiling::Blocks,
        }
    }

    /// Panels where there is room for them.
    fn panels(&self) -> Tiling {
        match self.row.extent >= self.side() && self.column.extent >= 2 * self.per_lane {
            true => Tiling::Panels,
            false => Tiling::Blocks,
        }
    }

    fn cut(mut self, route: Route, parts: Tiling, tile: (usize, usize)) -> Plane {
        (self.route, self.tiling, self.tile) = (route, parts, tile);
        self
    }

    /// Cut for a machine whose caches hold its lines. A line of the source that does not begin where a tile does is fetched for
    /// two of them, so a tile has as many rows as leave each other room in the nearest cache. Where those are few, each is
    /// written in longer runs instead, and the source is read to its end: so are wide elements whose vectors straddle lines,
    /// of which the second one is then turned to at once.
    pub(crate) fn on(mut self, target: &Target) -> Plane {
        // Two lanes have the first and the last columns, which overlap.
        if self.lanes == 1 && self.column.extent > self.per_lane {
            self.lanes = target.features.lanes()[1];
        }
        let straddles = |apart: isize| !apart.unsigned_abs().is_multiple_of(LINE);
        let (dst, src) = (self.row.dst, self.column.src);
        let (side, line) = (self.side(), LINE / self.cell);
        let is_line = side >= line;
        // Vectors that are parts of lines leave these for later.
        let most = match is_line || straddles(src) {
            true => (4 * line).min(ROWS),
            false => line,
        };
        let rows = self.row.extent;
        let all = if rows <= 2 * most { rows } else { most };
        // Of narrow elements, parts of lines are read in any case.
        let source = (src, side, self.cell >= 4 && straddles(src));
        let fits = |tile: &usize| {
            *tile <= all && fit_together(target, [source, (dst, *tile, straddles(dst))])
        };
        let tiles = [rows, most, 2 * line];
        let tile = tiles.into_iter().find(fits).unwrap_or(line);
        let run = Self::in_a_run(self.lanes, self.per_lane) * side;
        let possible = self.cell >= 4 && run > side && self.column.extent >= run;
        let ways = target.l1 / target.l1_way;
        let runs = possible
            && fit(target, ways, src, run)
            && if self.cell == 8 && !dst.unsigned_abs().is_multiple_of(LINE / 2) {
                true
            } else if !is_line && straddles(dst) {
                false
            } else if straddles(src) {
                tile < most.min(rows)
            } else {
                is_line && !fit(target, ways / 2, dst, line)
            };
        let (parts, tile) = match runs {
            true => (Tiling::Runs, rows),
            false => (self.straight(target), tile),
        };
        let columns = self.column.extent;
        self.cut(Route::Straight, parts, (tile, columns))
    }

    /// Cut for stores past the caches, if its rows are worth that.
    pub(crate) fn past(self, target: &Target) -> Plane {
        let (rows, bytes) = PAST;
        if self.column.extent * self.cell < WORTH_PAST {
            return self.in_tiles(target);
        }
        let (parts, columns) = (self.panels(), bytes / self.cell);
        self.cut(Route::Past, parts, (rows, columns))
    }

    /// Cut such that rows that share too few sets of the nearest cache are turned to less often.
    pub(crate) fn staged(self, crowded: Crowded, target: &Target) -> Plane {
        let (k, side, line) = (self.per_lane, self.side(), LINE / self.cell);
        let way = target.l1_way.max(1) as usize;
        let ways = target.l1 / target.l1_way.max(1);
        let (rows, columns) = (self.row.extent, self.column.extent);
        let (narrow, panels) = (k >= 8, self.panels());
        let is_tall = rows >= side;
        let squares = self.lanes > 1 && is_tall;
        let row = columns * self.cell;
        let whole_lines = row > 4 * LINE && row.is_multiple_of(LINE);
        let over = columns.next_multiple_of(side) - columns;
        let apart = self.column.src.unsigned_abs();
        let from_source = crowded != Crowded::Destination;
        let far = apart > 4 * LINE;
        let dst = self.row.dst.unsigned_abs();
        // Whether rows of the destination begin in the same set, or next to that.
        let one_set = (dst % way).min(way - dst % way) < LINE;
        let may_collect = is_tall
            && match k {
                2 => side < line && (self.lanes == 1 || dst.is_multiple_of(LINE)),
                4 => true,
                _ => k >= 8 && !one_set,
            };
        match crowded {
            // So many columns that blocks of them overlap little, or whole planes together.
            _ if narrow && from_source && is_tall && 3 * over < columns => {
                let (most_rows, most_columns) = match self.together.extent {
                    1 => self.bands(crowded),
                    _ => (rows, columns),
                };
                let tile = (
                    within(rows, most_rows, side),
                    within(columns, most_columns, side),
                );
                self.cut(Route::Collected, Tiling::Bands, tile)
            }
            Crowded::Source if narrow && is_tall => {
                let tile = (within(rows, 4 * LINE, side), columns);
                self.cut(Route::Collected, Tiling::Blocks, tile)
            }
            // Rows of the destination share sets as well, though not too few of them.
            Crowded::Source
                if k == 4
                    && squares
                    && whole_lines
                    && !fit(target, ways / 4, self.row.dst, line) =>
            {
                let tile = (
                    within(rows, 4 * line, side),
                    within(columns, 2 * LINE, side),
                );
                self.cut(Route::Collected, Tiling::Bands, tile)
            }
            // Rows of whole lines are written a line at a time, others in longer pieces.
            Crowded::Source if k > 1 && squares && whole_lines && side >= line => {
                let parts = self.straight(target);
                self.cut(Route::Tiles, parts, (rows.min(4 * LINE), side))
            }
            Crowded::Source if k > 1 && panels == Tiling::Panels => {
                let tile = (within(rows, 2 * LINE, side), columns);
                self.cut(Route::Tiles, panels, tile)
            }
            // A few rows at a time are written in long runs, as long as these few do not share a set.
            Crowded::Destination if (far || k == 16) && may_collect => {
                let whole = apart.is_multiple_of(LINE) && rows.is_multiple_of(2 * line);
                let lines = if k == 2 || whole && k == 4 { 2 } else { 1 };
                let tile = (
                    within(rows, lines * line, side),
                    within(columns, 2 * LINE, side),
                );
                self.cut(Route::Collected, Tiling::Bands, tile)
            }
            // A line is written at once.
            Crowded::Destination if far && k < 8 && dst.is_multiple_of(LINE) => {
                let parts = self.squares();
                self.cut(Route::Tiles, parts, (line, columns))
            }
            Crowded::Destination if far && k < 8 => self.in_tiles(target),
            Crowded::Destination if k == 2 || k == 4 => {
                // Few rows at a time, of a block of the source that stays in the nearest cache.
                let block = BLOCK / apart.next_power_of_two();
                let tile = (4, block.clamp(side, 2 * LINE));
                self.cut(Route::Tiles, Tiling::Blocks, tile)
            }
            // A panel of bytes has no room in the registers.
            _ if k < 16 && panels == Tiling::Panels => {
                let (most_rows, most_columns) = self.stage(crowded);
                let tile = (
                    evenly(rows, most_rows, side),
                    evenly(columns, most_columns, 2 * k),
                );
                self.cut(Route::Staged, panels, tile)
            }
            Crowded::Destination if k == 8 || k == 16 && one_set => {
                let tile = self.stage(crowded);
                self.cut(Route::Staged, panels, tile)
            }
            Crowded::Destination => self.in_tiles(target),
            // Few pages at a time.
            _ if k == 16 && squares => {
                let tile = (
                    evenly(rows, 8 * LINE, side),
                    evenly(columns, 4 * LINE, side),
                );
                self.cut(Route::Tiles, Tiling::Squares, tile)
            }
            _ => self.in_tiles(target),
        }
    }

    /// Cut to a line of rows at a time.
    fn in_tiles(self, target: &Target) -> Plane {
        let (parts, tile) = (
            self.straight(target),
            (LINE / self.cell, self.column.extent),
        );
        self.cut(Route::Tiles, parts, tile)
    }

    /// Rows and columns of a tile on a stage: both sides touch several lines of a row before they turn to another one, or
    /// those of the destination only.
    fn stage(&self, crowded: Crowded) -> (usize, usize) {
        if crowded == Crowded::Destination {
            return (LINE / self.cell, 8 * LINE / self.cell);
        }
        let rows = 4 * LINE / self.cell;
        let lines: usize = 1 << (STAGED / rows / LINE - 1).ilog2();
        (rows, lines.min(8) * LINE / self.cell)
    }

    /// The same of a tile of the source that is collected. Where rows of the destination are crowded as well, a tile has more
    /// lines of each, the fewer sets they share.
    fn bands(&self, crowded: Crowded) -> (usize, usize) {
        let lines = 2 * LINE / self.cell;
        match crowded {
            Crowded::Both if self.row.dst.unsigned_abs() < 16 * LINE => (lines, lines),
            Crowded::Both => (lines, 2 * LINE),
            _ => (2 * lines, LINE),
        }
    }

    /// Cut to tiles that are packed together.
    pub(crate) fn packed(mut self) -> Plane {
        let (rows, columns, line) = (self.row.extent, self.column.extent, LINE / self.cell);
        self.tile = match self.packed_squares() {
            Some(_) => (within(rows, 4 * line, line), line),
            None => (
                within(rows, PACKED_ROW / self.cell, self.packed / self.cell),
                within(columns, line, self.per_lane),
            ),
        };
        self
    }

    /// Cut to tiles whose elements are spread out.
    pub(crate) fn widened(mut self) -> Plane {
        let most = WIDENED_ROW / self.cell;
        let of = |extent: usize| within(extent, most, self.per_lane);
        self.tile = (of(self.row.extent), of(self.column.extent));
        self
    }
}
