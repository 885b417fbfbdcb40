//! Elements of four or eight bytes from a table that the second cache holds, by instructions that load sixteen.

use std::arch::x86_64::*;

use super::names::{named, store, whole};
use super::{GatherFn, GatherParams};
use crate::copy::LINE;

/// How many are loaded at a time.
const EACH: usize = 16;

/// The gather of elements of so many bytes.
pub(super) fn entry(width: usize) -> GatherFn {
    match width {
        4 => elements::<4>,
        _ => elements::<8>,
    }
}

/// # Safety
/// As [`super::GatherLeaf::call`], of such elements.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi")]
unsafe extern "C" fn elements<const WIDTH: usize>(
    dst: *mut u8,
    src: *const u8,
    index: *const u8,
    params: *const u8,
) {
    // SAFETY: it is a gather's block.
    let params = unsafe { &*params.cast::<GatherParams>() };
    let norm = &params.norm;
    let src = src.wrapping_offset(params.start.1);
    let mut dst = dst.wrapping_offset(params.start.0);
    let width = norm.ty.width().bytes();
    let mut last = [0; LINE * 8];
    let (mut index, mut left) = (index, params.extent);
    while left > 0 {
        let count = left.min(EACH);
        // SAFETY: so many indices are left, and as many elements writable. The offsets of those that there are, are those
        // of elements of the table.
        unsafe {
            let from = whole(index, count * width, EACH * width, &mut last);
            let (names, there) = named(from, norm);
            let offsets = _mm512_mullo_epi32(names, _mm512_set1_epi32(params.coeff as i32));
            let zero = _mm512_setzero_si512();
            if WIDTH == 4 {
                let line = _mm512_mask_i32gather_epi32::<1>(zero, there, offsets, src.cast());
                store(dst, line, 4 * count);
            } else {
                // A mask is halved as a vector: half of one would be loaded from where all of it had just been stored.
                let exist = _mm512_movm_epi32(there);
                let (near, far) = (
                    _mm512_castsi512_si256(exist),
                    _mm512_extracti64x4_epi64::<1>(exist),
                );
                let (near, far) = (_mm256_movepi32_mask(near), _mm256_movepi32_mask(far));
                let first = _mm512_castsi512_si256(offsets);
                let last = _mm512_extracti64x4_epi64::<1>(offsets);
                let line = _mm512_mask_i32gather_epi64::<1>(zero, near, first, src.cast());
                store(dst, line, 8 * count);
                let line = _mm512_mask_i32gather_epi64::<1>(zero, far, last, src.cast());
                let bytes = (8 * count).saturating_sub(LINE);
                store(dst.wrapping_add(LINE), line, bytes);
            }
        }
        dst = dst.wrapping_add(EACH * WIDTH);
        index = index.wrapping_add(EACH * width);
        left = left.wrapping_sub(count);
    }
}
