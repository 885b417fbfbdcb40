//! Lines of 16 bytes for machines with byte shuffles but neither masks nor permutations of wide
//! registers: every window is shuffled by a table of its own and the results are joined.
//!
//! Without masks, windows and vectors are moved back where they would leave the unit; a unit too
//! small for that, or with holes in its destination, has no such program.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::program::{Line, lines};
use super::row::{Middle, Row};
use super::unit::{Cut, Segment};
use crate::leaf::Leaf;
use crate::level::{Avx2, Body};
use crate::nest::{Nest, walk};
use crate::shape::Shape;

/// More windows than this and a line is not worth it.
const MAX_WINDOWS: usize = 4;

/// The bytes of a line.
const LINE: usize = 16;

/// One line, ready to run. A table says for every byte where it lies in the window, or has its top
/// bit set where another window has it.
#[derive(Clone)]
#[repr(C, align(16))]
struct Op {
    tables: [[u8; LINE]; MAX_WINDOWS],
    src: [isize; MAX_WINDOWS],
    dst: isize,
}

pub(crate) struct NarrowParams {
    nest: Nest,
    row: Row,
    middle: Middle,
    unit: Vec<Op>,
}

/// The unit with every stretch of its destination cut into whole lines, of which the last may
/// overlap the one before; nothing if a stretch is shorter than a line.
fn whole_lines(unit: &[Segment]) -> Option<Vec<Line>> {
    let mut all = Vec::new();
    let mut rest = unit;
    while let Some(first) = rest.first() {
        let mut end = first.dst;
        let stretch = rest
            .iter()
            .take_while(|segment| {
                let joins = segment.dst == end;
                end = segment.dst + segment.len as isize;
                joins
            })
            .count();
        let (now, later) = rest.split_at(stretch);
        rest = later;
        let end = now
            .last()
            .map_or(first.dst, |last| last.dst + last.len as isize);
        let mut cut = lines(now, LINE, MAX_WINDOWS)?;
        if cut
            .last()
            .is_some_and(|line| line.dst + LINE as isize > end)
        {
            cut.pop();
            let from = end - LINE as isize;
            if from < first.dst {
                return None;
            }
            let last: Vec<Segment> = now.iter().filter_map(|s| clipped(s, from)).collect();
            cut.append(&mut lines(&last, LINE, MAX_WINDOWS)?);
        }
        all.append(&mut cut);
    }
    Some(all)
}

/// What of a segment lies at or after an address of the destination.
fn clipped(segment: &Segment, from: isize) -> Option<Segment> {
    let skip = (from - segment.dst).max(0);
    let len = segment
        .len
        .checked_sub(skip.unsigned_abs())
        .filter(|&len| len > 0)?;
    Some(Segment {
        dst: segment.dst + skip,
        src: segment.src + skip,
        len,
    })
}

/// The first byte of the source that a unit reads, and the end of the last.
fn hull(unit: &[Segment]) -> (isize, isize) {
    let low = unit.iter().map(|segment| segment.src).min();
    let high = unit
        .iter()
        .map(|segment| segment.src + segment.len as isize)
        .max();
    (low.unwrap_or(0), high.unwrap_or(0))
}

/// The operations of a unit; nothing if it has no such program.
fn ops(unit: &[Segment]) -> Option<Vec<Op>> {
    let (low, high) = hull(unit);
    whole_lines(unit)?
        .iter()
        .map(|line| op(line, low, high))
        .collect()
}

fn op(line: &Line, low: isize, high: isize) -> Option<Op> {
    if line.windows.len() > MAX_WINDOWS {
        return None;
    }
    // Windows that are not needed load the first one again and contribute nothing.
    let inside = |src: isize| src.clamp(low, high - LINE as isize);
    let mut op = Op {
        tables: [[0x80; LINE]; MAX_WINDOWS],
        src: [inside(line.windows.first()?.src); MAX_WINDOWS],
        dst: line.dst,
    };
    for (at, window) in line.windows.iter().enumerate() {
        op.src[at] = inside(window.src);
    }
    for (to, from) in line.bytes.iter().enumerate() {
        let (window, at) = (*from)?;
        let src = line.windows[window].src + at as isize;
        op.tables[window][to] = u8::try_from(src - op.src[window]).ok()?;
    }
    Some(op)
}

/// What a unit costs, in about micro-operations.
pub(crate) fn costs(cut: &Cut) -> Option<usize> {
    let (low, high) = hull(&cut.unit);
    let lines = whole_lines(&cut.unit).filter(|_| high - low >= LINE as isize)?;
    let fits = lines.iter().all(|line| line.windows.len() <= MAX_WINDOWS);
    fits.then(|| lines.iter().map(|line| 4 + 5 * line.windows.len()).sum())
}

/// The leaf of a cut.
pub(crate) fn prepare(shape: &Shape, cut: &Cut) -> Option<Leaf> {
    let unit = ops(&cut.unit)?;
    let lines: Vec<Line> = whole_lines(&cut.unit)?;
    let windows = lines.iter().map(|line| line.windows.len()).max()?;
    let params = NarrowParams {
        nest: Nest::new(shape.dst, shape.src, &cut.outer, shape.empty),
        row: Row::new(cut),
        middle: Row::middle(cut, cut.steps),
        unit,
    };
    Some(match windows {
        1 => Leaf::new::<Avx2, Narrow<1>>("lines", params),
        2 => Leaf::new::<Avx2, Narrow<2>>("lines", params),
        3 => Leaf::new::<Avx2, Narrow<3>>("lines", params),
        _ => Leaf::new::<Avx2, Narrow<4>>("lines", params),
    })
}

/// # Safety
/// The windows of the line are readable relative to `src`, its bytes writable relative to `dst`.
#[inline(always)]
unsafe fn line<const J: usize>(dst: *mut u8, src: *const u8, op: &Op) {
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let mut line = part(src, op, 0);
        if J > 1 {
            line = _mm_or_si128(line, part(src, op, 1));
        }
        if J > 2 {
            line = _mm_or_si128(line, part(src, op, 2));
        }
        if J > 3 {
            line = _mm_or_si128(line, part(src, op, 3));
        }
        _mm_storeu_si128(dst.wrapping_offset(op.dst).cast(), line);
    }
}

/// # Safety
/// The window is readable.
#[inline(always)]
unsafe fn part(src: *const u8, op: &Op, at: usize) -> __m128i {
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let window = _mm_loadu_si128(src.wrapping_offset(op.src[at]).cast());
        _mm_shuffle_epi8(window, _mm_load_si128(op.tables[at].as_ptr().cast()))
    }
}

/// Lines of up to `J` windows.
struct Narrow<const J: usize>(PhantomData<[(); J]>);

impl<const J: usize> Body for Narrow<J> {
    type Params = NarrowParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &NarrowParams) {
        // SAFETY: the body is run at AVX2; units lie in the caller's box, and windows in the units.
        unsafe {
            let unit = |to: *mut u8, from: *const u8| {
                for op in &params.unit {
                    line::<J>(to, from, op);
                }
            };
            walk!(&params.nest, dst, src, |d, s| {
                unit(d, s);
                if let Some(last) = params.row.last {
                    let (mut to, mut from) = params.middle.start.from(d, s);
                    for _ in 0..params.middle.count {
                        unit(to, from);
                        (to, from) = params.row.unit.from(to, from);
                    }
                    let (to, from) = last.from(d, s);
                    unit(to, from);
                }
            });
        }
    }
}
