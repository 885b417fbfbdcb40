//! The order of a box's digits and the form of its move.
//!
//! The destination decides: its lines are written whole, so digits go from the largest destination
//! stride to the smallest. One exception pays for itself: a digit that is contiguous in the source
//! moves next to the one that is contiguous in the destination, so that a tile of the two uses
//! whole lines on both sides.

use super::{Target, Why};
use crate::plan::PieceDigit;
use restride_loops::ir::{Dim, Form};
use smallvec::SmallVec;

/// Dimensions of a box, outermost first.
pub(super) type BoxDims = SmallVec<[Dim; 4]>;

/// A box ready to be emitted.
#[derive(Clone, Debug)]
pub(super) struct Ordered {
    pub(super) dst: i64,
    pub(super) src: i64,
    pub(super) dims: BoxDims,
    pub(super) form: Form,
    pub(super) why: Why,
    pub(super) lines_read: i64,
    pub(super) lines_written: i64,
}

/// Orders the digits of a piece that reads at `src` and writes at `dst`, in elements of `width`
/// bytes. `pass` is how many bytes the whole stage reads and writes.
pub(super) fn order(
    target: &Target,
    digits: impl Iterator<Item = Dim>,
    (dst, src): (i64, i64),
    width: i64,
    pass: i64,
) -> Ordered {
    let mut ordered = Ordered {
        dst,
        src,
        dims: digits.filter(|d| d.extent > 1).collect(),
        form: Form::Elements,
        why: Why::Single,
        lines_read: 1,
        lines_written: 1,
    };
    for at in 0..ordered.dims.len() {
        let dim = &mut ordered.dims[at];
        // A digit that walks the destination backwards, or, transposed, the source: walk it from
        // its other end.
        if dim.dst < 0 || (dim.src == -1 && dim.dst != 1) {
            ordered.dst += (dim.extent - 1) * dim.dst;
            ordered.src += (dim.extent - 1) * dim.src;
            dim.dst = -dim.dst;
            dim.src = -dim.src;
        }
    }
    ordered
        .dims
        .sort_by_key(|d| std::cmp::Reverse(d.dst.unsigned_abs()));
    ordered.lines_read = lines(
        target,
        ordered.dims.iter().map(|d| (d.extent, d.src)),
        width,
    );
    ordered.lines_written = lines(
        target,
        ordered.dims.iter().map(|d| (d.extent, d.dst)),
        width,
    );
    (ordered.form, ordered.why) = form(target, &mut ordered.dims, width, pass);
    ordered
}

/// Elements of so many bytes are worth it wherever rows begin.
const WIDE: i64 = 8;

/// How many lines of a destination row are worth storing past the caches.
const STREAMED: i64 = 4;

fn form(target: &Target, dims: &mut BoxDims, width: i64, pass: i64) -> (Form, Why) {
    let Some(inner) = dims.last().copied() else {
        return (Form::Elements, Why::Single);
    };
    if inner.dst != 1 {
        return (Form::Elements, Why::Scattered);
    }
    let past = target.goes_past(pass);
    let patterns_past = past && written_run(dims, width) >= STREAMED * target.line;
    if inner.src == 1 {
        let run = inner.extent * width;
        if past && run >= STREAMED * target.line || patterns_past && run < target.line {
            return (Form::Stream, Why::PastTheCaches(run));
        }
        return (Form::Rows, Why::Run(run));
    }
    let Some(across) = dims.iter().position(|d| d.src == 1) else {
        return match patterns_past {
            true => (Form::Stream, Why::PatternPastTheCaches),
            false => (Form::Strided, Why::Step(inner.src)),
        };
    };
    let tile = target.per_line(width) / 4;
    if inner.extent < tile.max(5) || dims[across].extent < tile.max(5) {
        return match patterns_past {
            true => (Form::Stream, Why::PatternPastTheCaches),
            false => (Form::Lines, Why::Pattern),
        };
    }
    let along = dims.remove(across);
    dims.insert(dims.len() - 1, along);
    let apart = conflict(target, &inner, &along, width);
    let whole_lines = along.dst.saturating_mul(width) % target.line == 0;
    let gains = whole_lines || apart.is_some() || width >= WIDE;
    let soon = gains && target.goes_past_in_tiles(pass);
    if (past || soon) && inner.extent * width >= STREAMED * target.line {
        return (Form::Stream, Why::TransposedPastTheCaches);
    }
    match apart {
        Some(apart) => (Form::Staged, Why::Conflicting(apart)),
        None => (Form::Transpose, Why::Transposed),
    }
}

