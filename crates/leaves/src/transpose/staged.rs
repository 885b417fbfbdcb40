//! Through a padded tile on the stack, which rows leave in long runs.
//!
//! Where the rows of one side share a few sets of the nearest cache, no more lines of a set can be
//! under way than it has ways: a tile is wide enough on both sides that the lines that are under way
//! together spread over the sets. Where the destination is stored past the caches, rows leave in
//! whole lines only, whatever their alignment: what a tile knows of a line that it cannot finish it
//! leaves to its neighbour, and neighbours overlap by a line for that.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use restride_moves::{STAGED, pitch};

use super::TransposeParams;
use super::block::{Blocks, InBlocks, Rect, bands, panels, rectangle};
use super::side::{Apart, at};
use crate::copy::{Copier, LINE, Many};
use crate::lanes::Lanes;
use crate::level::Body;
use crate::nest::{walk, walk_rows};
use crate::stream::Streamed;
use crate::vector::{self, Vector, fence};

/// What is needed of the stack: the stage, and as much again as anything else takes at most.
pub(super) const ROOM: usize = STAGED + (16 << 10);

#[repr(C, align(64))]
pub(super) struct Stage(pub(super) [MaybeUninit<u8>; STAGED]);

/// Down the columns, so that a few rows of the source are read to their end before others: in
/// sequence, if the tile is as wide as a row. `PANELS`: by panels. `STREAM`: past the caches.
pub(super) struct Staged<V, const K: usize, const PANELS: bool, const STREAM: bool>(PhantomData<V>);

impl<V: Lanes, const K: usize, const PANELS: bool, const STREAM: bool> Body
    for Staged<V, K, PANELS, STREAM>
{
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        let mut stage = Stage([const { MaybeUninit::uninit() }; STAGED]);
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        let width = 16 / K;
        let rows = params.tile.0.min(params.rows);
        let columns = params.tile.1.min(params.columns);
        let pitch = pitch(columns * width);
        let ahead_per_row = columns.div_ceil(rows);
        let lines = touched(rows * width, params.src);
        walk!(&params.nest, dst, src, |dst, src| {
            for cut in Cuts::new::<STREAM>(dst, params, columns, width) {
                // All of the tile's columns, of which the cut is a part.
                let first = cut.first.min(params.columns.wrapping_sub(columns));
                for row in Blocks::new(params.rows, rows) {
                    let next_row = row.wrapping_add(rows);
                    let (next_row, next_column) = match next_row < params.rows {
                        true => (next_row, first),
                        false => (0, cut.end),
                    };
                    let mut ahead = at(src.cast_mut(), next_column, params.src, next_row * width);
                    let rect = Rect {
                        dst: Apart::new(stage, pitch as isize),
                        src: Apart::new(
                            at(src.cast_mut(), first, params.src, row * width),
                            params.src,
                        ),
                        rows,
                        columns,
                    };
                    // SAFETY: the tile lies in the box, is at least a block large, and was chosen
                    // to fit the stage.
                    unsafe {
                        match PANELS {
                            true => panels::<V, K>(rect),
                            false => rectangle::<V, K, InBlocks>(rect),
                        }
                    }
                    let mut from = stage.cast_const();
                    let mut to = at(dst, row, params.dst, first * width);
                    for _ in 0..rows {
                        if STREAM {
                            for _ in 0..ahead_per_row {
                                ask(ahead, lines);
                                ahead = ahead.wrapping_offset(params.src);
                            }
                        }
                        let (begin, end) = cut.bytes::<STREAM>(to, first, columns, width);
                        // SAFETY: the tile's row was just filled, and lies in the box.
                        unsafe {
                            leave::<V, STREAM>(
                                to.wrapping_add(begin),
                                from.wrapping_add(begin),
                                end.wrapping_sub(begin),
                            );
                        }
                        from = from.wrapping_add(pitch);
                        to = to.wrapping_offset(params.dst);
                    }
                }
            }
        });
        if STREAM {
            fence();
        }
    }
}

/// Rows of the source are copied together first, each in a long run, and are transposed from there to where they
/// belong.
pub(super) struct Collected<V, const K: usize, W>(PhantomData<(V, W)>);

