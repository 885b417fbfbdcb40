//! What runs a unit: its constants in registers as far as they reach.
//!
//! The loops over units load nothing but windows. That matters beyond the count of instructions: in
//! loops that wait for memory, a few more loads per line cost a sixth of the speed.

use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::ptr;

use restride_moves::lines::{WideLines, WideOp as Op};

type Place = restride_moves::lines::Place<10>;

/// A way to run the lines of a unit.
pub(super) trait Kernel: 'static {
    /// Its constants.
    type Held: Copy;
    /// Whether all lines are written whole.
    const WHOLE_LINES: bool;
    /// Whether these stay in registers.
    const IN_REGISTERS: bool;

    /// # Safety
    /// There are as many lines and windows as the kernel is for; it runs where AVX-512 is.
    unsafe fn hold(lines: &WideLines) -> Self::Held;

    /// Runs a unit, whose lines are stored past the caches if they are whole and `PAST`.
    ///
    /// # Safety
    /// The windows of the unit, if `MASKED` what is needed of them and otherwise all of them, are
    /// readable relative to `src`, its bytes writable relative to `dst`. Lines that are stored past
    /// the caches are aligned.
    unsafe fn unit<const LOADS: u8, const PAST: bool>(
        dst: *mut u8,
        src: *const u8,
        held: &Self::Held,
    );
}

/// # Safety
/// Runs where AVX-512 is.
#[inline(always)]
unsafe fn table(op: &Op, pair: usize) -> __m512i {
    // SAFETY: tables are 64 bytes and aligned.
    unsafe { _mm512_load_si512(op.tables[pair].as_ptr().cast()) }
}

/// How windows are loaded: only what is needed of them,
pub(super) const MASKED: u8 = 0;
/// whole,
pub(super) const WHOLE: u8 = 1;
/// or whole in two halves, which a Zen 4 fetches three in a hundred faster from afar, and as fast from nearby.
pub(super) const HALVES: u8 = 2;

/// # Safety
/// The window, if `MASKED` what is needed of it and otherwise all of it, is readable.
#[inline(always)]
unsafe fn window<const LOADS: u8>(src: *const u8, at: isize, mask: u64) -> __m512i {
    let src = src.wrapping_offset(at);
    // SAFETY: a masked load touches only the bytes of its mask.
    unsafe {
        match LOADS {
            MASKED => _mm512_maskz_loadu_epi8(mask, src.cast()),
            HALVES => halves(src),
            _ => _mm512_loadu_si512(src.cast()),
        }
    }
}

/// Two halves of a line. The compiler would make one load of them if it knew that one is next to the other.
///
/// # Safety
/// The line is readable, and AVX-512 is there.
#[inline(always)]
unsafe fn halves(src: *const u8) -> __m512i {
    let mut half = 32usize;
    // SAFETY: no instructions; the halves are the caller's.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) half, options(pure, nomem, nostack, preserves_flags));
        let low = _mm512_castsi256_si512(_mm256_loadu_si256(src.cast()));
        _mm512_inserti64x4::<1>(low, _mm256_loadu_si256(src.wrapping_add(half).cast()))
    }
}

/// # Safety
/// All 64 bytes at `dst`, or if not `FULL` those of the mask, are writable; if `FULL` and `PAST`,
/// `dst` is aligned.
#[inline(always)]
unsafe fn store<const FULL: bool, const PAST: bool>(dst: *mut u8, mask: u64, line: __m512i) {
    // SAFETY: a masked store touches only the bytes of its mask.
    unsafe {
        match (FULL, PAST) {
            (true, true) => _mm512_stream_si512(dst.cast(), line),
            (true, false) => _mm512_storeu_si512(dst.cast(), line),
            (false, _) => _mm512_mask_storeu_epi8(dst.cast(), mask, line),
        }
    }
}

/// The constants of a line of up to four windows, apart from these. Plain fields, since arrays would
/// stay in memory.
#[derive(Clone, Copy)]
pub(super) struct Line {
    tables: (__m512i, __m512i),
    blend: u64,
    store: u64,
    dst: isize,
}

