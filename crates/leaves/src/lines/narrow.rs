//! Lines of 16 bytes for machines with byte shuffles but neither masks nor permutations of wide
//! registers: every window is shuffled by a table of its own and the results are joined.

use std::arch::x86_64::*;
use std::sync::Arc;

use restride_moves::ByteBox;
use restride_moves::lines::{NarrowLines, NarrowOp as Op, Units};

use super::row::{Behind, Middle, Row};
use crate::leaf::Leaf;
use crate::level::{Avx2, Body};
use crate::nest::{Nest, walk};

type Place = restride_moves::lines::Place<4>;

/// A line, together: two addresses to go on by would be felt.
struct PlacedLine {
    op: Op,
    place: Place,
}

pub(crate) struct NarrowParams {
    nest: Nest,
    row: Row,
    middle: Middle,
    /// Those of one window first,
    unit: Arc<[PlacedLine]>,
    /// of which there are so many.
    singles: usize,
}

/// The leaf of a program.
pub(crate) fn prepare(shape: &ByteBox, found: &Units<NarrowLines, usize>) -> Leaf {
    let Units { cut, lines, .. } = found;
    let places = lines.places.iter().copied();
    let line = |(op, place): (&Op, Place)| PlacedLine {
        op: op.clone(),
        place,
    };
    let is_single = |(op, _): &(&Op, Place)| op.tables[1] == Op::NONE;
    let all = lines.ops.iter().zip(places);
    let (singles, others): (Vec<_>, Vec<_>) = all.partition(is_single);
    let params = NarrowParams {
        nest: Nest::new(shape, (0, lines.start), &cut.outer),
        row: Row::new(cut),
        middle: Behind::new(cut).after(cut.steps),
        singles: singles.len(),
        unit: singles.into_iter().chain(others).map(line).collect(),
    };
    match (found.windows, params.singles) {
        (1, _) => Leaf::new::<Avx2, Narrow<1, 1>>(params),
        (2, 0) => Leaf::new::<Avx2, Narrow<2, 2>>(params),
        (2, _) => Leaf::new::<Avx2, Narrow<1, 2>>(params),
        (3, 0) => Leaf::new::<Avx2, Narrow<3, 3>>(params),
        (3, _) => Leaf::new::<Avx2, Narrow<1, 3>>(params),
        (_, 0) => Leaf::new::<Avx2, Narrow<4, 4>>(params),
        (..) => Leaf::new::<Avx2, Narrow<1, 4>>(params),
    }
}

/// # Safety
/// The windows of the line are readable relative to `src`, its bytes writable relative to `dst`.
#[inline(always)]
unsafe fn line<const J: usize>(
    dst: *mut u8,
    src: *const u8,
    PlacedLine { op, place }: &PlacedLine,
) {
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let mut line = part(src, op, place, 0);
        if J > 1 {
            line = _mm_or_si128(line, part(src, op, place, 1));
        }
        if J > 2 {
            line = _mm_or_si128(line, part(src, op, place, 2));
        }
        if J > 3 {
            line = _mm_or_si128(line, part(src, op, place, 3));
        }
        _mm_storeu_si128(dst.wrapping_offset(place.dst).cast(), line);
    }
}

/// # Safety
/// The window is readable.
#[inline(always)]
unsafe fn part(src: *const u8, op: &Op, place: &Place, at: usize) -> __m128i {
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let window = _mm_loadu_si128(src.wrapping_offset(place.src[at]).cast());
        _mm_shuffle_epi8(window, _mm_load_si128(op.tables[at].as_ptr().cast()))
    }
}

/// Lines of up to `J` windows, some of which are of `I`; two loops where all are alike would take a tenth longer.
struct Narrow<const I: usize, const J: usize>;

impl<const I: usize, const J: usize> Body for Narrow<I, J> {
    type Params = NarrowParams;

    fn elsewhere(params: &NarrowParams) -> usize {
        size_of_val(&*params.unit)
    }

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &NarrowParams) {
        // SAFETY: the body is run at AVX2; units lie in the caller's box, and windows in the units.
        unsafe {
            let singles = if I < J { params.singles } else { 0 };
            let (singles, others) = params.unit.split_at(singles);
            let unit = |to: *mut u8, from: *const u8| {
                for it in singles {
                    line::<I>(to, from, it);
                }
                for it in others {
                    line::<J>(to, from, it);
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
