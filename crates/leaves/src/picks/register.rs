//! Registers that lines are put together in.

use std::arch::x86_64::*;

use super::points::{Points, points_at_avx2, points_at_avx512};
use crate::vector::Vector;

/// A register that a line is put together in.
pub(super) trait Register: Vector {
    /// The highest bit of a table where bytes are of other windows; where they are of this one, it is the other way about.
    const ELSEWHERE: u8;

    /// So many windows, or a store, take as long as so many elements one by one.
    const AS_LONG: (usize, usize);

    /// Moves lines at all points of a nest; needs the features of the level.
    const POINTS: Points;

    /// The bytes of a mask, or all of them where parts are not loaded.
    ///
    /// # Safety
    /// They are readable.
    #[inline(always)]
    unsafe fn load_part(from: *const u8, _mask: u64) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::load(from) }
    }

    /// The same for those that are stored.
    ///
    /// # Safety
    /// They are writable.
    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, _mask: u64) {
        // SAFETY: the caller's.
        unsafe { self.store(to) }
    }

    /// With bytes of a window where a table says so.
    fn with(self, table: Self, window: Self) -> Self;
}

impl Register for __m128i {
    const ELSEWHERE: u8 = 0x80;
    const AS_LONG: (usize, usize) = (1, 1);
    const POINTS: Points = points_at_avx2;

    #[inline(always)]
    fn with(self, table: Self, window: Self) -> Self {
        // SAFETY: only functions with these features use it. Nothing else of the line is there yet.
        unsafe { _mm_or_si128(self, _mm_shuffle_epi8(window, table)) }
    }
}

impl Register for __m512i {
    const ELSEWHERE: u8 = 0;
    const AS_LONG: (usize, usize) = (2, 3);
    const POINTS: Points = points_at_avx512;

    #[inline(always)]
    unsafe fn load_part(from: *const u8, mask: u64) -> Self {
        // SAFETY: the caller's.
        unsafe { _mm512_maskz_loadu_epi8(mask, from.cast()) }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut u8, mask: u64) {
        // SAFETY: the caller's.
        unsafe { _mm512_mask_storeu_epi8(to.cast(), mask, self) };
    }

    #[inline(always)]
    fn with(self, table: Self, window: Self) -> Self {
        // SAFETY: only functions with these features use it.
        unsafe {
            let here = _mm512_movepi8_mask(table);
            _mm512_mask_permutexvar_epi8(self, here, table, window)
        }
    }
}
