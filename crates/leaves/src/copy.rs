//! Copying one run of `n` bytes, by classes of `n`.
//!
//! A class copies with as few registers as it can, and the registers at the end overlap those
//! before them instead of leaving a tail; so nothing outside the run is ever touched.

use std::marker::PhantomData;

use crate::vector::Vector;

/// A way to copy a run.
pub(crate) trait Copier: 'static {
    /// # Safety
    /// `n` is in the class; so many bytes are readable at `src` and writable at `dst`, apart.
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize);
}

/// Exactly one vector.
pub(crate) struct One<V>(PhantomData<V>);

impl<V: Vector> Copier for One<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, _n: usize) {
        // SAFETY: `n` is `V::BYTES`.
        unsafe { V::load(src).store(dst) }
    }
}

/// One to two vectors.
pub(crate) struct Two<V>(PhantomData<V>);

impl<V: Vector> Copier for Two<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        let last = n.wrapping_sub(V::BYTES);
        // SAFETY: `V::BYTES <= n <= 2 * V::BYTES`.
        unsafe {
            let (a, b) = (V::load(src), V::load(src.add(last)));
            a.store(dst);
            b.store(dst.add(last));
        }
    }
}

/// Two to four vectors.
pub(crate) struct Four<V>(PhantomData<V>);

impl<V: Vector> Copier for Four<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        let last = n.wrapping_sub(2 * V::BYTES);
        // SAFETY: `2 * V::BYTES <= n <= 4 * V::BYTES`.
        unsafe {
            let (a, b) = (V::load(src), V::load(src.add(V::BYTES)));
            let end = last.wrapping_add(V::BYTES);
            let (c, d) = (V::load(src.add(last)), V::load(src.add(end)));
            a.store(dst);
            b.store(dst.add(V::BYTES));
            c.store(dst.add(last));
            d.store(dst.add(end));
        }
    }
}

/// Four vectors and more: blocks of four, then the last four, overlapping.
pub(crate) struct Many<V>(PhantomData<V>);

impl<V: Vector> Copier for Many<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        let block = 4 * V::BYTES;
        let mut at = 0;
        // SAFETY: `n >= 4 * V::BYTES`; `at` stays below `n - block` in the loop, and the last block
        // ends at `n`.
        unsafe {
            let last = n.wrapping_sub(block);
            while at < last {
                four::<V>(dst.add(at), src.add(at));
                at = at.wrapping_add(block);
            }
            four::<V>(dst.add(last), src.add(last));
        }
    }
}

/// Long runs: whatever the platform's `memcpy` knows about them.
pub(crate) struct Libc;

impl Copier for Libc {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(src, dst, n) }
    }
}

/// The bytes of a line.
pub(crate) const LINE: usize = 64;

/// At least five lines, the inner ones stored past the caches.
pub(crate) struct Streamed<V>(PhantomData<V>);

impl<V: Vector> Copier for Streamed<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        // The first and the last line are stored normally; they overlap the aligned ones between.
        let last = n.wrapping_sub(LINE);
        // SAFETY: `n >= 5 * LINE`; the aligned lines begin at most `LINE` past the start and those
        // stored end at or before the end.
        unsafe {
            line::<V>(dst, src);
            let mut at = LINE.wrapping_sub(dst.addr() % LINE);
            while at <= last {
                let (dst, src) = (dst.add(at), src.add(at));
                for part in 0..LINE / V::BYTES {
                    V::load(src.add(part * V::BYTES)).stream(dst.add(part * V::BYTES));
                }
                at = at.wrapping_add(LINE);
            }
            line::<V>(dst.add(last), src.add(last));
        }
    }
}

/// A number of lines, stored past the caches if that is where lines begin.
pub(crate) struct WholeLines<V>(PhantomData<V>);

impl<V: Vector> Copier for WholeLines<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        let aligned = dst.addr().is_multiple_of(LINE);
        let mut at = 0;
        while at < n {
            // SAFETY: `n` is a multiple of a line and so of a vector.
            unsafe {
                let (dst, v) = (dst.add(at), V::load(src.add(at)));
                match aligned {
                    true => v.stream(dst),
                    false => v.store(dst),
                }
            }
            at = at.wrapping_add(V::BYTES);
        }
    }
}

/// # Safety
/// A line is readable at `src` and writable at `dst`.
#[inline(always)]
unsafe fn line<V: Vector>(dst: *mut u8, src: *const u8) {
    for part in 0..LINE / V::BYTES {
        // SAFETY: the caller's.
        unsafe { V::load(src.add(part * V::BYTES)).store(dst.add(part * V::BYTES)) }
    }
}

/// # Safety
/// Four vectors are readable at `src` and writable at `dst`.
#[inline(always)]
unsafe fn four<V: Vector>(dst: *mut u8, src: *const u8) {
    // SAFETY: the caller's.
    unsafe {
        let a = V::load(src);
        let b = V::load(src.add(V::BYTES));
        let c = V::load(src.add(2 * V::BYTES));
        let d = V::load(src.add(3 * V::BYTES));
        a.store(dst);
        b.store(dst.add(V::BYTES));
        c.store(dst.add(2 * V::BYTES));
        d.store(dst.add(3 * V::BYTES));
    }
}

/// Calls `$function::<$level, C>` with the class `C` of a run of `$n` bytes at a level.
macro_rules! with_copier {
    ($n:expr, $level:ty, $function:ident ($($argument:expr),*)) => {{
        use $crate::copy::*;
        type Wide<L> = <L as $crate::level::Level>::Wide;
        type Half<L> = <L as $crate::level::Level>::Half;
        let wide = <Wide<$level> as $crate::vector::Vector>::BYTES;
        match $n {
            1 => $function::<$level, One<u8>>($($argument),*),
            2 => $function::<$level, One<u16>>($($argument),*),
            3 => $function::<$level, Two<u16>>($($argument),*),
            4 => $function::<$level, One<u32>>($($argument),*),
            5..=7 => $function::<$level, Two<u32>>($($argument),*),
            8 => $function::<$level, One<u64>>($($argument),*),
            9..=15 => $function::<$level, Two<u64>>($($argument),*),
            16 => $function::<$level, One<$crate::level::Sixteen>>($($argument),*),
            17..=32 if wide == 16 => $function::<$level, Two<$crate::level::Sixteen>>($($argument),*),
            17..=31 => $function::<$level, Two<$crate::level::Sixteen>>($($argument),*),
            32 => $function::<$level, One<Half<$level>>>($($argument),*),
            33..=63 if wide > 16 => $function::<$level, Two<Half<$level>>>($($argument),*),
            64 if wide == 64 => $function::<$level, One<Wide<$level>>>($($argument),*),
            65..=128 if wide == 64 => $function::<$level, Two<Wide<$level>>>($($argument),*),
            n if n <= 2 * wide => $function::<$level, Two<Wide<$level>>>($($argument),*),
            n if n <= 4 * wide => $function::<$level, Four<Wide<$level>>>($($argument),*),
            n if n < $crate::copy::LONG => $function::<$level, Many<Wide<$level>>>($($argument),*),
            _ => $function::<$level, Libc>($($argument),*),
        }
    }};
}
pub(crate) use with_copier;

/// From how many bytes on a run is the platform's business.
pub(crate) const LONG: usize = 512 << 10;

/// The shortest run that is streamed.
pub(crate) const STREAMED: usize = 5 * 64;
