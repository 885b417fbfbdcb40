//! Copying one run of `n` bytes, by classes of `n`.
//!
//! A class copies with as few registers as it can, and the registers at the end overlap those
//! before them instead of leaving a tail; so nothing outside the run is ever touched.

use std::marker::PhantomData;

use crate::level::Sixteen;
use crate::vector::{Vector, ask};

/// A way to copy a run.
pub(crate) trait Copier: 'static {
    /// How many runs a turn of a loop copies as their indices are read; none where that is nothing beside a run.
    const IN_A_TURN: usize = 0;

    /// # Safety
    /// `n` is in the class; so many bytes are readable at `src` and writable at `dst`, apart.
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize);

    /// The same, and asks for the first lines of the run at `later`, which need not exist: `asked`
    /// bytes of it, at most `n`.
    ///
    /// # Safety
    /// As [`Copier::copy`].
    #[inline(always)]
    unsafe fn copy_asking<const FAR: bool>(
        dst: *mut u8,
        src: *const u8,
        n: usize,
        later: *const u8,
        asked: usize,
    ) {
        ask_lines::<FAR>(later, asked);
        // SAFETY: the caller's.
        unsafe { Self::copy(dst, src, n) }
    }
}

/// Asks for the lines of so many bytes, at least one.
#[inline(always)]
pub(crate) fn ask_lines<const FAR: bool>(src: *const u8, bytes: usize) {
    ask::<FAR>(src);
    let mut at = LINE;
    while at < bytes {
        ask::<FAR>(src.wrapping_add(at));
        at = at.wrapping_add(LINE);
    }
}

/// Exactly one vector.
pub(crate) struct One<V>(PhantomData<V>);

/// As [`Copier::IN_A_TURN`], for runs of so many bytes at most: a turn takes as long as a few of the shortest.
const fn in_a_turn(run: usize) -> usize {
    if run <= LINE / 2 { 4 } else { 1 }
}

impl<V: Vector> Copier for One<V> {
    const IN_A_TURN: usize = in_a_turn(V::BYTES);

    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, _n: usize) {
        // SAFETY: `n` is `V::BYTES`.
        unsafe { V::load(src).store(dst) }
    }
}

/// More than `K - 1` vectors and at most `K`.
pub(crate) struct Straight<V, const K: usize>(PhantomData<V>);

impl<V: Vector, const K: usize> Copier for Straight<V, K> {
    const IN_A_TURN: usize = in_a_turn(K * V::BYTES);

    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        // SAFETY: `(K - 1) * V::BYTES < n <= K * V::BYTES`, and `K` is at least 2.
        unsafe { ending_at::<V, K>(dst, src, n) }
    }
}

/// Eight vectors and more: one where the run begins, then those that begin where the destination has a whole number of
/// vectors before it, in blocks of four, and one that ends where the run does. What comes from an allocator begins sixteen
/// bytes into a line, and a store that crosses lines is two; what begins with a vector is blocks from the first on.
pub(crate) struct Aligned<V>(PhantomData<V>);

impl<V: Vector> Copier for Aligned<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        // SAFETY: the caller's.
        unsafe { Self::copy_asking::<false>(dst, src, n, src, 0) }
    }

    #[inline(always)]
    unsafe fn copy_asking<const FAR: bool>(
        dst: *mut u8,
        src: *const u8,
        n: usize,
        later: *const u8,
        asked: usize,
    ) {
        let (block, last) = (4 * V::BYTES, n.wrapping_sub(V::BYTES));
        let mut at = dst.addr().wrapping_neg() % V::BYTES;
        // SAFETY: there are at least eight vectors, of which `at` has passed one at most; each block and each vector
        // ends before the run does.
        unsafe {
            if at != 0 {
                V::load(src).store(dst);
            }
            while n.wrapping_sub(at) >= block {
                // Between the copies, so that what is asked for does not hold them up.
                if at < asked {
                    ask_lines::<FAR>(later.wrapping_add(at), block);
                }
                ending_at::<V, 4>(dst.add(at), src.add(at), block);
                at = at.wrapping_add(block);
            }
            while at < last {
                V::load(src.add(at)).store(dst.add(at));
                at = at.wrapping_add(V::BYTES);
            }
            if at < n {
                V::load(src.add(last)).store(dst.add(last));
            }
        }
    }
}

