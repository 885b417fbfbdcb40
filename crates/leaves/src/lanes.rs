//! Registers seen as lanes of sixteen bytes, and the transposition inside lanes.

use crate::vector::Vector;

/// A vector of one or more 16-byte lanes.
///
/// # Safety
/// As [`Vector`].
pub(crate) unsafe trait Lanes: Vector {
    /// How many.
    const LANES: usize;

    /// With half as many lanes; a single lane stays one.
    type Half: Lanes;

    /// Lane `i` from the place `i`; there are `LANES`, the rest plays no part.
    ///
    /// # Safety
    /// Sixteen bytes are readable at each of these.
    unsafe fn load_lanes(places: [*const u8; 4]) -> Self;

    /// Lane `i` to the place `i`, of as many.
    ///
    /// # Safety
    /// Sixteen bytes are writable at each of these.
    unsafe fn store_lanes(self, places: [*mut u8; 4]);

    /// Lane `i` of both, next to each other, to `dst + i * stride`.
    ///
    /// # Safety
    /// Thirty-two bytes are writable at each of these.
    unsafe fn store_joined(self, other: Self, dst: *mut u8, stride: isize);

    /// Lane `j` of vector `i` becomes lane `i` of vector `j`; there are `LANES` vectors, the rest of
    /// the array plays no part.
    fn swap_lanes(rows: [Self; 4]) -> [Self; 4];

    /// In every lane, the elements of `width` bytes of the lower halves of both, alternating.
    fn unpack_low(self, other: Self, width: usize) -> Self;

    /// As `unpack_low`, of the upper halves.
    fn unpack_high(self, other: Self, width: usize) -> Self;
}

