//! What each way to move a box costs, in about micro-operations.
//!
//! One unit for all of them, so that they can be held against each other; the numbers are those of a
//! current x86-64 core whose caches hold both sides. What goes past the caches costs what memory
//! costs, whichever way it is moved; there the way is chosen by [`Target`].

use std::ops::Range;

use crate::blended::Blended;
use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::channels::Channels;
use crate::cores::Core;
use crate::crowding::lines_moved;
use crate::features::Features;
use crate::folded::Folded;
use crate::joined::ShortRows;
use crate::pixels::Patch;
use crate::squares::Squares;
use crate::target::Target;
use crate::transpose::Plane;

/// The bytes of a cache line, which two loads and stores of the widest vectors at most move.
pub(crate) const LINE: usize = 64;

/// Boxes of fewer bytes are not worth the search for a pattern, unless a form asks for it.
pub(crate) const WORTH_A_SEARCH: usize = 256;

/// Rows: what starting one takes, and each line of it.
const ROW: usize = 4;
const ROW_LINE: usize = 2;

/// A run that is moved as one vector, from a line that stays in the nearest cache until its other runs are moved, or is
/// fetched again for each.
const FOLLOWING: usize = 2;
pub(crate) const NEAREST: usize = 24 << 10;

/// A load and a store of a row that is a quarter of a line, which takes as long to store as half a line.
const ALONE: usize = 3;

/// What it takes to begin with another plane of a transposition.
const PLANE: usize = 100;

/// What it takes to start a row of units of a line program.
pub(crate) const UNITS: usize = 20;

/// What it takes to find where windows of 64 bytes may be loaded whole.
pub(crate) const EDGES: usize = 200;

/// What tables take by which whole lines are blended, once for a box, where squares of tiles go on without any.
const TABLES: usize = 120;

/// The rows of a box, copied run by run.
#[must_use]
pub fn rows(shape: &ByteBox) -> usize {
    let rows = shape.bytes() / shape.run.max(1);
    // Registers that overlap are loads and stores that move nothing new, of which those of a quarter of a line are the most
    // beside what they move.
    let overlap = match shape.run {
        17..32 => 2,
        run => usize::from(run < LINE && !run.is_power_of_two()),
    };
    rows.saturating_mul(ROW + ROW_LINE * shape.run.div_ceil(LINE) + overlap)
}

/// The same as it compares with everything but line programs, which are counted in parts of instructions that go on
/// beside each other: runs that are moved as one vector each take a clock or two.
#[must_use]
pub fn rows_in_clocks(shape: &ByteBox) -> usize {
    if shape.following().is_none() {
        return rows(shape);
    }
    let until = comes_back(shape, 0..LINE);
    let each = if until <= NEAREST {
        FOLLOWING
    } else {
        2 * FOLLOWING
    };
    shape.runs().saturating_mul(each)
}

/// The bytes of the lines that runs turn to before they come back to one of the source, by a dimension that moves so few bytes
/// there: if they are too many, the nearest cache does not have it any more.
pub(crate) fn comes_back(shape: &ByteBox, apart: Range<usize>) -> usize {
    let shares = |step: &Step| apart.contains(&step.src.unsigned_abs());
    let outer = shape.steps.iter().position(shares);
    LINE.saturating_mul(outer.map_or(1, |outer| extent(&shape.steps[outer + 1..])))
}

/// A copy of so many bytes, which is the least that anything costs.
#[must_use]
pub fn copy(bytes: usize) -> usize {
    ROW + ROW_LINE * bytes.div_ceil(LINE)
}

/// A transposition in register tiles, of which squares of whole lines take less where two of their permutations go on at
/// once.
#[must_use]
pub fn transpose(plane: &Plane, core: Core) -> usize {
    let whole_lines = plane.lanes == 4 && plane.per_lane > 1 && plane.has_squares();
    match core.turns_whole_lines() && whole_lines {
        true => in_tiles(plane) / 3 * 2,
        false => in_tiles(plane),
    }
}

fn in_tiles(plane: &Plane) -> usize {
    let k = plane.per_lane;
    let (rows, columns) = (plane.row.extent, plane.column.extent);
    let in_blocks = Plane::in_blocks(k, columns);
    let odd = (ELEMENT * (columns - in_blocks)).saturating_mul(rows);
    let odd = odd.saturating_mul(extent(&plane.outer));
    planes((rows, in_blocks), k, plane.lanes, &plane.outer).saturating_add(odd)
}

