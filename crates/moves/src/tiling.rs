//! Into which tiles a transposition is cut, on which way they go, and by what they are moved.

use crate::byte_box::{Step, extent};
use crate::cores::Core;
use crate::cost::LINE;
use crate::crowding::{Crowded, fill_few_sets, fit, fit_together, leave_room};
use crate::features::Features;
use crate::plan::Stores;
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
    /// The same for what no cache holds: lines of both sides are asked for before a tile turns to them.
    Afar,
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
    /// Blocks of rows of more bytes than a lane and fewer than two: each is stored at once, as far as it goes.
    Short,
}

/// Bytes of a stage.
pub const STAGED: usize = 48 << 10;

/// Bytes between the rows of a stage: an odd number of lines, so that they fall into different sets.
#[must_use]
pub const fn pitch(bytes: usize) -> usize {
    (bytes.div_ceil(LINE) | 1) * LINE
}

/// Rows, and bytes of each, of a tile that goes past the caches.
const PAST: (usize, usize) = (64, 8 * LINE);

/// Bytes of a row of the destination that planes are moved together for.
const TOGETHER: usize = 8 * LINE;

/// Bytes of a block of the source of which a few elements of each row are read at a time.
const BLOCK: usize = 16 << 10;

/// The most bytes of packed rows: rows of the source are read in long runs, and those of the destination are written a line at
/// a time.
pub const PACKED_ROW: usize = 4 * LINE;