/// Four vectors and more, however many: blocks of four, then the last four, overlapping.
pub(crate) struct Many<V>(PhantomData<V>);

impl<V: Vector> Copier for Many<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        let block = 4 * V::BYTES;
        let last = n.wrapping_sub(block);
        let mut at = 0;
        // SAFETY: `n >= 4 * V::BYTES`; `at` stays below `n - block` in the loop, and the last block
        // ends at `n`.
        unsafe {
            while at < last {
                ending_at::<V, 4>(dst.add(at), src.add(at), block);
                at = at.wrapping_add(block);
            }
            ending_at::<V, 4>(dst.add(last), src.add(last), block);
        }
    }
}

/// Copies `n` bytes as `K` vectors, of which the last ends where the run does, and overlaps what is
/// before it. All are loaded before the first is stored.
///
/// # Safety
/// `n` is at most `K` vectors and at least `K - 1`; so many bytes, and at least
/// a vector that ends with them, are readable at `src` and writable at `dst`.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "vectors behind an iterator are kept in memory"
)]
unsafe fn ending_at<V: Vector, const K: usize>(dst: *mut u8, src: *const u8, n: usize) {
    let last = n.wrapping_sub(V::BYTES);
    let start = |k: usize| if k + 1 == K { last } else { k * V::BYTES };
    // SAFETY: the caller's.
    unsafe {
        let mut vectors = [V::load(src.wrapping_add(start(0))); K];
        for k in 1..K {
            vectors[k] = V::load(src.wrapping_add(start(k)));
        }
        for k in 0..K {
            vectors[k].store(dst.wrapping_add(start(k)));
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

/// Less than a line.
///
/// # Safety
/// `n` is less than a line; so many bytes are readable at `src` and writable at `dst`.
#[inline(always)]
pub(crate) unsafe fn short(dst: *mut u8, src: *const u8, n: usize) {
    // SAFETY: the caller's.
    unsafe {
        match n {
            0 => {}
            1 => One::<u8>::copy(dst, src, n),
            2..=3 => ending_at::<u16, 2>(dst, src, n),
            4..=7 => ending_at::<u32, 2>(dst, src, n),
            8..=15 => ending_at::<u64, 2>(dst, src, n),
            16..=31 => ending_at::<Sixteen, 2>(dst, src, n),
            32..=47 => ending_at::<Sixteen, 3>(dst, src, n),
            _ => ending_at::<Sixteen, 4>(dst, src, n),
        }
    }
}

/// A number of lines, stored past the caches if that is where lines begin.
pub(crate) struct WholeLines<V>(PhantomData<V>);

impl<V: Vector> Copier for WholeLines<V> {
    #[inline(always)]
    unsafe fn copy(dst: *mut u8, src: *const u8, n: usize) {
        // SAFETY: the caller's.
        unsafe { Self::copy_asking::<false>(dst, src, n, src, 0) }
    }

    #[inline(always)]
    unsafe fn copy_asking<const FAR: bool>(
        dst: *mut u8,
        src: *const u8,
        n: usize,
        later: *const u8,
        asked: usize,
    ) {
        let aligned = dst.addr().is_multiple_of(LINE);
        let mut at = 0;
        while at < n {
            if at < asked && at.is_multiple_of(LINE) {
                ask::<FAR>(later.wrapping_add(at));
            }
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

/// Calls `$function::<$level, C>` with the class `C` of a run of `$n` bytes, less than a line.
macro_rules! with_short_copier {
    ($n:expr, $level:ty, $function:ident ($($argument:expr),*)) => {{
        use $crate::copy::*;
        type Half<L> = <L as $crate::level::Level>::Half;
        let half = <Half<$level> as $crate::vector::Vector>::BYTES;
        match $n {
            1 => $function::<$level, One<u8>>($($argument),*),
            2 => $function::<$level, One<u16>>($($argument),*),
            3 => $function::<$level, Straight<u16, 2>>($($argument),*),
            4 => $function::<$level, One<u32>>($($argument),*),
            5..=7 => $function::<$level, Straight<u32, 2>>($($argument),*),
            8 => $function::<$level, One<u64>>($($argument),*),
            9..=15 => $function::<$level, Straight<u64, 2>>($($argument),*),
            16 => $function::<$level, One<$crate::level::Sixteen>>($($argument),*),
            32 if half == 32 => $function::<$level, One<Half<$level>>>($($argument),*),
            17..=32 => $function::<$level, Straight<$crate::level::Sixteen, 2>>($($argument),*),
            // Halves of lines straddle two of them more often than not.
            33..=47 => $function::<$level, Straight<$crate::level::Sixteen, 3>>($($argument),*),
            n if n <= 2 * half => $function::<$level, Straight<Half<$level>, 2>>($($argument),*),
            n if n <= 3 * half => $function::<$level, Straight<Half<$level>, 3>>($($argument),*),
            _ => $function::<$level, Straight<Half<$level>, 4>>($($argument),*),
        }
    }};
}
pub(crate) use with_short_copier;

/// Calls `$function::<$level, C, V>` with the class `C` of a run of `$n` bytes and the next larger vector `V`, or, where
/// the level has none, `$other::<$level, C>`.
macro_rules! with_following {
    (
        $n:expr, $level:ty, $function:ident ($($argument:expr),*), $other:ident ($($others:expr),*)
    ) => {{
        use $crate::copy::*;
        type Sixteen = $crate::level::Sixteen;
        type Half<L> = <L as $crate::level::Level>::Half;
        let half = <Half<$level> as $crate::vector::Vector>::BYTES;
        match $n {
            3 => $function::<$level, Straight<u16, 2>, u32>($($argument),*),
            5..=7 => $function::<$level, Straight<u32, 2>, u64>($($argument),*),
            9..=15 => $function::<$level, Straight<u64, 2>, Sixteen>($($argument),*),
            17..=31 if half == 32 => {
                $function::<$level, Straight<Sixteen, 2>, Half<$level>>($($argument),*)
            }
            _ => with_copier!($n, $level, $other($($others),*)),
        }
    }};
}
pub(crate) use with_following;

/// Calls `$function::<$level, C>` with the class `C` of a run of `$n` bytes at a level.
macro_rules! with_copier {
    ($n:expr, $level:ty, $function:ident ($($argument:expr),*)) => {{
        use $crate::copy::*;
        type Wide<L> = <L as $crate::level::Level>::Wide;
        type Half<L> = <L as $crate::level::Level>::Half;
        let n: usize = $n;
        // Vectors that divide the run, if possible: misaligned ones all cross lines when they are
        // as wide as one.
        if n >= restride_moves::PLATFORM {
            $function::<$level, Libc>($($argument),*)
        } else if n < LINE {
            with_short_copier!(n, $level, $function($($argument),*))
        } else if n >= ALIGNED {
            $function::<$level, Aligned<Half<$level>>>($($argument),*)
        } else if n > LINE && n.is_multiple_of(LINE) {
            with_vectors!(Wide<$level>, n, $level, $function($($argument),*))
        } else {
            with_vectors!(Half<$level>, n, $level, $function($($argument),*))
        }
    }};
}
pub(crate) use with_copier;

/// As `with_copier`, for runs of a vector `$vector` and more as several of these.
macro_rules! with_vectors {
    ($vector:ty, $n:expr, $level:ty, $function:ident ($($argument:expr),*)) => {{
        match $n.div_ceil(<$vector as $crate::vector::Vector>::BYTES) {
            1 => $function::<$level, One<$vector>>($($argument),*),
            2 => $function::<$level, Straight<$vector, 2>>($($argument),*),
            3 => $function::<$level, Straight<$vector, 3>>($($argument),*),
            4 => $function::<$level, Straight<$vector, 4>>($($argument),*),
            5 => $function::<$level, Straight<$vector, 5>>($($argument),*),
            6 => $function::<$level, Straight<$vector, 6>>($($argument),*),
            7 => $function::<$level, Straight<$vector, 7>>($($argument),*),
            8 => $function::<$level, Straight<$vector, 8>>($($argument),*),
            _ => $function::<$level, Many<$vector>>($($argument),*),
        }
    }};
}
pub(crate) use with_vectors;

/// From so many bytes on it is worth a vector more to align the others.
pub(crate) const ALIGNED: usize = 256;