/// Where up to four windows are, from the first of the unit.
#[derive(Clone, Copy)]
pub(super) struct Windows {
    src: (isize, isize, isize, isize),
    load: (u64, u64, u64, u64),
}

/// Up to four windows.
type Loaded = (__m512i, __m512i, __m512i, __m512i);

/// # Safety
/// Runs where AVX-512 is.
#[inline(always)]
unsafe fn line<const J: usize>(op: &Op, place: &Place, at: usize) -> Line {
    // SAFETY: the caller's.
    unsafe {
        let first = table(op, 0);
        Line {
            tables: (first, if J > 2 { table(op, 1) } else { first }),
            blend: op.blend[1],
            store: op.store,
            dst: if at == 0 { 0 } else { place.dst },
        }
    }
}

#[inline(always)]
fn windows(op: &Op, place: &Place, at: usize) -> Windows {
    let first = if at == 0 { 0 } else { place.src[0] };
    Windows {
        src: (first, place.src[1], place.src[2], place.src[3]),
        load: (op.load[0], op.load[1], op.load[2], op.load[3]),
    }
}

/// What a line holds. Lines are not held by a closure: what runs it would be compiled once for all, without AVX-512,
/// and called. Nor are they in a loop, which would build them in memory: each has a place that is known.
///
/// # Safety
/// Runs where AVX-512 is.
#[inline(always)]
unsafe fn own<const J: usize>(lines: &WideLines, at: usize) -> (Windows, Line) {
    let (op, place) = (&lines.ops[at], &lines.places[at]);
    // SAFETY: the caller's.
    (windows(op, place, at), unsafe { line::<J>(op, place, at) })
}

/// # Safety
/// As [`window`], for `J` of them.
#[inline(always)]
unsafe fn load<const J: usize, const LOADS: u8>(src: *const u8, at: &Windows) -> Loaded {
    // SAFETY: the caller's.
    unsafe {
        let a = window::<LOADS>(src, at.src.0, at.load.0);
        (
            a,
            if J > 1 {
                window::<LOADS>(src, at.src.1, at.load.1)
            } else {
                a
            },
            if J > 2 {
                window::<LOADS>(src, at.src.2, at.load.2)
            } else {
                a
            },
            if J > 3 {
                window::<LOADS>(src, at.src.3, at.load.3)
            } else {
                a
            },
        )
    }
}

/// Joins `J` windows to a line.
///
/// # Safety
/// As [`store`], relative to `dst`.
#[inline(always)]
unsafe fn join<const J: usize, const FULL: bool, const PAST: bool>(
    dst: *mut u8,
    from: &Loaded,
    line: &Line,
) {
    let (a, b, c, d) = *from;
    let (low, high) = line.tables;
    // SAFETY: the caller's.
    unsafe {
        let bytes = if J == 1 {
            _mm512_permutexvar_epi8(low, a)
        } else {
            _mm512_permutex2var_epi8(a, low, b)
        };
        let bytes = match J {
            1 | 2 => bytes,
            3 => _mm512_mask_permutexvar_epi8(bytes, line.blend, high, c),
            _ => {
                let both = _mm512_permutex2var_epi8(c, high, d);
                _mm512_mask_mov_epi8(bytes, line.blend, both)
            }
        };
        store::<FULL, PAST>(dst.wrapping_offset(line.dst), line.store, bytes);
    }
}

/// `M` lines, at most three, of up to `J` windows of their own.
pub(super) struct Own<const J: usize, const M: usize, const FULL: bool>(PhantomData<[(); J]>);

impl<const J: usize, const M: usize, const FULL: bool> Kernel for Own<J, M, FULL> {
    type Held = [(Windows, Line); M];
    const WHOLE_LINES: bool = FULL;
    const IN_REGISTERS: bool = true;

