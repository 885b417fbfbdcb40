//! Lines of 64 bytes: byte permutations of one to eight masked windows.

use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::ops::Range;

use super::program::{Line, lines};
use super::unit::{Cut, Segment};
use crate::leaf::Leaf;
use crate::level::{Avx512, Body};
use crate::nest::{Nest, walk};
use crate::shape::{Shape, Step};

/// More windows than this and a line is not worth it.
const MAX_WINDOWS: usize = 8;

const LINE: usize = 64;

/// One line, ready to run. Pairs of windows share a table; of pairs after the first, `blend` says
/// which bytes are theirs.
#[derive(Clone)]
#[repr(C, align(64))]
struct Op {
    tables: [[u8; LINE]; MAX_WINDOWS / 2],
    src: [isize; MAX_WINDOWS],
    load: [u64; MAX_WINDOWS],
    blend: [u64; MAX_WINDOWS / 2],
    dst: isize,
    store: u64,
    windows: usize,
}

pub(crate) struct WideParams {
    nest: Nest,
    reps: Step,
    /// Which of the whole units may load their windows without masks: those whose windows lie
    /// between the first and the last byte of the row.
    plain: Range<usize>,
    unit: Vec<Op>,
    tail: Vec<Op>,
}

/// The units of a row whose windows lie in the row, unmasked.
fn plain(cut: &Cut, unit: &[Op], tail: &[Op]) -> Range<usize> {
    let stride = cut.reps.src as i128;
    let count = cut.reps.extent as i128;
    let needed = |op: &Op, at: usize, rep: i128| {
        let window = op.src[at] as i128 + rep * stride;
        let low = window + i128::from(op.load[at].trailing_zeros());
        (low, window + 64 - i128::from(op.load[at].leading_zeros()))
    };
    let mut hull = (i128::MAX, i128::MIN);
    let ends = unit.iter().flat_map(|op| [(op, 0), (op, count - 1)]);
    for (op, rep) in ends.chain(tail.iter().map(|op| (op, count))) {
        for at in 0..op.windows {
            let (low, high) = needed(op, at, rep);
            hull = (hull.0.min(low), hull.1.max(high));
        }
    }
    let inside = |rep: i128| {
        unit.iter().all(|op| {
            op.src[..op.windows].iter().all(|&src| {
                let at = src as i128 + rep * stride;
                hull.0 <= at && at + LINE as i128 <= hull.1
            })
        })
    };
    // The inside is one stretch, and its ends are near those of the row.
    let first = (0..count.min(LINE as i128)).find(|&rep| inside(rep));
    let last = (0..count.min(LINE as i128)).find(|&back| inside(count - 1 - back));
    match (first, last) {
        (Some(first), Some(back)) if first < count - back => {
            first as usize..(count - back) as usize
        }
        _ => 0..0,
    }
}

/// Low `n` bits.
fn low_bits(n: usize) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

fn op(line: &Line) -> Op {
    let mut op = Op {
        tables: [[0; LINE]; MAX_WINDOWS / 2],
        src: [line.windows[0].src; MAX_WINDOWS],
        load: [0; MAX_WINDOWS],
        blend: [0; MAX_WINDOWS / 2],
        dst: line.dst,
        store: 0,
        windows: line.windows.len(),
    };
    for (at, window) in line.windows.iter().enumerate() {
        op.src[at] = window.src;
        op.load[at] = low_bits(window.end) & !low_bits(window.first);
    }
    for (to, from) in line.bytes.iter().enumerate() {
        if let &Some((window, at)) = from {
            op.store |= 1 << to;
            op.blend[window / 2] |= 1 << to;
            op.tables[window / 2][to] = (window % 2 * LINE + at) as u8;
        }
    }
    op
}

fn ops(segments: &[Segment]) -> Option<Vec<Op>> {
    let lines = lines(segments, LINE);
    lines
        .iter()
        .all(|line| line.windows.len() <= MAX_WINDOWS)
        .then(|| lines.iter().map(op).collect())
}

/// What a cut costs, in about micro-operations: of its unit and of its tail.
pub(crate) fn costs(cut: &Cut) -> Option<(usize, usize)> {
    // More than a few lines cannot keep their tables and offsets in registers.
    let of = |segments: &[Segment]| {
        let lines = lines(segments, LINE);
        let (base, per_window) = if lines.len() <= 3 { (3, 2) } else { (8, 4) };
        let windows: usize = lines.iter().map(|line| line.windows.len()).sum();
        let fits = lines.iter().all(|line| line.windows.len() <= MAX_WINDOWS);
        fits.then_some(base * lines.len() + per_window * windows)
    };
    Some((of(&cut.unit)?, of(&cut.tail)?))
}

