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

use restride_moves::{ByteBox, Masked, RaggedCut, Step};

use crate::lanes::{Lanes, transpose};
use crate::leaf::Leaf;
use crate::level::{Avx512, Body};
use crate::nest::{Nest, walk};

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
unsafe trait MaskedLanes: Lanes {
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
unsafe impl MaskedLanes for __m128i {
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
unsafe impl MaskedLanes for __m512i {
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

impl<V: MaskedLanes, const K: usize, const WHOLE: u8> Body for Ragged<V, K, WHOLE> {
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
unsafe fn tiles<V: MaskedLanes, const K: usize, const WHOLE: u8>(
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

/// The leaf of such a transposition.
pub(crate) fn prepare(shape: &ByteBox, cut: &RaggedCut) -> Leaf {
    let (width, per_lane) = (shape.run, 16 / shape.run);
    let (rows, columns) = (
        cut.row.extent.min(per_lane),
        cut.column.extent.min(per_lane),
    );
    let mask = |n: usize| u16::MAX >> (16 - n * width);
    let params = RaggedParams {
        nest: Nest::new(shape, cut.start, &cut.outer),
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
    match per_lane {
        16 => of::<16>(params, cut),
        8 => of::<8>(params, cut),
        _ => of::<4>(params, cut),
    }
}

fn of<const K: usize>(params: RaggedParams, cut: &RaggedCut) -> Leaf {
    fn leaf<V: MaskedLanes, const K: usize, const WHOLE: u8>(params: RaggedParams) -> Leaf {
        Leaf::new::<Avx512, Ragged<V, K, WHOLE>>(params)
    }
    match (cut.lanes, cut.masked) {
        (4, Masked::Destination) => leaf::<__m512i, K, SOURCE>(params),
        (4, Masked::Source) => leaf::<__m512i, K, DESTINATION>(params),
        (4, _) => leaf::<__m512i, K, NEITHER>(params),
        _ => leaf::<__m128i, K, NEITHER>(params),
    }
}