    #[inline(always)]
    unsafe fn hold(lines: &WideLines) -> Self::Held {
        // SAFETY: the caller's.
        unsafe {
            let mut held = [own::<J>(lines, 0); M];
            if M > 1 {
                held[1] = own::<J>(lines, 1);
            }
            if M > 2 {
                held[2] = own::<J>(lines, 2);
            }
            held
        }
    }

    #[inline(always)]
    unsafe fn unit<const LOADS: u8, const PAST: bool>(
        dst: *mut u8,
        src: *const u8,
        held: &Self::Held,
    ) {
        for (windows, line) in held {
            // SAFETY: the caller's.
            unsafe { join::<J, FULL, PAST>(dst, &load::<J, LOADS>(src, windows), line) }
        }
    }
}

/// `M` lines, at most four, of the same `J` windows.
pub(super) struct Joint<const J: usize, const M: usize, const FULL: bool>(PhantomData<[(); J]>);

impl<const J: usize, const M: usize, const FULL: bool> Kernel for Joint<J, M, FULL> {
    type Held = (Windows, [Line; M]);
    const WHOLE_LINES: bool = FULL;
    const IN_REGISTERS: bool = true;

    #[inline(always)]
    unsafe fn hold(lines: &WideLines) -> Self::Held {
        // SAFETY: the caller's.
        unsafe {
            let (windows, first) = own::<J>(lines, 0);
            let mut held = [first; M];
            if M > 1 {
                held[1] = own::<J>(lines, 1).1;
            }
            if M > 2 {
                held[2] = own::<J>(lines, 2).1;
            }
            if M > 3 {
                held[3] = own::<J>(lines, 3).1;
            }
            (windows, held)
        }
    }

    #[inline(always)]
    unsafe fn unit<const LOADS: u8, const PAST: bool>(
        dst: *mut u8,
        src: *const u8,
        held: &Self::Held,
    ) {
        // SAFETY: the caller's.
        unsafe {
            let loaded = load::<J, LOADS>(src, &held.0);
            for line in &held.1 {
                join::<J, FULL, PAST>(dst, &loaded, line);
            }
        }
    }
}

/// One line of `PAIRS` of windows, more than two.
pub(super) struct OneLine<const PAIRS: usize, const FULL: bool>;

impl<const PAIRS: usize, const FULL: bool> Kernel for OneLine<PAIRS, FULL> {
    type Held = HeldPairs<PAIRS>;
    const WHOLE_LINES: bool = FULL;
    const IN_REGISTERS: bool = true;

    #[inline(always)]
    unsafe fn hold(lines: &WideLines) -> Self::Held {
        let (op, place) = (&lines.ops[0], &lines.places[0]);
        let pair = |pair: usize| HeldPair {
            // SAFETY: the caller's.
            table: unsafe { table(op, pair) },
            blend: op.blend[pair],
            src: (place.src[2 * pair], place.src[2 * pair + 1]),
            load: (op.load[2 * pair], op.load[2 * pair + 1]),
        };
        HeldPairs {
            pairs: std::array::from_fn(pair),
            store: op.store,
        }
    }

    #[inline(always)]
    unsafe fn unit<const LOADS: u8, const PAST: bool>(
        dst: *mut u8,
        src: *const u8,
        held: &Self::Held,
    ) {
        // SAFETY: the caller's.
        unsafe {
            let part = |pair: &HeldPair| {
                let low = window::<LOADS>(src, pair.src.0, pair.load.0);
                let high = window::<LOADS>(src, pair.src.1, pair.load.1);
                _mm512_permutex2var_epi8(low, pair.table, high)
            };
            let mut bytes = part(&held.pairs[0]);
            for pair in &held.pairs[1..] {
                bytes = _mm512_mask_mov_epi8(bytes, pair.blend, part(pair));
            }
            store::<FULL, PAST>(dst, held.store, bytes);
        }
    }
}

/// The constants of a line of so many pairs of windows.
#[derive(Clone, Copy)]
pub(super) struct HeldPairs<const PAIRS: usize> {
    pairs: [HeldPair; PAIRS],
    store: u64,
}

