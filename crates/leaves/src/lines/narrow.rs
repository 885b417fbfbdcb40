//! Lines of 16 bytes for machines with byte shuffles but neither masks nor permutations of wide
//! registers: every window is shuffled by a table of its own and the results are joined.
//!
//! Without masks, windows and vectors are moved back where they would leave the unit; a unit too
//! small for that, or with holes in its destination, has no such program.

use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::patterns::{Last, Lines, Pattern};
use super::program::{Vector, cover, whole_vectors};
use super::row::{Behind, Middle, Row};
use super::search::{self, Found, Way as _};
use super::unit::Unit;
use crate::leaf::Leaf;
use crate::level::{Avx2, Body};
use crate::nest::{Nest, walk};
use crate::shape::Shape;

/// More windows than this and a line is not worth it.
const MAX_WINDOWS: usize = 4;

/// The bytes of a line.
const LINE: usize = 16;
const SIZE: i32 = LINE as i32;

/// One line, ready to run. A table says for every byte where it lies in the window, or has its top
/// bit set where another window has it.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(16))]
pub(crate) struct Op {
    tables: [[u8; LINE]; MAX_WINDOWS],
    src: [isize; MAX_WINDOWS],
    dst: isize,
}

pub(crate) struct NarrowParams {
    nest: Nest,
    row: Row,
    middle: Middle,
    unit: Arc<[Op]>,
}

/// A way to run a unit: its lines.
pub(crate) struct Way {
    unit: Arc<[Op]>,
    windows: usize,
    last: Last<Op>,
}

impl search::Way for Way {
    type Op = Op;
    const SIZE: usize = LINE;
    const LEAST: usize = line_cost(1);

    fn ops(&self, pattern: &Pattern) -> Lines<Op> {
        let put_back = |op: &Op| Op {
            dst: pattern.dst.put_back(op.dst),
            src: op.src.map(|src| pattern.src.put_back(src)),
            ..op.clone()
        };
        let placed = || (self.unit.iter().map(put_back).collect(), 0);
        match pattern.is_unit() {
            true => (Arc::clone(&self.unit), 0),
            false => self.last.or_make(pattern, placed),
        }
    }

    fn least(vectors: usize, windows: usize) -> Option<usize> {
        let rest = vectors.saturating_sub(1) * line_cost(1);
        (windows <= MAX_WINDOWS).then(|| line_cost(windows) + rest)
    }

    fn of(unit: &Unit) -> Option<(Way, usize)> {
        let low = unit.elements.iter().map(|element| element.src).min()?;
        let high = unit.elements.iter().map(|element| element.src).max()?;
        let last = high + unit.run as i32 - SIZE;
        if low > last {
            return None;
        }
        let (mut ops, mut cost, mut most) = (Vec::new(), 0, 0);
        for line in &whole_vectors(unit)? {
            let windows = cover(std::slice::from_ref(line), MAX_WINDOWS)?;
            ops.push(op(line, &windows, low..=last));
            cost += line_cost(windows.len());
            most = most.max(windows.len());
        }
        let way = Way {
            unit: ops.into(),
            windows: most,
            last: Last::default(),
        };
        Some((way, cost))
    }
}

/// What a line costs, in about micro-operations.
const fn line_cost(windows: usize) -> usize {
    4 + 5 * windows
}

/// A line of windows that may start within `inside`.
fn op(line: &Vector<LINE>, windows: &[i32], inside: RangeInclusive<i32>) -> Op {
    let inside = |src: &i32| (*src).clamp(*inside.start(), *inside.end());
    // Windows that are not needed load the first one again and contribute nothing.
    let mut op = Op {
        tables: [[0x80; LINE]; MAX_WINDOWS],
        src: [windows.first().map_or(0, inside) as isize; MAX_WINDOWS],
        dst: line.dst as isize,
    };
    for (number, start) in windows.iter().enumerate() {
        let (moved, table) = (inside(start), &mut op.tables[number]);
        line.part(*start, windows.get(number + 1), |place, its, at| {
            if its {
                table[place] = at.wrapping_add((start - moved) as u8);
            }
        });
        op.src[number] = moved as isize;
    }
    op
}

/// The leaf of a program.
pub(crate) fn prepare(shape: &Shape, found: Found<Way>) -> Option<Leaf> {
    let Found { cut, pattern, way } = found;
    let params = NarrowParams {
        nest: Nest::new(shape.dst, shape.src, &cut.outer, shape.empty),
        row: Row::new(&cut),
        middle: Behind::new(&cut).after(cut.steps),
        unit: way.ops(&pattern).0,
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

    fn elsewhere(params: &NarrowParams) -> usize {
        size_of_val(&*params.unit)
    }

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &NarrowParams) {
        // SAFETY: the body is run at AVX2; units lie in the caller's box, and windows in the units.
        unsafe {
            let ops: &[Op] = &params.unit;
            let unit = |to: *mut u8, from: *const u8| {
                for op in ops {
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