/// The leaf of a cut.
pub(crate) fn prepare(shape: &Shape, cut: &Cut) -> Option<Leaf> {
    let (unit, tail) = (ops(&cut.unit)?, ops(&cut.tail)?);
    let params = WideParams {
        nest: Nest::new(shape.dst, shape.src, &cut.outer, shape.empty),
        reps: cut.reps,
        plain: plain(cut, &unit, &tail),
        unit,
        tail,
    };
    let windows = params.unit.iter().map(|op| op.windows).max()?;
    let full = params.unit.iter().all(|op| op.store == u64::MAX);
    Some(match windows {
        1 => of::<1>(params, full),
        2 => of::<2>(params, full),
        3 => of::<3>(params, full),
        4 => of::<4>(params, full),
        5 | 6 => of::<6>(params, full),
        _ => of::<8>(params, full),
    })
}

fn of<const J: usize>(params: WideParams, full: bool) -> Leaf {
    match full {
        true => of_stores::<J, true>(params),
        false => of_stores::<J, false>(params),
    }
}

fn of_stores<const J: usize, const FULL: bool>(params: WideParams) -> Leaf {
    match (J, params.unit.len()) {
        (0..=4, 1) => Leaf::new::<Avx512, Held<J, 1, FULL>>("lines", params),
        (0..=4, 2) => Leaf::new::<Avx512, Held<J, 2, FULL>>("lines", params),
        (0..=4, 3) => Leaf::new::<Avx512, Held<J, 3, FULL>>("lines", params),
        _ => Leaf::new::<Avx512, Listed<J, FULL>>("lines", params),
    }
}

/// A line of up to four windows, in registers as far as they reach. Plain fields, since arrays
/// would stay in memory.
#[derive(Clone, Copy)]
struct Few {
    table: (__m512i, __m512i),
    src: (isize, isize, isize, isize),
    load: (u64, u64, u64, u64),
    blend: u64,
    store: u64,
    dst: isize,
}

/// # Safety
/// Runs where AVX-512 is.
#[inline(always)]
unsafe fn few<const J: usize>(op: &Op) -> Few {
    // SAFETY: tables are 64 bytes and aligned.
    let table = |at: usize| unsafe { _mm512_load_si512(op.tables[at].as_ptr().cast()) };
    let first = table(0);
    Few {
        table: (first, if J > 2 { table(1) } else { first }),
        src: (op.src[0], op.src[1], op.src[2], op.src[3]),
        load: (op.load[0], op.load[1], op.load[2], op.load[3]),
        blend: op.blend[1],
        store: op.store,
        dst: op.dst,
    }
}

/// # Safety
/// The window, if `PLAIN` all of it and otherwise what is needed of it, is readable.
#[inline(always)]
unsafe fn window<const PLAIN: bool>(src: *const u8, at: isize, mask: u64) -> __m512i {
    let src = src.wrapping_offset(at).cast();
    // SAFETY: a masked load touches only the bytes of its mask.
    unsafe {
        match PLAIN {
            true => _mm512_loadu_si512(src),
            false => _mm512_maskz_loadu_epi8(mask, src.cast()),
        }
    }
}

/// # Safety
/// All 64 bytes at `dst`, or if not `FULL` those of the mask, are writable.
#[inline(always)]
unsafe fn store<const FULL: bool>(dst: *mut u8, mask: u64, line: __m512i) {
    // SAFETY: a masked store touches only the bytes of its mask.
    unsafe {
        match FULL {
            true => _mm512_storeu_si512(dst.cast(), line),
            false => _mm512_mask_storeu_epi8(dst.cast(), mask, line),
        }
    }
}

/// # Safety
/// The windows of the line are readable relative to `src`, its bytes writable relative to `dst`;
/// all 64 of them if `FULL`.
#[inline(always)]
unsafe fn few_windows<const J: usize, const PLAIN: bool, const FULL: bool>(
    dst: *mut u8,
    src: *const u8,
    op: &Few,
) {
    // SAFETY: the caller's.
    unsafe {
        let a = window::<PLAIN>(src, op.src.0, op.load.0);
        let line = if J == 1 {
            _mm512_permutexvar_epi8(op.table.0, a)
        } else {
            let b = window::<PLAIN>(src, op.src.1, op.load.1);
            _mm512_permutex2var_epi8(a, op.table.0, b)
        };
        let line = if J < 3 {
            line
        } else {
            let c = window::<PLAIN>(src, op.src.2, op.load.2);
            if J == 3 {
                _mm512_mask_permutexvar_epi8(line, op.blend, op.table.1, c)
            } else {
                let d = window::<PLAIN>(src, op.src.3, op.load.3);
                let both = _mm512_permutex2var_epi8(c, op.table.1, d);
                _mm512_mask_mov_epi8(line, op.blend, both)
            }
        };
        store::<FULL>(dst.wrapping_offset(op.dst), op.store, line);
    }
}