/// How what was collected is written.
pub(super) trait Written: 'static {
    /// A few rows of the destination at a time, for which there are columns enough.
    const BANDS: bool = true;
    /// These are asked for while the rows of the source are.
    const ASKED: bool = false;
    /// They are stored past the caches, of which each line is a vector, or a few are under way: rows are a multiple of a
    /// line long and apart.
    const PAST: bool = false;
}

pub(super) struct ByRows;
impl Written for ByRows {
    const BANDS: bool = false;
}

pub(super) struct InBands;
impl Written for InBands {}

pub(super) struct AskedFor;
impl Written for AskedFor {
    const ASKED: bool = true;
}

pub(super) struct PastCaches;
impl Written for PastCaches {
    const PAST: bool = true;
}

impl<V: Lanes, const K: usize, W: Written> Body for Collected<V, K, W> {
    type Params = TransposeParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &TransposeParams) {
        let mut stage = Stage([const { MaybeUninit::uninit() }; STAGED]);
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        let width = 16 / K;
        let rows = params.tile.0;
        let [_, planes] = params.nest.plane();
        let row_bytes = rows * width;
        let pitch = pitch(row_bytes * planes.extent);
        // What follows each other in the source is one run.
        let (pieces, run) = match planes.src == row_bytes as isize {
            true => (1, row_bytes * planes.extent),
            false => (planes.extent, row_bytes),
        };
        walk_rows!(&params.nest, dst, src, |dst, src| {
            let (parts, count) = parts::<W>(dst, params.columns, width);
            for part in &parts[..count] {
                let columns = params.tile.1.min(part.columns);
                let lines = touched(columns * width, params.dst);
                for column in Blocks::new(part.columns, columns) {
                    let column = column.wrapping_add(part.first);
                    for row in Blocks::new(params.rows, rows) {
                        let first = at(dst, row, params.dst, column * width);
                        if W::ASKED {
                            let mut ahead = first;
                            for _ in 0..rows {
                                ask(ahead, lines);
                                ahead = ahead.wrapping_offset(params.dst);
                            }
                        }
                        let mut from = at(src.cast_mut(), column, params.src, row * width);
                        let mut to = stage;
                        for _ in 0..columns {
                            let (mut piece, mut place) = (from, to);
                            for _ in 0..pieces {
                                // SAFETY: a part of a row of the box, and one of the stage, for which the tile was chosen.
                                unsafe {
                                    match W::BANDS {
                                        true => fetch::<V>(place, piece, run),
                                        false => leave::<V, false>(place, piece, run),
                                    }
                                }
                                piece = piece.wrapping_offset(planes.src);
                                place = place.wrapping_add(run);
                            }
                            from = from.wrapping_offset(params.src);
                            to = to.wrapping_add(pitch);
                        }
                        let rect = Rect {
                            dst: Apart {
                                first,
                                stride: params.dst,
                            },
                            src: Apart::new(stage, pitch as isize),
                            rows,
                            columns,
                        };
                        // SAFETY: the tile lies in the box, is at least a block large, and was just filled. What goes past
                        // the caches begins with a line, and its columns are whole ones.
                        unsafe {
                            match W::BANDS {
                                true if W::PAST && part.past => bands::<V, K, true>(rect, planes),
                                true => bands::<V, K, false>(rect, planes),
                                false => rectangle::<V, K, InBlocks>(rect),
                            }
                        }
                    }
                }
            }
        });
        if W::PAST {
            fence();
        }
    }
}

/// Columns that are written in one way.
#[derive(Clone, Copy)]
struct Portion {
    first: usize,
    columns: usize,
    past: bool,
}

/// All columns in one part; where rows that go past the caches begin in the middle of a line, their ends are two more: a
/// line's columns each, of which some are written again.
#[inline(always)]
fn parts<W: Written>(dst: *mut u8, columns: usize, width: usize) -> ([Portion; 3], usize) {
    let (line, before) = (LINE / width, dst.addr().wrapping_neg() % LINE);
    let part = |first, columns, past| Portion {
        first,
        columns,
        past,
    };
    let all = part(0, columns, before == 0);
    if !W::PAST || before == 0 || !before.is_multiple_of(width) {
        return ([all, all, all], 1);
    }
    let inner = columns.wrapping_sub(line);
    let parts = [
        part(0, line, false),
        part(inner, line, false),
        part(before / width, inner, true),
    ];
    (parts, 3)
}

