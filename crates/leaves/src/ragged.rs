//! Transpositions one of whose sides is shorter than a register: a dozen channels, small squares.
//!
//! A tile has at most `K` rows and `K` columns, `K` being the elements in sixteen bytes. Its source
//! columns are loaded under a mask into lanes of sixteen bytes, the lanes are transposed, and its
//! destination rows are stored under a mask, so that exactly the tile's bytes are touched. Four
//! tiles go through the lanes of one register at a time: the tiles follow each other along the
//! longer side, where whole registers are contiguous on one of the two sides, or, if both sides are
//! short, along a dimension around them.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use crate::lanes::{Lanes, transpose};
use crate::leaf::Leaf;
use crate::level::{Avx512, Body};
use crate::nest::{Nest, walk};
use crate::shape::{Shape, Step, Steps};

pub(crate) struct RaggedParams {
    nest: Nest,
    /// Where tiles follow each other, in elements of the longer side or in tiles.
    along: Step,
    /// How many of these one register covers.
    group: usize,
    /// From lane to lane.
    lane: (isize, isize),
    /// Destination rows of a tile.
    rows: usize,
    dst: isize,
    /// Source columns of a tile.
    columns: usize,
    src: isize,
    /// Which bytes of a lane are loaded and stored.
    load: u16,
    store: u16,
}

/// Which side holds whole registers.
const NEITHER: u8 = 0;
const SOURCE: u8 = 1;
const DESTINATION: u8 = 2;

/// Lanes of which some bytes are loaded and stored.
///
/// # Safety
/// As [`Vector`], at the level AVX-512.
unsafe trait Masked: Lanes {
    /// The masked bytes of lane `i` from `src + i * stride`; the others are zero.
    ///
    /// # Safety
    /// The masked bytes are readable.
    unsafe fn load_masked(src: *const u8, stride: isize, mask: u16) -> Self;

    /// The masked bytes of lane `i` to `dst + i * stride`.
    ///
    /// # Safety
    /// The masked bytes are writable.
    unsafe fn store_masked(self, dst: *mut u8, stride: isize, mask: u16);
}

// SAFETY: used at the level AVX-512 only.
unsafe impl Masked for __m128i {
    #[inline(always)]
    unsafe fn load_masked(src: *const u8, _stride: isize, mask: u16) -> Self {
        // SAFETY: only the bytes of the mask are touched.
        unsafe { _mm_maskz_loadu_epi8(mask, src.cast()) }
    }
    #[inline(always)]
    unsafe fn store_masked(self, dst: *mut u8, _stride: isize, mask: u16) {
        // SAFETY: as above.
        unsafe { _mm_mask_storeu_epi8(dst.cast(), mask, self) }
    }
}

// SAFETY: used at the level AVX-512 only.
unsafe impl Masked for __m512i {
    #[inline(always)]
    unsafe fn load_masked(src: *const u8, stride: isize, mask: u16) -> Self {
        let at = |lane: isize| src.wrapping_offset(stride.wrapping_mul(lane)).cast();
        // SAFETY: only the bytes of the mask are touched.
        unsafe {
            let v = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(mask, at(0)));
            let v = _mm512_inserti32x4::<1>(v, _mm_maskz_loadu_epi8(mask, at(1)));
            let v = _mm512_inserti32x4::<2>(v, _mm_maskz_loadu_epi8(mask, at(2)));
            _mm512_inserti32x4::<3>(v, _mm_maskz_loadu_epi8(mask, at(3)))
        }
    }
    #[inline(always)]
    unsafe fn store_masked(self, dst: *mut u8, stride: isize, mask: u16) {
        let at = |lane: isize| dst.wrapping_offset(stride.wrapping_mul(lane)).cast();
        // SAFETY: as above.
        unsafe {
            _mm_mask_storeu_epi8(at(0), mask, _mm512_castsi512_si128(self));
            _mm_mask_storeu_epi8(at(1), mask, _mm512_extracti32x4_epi32::<1>(self));
            _mm_mask_storeu_epi8(at(2), mask, _mm512_extracti32x4_epi32::<2>(self));
            _mm_mask_storeu_epi8(at(3), mask, _mm512_extracti32x4_epi32::<3>(self));
        }
    }
}

struct Ragged<V, const K: usize, const WHOLE: u8>(PhantomData<V>);

impl<V: Masked, const K: usize, const WHOLE: u8> Body for Ragged<V, K, WHOLE> {
    type Params = RaggedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &RaggedParams) {
        let (along, group) = (params.along, params.group);
        // The last group overlaps the one before it where it must.
        let last = along.extent.wrapping_sub(group);
        walk!(&params.nest, dst, src, |d, s| {
            let mut next = 0usize;
            loop {
                let at = next.min(last) as isize;
                let d = d.wrapping_offset(along.dst.wrapping_mul(at));
                let s = s.wrapping_offset(along.src.wrapping_mul(at));
                // SAFETY: the tiles lie in the caller's box.
                unsafe { tiles::<V, K, WHOLE>(d, s, params) }
                if next >= last {
                    break;
                }
                next = next.wrapping_add(group);
            }
        });
    }
}

