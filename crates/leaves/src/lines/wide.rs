//! Lines of 64 bytes: byte permutations of one to eight masked windows.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use super::program::{Line, lines};
use super::unit::Cut;
use crate::leaf::Leaf;
use crate::level::{Avx512, Body};
use crate::nest::{Nest, walk};
use crate::shape::{Shape, Step};

/// More windows than this and a line is not worth it.
pub(crate) const MAX_WINDOWS: usize = 8;

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
    unit: Vec<Op>,
    tail: Vec<Op>,
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
        op.load[at] = low_bits(window.len);
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

fn ops(segments: &[super::unit::Segment]) -> Option<Vec<Op>> {
    let lines = lines(segments, LINE);
    lines
        .iter()
        .all(|line| line.windows.len() <= MAX_WINDOWS)
        .then(|| lines.iter().map(op).collect())
}

/// The leaf of a cut.
pub(crate) fn prepare(shape: &Shape, cut: &Cut) -> Option<Leaf> {
    let params = WideParams {
        nest: Nest::new(shape.dst, shape.src, &cut.outer, shape.empty),
        reps: cut.reps,
        unit: ops(&cut.unit)?,
        tail: ops(&cut.tail)?,
    };
    let windows = params.unit.iter().map(|op| op.windows).max()?;
    Some(match (windows, params.unit.len()) {
        (1, 1) => Leaf::new::<Avx512, OneLine<1>>("line", params),
        (2, 1) => Leaf::new::<Avx512, OneLine<2>>("line", params),
        (3, 1) => Leaf::new::<Avx512, OneLine<3>>("line", params),
        (4, 1) => Leaf::new::<Avx512, OneLine<4>>("line", params),
        (1, _) => Leaf::new::<Avx512, Program<1>>("lines", params),
        (2, _) => Leaf::new::<Avx512, Program<2>>("lines", params),
        (3, _) => Leaf::new::<Avx512, Program<3>>("lines", params),
        (4, _) => Leaf::new::<Avx512, Program<4>>("lines", params),
        (5 | 6, _) => Leaf::new::<Avx512, Program<6>>("lines", params),
        _ => Leaf::new::<Avx512, Program<8>>("lines", params),
    })
}

/// The masks and tables of a line in registers, if it fits.
#[derive(Clone, Copy)]
struct Held {
    tables: [__m512i; MAX_WINDOWS / 2],
    load: [u64; MAX_WINDOWS],
    src: [isize; MAX_WINDOWS],
    blend: [u64; MAX_WINDOWS / 2],
    store: u64,
    dst: isize,
}

/// # Safety
/// Runs where AVX-512 is.
#[inline(always)]
unsafe fn hold<const J: usize>(op: &Op) -> Held {
    // SAFETY: tables are 64 bytes.
    unsafe {
        let mut tables = [_mm512_setzero_si512(); MAX_WINDOWS / 2];
        let mut pair = 0;
        while 2 * pair < J {
            tables[pair] = _mm512_load_si512(op.tables[pair].as_ptr().cast());
            pair += 1;
        }
        Held {
            tables,
            load: op.load,
            src: op.src,
            blend: op.blend,
            store: op.store,
            dst: op.dst,
        }
    }
}

/// # Safety
/// The windows of the line are readable relative to `src`, its bytes writable relative to `dst`.
#[inline(always)]
unsafe fn run_line<const J: usize>(dst: *mut u8, src: *const u8, op: &Held) {
    // SAFETY: masked loads and stores touch only the bytes of their masks.
    unsafe {
        let mut line = if J == 1 {
            _mm512_permutexvar_epi8(op.tables[0], load(src, op, 0))
        } else {
            _mm512_permutex2var_epi8(load(src, op, 0), op.tables[0], load(src, op, 1))
        };
        let mut pair = 1;
        while 2 * pair < J {
            let (low, table) = (load(src, op, 2 * pair), op.tables[pair]);
            line = if 2 * pair + 1 == J {
                _mm512_mask_permutexvar_epi8(line, op.blend[pair], table, low)
            } else {
                let high = load(src, op, 2 * pair + 1);
                let both = _mm512_permutex2var_epi8(low, table, high);
                _mm512_mask_mov_epi8(line, op.blend[pair], both)
            };
            pair += 1;
        }
        _mm512_mask_storeu_epi8(dst.wrapping_offset(op.dst).cast(), op.store, line);
    }
}

/// # Safety
/// The window is readable.
#[inline(always)]
unsafe fn load(src: *const u8, op: &Held, at: usize) -> __m512i {
    // SAFETY: the load touches only the bytes of its mask.
    unsafe { _mm512_maskz_loadu_epi8(op.load[at], src.wrapping_offset(op.src[at]).cast()) }
}

/// # Safety
/// As [`run_line`].
#[inline(always)]
unsafe fn run_tail(dst: *mut u8, src: *const u8, ops: &[Op]) {
    for op in ops {
        // SAFETY: the caller's.
        unsafe {
            match op.windows {
                1 => run_line::<1>(dst, src, &hold::<1>(op)),
                2 => run_line::<2>(dst, src, &hold::<2>(op)),
                3 | 4 => run_line::<4>(dst, src, &hold::<4>(op)),
                _ => run_line::<8>(dst, src, &hold::<8>(op)),
            }
        }
    }
}

/// A unit of one line: its table stays in registers.
struct OneLine<const J: usize>(PhantomData<[(); J]>);

impl<const J: usize> Body for OneLine<J> {
    type Params = WideParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &WideParams) {
        let reps = params.reps;
        let Some(op) = params.unit.first() else {
            return;
        };
        // SAFETY: the body is run at AVX-512; units and tails lie in the caller's box.
        unsafe {
            let op = hold::<J>(op);
            walk!(&params.nest, dst, src, |d, s| {
                let (mut to, mut from) = (d, s);
                let mut left = reps.extent;
                while left != 0 {
                    run_line::<J>(to, from, &op);
                    to = to.wrapping_offset(reps.dst);
                    from = from.wrapping_offset(reps.src);
                    left = left.wrapping_sub(1);
                }
                run_tail(to, from, &params.tail);
            });
        }
    }
}

/// A unit of several lines.
struct Program<const J: usize>(PhantomData<[(); J]>);

impl<const J: usize> Body for Program<J> {
    type Params = WideParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &WideParams) {
        let reps = params.reps;
        // SAFETY: the body is run at AVX-512; units and tails lie in the caller's box.
        unsafe {
            walk!(&params.nest, dst, src, |d, s| {
                let (mut to, mut from) = (d, s);
                let mut left = reps.extent;
                while left != 0 {
                    for op in &params.unit {
                        run_line::<J>(to, from, &hold::<J>(op));
                    }
                    to = to.wrapping_offset(reps.dst);
                    from = from.wrapping_offset(reps.src);
                    left = left.wrapping_sub(1);
                }
                run_tail(to, from, &params.tail);
            });
        }
    }
}