/// An element that is moved by itself in a loop that does nothing else.
const ELEMENT: usize = 4;

/// The same of sides that are several dimensions each.
#[must_use]
pub fn folded(folded: &Folded, target: &Target) -> usize {
    let masks = target.features >= Features::Avx512;
    let sides = (extent(&folded.rows), extent(&folded.columns));
    if folded.has_short_rows() && folded.lanes > 1 && !masks {
        // Each of their columns is looked at, since what is beside them may not be read.
        let lanes = sides.1.div_ceil(folded.per_lane);
        let each = 4 * (folded.per_lane + 4 * sides.0);
        return lanes
            .saturating_mul(each)
            .saturating_mul(extent(&folded.outer));
    }
    let cost = planes(sides, folded.per_lane, folded.lanes, &folded.outer);
    let cost = match target.core {
        // Where nothing waits for the nearest cache, to look up where each row lies does take time.
        Core::Cove if folded.per_lane <= 4 => cost / 8 * 9,
        _ => cost,
    };
    let outer = folded.outer.iter().rev();
    let steps: Steps = folded.rows.iter().chain(outer).copied().collect();
    let moved = lines_moved(target, sides.1 * 16 / folded.per_lane, &steps);
    cost.saturating_add(moved.saturating_mul(MOVED))
}

/// A line that moves from the second cache to the nearest or back.
const MOVED: usize = 10;

/// Planes of so many rows and columns, in tiles of `k` rows and as many columns as vectors of so many
/// lanes hold.
fn planes((rows, columns): (usize, usize), k: usize, lanes: usize, outer: &[Step]) -> usize {
    let (whole, left) = (columns / (k * lanes), (columns % (k * lanes)).div_ceil(k));
    // What is left of a row takes narrower vectors; where that is all, nothing goes on beside their stores.
    let each = if columns == k { ALONE } else { 2 };
    let narrow = each * k + k * k.ilog2() as usize;
    let lane = match lanes {
        1 => narrow,
        // Of a few rows, not all steps are needed.
        _ => (k * 10 / 4).min(k.max(8) / 2 * rows),
    };
    let rest = match left {
        0 => 0,
        _ => narrow.max(left * lane),
    };
    let blocks = rows.div_ceil(k) * (whole * lanes * lane + rest);
    match outer.is_empty() {
        true => blocks,
        false => (blocks + PLANE).saturating_mul(extent(outer)),
    }
}

/// What it takes to pack some bytes: their place, the store, and for each window that has some of them a
/// load, a shuffle and a blend.
const PACK: (usize, usize) = (2, 3);

/// A transposition whose rows step through the source, packed first.
#[must_use]
pub fn packed(plane: &Plane, bytes: usize) -> usize {
    // Wide vectors are shuffled in pairs.
    let shuffles = match plane.packed {
        LINE => plane.pairs(),
        _ => plane.windows(),
    };
    let pack = PACK.0 + PACK.1 * shuffles;
    in_tiles(plane).saturating_add(bytes.div_ceil(plane.packed).saturating_mul(pack))
}

/// A transposition of elements that are no power of two wide: a load and a store for each lane, and for each vector the shuffles
/// that spread its elements out, transpose them and press them together.
#[must_use]
pub fn widened(plane: &Plane) -> usize {
    let (k, lanes) = (plane.per_lane, plane.lanes.min(2));
    let shuffles = 2 + k.ilog2() as usize;
    let of = |step: &Step| step.extent.div_ceil(k);
    let blocks = of(&plane.row).saturating_mul(of(&plane.column));
    let all = blocks.saturating_mul(k * (2 * lanes + shuffles) / lanes);
    all.saturating_add(PLANE)
        .saturating_mul(extent(&plane.outer))
}

/// Channels that are split or joined: a load, a permutation and the steps of a square for every line of
/// cells, and a store for every channel.
#[must_use]
pub fn channels(plan: &Channels) -> usize {
    let unit = Channels::CELLS * (3 + Channels::CELLS.ilog2() as usize) + TURN;
    let units = plan.strip.long.extent.div_ceil(LINE);
    (unit * units + UNITS).saturating_mul(extent(&plan.strip.outer))
}

