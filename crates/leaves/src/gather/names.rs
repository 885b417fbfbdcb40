//! Which rows indices name, sixteen at a time.

use std::arch::x86_64::*;

use restride_loops::{IndexType, Norm};

use crate::copy::LINE;
use crate::once::read_once;

/// The rows that sixteen indices name, and which of these there are, of a table of fewer than 2^31.
///
/// # Safety
/// They are readable; it runs where AVX-512 is.
#[inline(always)]
pub(super) unsafe fn named(index: *const u8, norm: &Norm) -> (__m512i, __mmask16) {
    let Norm {
        ty, wrap, clamp, ..
    } = *norm;
    let wraps = if wrap && ty.is_signed() { u16::MAX } else { 0 };
    let least = if ty.is_signed() { 0 } else { i32::MIN };
    // SAFETY: the caller's.
    unsafe {
        let limit = _mm512_set1_epi32(norm.limit as i32);
        let values = sixteen(index, ty);
        let negative = _mm512_movepi32_mask(values) & wraps;
        let mut values = _mm512_mask_add_epi32(values, negative, values, limit);
        if clamp {
            let last = _mm512_set1_epi32((norm.limit as i32).wrapping_sub(1));
            values = _mm512_max_epi32(values, _mm512_set1_epi32(least));
            values = _mm512_min_epu32(values, last);
        }
        (values, _mm512_cmplt_epu32_mask(values, limit))
    }
}

/// Where so many bytes of indices are that may be read as if there were as many as `all`: where they lie, if there are,
/// or in a copy.
///
/// # Safety
/// There are so many bytes of them.
#[inline(always)]
pub(super) unsafe fn whole(
    index: *const u8,
    bytes: usize,
    all: usize,
    copy: &mut [u8; LINE * 8],
) -> *const u8 {
    if bytes >= all {
        return index;
    }
    for (at, to) in copy.iter_mut().enumerate().take(bytes) {
        // SAFETY: the caller's.
        *to = unsafe { read_once(index.wrapping_add(at)) };
    }
    copy.as_ptr()
}

/// Two halves of a register.
///
/// # Safety
/// It runs where the gather does.
#[inline(always)]
pub(super) unsafe fn both(low: __m256i, high: __m256i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high) }
}

/// Sixteen indices in as many bits as tell whether there is a row of such a number: the nearest value that they hold.
///
/// # Safety
/// They are readable; it runs where the gather does.
#[inline(always)]
unsafe fn sixteen(at: *const u8, ty: IndexType) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        match ty {
            IndexType::I8 => _mm512_cvtepi8_epi32(read_once(at)),
            IndexType::U8 => _mm512_cvtepu8_epi32(read_once(at)),
            IndexType::I16 => _mm512_cvtepi16_epi32(read_once(at)),
            IndexType::U16 => _mm512_cvtepu16_epi32(read_once(at)),
            IndexType::I32 | IndexType::U32 => read_once(at),
            IndexType::I64 => both(
                _mm512_cvtsepi64_epi32(read_once(at)),
                _mm512_cvtsepi64_epi32(read_once(at.wrapping_add(LINE))),
            ),
            IndexType::U64 => both(
                _mm512_cvtusepi64_epi32(read_once(at)),
                _mm512_cvtusepi64_epi32(read_once(at.wrapping_add(LINE))),
            ),
        }
    }
}

/// Stores the first so many bytes of a line, or all of it.
///
/// # Safety
/// They are writable; it runs where AVX-512 is.
#[inline(always)]
pub(super) unsafe fn store(dst: *mut u8, line: __m512i, bytes: usize) {
    // SAFETY: the caller's.
    unsafe {
        match bytes >= LINE {
            true => _mm512_storeu_si512(dst.cast(), line),
            false => _mm512_mask_storeu_epi8(dst.cast(), (1 << bytes) - 1, line),
        }
    }
}