/// A row of a tile of a few lines; those of the next tile are asked for.
///
/// # Safety
/// `bytes` are readable at `src` and writable at `dst`, a vector at least.
#[inline(always)]
unsafe fn fetch<V: Vector>(dst: *mut u8, src: *const u8, bytes: usize) {
    ask(src.wrapping_add(bytes), 2);
    // SAFETY: the caller's. A length that is known here is copied without a loop.
    unsafe {
        match bytes == 2 * LINE {
            true => leave::<V, false>(dst, src, 2 * LINE),
            false => leave::<V, false>(dst, src, bytes),
        }
    }
}

/// Asks for so many lines of a row. The next tile of the source is asked for while this one leaves: stores past the caches
/// leave the ways to memory idle for reading.
#[inline(always)]
fn ask(row: *const u8, lines: usize) {
    for line in 0..lines {
        vector::ask::<true>(row.wrapping_add(line * LINE));
    }
}

/// How many lines so many bytes of rows touch that are so far apart: one more if these begin anywhere.
#[inline(always)]
fn touched(bytes: usize, apart: isize) -> usize {
    let begins_anywhere = !apart.unsigned_abs().is_multiple_of(LINE);
    bytes.div_ceil(LINE) + usize::from(begins_anywhere)
}

/// Which columns one tile after the other writes.
struct Cuts {
    first: usize,
    end: usize,
    step: usize,
    columns: usize,
}

/// The columns that a tile writes; it may have read more.
struct Cut {
    first: usize,
    end: usize,
    columns: usize,
}

impl Cuts {
    /// For tiles of so many columns. If all rows begin lines in the same column, cuts are there.
    #[inline(always)]
    fn new<const STREAM: bool>(
        dst: *mut u8,
        params: &TransposeParams,
        tile: usize,
        width: usize,
    ) -> Cuts {
        let (mut end, mut step) = (tile, tile);
        if STREAM && tile < params.columns {
            let line = LINE / width;
            let together = params.dst.unsigned_abs().is_multiple_of(LINE);
            if together && dst.addr().is_multiple_of(width) {
                end = end.wrapping_sub(dst.addr() % LINE / width);
            } else {
                step = step.wrapping_sub(line);
                end = step;
            }
        }
        Cuts {
            first: 0,
            end,
            step,
            columns: params.columns,
        }
    }
}

impl Iterator for Cuts {
    type Item = Cut;

    #[inline(always)]
    fn next(&mut self) -> Option<Cut> {
        if self.first >= self.columns {
            return None;
        }
        let cut = Cut {
            first: self.first,
            end: self.end.min(self.columns),
            columns: self.columns,
        };
        self.first = cut.end;
        self.end = cut.end.wrapping_add(self.step);
        Some(cut)
    }
}

impl Cut {
    /// The bytes of a row that are written, counted from the column `origin`, which lies at `row`:
    /// the whole tile, or the lines that begin in the cut.
    #[inline(always)]
    fn bytes<const STREAM: bool>(
        &self,
        row: *mut u8,
        origin: usize,
        tile: usize,
        width: usize,
    ) -> (usize, usize) {
        if !STREAM {
            return (0, tile * width);
        }
        let next_line = |column: usize| {
            let at = column.wrapping_sub(origin) * width;
            at.wrapping_add(row.addr().wrapping_add(at).wrapping_neg() % LINE)
        };
        let last = self.columns.wrapping_sub(origin) * width;
        let begin = if self.first == 0 {
            0
        } else {
            next_line(self.first)
        };
        let end = next_line(self.end).min(last);
        (begin.min(end), end)
    }
}

/// # Safety
/// `bytes` are readable at `src` and writable at `dst`; at least a vector, unless they are streamed.
#[inline(always)]
pub(super) unsafe fn leave<V: Vector, const STREAM: bool>(
    dst: *mut u8,
    src: *const u8,
    bytes: usize,
) {
    // SAFETY: the caller's; every vector ends at or before the end.
    unsafe {
        if STREAM {
            Streamed::<V>::copy(dst, src, bytes);
        } else if bytes >= 4 * V::BYTES {
            Many::<V>::copy(dst, src, bytes);
        } else {
            for at in Blocks::new(bytes, V::BYTES) {
                V::load(src.add(at)).store(dst.add(at));
            }
        }
    }
}