/// The same with blends: a load for every lane of each channel, the blends, a shuffle, the steps of a square, and a store. Of
/// one channel, only what it takes is done.
#[must_use]
pub fn blended(plan: &Blended, width: usize, core: Core) -> usize {
    let (channels, lanes) = (plan.odd * plan.even, plan.vector() / plan.lane);
    let each = match plan.strip.short.extent {
        1 => 4 * channels + plan.even,
        _ => channels * (2 + lanes + plan.blends() + plan.even.ilog2() as usize),
    };
    let units = plan.strip.long.extent.div_ceil(plan.vector() / width);
    let squares = plan.strip.pitch * width > LINE;
    let tables = if squares { TABLES } else { 0 };
    let planes = ((each + TURN) * units + UNITS).saturating_mul(extent(&plan.strip.outer));
    let cost = planes.saturating_add(tables);
    match core {
        Core::Cove if plan.lane == LINE && width == 4 && plan.is_scattered(width) => cost / 2 * 5,
        // As squares of whole lines.
        Core::Zen5 if plan.lane == LINE && width == 8 => cost / 4 * 3,
        _ => cost,
    }
}

/// So many units of short runs that are pressed together: a load, a shuffle and a store of each, most of which straddle
/// lines.
#[must_use]
pub fn pressed(units: usize) -> usize {
    units.saturating_mul(3).saturating_add(2 * UNITS)
}

/// Rows of so many parts that are woven, in so many vectors: a load of each part, of which some straddle lines, the shuffles
/// and a store.
#[must_use]
pub fn woven(vectors: usize, parts: usize) -> usize {
    vectors.saturating_mul(2 * parts + ROW_LINE)
}

/// Squares of elements: a load, a store and the steps of a square for every line of one, twice as much for either as in tiles,
/// since all of them straddle lines.
#[must_use]
pub fn squares(plan: &Squares) -> usize {
    let square = 2 * plan.side * (2 + plan.side.ilog2() as usize);
    let of = |step: &Step| step.extent.div_ceil(plan.side);
    let all = of(&plan.row).saturating_mul(of(&plan.column));
    let plane = square.saturating_mul(all).saturating_add(UNITS);
    plane.saturating_mul(extent(&plan.outer))
}

/// A unit of short rows joined to lines: a load for each, of which some straddle lines, and for each line its permutations and
/// a store, which takes as long as two. On an Intel core what permutes two windows is three instructions, and a line that
/// straddles two waits for both.
#[must_use]
pub fn joined(unit: &ShortRows, straddles: bool, core: Core) -> usize {
    let loads = unit.rows() + if straddles { unit.rows() / 4 } else { 0 };
    let (each, store) = match core {
        Core::Zen | Core::Zen5 => (1, ROW_LINE),
        Core::Cove => (2, 5),
    };
    let line = each * permutations(unit.windows()) + store;
    loads + unit.bytes.div_ceil(LINE) * line
}

/// A patch of pixels that are split. What it takes is the time of the nearest cache: a window or a vector that straddles lines
/// takes that twice or more, one of half a line less, and a vector that goes on where another one ends, too. Permutations go
/// on beside it, unless each is three instructions.
#[must_use]
pub fn pixels(patch: &Patch, channels: usize, core: Core) -> usize {
    let store = match (patch.vector() < LINE, patch.second) {
        (true, _) => 4,
        (false, Some(_)) => 6,
        (false, None) => 8,
    };
    let beside = match core {
        Core::Zen | Core::Zen5 => 0,
        Core::Cove => 2 * patch.pairs() + channels * permutations(patch.pairs()),
    };
    patch.windows * 7 / 2 + channels * store + beside
}

/// What the call of a leaf takes until it moves something.
pub(crate) const CALL: usize = 40;

/// Gathers: what their indices take, and what is moved for each.
pub(crate) mod gather {
    use super::{CALL, FOLLOWING, LINE, rows};
    use crate::byte_box::ByteBox;
    use crate::gather::Indices;
    use crate::picked::Counted;

