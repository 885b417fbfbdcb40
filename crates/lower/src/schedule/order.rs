//! The order of a box's digits and the form of its move.
//!
//! The destination decides: its lines are written whole, so digits go from the largest destination
//! stride to the smallest. One exception pays for itself: a digit that is contiguous in the source
//! moves next to the one that is contiguous in the destination, so that a tile of the two uses
//! whole lines on both sides.

use super::{Target, Why};
use crate::plan::PieceDigit;
use restride_loops::ir::{Dim, Form};
use restride_moves::{Crowded, Step};
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

/// A piece that is filled at `dst`, in the order that it has.
pub(super) fn filled(
    target: &Target,
    digits: impl Iterator<Item = Dim>,
    dst: i64,
    width: i64,
) -> Ordered {
    let dims: BoxDims = digits.collect();
    Ordered {
        lines_written: lines(target, dims.iter().map(|d| (d.extent, d.dst)), width),
        lines_read: 0,
        dst,
        src: 0,
        dims,
        form: Form::Elements,
        why: Why::Constant,
    }
}

/// The place of the digit with the longest steps in the destination.
pub(super) fn outermost(dims: &[Dim]) -> Option<usize> {
    (0..dims.len()).max_by_key(|&at| dims[at].dst)
}

fn form(target: &Target, dims: &mut BoxDims, width: i64, pass: i64) -> (Form, Why) {
    let Some(inner) = dims.last().copied() else {
        return (Form::Elements, Why::Single);
    };
    if inner.dst != 1 {
        return (Form::Elements, Why::Scattered);
    }
    let past = target.goes_past(pass);
    let patterns_past = past && written_run(dims, width) >= target.worth_past();
    if inner.src == 1 {
        let run = inner.extent * width;
        if past && run >= target.worth_past() || patterns_past && run < target.line {
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
    // A few rows that straddle lines wait for the parts of these at the ends of tiles longer than past the caches is saved.
    let along = dims[across];
    let whole_lines = along.dst.saturating_mul(width) % target.line == 0;
    let past = past && (whole_lines || along.extent * width >= target.line);
    let patterns_past = patterns_past && past;
    let tile = target.per_line(width) / 4;
    if inner.extent < tile.max(5) || along.extent < tile.max(5) {
        return match patterns_past {
            true => (Form::Stream, Why::PatternPastTheCaches),
            false => (Form::Lines, Why::Pattern),
        };
    }
    dims.remove(across);
    dims.insert(dims.len() - 1, along);
    let [row, column] = [along, inner].map(|dim| Step {
        extent: dim.extent as usize,
        dst: dim.dst.saturating_mul(width) as isize,
        src: dim.src.saturating_mul(width) as isize,
    });
    let past = past || whole_lines && target.goes_past_in_tiles(pass);
    // Short rows of narrow elements that follow each other are one run.
    let run = width <= 2 && along.dst == inner.extent;
    if past && (run || inner.extent * width >= target.worth_past()) {
        return (Form::Stream, Why::TransposedPastTheCaches);
    }
    match Crowded::of(target, width, &row, &column) {
        Some((_, apart)) => (Form::Staged, Why::Conflicting(apart)),
        None => (Form::Transpose, Why::Transposed),
    }
}

/// How many bytes are written without a gap.
pub(super) fn written_run(dims: &BoxDims, width: i64) -> i64 {
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