/// What a line takes of two windows.
#[derive(Clone, Copy)]
struct HeldPair {
    table: __m512i,
    blend: u64,
    src: (isize, isize),
    load: (u64, u64),
}

/// Any number of lines of the same windows, in `PAIRS`, with these in registers.
pub(super) struct Shared<const PAIRS: usize, const FULL: bool>;

impl<const PAIRS: usize, const FULL: bool> Kernel for Shared<PAIRS, FULL> {
    type Held = (*const Op, *const Place, usize);
    const WHOLE_LINES: bool = FULL;
    const IN_REGISTERS: bool = false;

    #[inline(always)]
    unsafe fn hold(lines: &WideLines) -> Self::Held {
        // SAFETY: the caller's.
        unsafe { Listed::<2, FULL>::hold(lines) }
    }

    #[inline(always)]
    unsafe fn unit<const LOADS: u8, const PAST: bool>(
        dst: *mut u8,
        src: *const u8,
        held: &Self::Held,
    ) {
        let (ops, places, count) = *held;
        // SAFETY: there is a line, and so many were held; the rest is the caller's.
        unsafe {
            let (first, place) = (&*ops, &*places);
            let mut pairs = [[_mm512_setzero_si512(); 2]; PAIRS];
            for (number, window) in pairs.as_flattened_mut().iter_mut().enumerate() {
                *window = self::window::<LOADS>(src, place.src[number], first.load[number]);
            }
            for at in 0..count {
                let (op, place) = (&*ops.add(at), &*places.add(at));
                let part = |pair: usize| {
                    let [low, high] = pairs[pair];
                    _mm512_permutex2var_epi8(low, table(op, pair), high)
                };
                let mut bytes = part(0);
                for pair in 1..PAIRS {
                    bytes = _mm512_mask_mov_epi8(bytes, op.blend[pair], part(pair));
                }
                store::<FULL, PAST>(dst.wrapping_offset(place.dst), op.store, bytes);
            }
        }
    }
}

/// Any number of lines of up to `J` windows of their own, with nothing in registers.
pub(super) struct Listed<const J: usize, const FULL: bool>(PhantomData<[(); J]>);

impl<const J: usize, const FULL: bool> Kernel for Listed<J, FULL> {
    type Held = (*const Op, *const Place, usize);
    const WHOLE_LINES: bool = FULL;
    const IN_REGISTERS: bool = false;

    #[inline(always)]
    unsafe fn hold(lines: &WideLines) -> Self::Held {
        (
            lines.ops.as_ptr(),
            lines.places.as_ptr(),
            lines.ops.len().min(lines.places.len()),
        )
    }

    #[inline(always)]
    unsafe fn unit<const LOADS: u8, const PAST: bool>(
        dst: *mut u8,
        src: *const u8,
        held: &Self::Held,
    ) {
        let (ops, places, count) = *held;
        for at in 0..count {
            // SAFETY: so many lines were held; the rest is the caller's.
            unsafe { any::<J, LOADS, FULL, PAST>(dst, src, &*ops.add(at), &*places.add(at)) }
        }
    }
}

/// # Safety
/// As [`Kernel::unit`], for one line.
#[inline(always)]
unsafe fn any<const J: usize, const LOADS: u8, const FULL: bool, const PAST: bool>(
    dst: *mut u8,
    src: *const u8,
    op: &Op,
    place: &Place,
) {
    // SAFETY: the caller's.
    unsafe {
        let only = (ptr::from_ref(op), ptr::from_ref(place), 1);
        match J {
            ..=4 => {
                let loaded = load::<J, LOADS>(src, &windows(op, place, 1));
                join::<J, FULL, PAST>(dst, &loaded, &line::<J>(op, place, 1));
            }
            5 | 6 => Shared::<3, FULL>::unit::<LOADS, PAST>(dst, src, &only),
            7 | 8 => Shared::<4, FULL>::unit::<LOADS, PAST>(dst, src, &only),
            _ => Shared::<5, FULL>::unit::<LOADS, PAST>(dst, src, &only),
        }
    }
}