    /// An index is loaded, looked at and becomes an offset.
    const INDEX: usize = 2;
    /// An element is loaded and put into a word.
    const ELEMENT: usize = 2;
    /// The same of sixteen that one instruction loads, which is counted as waiting less.
    const TOGETHER: usize = 3;
    /// What a table takes that is taken apart into registers: a start, each byte of it, and each index of so many eighths.
    const TABLE: (usize, usize, usize) = (500, 6, 8);
    /// An element at one point of a row, which takes a clock; a line that is put together, and so many bytes of it, which are of
    /// more windows the more they are; and what it takes to find where an element comes from, which serves all points.
    const POINT: usize = 4;
    const LINE_OF_POINTS: (usize, usize) = (8, 4);
    const PERMUTED: usize = 44;
    /// A window of 64 bytes that is permuted into a line, the line, one that is stored in part, and a window's table: lines are
    /// stored meanwhile. The same of 16 bytes, where they are more to do than windows.
    const KNOWN: (usize, usize, usize, usize) = (6, 0, 5, 4);
    const NARROW: (usize, usize, usize, usize) = (2, 4, 0, 5);
    /// What the call of precompiled code takes, and how many loads straight code has at most.
    const CALLED: usize = 96;
    pub(crate) const STRAIGHT: usize = 64;

    pub(crate) fn elements(indices: &Indices) -> usize {
        indices.extent.saturating_mul(INDEX + ELEMENT)
    }

    pub(crate) fn together(indices: &Indices) -> usize {
        indices.extent.saturating_mul(TOGETHER)
    }

    pub(crate) fn registers(indices: &Indices, run: usize) -> usize {
        let (start, byte, eighths) = TABLE;
        let table = start + byte * run * indices.norm.limit as usize;
        table.saturating_add(indices.extent.saturating_mul(eighths + run) / eighths)
    }

    pub(crate) fn following(indices: &Indices) -> usize {
        indices.extent.saturating_mul(INDEX + FOLLOWING)
    }

    pub(crate) fn runs(indices: &Indices, row: &ByteBox) -> usize {
        indices
            .extent
            .saturating_mul(rows(row).saturating_add(INDEX))
    }

    /// Points one by one.
    pub(crate) fn points(indices: &Indices, row: &ByteBox) -> usize {
        let moved = row.runs().saturating_mul(POINT);
        indices.extent.saturating_mul(moved.saturating_add(INDEX))
    }

    /// Points in lines of so many bytes, of so many rows together, of which it is found during the call what they are put together
    /// from.
    pub(crate) fn picked(indices: &Indices, row: &ByteBox, line: usize, rows: usize) -> usize {
        let picked = indices.extent.saturating_mul(row.run);
        let lines = picked.saturating_mul(rows).div_ceil(line);
        let (each, quarter) = LINE_OF_POINTS;
        let moved = each.saturating_mul(lines) / rows + picked / quarter;
        found(indices, rows).saturating_add(row.runs().saturating_mul(moved))
    }

    /// What it takes to find what so many rows together are put together from.
    fn found(indices: &Indices, rows: usize) -> usize {
        indices.extent.saturating_mul(INDEX + PERMUTED * rows)
    }

    /// Whether what is known, and costs so much, is not found once more for a source that begins elsewhere in a line: windows
    /// that straddle lines take a third longer.
    pub(crate) fn serve_anywhere(known: usize, indices: &Indices, rows: usize) -> bool {
        known / 3 < found(indices, rows)
    }

    /// So many points in lines of so many bytes, of which it is known what they are put together from, in so many turns, for
    /// each of which tables are loaded once.
    pub(crate) fn known(line: usize, of_each: Counted, points: usize, turns: usize) -> usize {
        let (window, whole, part, table) = if line == LINE { KNOWN } else { NARROW };
        let moved = window * of_each.windows + whole * of_each.lines + part * of_each.parts;
        let loaded = turns.saturating_mul(table * of_each.windows);
        points.saturating_mul(moved).saturating_add(loaded)
    }

    /// Whether so many loads for each point are worth code of their own in place of what costs so much. Two of eight bytes are
    /// stored a clock.
    pub(crate) fn pays(loads: usize, points: usize, run: usize, called: usize) -> bool {
        let each = if run == 8 { POINT / 2 } else { POINT };
        points.saturating_mul(each * loads) <= called.saturating_add(CALLED)
    }

    /// The same of vectors of sixteen bytes that cost so much by themselves. Those of words take seven tenths of the time of others
    /// that cost as much.
    pub(crate) fn vectors_pay(cost: usize, run: usize, called: usize) -> bool {
        let cost = if run == 4 { cost / 10 * 7 } else { cost };
        cost <= called
    }