/// Transposes, in every lane, the square of `K` registers of `K` elements.
#[inline(always)]
pub(crate) fn transpose<V: Lanes, const K: usize>(mut rows: [V; K]) -> [V; K] {
    let mut square = 1;
    while square < K {
        let before = rows;
        for i in 0..K / 2 {
            let (a, b) = (before[i], before[i + K / 2]);
            rows[2 * i] = a.unpack_low(b, 16 / K);
            rows[2 * i + 1] = a.unpack_high(b, 16 / K);
        }
        square *= 2;
    }
    rows
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Lanes;
    use crate::vector::Vector;

    macro_rules! unpacks {
        ($($w1:ident $w2:ident $w4:ident $w8:ident, $name:ident;)*) => { $(
            #[inline(always)]
            fn $name(self, other: Self, width: usize) -> Self {
                // SAFETY: the trait's: inlined only where the level has it.
                unsafe {
                    match width {
                        1 => $w1(self, other),
                        2 => $w2(self, other),
                        4 => $w4(self, other),
                        _ => $w8(self, other),
                    }
                }
            }
        )* };
    }

    // SAFETY: SSE2 is part of every level.
    unsafe impl Lanes for __m128i {
        const LANES: usize = 1;
        type Half = Self;
        #[inline(always)]
        unsafe fn load_lanes([place, ..]: [*const u8; 4]) -> Self {
            // SAFETY: the caller's.
            unsafe { Self::load(place) }
        }
        #[inline(always)]
        unsafe fn store_lanes(self, [place, ..]: [*mut u8; 4]) {
            // SAFETY: the caller's.
            unsafe { self.store(place) }
        }
        #[inline(always)]
        unsafe fn store_joined(self, other: Self, dst: *mut u8, _stride: isize) {
            // SAFETY: the caller's.
            unsafe {
                self.store(dst);
                other.store(dst.wrapping_add(16));
            }
        }
        #[inline(always)]
        fn swap_lanes(rows: [Self; 4]) -> [Self; 4] {
            rows
        }
        unpacks! {
            _mm_unpacklo_epi8 _mm_unpacklo_epi16 _mm_unpacklo_epi32 _mm_unpacklo_epi64, unpack_low;
            _mm_unpackhi_epi8 _mm_unpackhi_epi16 _mm_unpackhi_epi32 _mm_unpackhi_epi64, unpack_high;
        }
    }

    // SAFETY: used at the levels from AVX2 on.
    unsafe impl Lanes for __m256i {
        const LANES: usize = 2;
        type Half = __m128i;
        #[inline(always)]
        unsafe fn load_lanes([low, high, ..]: [*const u8; 4]) -> Self {
            // SAFETY: the caller's.
            unsafe {
                let low = _mm256_castsi128_si256(__m128i::load(low));
                _mm256_inserti128_si256::<1>(low, __m128i::load(high))
            }
        }
        #[inline(always)]
        unsafe fn store_lanes(self, [low, high, ..]: [*mut u8; 4]) {
            // SAFETY: the caller's.
            unsafe {
                _mm256_castsi256_si128(self).store(low);
                _mm256_extracti128_si256::<1>(self).store(high);
            }
        }
        #[inline(always)]
        unsafe fn store_joined(self, other: Self, dst: *mut u8, stride: isize) {
            // SAFETY: the caller's.
            unsafe {
                _mm256_permute2x128_si256::<0x20>(self, other).store(dst);
                _mm256_permute2x128_si256::<0x31>(self, other).store(dst.wrapping_offset(stride));
            }
        }
        #[inline(always)]
        fn swap_lanes(rows: [Self; 4]) -> [Self; 4] {
            let [a, b, c, d] = rows;
            // SAFETY: the trait's: inlined only where AVX2 is.
            unsafe {
                let low = _mm256_permute2x128_si256::<0x20>(a, b);
                [low, _mm256_permute2x128_si256::<0x31>(a, b), c, d]
            }
        }
        unpacks! {
            _mm256_unpacklo_epi8 _mm256_unpacklo_epi16 _mm256_unpacklo_epi32 _mm256_unpacklo_epi64,
            unpack_low;
            _mm256_unpackhi_epi8 _mm256_unpackhi_epi16 _mm256_unpackhi_epi32 _mm256_unpackhi_epi64,
            unpack_high;
        }
    }

    // SAFETY: used at the level AVX-512.
    unsafe impl Lanes for __m512i {
        const LANES: usize = 4;
        type Half = __m256i;
        #[inline(always)]
        unsafe fn load_lanes([a, b, c, d]: [*const u8; 4]) -> Self {
            // SAFETY: the caller's.
            unsafe {
                let low = __m256i::load_lanes([a, b, a, b]);
                let high = __m256i::load_lanes([c, d, c, d]);
                _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
            }
        }
        #[inline(always)]
        unsafe fn store_lanes(self, [a, b, c, d]: [*mut u8; 4]) {
            // SAFETY: the caller's.
            unsafe {
                _mm512_castsi512_si256(self).store_lanes([a, b, a, b]);
                _mm512_extracti64x4_epi64::<1>(self).store_lanes([c, d, c, d]);
            }
        }
        #[inline(always)]
        unsafe fn store_joined(self, other: Self, dst: *mut u8, stride: isize) {
            let at = |lane: isize| dst.wrapping_offset(stride.wrapping_mul(lane));
            // SAFETY: the caller's.
            unsafe {
                let low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
                let low = _mm512_permutex2var_epi64(self, low, other);
                let high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
                let high = _mm512_permutex2var_epi64(self, high, other);
                _mm512_castsi512_si256(low).store(at(0));
                _mm512_extracti64x4_epi64::<1>(low).store(at(1));
                _mm512_castsi512_si256(high).store(at(2));
                _mm512_extracti64x4_epi64::<1>(high).store(at(3));
            }
        }
        #[inline(always)]
        fn swap_lanes(rows: [Self; 4]) -> [Self; 4] {
            let [a, b, c, d] = rows;
            // SAFETY: the trait's: inlined only where AVX-512 is.
            unsafe {
                let (low0, high0) = (
                    _mm512_shuffle_i32x4::<0x44>(a, b),
                    _mm512_shuffle_i32x4::<0xee>(a, b),
                );
                let (low1, high1) = (
                    _mm512_shuffle_i32x4::<0x44>(c, d),
                    _mm512_shuffle_i32x4::<0xee>(c, d),
                );
                [
                    _mm512_shuffle_i32x4::<0x88>(low0, low1),
                    _mm512_shuffle_i32x4::<0xdd>(low0, low1),
                    _mm512_shuffle_i32x4::<0x88>(high0, high1),
                    _mm512_shuffle_i32x4::<0xdd>(high0, high1),
                ]
            }
        }
        unpacks! {
            _mm512_unpacklo_epi8 _mm512_unpacklo_epi16 _mm512_unpacklo_epi32 _mm512_unpacklo_epi64,
            unpack_low;
            _mm512_unpackhi_epi8 _mm512_unpackhi_epi16 _mm512_unpackhi_epi32 _mm512_unpackhi_epi64,
            unpack_high;
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod portable {
    use super::Lanes;
    use crate::vector::Vector;

    fn unpack(a: u128, b: u128, width: usize, half: usize) -> u128 {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        let mut out = [0; 16];
        for (i, out) in out.iter_mut().enumerate() {
            let element = i / width;
            let from = half * 8 + element / 2 * width + i % width;
            *out = if element % 2 == 0 { a[from] } else { b[from] };
        }
        u128::from_le_bytes(out)
    }

    // SAFETY: needs no particular level.
    unsafe impl Lanes for u128 {
        const LANES: usize = 1;
        type Half = Self;
        #[inline(always)]
        unsafe fn load_lanes([place, ..]: [*const u8; 4]) -> Self {
            // SAFETY: the caller's.
            unsafe { Self::from_le(Self::load(place)) }
        }
        #[inline(always)]
        unsafe fn store_lanes(self, [place, ..]: [*mut u8; 4]) {
            // SAFETY: the caller's.
            unsafe { self.to_le().store(place) }
        }
        #[inline(always)]
        unsafe fn store_joined(self, other: Self, dst: *mut u8, _stride: isize) {
            // SAFETY: the caller's.
            unsafe {
                self.to_le().store(dst);
                other.to_le().store(dst.wrapping_add(16));
            }
        }
        #[inline(always)]
        fn swap_lanes(rows: [Self; 4]) -> [Self; 4] {
            rows
        }
        #[inline(always)]
        fn unpack_low(self, other: Self, width: usize) -> Self {
            unpack(self, other, width, 0)
        }
        #[inline(always)]
        fn unpack_high(self, other: Self, width: usize) -> Self {
            unpack(self, other, width, 1)
        }
    }
}