/// The most rows and columns of a tile of elements that are spread out: more are in more pages than are found at once.
const WIDENED: usize = 512;

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

    /// Whether crowded rows go by way of a stage: what is small is, which may be a part of something that comes from afar.
    pub(crate) fn is_worth_a_stage(&self, target: &Target) -> bool {
        target.stages_what_is_far() || self.is_near(target)
    }

    /// Whether the order of its tiles matters little: it has a thin side, or is near. Elements as wide as a lane that are spread
    /// out are read together all the same.
    pub(crate) fn is_thin_or_near(&self, target: &Target) -> bool {
        let thin = self.row.extent.min(self.column.extent) < LINE / 4;
        match self.per_lane {
            1 => thin && self.step == 1,
            _ => thin || self.is_near(target),
        }
    }

    /// Whether the nearest cache has both sides.
    pub(crate) fn is_near(&self, target: &Target) -> bool {
        self.bytes().saturating_mul(2) <= target.l1 as usize
    }

    /// The bytes of either side.
    fn bytes(&self) -> usize {
        let planes = self.cell.saturating_mul(extent(&self.outer));
        planes.saturating_mul(self.row.extent * self.column.extent)
    }

    /// What goes straight to the destination.
    fn straight(&self, target: &Target) -> Tiling {
        let near = self.is_near(target);
        // Whole lines of the destination are put together as they are loaded, a part of a line of each of eight rows, or of
        // sixteen whose lines do not fall into few sets; unless the nearest cache has both sides, or loads are what takes time.
        let spread = !self.column.src.unsigned_abs().is_multiple_of(LINE);
        let in_loads = self.lanes == 4
            && !near
            && (self.side() <= 8 || spread)
            && !target.core.turns_whole_lines();
        match self.squares(target) {
            Tiling::Squares if in_loads => Tiling::Blocks,
            tiling => tiling,
        }
    }

    /// Squares where there is room for them, which of narrow elements cost two more operations per line of the source.
    fn squares(&self, target: &Target) -> Tiling {
        match self.per_lane {
            1 => Tiling::Fours,
            8 if target.core.turns_whole_lines() && self.has_squares() => Tiling::Squares,
            2 | 4 if self.has_squares() => Tiling::Squares,
            _ => Tiling::Blocks,
        }
    }

    /// Panels where there is room for them.
    fn panels(&self) -> Tiling {
        match self.is_tall() && self.column.extent >= 2 * self.per_lane {
            true => Tiling::Panels,
            false => Tiling::Blocks,
        }
    }

    /// Whether rows are one lane of bytes and a part of another.
    pub(crate) fn has_short_rows(&self) -> bool {
        let lane = self.per_lane;
        lane == 16 && self.row.extent >= lane && (lane + 1..2 * lane).contains(&self.column.extent)
    }

    fn cut(mut self, route: Route, tiling: Tiling, tile: (usize, usize)) -> Plane {
        (self.route, self.tiling, self.tile) = (route, tiling, tile);
        self
    }

    /// Cut for what goes straight to the destination.
    pub(crate) fn on(mut self, target: &Target) -> Plane {
        // Two lanes have the first and the last columns, which overlap.
        if self.lanes == 1 && self.column.extent > self.per_lane {
            self.lanes = target.features.lanes()[1];
        }
        let wide = target.features >= Features::Avx512;
        if self.has_short_rows() && wide {
            let tile = (self.row.extent, self.column.extent);
            return self.cut(Route::Straight, Tiling::Short, tile);
        }
        match target.core {
            Core::Zen | Core::Zen5 => self.on_zen(target),
            Core::Cove if self.is_near(target) && (wide || self.cell != 4) => self.on_zen(target),
            Core::Cove => self.on_cove(target),
        }
    }

    /// Cut for a core on which rows of the destination are best written on and on, as many vectors of each as registers hold. What
    /// a row leaves of a line is finished far from there in any case: all rows follow before the next vectors of the first, where
    /// lines of the source stay that long and the second cache has the destination. Narrower vectors leave more parts of lines,
    /// which are finished the sooner the fewer rows follow.
    fn on_cove(mut self, target: &Target) -> Plane {
        let (line, all) = (LINE / self.cell, self.row.extent);
        let whole = self.row.dst.unsigned_abs().is_multiple_of(LINE);
        let short = self.column.extent * self.cell <= 4 * LINE;
        let run = Self::in_a_run(self.lanes, self.per_lane) * self.side();
        let crowded = !fit(target, target.ways(), self.column.src, run);
        let far = self.bytes() > target.l2 as usize;
        let (lanes, tiling, rows) = match self.cell {
            16 if self.step > 1 => (4, Tiling::Fours, 2 * line),
            _ if target.features < Features::Avx512 => match self.cell {
                _ if self.is_near(target) => (2, Tiling::Runs, all),
                _ if short && self.cell > 1 => (2, Tiling::Runs, 2 * line),
                4 if !whole => (2, Tiling::Squares, line),
                8 if whole => (2, Tiling::Runs, 2 * line),
                4 | 16 => (2, Tiling::Runs, line),
                _ => (2, Tiling::Runs, line / 2),
            },
            1 if whole => (4, Tiling::Runs, line),
            1 if !crowded && (short || far) => (2, Tiling::Runs, line / 2),
            2 | 4 if whole && !short && crowded => (4, Tiling::Squares, all),
            8 if whole && !short => (2, Tiling::Runs, 2 * line),
            16 if whole && (short || all < line) => (4, Tiling::Fours, 2 * line),
            _ if whole || short || crowded => (4, Tiling::Runs, 2 * line),
            _ if far => (4, Tiling::Runs, line),
            _ => (4, Tiling::Runs, all),
        };
        self.lanes = self.lanes.min(lanes);
        let tile = (all.min(rows), self.column.extent);
        self.cut(Route::Straight, tiling, tile)
    }

    /// Cut for a core whose nearest cache holds the lines of a tile. A line of the source that does not begin where a tile
    /// does is fetched for two of them, so a tile has as many rows as leave each other room in the nearest cache. Where
    /// those are few, each is written in longer runs instead, and the source is read to its end: so are wide elements whose
    /// vectors straddle lines, of which the second one is then turned to at once.
    fn on_zen(self, target: &Target) -> Plane {
        let straddles = |apart: isize| !apart.unsigned_abs().is_multiple_of(LINE);
        let (dst, src) = (self.row.dst, self.column.src);
        let (side, line) = (self.side(), LINE / self.cell);
        let is_line = side >= line;
        let (rows, most) = (self.row.extent, (4 * line).min(ROWS));
        let lines = 1 + usize::from(straddles(dst));
        let under_way = rows.saturating_mul(lines * LINE + side * self.cell);
        let stays = under_way <= target.l1 as usize;
        let all = if stays { rows } else { most };
        let fits = |tile: &usize| *tile <= all && fit_together(target, (src, side), (dst, *tile));
        let tiles = [rows, most, 2 * line];
        // Bytes are loaded a lane at a time: to begin a line of the source twice costs more than rows that drive each other out.
        let least = if self.cell == 1 { 2 * line } else { line };
        let tile = tiles.into_iter().find(fits).unwrap_or(least.min(rows));
        let run = Self::in_a_run(self.lanes, self.per_lane) * side;
        let squares = self.cell == 8 && target.core.turns_whole_lines();
        let possible =
            matches!(self.cell, 4 | 8) && !squares && run > side && self.column.extent >= run;
        let ways = target.ways();
        let runs = possible
            && leave_room(target, src, run)
            && if !is_line && straddles(dst) {
                self.cell == 8 && !dst.unsigned_abs().is_multiple_of(LINE / 2)
            } else if straddles(src) {
                tile < most.min(rows)
            } else {
                is_line && !fit(target, ways / 2, dst, line)
            };
        let (tiling, tile) = match runs {
            true => (Tiling::Runs, rows),
            false if self.is_near(target) && self.has_even_bands(target) => (Tiling::Bands, rows),
            false => (self.straight(target), tile),
        };
        let tile = (tile, self.column.extent);
        self.cut(Route::Straight, tiling, tile)
    }

    /// Cut for what the last cache does not hold, if its rows are worth that.
    pub(crate) fn past(self, target: &Target) -> Plane {
        let (rows, bytes) = PAST;
        let short = ((self.column.extent * self.cell) as i64) < target.worth_past();
        if let Some(route) = self.collected_for(short, target) {
            let (line, lines) = (LINE / self.cell, if self.per_lane == 2 { 8 } else { 4 });
            return self.in_bands(route, (line, lines * line));
        }
        if short {
            return self.in_tiles(target);
        }
        let (tiling, columns) = (self.panels(), bytes / self.cell);
        self.cut(Route::Past, tiling, (rows, columns))
    }

    /// For which way a line of many rows of the source is collected. Whole lines of the destination go past the caches, if a
    /// vector is one or few are under way. Where rows begin anywhere, tiles of whole lines overlap by one, and of narrow
    /// elements these read a line of each row that they turn to: parts of lines are written into the caches in less time.
    /// So are short rows, which have no whole lines to speak of.
    fn collected_for(&self, short: bool, target: &Target) -> Option<Route> {
        if !target.stages_what_is_far() || !self.has_bands() {
            return None;
        }
        let divides = |bytes: usize| bytes.is_multiple_of(LINE);
        let row = self.column.extent * self.cell;
        let (dst, src) = (self.row.dst.unsigned_abs(), self.column.src.unsigned_abs());
        let whole = !short && row > LINE && divides(row) && divides(dst);
        let few = self.lanes == 4 || self.lanes == 2 && self.per_lane <= 4;
        match self.per_lane {
            2.. if whole && few => Some(Route::Past),
            8 if !short && divides(dst) && divides(src) => None,
            8 | 16 => Some(Route::Afar),
            _ => None,
        }
    }

    /// Which rows share too few sets of the nearest cache.
    pub(crate) fn crowded(&self, target: &Target) -> Option<Crowded> {
        let found = Crowded::of(target, self.cell as i64, &self.row, &self.column);
        let found = found.map(|(crowded, _)| crowded);
        // Many rows that lie in a few sets wait for each other.
        let waits = target.core == Core::Zen5 && self.per_lane == 4 && self.row.extent >= LINE;
        found.or_else(|| {
            let few = waits && fill_few_sets(target, self.row.dst, self.row.extent);
            few.then_some(Crowded::Destination)
        })
    }

    /// Cut such that of rows of eight bytes that share few sets, as many as a line of the source has elements are written to
    /// their ends before the next, if they are some lines long and what they go on with lies around the plane.
    pub(crate) fn in_turn(&self, target: &Target) -> Option<Plane> {
        let (extent, dst, line) = (self.row.extent, self.row.dst, LINE / self.cell);
        let goes_on = |step: &Step| step.dst.unsigned_abs() < dst.unsigned_abs();
        let whole = extent > line && extent.is_multiple_of(line);
        let some_lines = (LINE..TOGETHER / 2).contains(&(self.column.extent * self.cell));
        if self.per_lane != 2
            || !whole
            || !some_lines
            || !self.has_squares()
            || !self.outer.iter().any(goes_on)
            || !fill_few_sets(target, dst, extent)
        {
            return None;
        }
        let (mut plane, mut in_turn) = (self.clone(), self.row);
        plane.row = in_turn.take(line);
        plane.outer.insert(0, in_turn);
        Some(plane.cut(Route::Tiles, Tiling::Squares, (line, self.column.extent)))
    }

    /// Cut such that rows that share too few sets of the nearest cache, or come from afar, are turned to less often.
    pub(crate) fn staged(self, crowded: Option<Crowded>, target: &Target) -> Plane {
        match crowded {
            Some(Crowded::Source) => self.of_crowded_source(target),
            Some(Crowded::Destination) => self.of_crowded_destination(target),
            Some(Crowded::Both) | None => self.of_crowded_sides(target),
        }
    }

    /// Cut to bands of planes that are moved together, so that short rows of a crowded destination are written for some
    /// lines.
    pub(crate) fn together(&self, crowded: Crowded, target: &Target) -> Option<Plane> {
        let (columns, dst) = (self.column.extent, self.row.dst);
        let (row, side) = (columns * self.cell, self.side());
        // Parts of a line stay until the next planes.
        let stay = || row >= LINE || fit(target, target.ways(), dst, self.per_lane);
        let narrow = self.per_lane >= 4 && self.has_bands() && row < TOGETHER;
        if !narrow || crowded == Crowded::Source || !stay() {
            return None;
        }
        let apart = |at: &usize| self.outer[*at].dst.unsigned_abs();
        let finer = (0..self.outer.len()).filter(|at| apart(at) < dst.unsigned_abs());
        // What is read by columns is not what lies far from these.
        let near = |at: &usize| self.outer[*at].src.unsigned_abs() < self.column.src.unsigned_abs();
        let at = finer.min_by_key(apart).filter(near)?;
        let lines = if self.per_lane == 16 { 1 } else { 2 };
        let rows = within(self.row.extent, lines * LINE / self.cell, side);
        let fits = |planes: &usize| columns * pitch(planes * rows * self.cell) <= STAGED;
        let mut plane = self.clone();
        plane.together = plane.outer[at].take_most((2..=TOGETHER / row).rev().find(fits)?)?;
        Some(plane.cut(Route::Collected, Tiling::Bands, (rows, columns)))
    }

    fn of_crowded_source(self, target: &Target) -> Plane {
        let (k, line, rows) = (self.per_lane, LINE / self.cell, self.row.extent);
        let (panels, row) = (self.panels(), self.column.extent * self.cell);
        let whole_lines = row > 4 * LINE && row.is_multiple_of(LINE);
        // Whether lines of some rows of the destination stay until they are turned to again.
        let stay = || fit(target, target.ways(), self.row.dst, rows.min(LINE));
        // On a Zen 5, columns of a line or two are read again in less time than they are collected, and panels do not come back
        // to rows whose lines are gone.
        let zen5 = target.core == Core::Zen5;
        let short = matches!((k, row.div_ceil(LINE)), (8, 1) | (2, 1 | 2));
        let gone = || !fit(target, target.ways(), self.row.dst, rows.min(2 * LINE));
        if zen5 && short && !self.is_near(target) {
            self
        } else if k >= 8 && self.has_bands() {
            self.in_bands(Route::Collected, (4 * line, LINE))
        } else if k >= 8 && self.is_tall() {
            let tile = (within(rows, 4 * LINE, self.side()), self.column.extent);
            self.cut(Route::Collected, Tiling::Blocks, tile)
        } else if k == 4
            && self.has_squares()
            && whole_lines
            && !fit(target, target.ways() / 4, self.row.dst, line)
        {
            // Rows of the destination share sets as well, though not too few of them.
            self.in_bands(Route::Collected, (4 * line, 2 * LINE))
        } else if k == 2 && whole_lines && self.is_tall() && !stay() {
            self.on_stage((8 * line, 8 * line))
        } else if k > 1 && self.has_squares() && whole_lines && self.side() >= line {
            // Rows of whole lines are written a line at a time, others in longer pieces.
            let (tiling, tile) = (self.straight(target), (rows.min(4 * LINE), self.side()));
            self.cut(Route::Tiles, tiling, tile)
        } else if zen5 && k == 2 && panels == Tiling::Panels && gone() {
            self.of_crowded_sides(target)
        } else if zen5 && k == 4 && gone() {
            self.of_crowded_destination(target)
        } else if k > 1 && panels == Tiling::Panels {
            let mut plane = self;
            // Vectors of half a line where whole ones overlap each other by more than an eighth: either are stored by halves.
            let covered = |lanes| rows.next_multiple_of(lanes * k);
            if plane.lanes == 4 && 8 * covered(4) > 9 * covered(2) {
                plane.lanes = 2;
            }
            let tile = (within(rows, 2 * LINE, plane.side()), plane.column.extent);
            plane.cut(Route::Tiles, panels, tile)
        } else {
            self.in_tiles(target)
        }
    }

    fn of_crowded_destination(self, target: &Target) -> Plane {
        let (k, side, line) = (self.per_lane, self.side(), LINE / self.cell);
        let (apart, dst) = (self.column.src.unsigned_abs(), self.row.dst.unsigned_abs());
        let (far, whole) = (apart > 4 * LINE, dst.is_multiple_of(LINE));
        let way = target.l1_way as usize;
        // Whether rows begin in the same set, or next to that: then a few of them are too many already.
        let one_set = (dst % way).min(way - dst % way) < LINE;
        let collects = match k {
            2 => far && side < line && (self.lanes == 1 || whole),
            4 => far,
            8 => far && !one_set,
            _ => k == 16 && !one_set,
        };
        if collects && k == 4 && target.is_zen_in_lines() && !apart.is_multiple_of(LINE) {
            // What is collected straddles lines as well. Squares are written in less time.
            self
        } else if collects && self.is_tall() {
            let even = apart.is_multiple_of(LINE) && self.row.extent.is_multiple_of(2 * line);
            let lines = if k == 2 || k == 4 && even { 2 } else { 1 };
            self.in_bands(Route::Collected, (lines * line, 2 * LINE))
        } else if k < 8 && far && whole {
            // A line is written at once.
            let (tiling, tile) = (self.squares(target), (line, self.column.extent));
            self.cut(Route::Tiles, tiling, tile)
        } else if k < 8 && !far {
            // Few rows at a time, of a block of the source that stays in the nearest cache.
            let block = BLOCK / apart.next_power_of_two();
            let tile = (4, block.clamp(side, 2 * LINE));
            self.cut(Route::Tiles, Tiling::Blocks, tile)
        } else if k == 8 || k == 16 && one_set {
            self.on_stage((line, 8 * line))
        } else {
            self.in_tiles(target)
        }
    }

    fn of_crowded_sides(self, target: &Target) -> Plane {
        let (k, line) = (self.per_lane, LINE / self.cell);
        if k >= 8 && self.has_bands() {
            // The more lines of each, the fewer sets they share. A Zen 5 has room for longer rows.
            let longer = target.core == Core::Zen5 && self.column.extent <= 4 * LINE;
            let columns = if longer { 4 * LINE } else { 2 * LINE };
            self.in_bands(Route::Collected, (2 * line, columns))
        } else if k < 16 && self.panels() == Tiling::Panels {
            // A panel of bytes has no room in the registers.
            let lines: usize = 1 << (STAGED / (4 * line) / LINE - 1).ilog2();
            self.on_stage((4 * line, lines.min(8) * line))
        } else {
            self.in_tiles(target)
        }
    }

    /// Whether a vector's elements are no more than there are rows.
    fn is_tall(&self) -> bool {
        self.row.extent >= self.side()
    }

    /// Whether elements are as wide as a lane, pairs of them lie together on both sides, and the nearest cache has both.
    pub(crate) fn goes_in_pairs(&self, target: &Target) -> bool {
        let in_pairs = self.per_lane == 1 && self.step == 1 && self.lanes > 1;
        in_pairs && self.column.extent >= 4 && self.is_near(target)
    }

    /// Whether elements are as wide as a lane, on a Zen 5, and none straddles lines where wider vectors would, or they are so
    /// few that to cut them takes as long as to move them.
    pub(crate) fn goes_by_itself(&self, target: &Target) -> bool {
        let straddles = !self.row.dst.unsigned_abs().is_multiple_of(LINE);
        let in_lanes = self.per_lane == 1 && self.step == 1 && target.core == Core::Zen5;
        in_lanes && (straddles || self.bytes() <= 64 * LINE)
    }

    /// Whether there is room for a square of whole vectors.
    pub(crate) fn has_squares(&self) -> bool {
        self.lanes > 1 && self.is_tall()
    }

    /// Whether there are so many columns that blocks of them overlap little.
    fn has_bands(&self) -> bool {
        let over = self.column.extent.next_multiple_of(self.side()) - self.column.extent;
        self.is_tall() && 3 * over < self.column.extent
    }

    /// Whether bands of narrow elements overlap no more than strips do, which take narrower vectors for what is left.
    fn has_even_bands(&self, target: &Target) -> bool {
        let (k, side, columns) = (self.per_lane, self.side(), self.column.extent);
        let even = columns.is_multiple_of(side) || columns % side > side / 2;
        let whole = |extent: usize| extent >= k && Self::in_blocks(k, extent) == extent;
        let narrow = k >= 8 || k == 4 && self.lanes == 4 && !target.core.turns_whole_lines();
        narrow && columns >= side && even && whole(self.row.extent) && whole(columns)
    }

    /// Cut to tiles of so many rows and columns at most that are collected.
    fn in_bands(self, route: Route, (rows, columns): (usize, usize)) -> Plane {
        let of = |step: &Step, most| within(step.extent, most, self.side());
        let tile = (of(&self.row, rows), of(&self.column, columns));
        self.cut(route, Tiling::Bands, tile)
    }

    /// Cut to tiles of so many rows and columns at most that go by way of a stage: both sides touch several lines of a row
    /// before they turn to another one, or those of the destination only.
    fn on_stage(self, (rows, columns): (usize, usize)) -> Plane {
        let (panels, side, pair) = (self.panels(), self.side(), 2 * self.per_lane);
        let all = (self.row.extent, self.column.extent);
        let tile = match panels {
            Tiling::Panels => (evenly(all.0, rows, side), evenly(all.1, columns, pair)),
            _ => (rows.min(all.0), columns.min(all.1)),
        };
        self.cut(Route::Staged, panels, tile)
    }

    /// Cut to a line of rows at a time.
    fn in_tiles(self, target: &Target) -> Plane {
        let (tiling, tile) = (
            self.straight(target),
            (LINE / self.cell, self.column.extent),
        );
        self.cut(Route::Tiles, tiling, tile)
    }

    /// Cut to tiles that are packed together.
    pub(crate) fn packed(mut self) -> Plane {
        let (rows, columns, line) = (self.row.extent, self.column.extent, LINE / self.cell);
        let (unit, columns) = match self.packed_squares() {
            Some(_) => (line, line),
            None => (
                self.packed / self.cell,
                within(columns, line, self.per_lane),
            ),
        };
        self.tile = (within(rows, PACKED_ROW / self.cell, unit), columns);
        self
    }

    /// Cut to as many columns as stay near while rows go through them, for elements that are spread out; to long rows of the
    /// destination where both sides come from afar and columns do not share sets.
    pub(crate) fn widened(mut self, stores: Stores, target: &Target) -> Plane {
        let src = self.column.src;
        let near = |columns: &usize| fit(target, target.ways(), src, *columns);
        let most = match stores {
            Stores::Past if !fill_few_sets(target, src, WIDENED) => WIDENED,
            _ => [64, 32].into_iter().find(near).unwrap_or(16),
        };
        self.tile = (
            within(self.row.extent, WIDENED, self.per_lane),
            within(self.column.extent, most, self.side()),
        );
        self
    }
}