/// As many tiles as a register has lanes.
///
/// # Safety
/// The tiles are readable and writable.
#[inline(always)]
unsafe fn tiles<V: Masked, const K: usize, const WHOLE: u8>(
    dst: *mut u8,
    src: *const u8,
    params: &RaggedParams,
) {
    let (mut dst, mut src) = (dst, src);
    let mut square = [V::splat(0); K];
    // SAFETY: the caller's.
    unsafe {
        for (column, v) in square.iter_mut().enumerate() {
            if column < params.columns {
                *v = match WHOLE {
                    SOURCE => V::load(src),
                    _ => V::load_masked(src, params.lane.1, params.load),
                };
                src = src.wrapping_offset(params.src);
            }
        }
        for (row, v) in transpose(square).into_iter().enumerate() {
            if row < params.rows {
                match WHOLE {
                    DESTINATION => v.store(dst),
                    _ => v.store_masked(dst, params.lane.0, params.store),
                }
                dst = dst.wrapping_offset(params.dst);
            }
        }
    }
}

/// The two dimensions of a transposition, the tiles, and what is left around them.
struct Cut {
    row: Step,
    column: Step,
    along: Step,
    /// Elements of the longer side, or tiles, from lane to lane.
    apart: usize,
    whole: u8,
    lanes: usize,
    outer: Steps,
}

fn cut(shape: &Shape) -> Option<Cut> {
    let width = shape.run;
    if !matches!(width, 1 | 2 | 4) {
        return None;
    }
    let per_lane = 16 / width;
    let find = |stride: fn(&Step) -> isize| {
        let mut steps = shape.steps.iter();
        steps.position(|step| stride(step) == width as isize)
    };
    let (column_at, row_at) = (find(|step| step.dst)?, find(|step| step.src)?);
    let (row, column) = (shape.steps[row_at], shape.steps[column_at]);
    let (tall, wide) = (row.extent >= per_lane, column.extent >= per_lane);
    if column_at == row_at || tall && wide {
        return None;
    }
    let mut outer: Steps = shape.steps.clone();
    outer.remove(column_at.max(row_at));
    outer.remove(column_at.min(row_at));
    let (along, apart, whole) = match (tall, wide) {
        (true, _) => (row, per_lane, SOURCE),
        (_, true) => (column, per_lane, DESTINATION),
        _ => {
            let many = outer.iter().rposition(|step| step.extent >= 4);
            let step = many.map_or(
                Step {
                    extent: 1,
                    dst: 0,
                    src: 0,
                },
                |at| outer.remove(at),
            );
            (step, 1, NEITHER)
        }
    };
    let lanes = if along.extent >= 4 * apart { 4 } else { 1 };
    Some(Cut {
        row,
        column,
        along,
        apart,
        whole,
        lanes,
        outer,
    })
}

/// About how many micro-operations it takes, where it can be done.
pub(crate) fn cost(shape: &Shape) -> Option<usize> {
    let cut = cut(shape)?;
    let per_lane = 16 / shape.run;
    let of = |n: usize, side: u8| n * if cut.whole == side { 2 } else { 2 * cut.lanes };
    let tile = of(cut.column.extent.min(per_lane), SOURCE)
        + of(cut.row.extent.min(per_lane), DESTINATION)
        + per_lane * per_lane.ilog2() as usize * 3 / 2;
    let groups = cut.along.extent.div_ceil(cut.apart * cut.lanes);
    let around = cut.outer.iter();
    Some(around.fold(tile * groups, |n, step| n.saturating_mul(step.extent)))
}

/// The leaf of a shape that [`cost`] has a number for.
pub(crate) fn prepare(shape: &Shape) -> Option<Leaf> {
    let cut = cut(shape)?;
    let (width, per_lane) = (shape.run, 16 / shape.run);
    let (rows, columns) = (
        cut.row.extent.min(per_lane),
        cut.column.extent.min(per_lane),
    );
    let mask = |n: usize| u16::MAX >> (16 - n * width);
    let params = RaggedParams {
        nest: Nest::new(shape.dst, shape.src, &cut.outer, shape.empty),
        along: cut.along,
        group: cut.apart * cut.lanes,
        lane: (
            cut.along.dst.wrapping_mul(cut.apart as isize),
            cut.along.src.wrapping_mul(cut.apart as isize),
        ),
        rows,
        dst: cut.row.dst,
        columns,
        src: cut.column.src,
        load: mask(rows),
        store: mask(columns),
    };
    Some(match per_lane {
        16 => of::<16>(params, &cut),
        8 => of::<8>(params, &cut),
        _ => of::<4>(params, &cut),
    })
}

fn of<const K: usize>(params: RaggedParams, cut: &Cut) -> Leaf {
    fn leaf<V: Masked, const K: usize, const WHOLE: u8>(params: RaggedParams) -> Leaf {
        Leaf::new::<Avx512, Ragged<V, K, WHOLE>>("ragged", params)
    }
    match (cut.lanes, cut.whole) {
        (4, SOURCE) => leaf::<__m512i, K, SOURCE>(params),
        (4, DESTINATION) => leaf::<__m512i, K, DESTINATION>(params),
        (4, _) => leaf::<__m512i, K, NEITHER>(params),
        _ => leaf::<__m128i, K, NEITHER>(params),
    }
}