/// # Safety
/// As [`few_windows`].
#[inline(always)]
unsafe fn any_windows<const J: usize, const PLAIN: bool, const FULL: bool>(
    dst: *mut u8,
    src: *const u8,
    op: &Op,
) {
    // SAFETY: the caller's; tables are 64 bytes and aligned.
    unsafe {
        if J <= 4 {
            return few_windows::<J, PLAIN, FULL>(dst, src, &few::<J>(op));
        }
        let mut line = _mm512_setzero_si512();
        for pair in 0..J / 2 {
            let at = 2 * pair;
            let low = window::<PLAIN>(src, op.src[at], op.load[at]);
            let high = window::<PLAIN>(src, op.src[at + 1], op.load[at + 1]);
            let table = _mm512_load_si512(op.tables[pair].as_ptr().cast());
            let both = _mm512_permutex2var_epi8(low, table, high);
            line = _mm512_mask_mov_epi8(line, op.blend[pair], both);
        }
        store::<FULL>(dst.wrapping_offset(op.dst), op.store, line);
    }
}

/// # Safety
/// As [`few_windows`], for lines with masks.
#[inline(always)]
unsafe fn run_tail(dst: *mut u8, src: *const u8, ops: &[Op]) {
    for op in ops {
        // SAFETY: the caller's.
        unsafe {
            match op.windows {
                1 => any_windows::<1, false, false>(dst, src, op),
                2 => any_windows::<2, false, false>(dst, src, op),
                3 | 4 => any_windows::<4, false, false>(dst, src, op),
                _ => any_windows::<8, false, false>(dst, src, op),
            }
        }
    }
}

/// Runs a block for every unit of a range, and moves on.
macro_rules! units {
    ($to:ident, $from:ident, $range:expr, $reps:ident, $body:expr) => {
        for _ in $range {
            $body;
            $to = $to.wrapping_offset($reps.dst);
            $from = $from.wrapping_offset($reps.src);
        }
    };
}

/// A unit of one to three lines, all of whose tables are held in registers.
struct Held<const J: usize, const M: usize, const FULL: bool>(PhantomData<[(); J]>);

/// # Safety
/// As [`few_windows`], of `M` lines.
#[inline(always)]
unsafe fn held<const J: usize, const M: usize, const PLAIN: bool, const FULL: bool>(
    dst: *mut u8,
    src: *const u8,
    ops: &(Few, Few, Few),
) {
    // SAFETY: the caller's.
    unsafe {
        few_windows::<J, PLAIN, FULL>(dst, src, &ops.0);
        if M > 1 {
            few_windows::<J, PLAIN, FULL>(dst, src, &ops.1);
        }
        if M > 2 {
            few_windows::<J, PLAIN, FULL>(dst, src, &ops.2);
        }
    }
}

impl<const J: usize, const M: usize, const FULL: bool> Body for Held<J, M, FULL> {
    type Params = WideParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &WideParams) {
        let Some(unit) = params.unit.first_chunk::<M>() else {
            return;
        };
        let (reps, plain) = (params.reps, &params.plain);
        // SAFETY: the body is run at AVX-512; units and tails lie in the caller's box, and those of
        // the range `plain` with their whole windows.
        unsafe {
            let first = few::<J>(&unit[0]);
            let second = if M > 1 {
                few::<J>(&unit[M.min(2) - 1])
            } else {
                first
            };
            let ops = (
                first,
                second,
                if M > 2 { few::<J>(&unit[M - 1]) } else { first },
            );
            walk!(&params.nest, dst, src, |d, s| {
                let (mut to, mut from) = (d, s);
                units!(to, from, 0..plain.start, reps, {
                    held::<J, M, false, FULL>(to, from, &ops)
                });
                units!(to, from, plain.start..plain.end, reps, {
                    held::<J, M, true, FULL>(to, from, &ops)
                });
                units!(to, from, plain.end..reps.extent, reps, {
                    held::<J, M, false, FULL>(to, from, &ops)
                });
                run_tail(to, from, &params.tail);
            });
        }
    }
}

/// A unit of any number of lines.
struct Listed<const J: usize, const FULL: bool>(PhantomData<[(); J]>);

impl<const J: usize, const FULL: bool> Body for Listed<J, FULL> {
    type Params = WideParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &WideParams) {
        let (reps, plain, unit) = (params.reps, &params.plain, params.unit.as_slice());
        // SAFETY: as in `Held`.
        unsafe {
            walk!(&params.nest, dst, src, |d, s| {
                let (mut to, mut from) = (d, s);
                units!(to, from, 0..plain.start, reps, {
                    for op in unit {
                        any_windows::<J, false, FULL>(to, from, op);
                    }
                });
                units!(to, from, plain.start..plain.end, reps, {
                    for op in unit {
                        any_windows::<J, true, FULL>(to, from, op);
                    }
                });
                units!(to, from, plain.end..reps.extent, reps, {
                    for op in unit {
                        any_windows::<J, false, FULL>(to, from, op);
                    }
                });
                run_tail(to, from, &params.tail);
            });
        }
    }
}
