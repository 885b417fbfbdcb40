//! Lines of 16 bytes for machines with byte shuffles but neither masks nor permutations of wide
//! registers: every window is shuffled by a table of its own and the results are joined.
//!
//! Without masks, windows and vectors are moved back where they would leave the unit; a unit too
//! small for that, or with holes in its destination, has no such program.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::program::{Vectors, cover, place};
use super::row::{Middle, Row};
use super::search::{self, Found};
use super::unit::Segment;
use crate::leaf::Leaf;
use crate::level::{Avx2, Body};
use crate::nest::{Nest, walk};
use crate::shape::Shape;

/// More windows than this and a line is not worth it.
const MAX_WINDOWS: usize = 4;

/// The bytes of a line.
const LINE: usize = 16;
const SIZE: isize = LINE as isize;

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
fn whole_lines(unit: &[Segment]) -> Option<Vec<Vectors>> {
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
        let whole = (end - first.dst) / SIZE;
        let from = |dst: isize| move |segment: &Segment| clipped(segment, dst);
        if whole == 0 {
            return None;
        }
        let until = |segment: &Segment| before(segment, first.dst + whole * SIZE);
        let lines: Vec<Segment> = now.iter().filter_map(until).collect();
        all.push(Vectors::of(&lines, LINE));
        if first.dst + whole * SIZE < end {
            let last: Vec<Segment> = now.iter().filter_map(from(end - SIZE)).collect();
            all.push(Vectors::of(&last, LINE));
        }
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

/// What of a segment lies before an address of the destination.
fn before(segment: &Segment, end: isize) -> Option<Segment> {
    let len = segment.len.min((end - segment.dst).max(0).unsigned_abs());
    (len > 0).then_some(Segment { len, ..*segment })
}

/// A way to run a unit: its lines.
pub(crate) struct Way {
    unit: Vec<Op>,
    windows: usize,
}

impl search::Way for Way {
    const SIZE: usize = LINE;

    fn least(vectors: usize) -> usize {
        vectors * line_cost(1)
    }

    fn of(unit: &[Segment]) -> Option<(Way, usize)> {
        let low = unit.iter().map(|segment| segment.src).min()?;
        let high = unit.iter().map(Segment::end).max()?;
        if high - low < SIZE {
            return None;
        }
        let (mut ops, mut cost, mut most) = (Vec::new(), 0, 0);
        for vectors in &whole_lines(unit)? {
            for (dst, parts) in vectors.each() {
                let windows = cover::<SIZE>(parts, MAX_WINDOWS)?;
                ops.push(op(dst, parts, &windows, low, high));
                cost += line_cost(windows.len());
                most = most.max(windows.len());
            }
        }
        let windows = most;
        Some((Way { unit: ops, windows }, cost))
    }
}

/// What a line costs, in about micro-operations.
fn line_cost(windows: usize) -> usize {
    4 + 5 * windows
}

fn op(dst: isize, parts: &[Segment], windows: &[isize], low: isize, high: isize) -> Op {
    // Windows that are not needed load the first one again and contribute nothing.
    let inside = |src: &isize| (*src).clamp(low, high - SIZE);
    let mut op = Op {
        tables: [[0x80; LINE]; MAX_WINDOWS],
        src: [windows.first().map_or(low, inside); MAX_WINDOWS],
        dst,
    };
    for (to, from) in op.src.iter_mut().zip(windows) {
        *to = inside(from);
    }
    place::<SIZE>(dst, parts, windows, |to, window, at, len| {
        let moved = windows[window] - op.src[window] + at as isize;
        let table = &mut op.tables[window][to..to + len];
        for (byte, from) in table.iter_mut().zip(moved..) {
            *byte = from as u8;
        }
    });
    op
}

/// The leaf of a program.
pub(crate) fn prepare(shape: &Shape, found: Found<Way>) -> Option<Leaf> {
    let Found { cut, way } = found;
    let params = NarrowParams {
        nest: Nest::new(shape.dst, shape.src, &cut.outer, shape.empty),
        row: Row::new(&cut),
        middle: Row::middle(&cut)(cut.steps),
        unit: way.unit,
    };
    Some(match way.windows {
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
