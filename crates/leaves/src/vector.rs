//! Registers: the units in which bytes are copied.

/// Something that is loaded and stored whole, at any alignment.
///
/// # Safety
/// The methods of a vector wider than the baseline's may only run, inlined, in functions compiled
/// for a level that has it.
pub(crate) unsafe trait Vector: Copy + 'static {
    /// Its size.
    const BYTES: usize;

    /// # Safety
    /// `BYTES` bytes at `src` are readable.
    unsafe fn load(src: *const u8) -> Self;

    /// # Safety
    /// `BYTES` bytes at `dst` are writable.
    unsafe fn store(self, dst: *mut u8);

    /// Stores past the caches where the machine can; a fence must follow before others may look.
    ///
    /// # Safety
    /// `BYTES` bytes at `dst` are writable and `dst` is a multiple of `BYTES`.
    #[inline(always)]
    unsafe fn stream(self, dst: *mut u8) {
        // SAFETY: the caller's.
        unsafe { self.store(dst) }
    }

    /// `pattern` repeated.
    fn splat(pattern: u128) -> Self;
}

macro_rules! integers {
    ($($ty:ty)*) => { $(
        // SAFETY: needs no particular level.
        unsafe impl Vector for $ty {
            const BYTES: usize = size_of::<$ty>();
            #[inline(always)]
            unsafe fn load(src: *const u8) -> Self {
                // SAFETY: the caller's.
                unsafe { src.cast::<$ty>().read_unaligned() }
            }
            #[inline(always)]
            unsafe fn store(self, dst: *mut u8) {
                // SAFETY: the caller's.
                unsafe { dst.cast::<$ty>().write_unaligned(self) }
            }
            #[inline(always)]
            fn splat(pattern: u128) -> Self {
                pattern as $ty
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 u128);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Vector;

    // SAFETY: SSE2 is part of every level.
    unsafe impl Vector for __m128i {
        const BYTES: usize = 16;
        #[inline(always)]
        unsafe fn load(src: *const u8) -> Self {
            // SAFETY: the caller's.
            unsafe { _mm_loadu_si128(src.cast()) }
        }
        #[inline(always)]
        unsafe fn store(self, dst: *mut u8) {
            // SAFETY: the caller's.
            unsafe { _mm_storeu_si128(dst.cast(), self) }
        }
        #[inline(always)]
        unsafe fn stream(self, dst: *mut u8) {
            // SAFETY: the caller's.
            unsafe { _mm_stream_si128(dst.cast(), self) }
        }
        #[inline(always)]
        fn splat(pattern: u128) -> Self {
            // SAFETY: SSE2 is always there.
            unsafe { _mm_set_epi64x((pattern >> 64) as i64, pattern as i64) }
        }
    }

    // SAFETY: used at the levels from AVX2 on.
    unsafe impl Vector for __m256i {
        const BYTES: usize = 32;
        #[inline(always)]
        unsafe fn load(src: *const u8) -> Self {
            // SAFETY: the caller's.
            unsafe { _mm256_loadu_si256(src.cast()) }
        }
        #[inline(always)]
        unsafe fn store(self, dst: *mut u8) {
            // SAFETY: the caller's.
            unsafe { _mm256_storeu_si256(dst.cast(), self) }
        }
        #[inline(always)]
        unsafe fn stream(self, dst: *mut u8) {
            // SAFETY: the caller's.
            unsafe { _mm256_stream_si256(dst.cast(), self) }
        }
        #[inline(always)]
        fn splat(pattern: u128) -> Self {
            // SAFETY: the trait's: only inlined where AVX2 is.
            unsafe { _mm256_broadcastsi128_si256(<__m128i as Vector>::splat(pattern)) }
        }
    }

    // SAFETY: used at the level AVX-512.
    unsafe impl Vector for __m512i {
        const BYTES: usize = 64;
        #[inline(always)]
        unsafe fn load(src: *const u8) -> Self {
            // SAFETY: the caller's.
            unsafe { _mm512_loadu_si512(src.cast()) }
        }
        #[inline(always)]
        unsafe fn store(self, dst: *mut u8) {
            // SAFETY: the caller's.
            unsafe { _mm512_storeu_si512(dst.cast(), self) }
        }
        #[inline(always)]
        unsafe fn stream(self, dst: *mut u8) {
            // SAFETY: the caller's.
            unsafe { _mm512_stream_si512(dst.cast(), self) }
        }
        #[inline(always)]
        fn splat(pattern: u128) -> Self {
            // SAFETY: the trait's: only inlined where AVX-512 is.
            unsafe { _mm512_broadcast_i32x4(<__m128i as Vector>::splat(pattern)) }
        }
    }
}

/// Makes what was streamed visible to everybody.
#[inline(always)]
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of every level.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Keeps the compiler from unrolling or vectorising the loop it stands in. That is for loops of
/// which it cannot know that they are short, or that the offsets of several turns at once do not
/// fit into registers.
#[inline(always)]
pub(crate) fn one_by_one() {
    // SAFETY: no instructions.
    unsafe { std::arch::asm!("", options(nomem, nostack, preserves_flags)) }
}

/// Asks for the line at `address`; any address is allowed.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    ask::<false>(address);
}

/// Asks for the line at `address`, into the nearest cache, or, with `FAR`, into the one behind it:
/// far more of those may be under way at once.
#[inline(always)]
pub(crate) fn ask<const FAR: bool>(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match FAR {
            true => _mm_prefetch::<_MM_HINT_T1>(address.cast()),
            false => _mm_prefetch::<_MM_HINT_T0>(address.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