    pub(crate) fn boxes(indices: &Indices, row: usize) -> usize {
        indices
            .extent
            .saturating_mul(row.saturating_add(INDEX + CALL))
    }
}

/// A line of sixteen bytes that is shuffled together from so many windows.
pub(crate) const fn narrow_line(windows: usize) -> usize {
    4 + 5 * windows
}

/// A unit of lines of 64 bytes: the part of the machine that has most to do decides, and everything
/// has to be issued. A store of a line takes as long as two loads.
pub(crate) const fn wide_unit(loads: usize, permutations: usize, stores: usize) -> usize {
    let most = if loads > permutations {
        loads
    } else {
        permutations
    };
    let most = if most > 2 * stores { most } else { 2 * stores };
    4 * most + loads + permutations + stores
}

/// What so many bytes cost more in lines of 64 bytes that straddle two of memory and do not go on where one of those ends.
pub(crate) const fn straddling(bytes: usize, core: Core) -> usize {
    let line = match core {
        Core::Zen5 => 3,
        Core::Zen | Core::Cove => 5,
    };
    bytes * line / LINE
}

/// A unit of lines of 64 bytes, of which each takes from all windows of the unit. These stay in registers; a table, a
/// mask, a permutation and a blend for each pair do not go on beside each other.
pub(crate) const fn shared_unit(windows: usize, lines: usize) -> usize {
    5 * lines * (1 + windows.div_ceil(2)) + 2 * windows
}

/// How many permutations and blends join so many windows of 64 bytes.
pub(crate) const fn permutations(windows: usize) -> usize {
    match windows {
        0..=2 => 1,
        3 => 2,
        _ => windows.div_ceil(2) * 2 - 1,
    }
}

/// Instructions that a turn of a loop takes beside those of its body: two pointers, a count, a branch.
pub(crate) const TURN: usize = 4;

/// And to begin one, in precompiled code.
pub(crate) const LOOP: usize = 2 * TURN;

/// What decides between code of its own and the call of a leaf. A call costs about as much as ten
/// instructions, and a leaf has the widest vectors; an instruction costs close to a microsecond to
/// compile.
pub(crate) mod inline {
    /// Runs that take so few loads and stores are not looked at for shuffles.
    pub(crate) const WORTH_A_SEARCH: usize = 8;
    /// Nor are boxes of more bytes than that.
    pub(crate) const LARGEST: usize = 2048;
    /// Instructions of tiles that a leaf takes longer for than they do, wherever rows begin: to cut a plane takes about as many.
    pub(crate) const FEW_TILES: usize = 300;
    /// Loads, stores and shuffles of a straight line that is worth its compilation, since a call
    /// would take longer than running it.
    pub(crate) const SHORT: usize = 64;
    /// Bytes of a single run that a Zen 5 moves by itself: it stores a line in the time of sixteen bytes, and the leaf has no
    /// walk to begin.
    pub(crate) const SHORT_RUN: usize = 128;
    /// The same for vectors with shuffles, which move sixteen bytes where a leaf has still to find
    /// out what it is to do.
    pub(crate) const SHORT_CELLS: usize = 128;
    /// The same where every shuffle is a single instruction, of words.
    pub(crate) const SHORT_WORDS: usize = 320;
    /// The same where vectors are put together from several others, and the most bytes of these: a leaf does as much in
    /// a fraction of the instructions.
    pub(crate) const SHORT_LINES: usize = 40;
    pub(crate) const LARGEST_LINES: usize = 64;
    /// The same for square tiles, in loops of a hundred instructions at most.
    pub(crate) const SHORT_TILES: usize = 160;
    /// The same for loops in place of a leaf, whatever the size of the box.
    pub(crate) const SHORT_LOOPS: usize = 256;
    /// Bytes of a row that a loop of plain loads and stores moves as fast as a leaf.
    pub(crate) const SHORT_ROW: usize = 16;
    /// Instructions that load, normalise and test one index.
    pub(crate) const INDEX: usize = 8;

    /// Loads (and as many stores) that move a run of so many bytes.
    #[must_use]
    pub const fn loads(run: usize) -> usize {
        if run >= 16 {
            run.div_ceil(16)
        } else if run.is_power_of_two() {
            1
        } else {
            2
        }
    }
}
pub use inline::loads;