/// The bytes between rows of a transposition whose lines drive each other out of the nearest cache.
///
/// Lines that are used whole at the first visit may go. So it takes both sides, or lines that a
/// neighbouring block uses the rest of, for a stage to pay.
fn conflict(target: &Target, inner: &Dim, along: &Dim, width: i64) -> Option<i64> {
    let tile = target.per_line(width) / 4;
    if inner.extent.min(along.extent) < 2 * tile {
        return None;
    }
    let narrow = width < 4;
    let side = |stride: i64, extent: i64| {
        let apart = stride.saturating_mul(width).saturating_abs();
        let parts = apart % target.line != 0 || extent * width % target.line != 0;
        let visits = if parts && !narrow { 2 } else { 1 };
        let rows = target.per_line(width).max(UNDER_WAY);
        let most = target.l1 / target.l1_way / visits;
        let crowded =
            may_crowd(target, apart, rows, most) && lines_in_a_set(target, apart, rows) > most;
        (crowded, parts, apart)
    };
    let (crowded, parts, apart) = side(inner.src, along.extent);
    // Narrow elements are read in parts in any case.
    let sides = [
        (crowded, parts || narrow, apart),
        side(along.dst, inner.extent),
    ];
    let both = sides.iter().all(|(crowded, ..)| *crowded);
    let found = sides
        .iter()
        .find(|(crowded, parts, _)| *crowded && (both || *parts));
    found.map(|(.., apart)| *apart)
}

/// Whether so many rows, so many bytes apart, might touch one set of the nearest cache more than
/// `most` times: then two of them that are not far from each other lie within two lines of a way.
fn may_crowd(target: &Target, apart: i64, rows: i64, most: i64) -> bool {
    let way = target.l1_way.max(1);
    let step = apart % way;
    let mut at = 0;
    (0..rows / most.max(1)).any(|_| {
        at += step;
        at -= if at >= way { way } else { 0 };
        at.min(way - at) < 2 * target.line + way % target.line
    })
}

/// How many of the rows that a transposition has under way, so many bytes apart, touch one set of
/// the nearest cache.
fn lines_in_a_set(target: &Target, apart: i64, rows: i64) -> i64 {
    let sets = (target.l1_way / target.line).max(1) as usize;
    let mut touched: SmallVec<[u16; 64]> = SmallVec::from_elem(0, sets);
    let counts = touched.as_mut_slice();
    let mut most = 0;
    let mut touch = |set: usize| {
        if let Some(count) = counts.get_mut(set) {
            *count += 1;
            most = most.max(*count);
        }
    };
    // A division for each row would be most of what ordering costs.
    let shift = (target.line.count_ones() == 1).then(|| target.line.trailing_zeros());
    let two = apart % target.line != 0;
    let (step, mut at) = (apart % target.l1_way, 0);
    for _ in 0..rows {
        let mut set = match shift {
            Some(shift) => at >> shift,
            None => at / target.line,
        } as usize;
        // What is left of a way that is no number of lines is part of the first.
        if set >= sets {
            set -= sets;
        }
        touch(set);
        if two && sets > 1 {
            touch(if set + 1 < sets { set + 1 } else { 0 });
        }
        at += step;
        if at >= target.l1_way {
            at -= target.l1_way;
        }
    }
    most.into()
}

/// How many rows a transposition reads together at least.
const UNDER_WAY: i64 = 16;

/// How many bytes are written without a gap.
fn written_run(dims: &BoxDims, width: i64) -> i64 {
    dims.iter().rev().fold(width, |run, dim| {
        match dim.dst.checked_mul(width) == Some(run) {
            true => run.saturating_mul(dim.extent),
            false => run,
        }
    })
}

/// The distinct lines a box touches: digits that stay within a line of what finer digits cover
/// share its lines, every other digit multiplies them.
pub(super) fn lines(target: &Target, dims: impl Iterator<Item = (i64, i64)>, width: i64) -> i64 {
    let mut dims: SmallVec<[(i64, i64); 8]> = dims
        .map(|(extent, stride)| (extent, stride.saturating_abs()))
        .collect();
    dims.sort_by_key(|(_, stride)| *stride);
    let (mut reach, mut lines) = (width, 0);
    for (extent, stride) in dims {
        let bytes = stride.saturating_mul(width);
        if lines == 0 && bytes <= reach.max(target.line) {
            reach = bytes.saturating_mul(extent - 1).saturating_add(reach);
        } else if bytes > 0 {
            lines = whole_lines(target, reach, lines).saturating_mul(extent);
        }
    }
    whole_lines(target, reach, lines)
}

fn whole_lines(target: &Target, reach: i64, lines: i64) -> i64 {
    if lines > 0 {
        lines
    } else {
        reach / target.line + i64::from(reach % target.line != 0)
    }
}

/// The copy columns of a piece's digits.
pub(super) fn copied(digits: &[PieceDigit]) -> impl Iterator<Item = Dim> + '_ {
    digits.iter().map(|d| Dim {
        extent: d.extent,
        dst: d.dst,
        src: d.src,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_crowds_a_set_is_seen_at_once() {
        let (mut crowded, mut seen) = (0, 0);
        for (l1_way, line) in [(4096, 64), (4096, 128), (3 * 1024 + 16, 64), (64, 64)] {
            let target = Target {
                line,
                l1_way,
                ..Target::default()
            };
            for (apart, rows) in (0..9000).flat_map(|apart| [(apart, 16), (apart, 64)]) {
                for most in [2, 4, 6, 12] {
                    let may = may_crowd(&target, apart, rows, most);
                    let does = lines_in_a_set(&target, apart, rows) > most;
                    assert!(may || !does, "{rows} rows, {apart} apart, in {l1_way}");
                    crowded += usize::from(does);
                    seen += usize::from(may);
                }
            }
        }
        assert!(crowded > 1000 && seen < 4 * crowded, "{seen} for {crowded}");
    }
}
