//! Woven rows with AVX2 and AVX-512.

use std::arch::x86_64::*;

use restride_moves::{Repeated, Strands, Vectors, Woven};

use crate::lanes::Lanes;
use crate::leaf::Leaf;
use crate::level::{Avx2, Avx512, Body, Level};
use crate::vector::one_by_one;

const PARTS: usize = Woven::PARTS;

type Sources = [*const u8; PARTS];

/// How vectors are put together.
trait Loom: 'static {
    type Level: Level;
    /// Which bytes they take from which window.
    type Table: Send + Sync + 'static;

    fn table(bytes: &[(u8, u8)]) -> Self::Table;

    /// So many vectors, the first of them there, with windows of so many bytes.
    ///
    /// # Safety
    /// It runs at the level; all windows are readable and the vectors are writable.
    unsafe fn weave(dst: *mut u8, src: Sources, series: &Series<Self::Table>, unit: &Strands);
}

/// The addresses so far from others.
#[inline(always)]
fn from(dst: *mut u8, src: Sources, by: &Strands) -> (*mut u8, Sources) {
    let src = std::array::from_fn(|part| src[part].wrapping_offset(by.src[part]));
    (dst.wrapping_offset(by.dst), src)
}

/// Sixteen bytes from as many of each part.
struct Narrow<const K: usize>;

#[repr(C, align(32))]
struct NarrowTable<const K: usize>([[[u8; 16]; 2]; K]);

impl<const K: usize> Loom for Narrow<K> {
    type Level = Avx2;
    type Table = NarrowTable<K>;

    fn table(bytes: &[(u8, u8)]) -> NarrowTable<K> {
        // What is in no window is zero.
        let mut tables = [[[0x80; 16]; 2]; K];
        for (number, &(part, place)) in bytes.iter().enumerate() {
            tables[usize::from(part)]
                .iter_mut()
                .for_each(|table| table[number] = place);
        }
        NarrowTable(tables)
    }

    #[inline(always)]
    unsafe fn weave(dst: *mut u8, src: Sources, series: &Series<Self::Table>, unit: &Strands) {
        let &Series {
            count, ref table, ..
        } = series;
        // SAFETY: the caller's; tables are aligned.
        unsafe {
            let tables: [__m256i; K] =
                std::array::from_fn(|part| _mm256_load_si256(table.0[part].as_ptr().cast()));
            let (mut to, mut at) = (dst, src);
            for _ in 0..count / 2 {
                one_by_one();
                let (next, others) = from(to, at, unit);
                let part = |part: usize| {
                    let [first, second] = [at[part], others[part]];
                    let windows = __m256i::load_lanes([first, second, first, second]);
                    _mm256_shuffle_epi8(windows, tables[part])
                };
                let mut both = _mm256_or_si256(part(0), part(1));
                for number in 2..K {
                    both = _mm256_or_si256(both, part(number));
                }
                both.store_lanes([to, next, to, next]);
                (to, at) = from(next, others, unit);
            }
            if !count.is_multiple_of(2) {
                let part = |part: usize| {
                    let table = _mm256_castsi256_si128(tables[part]);
                    _mm_shuffle_epi8(_mm_loadu_si128(at[part].cast()), table)
                };
                let mut last = _mm_or_si128(part(0), part(1));
                for number in 2..K {
                    last = _mm_or_si128(last, part(number));
                }
                _mm_storeu_si128(to.cast(), last);
            }
        }
    }
}

/// A line from 32 bytes of each part, or 64.
struct Wide<const K: usize>;

/// What it takes of two windows, of the other two, and which bytes are of these.
#[repr(C, align(64))]
struct WideTable([[u8; 64]; 2], u64);

impl<const K: usize> Loom for Wide<K> {
    type Level = Avx512;
    type Table = WideTable;

    fn table(bytes: &[(u8, u8)]) -> WideTable {
        let mut table = WideTable([[0; 64]; 2], 0);
        for (number, &(part, place)) in bytes.iter().enumerate() {
            table.0[usize::from(part / 2)][number] = part % 2 * 64 + place;
            table.1 |= u64::from(part / 2) << number;
        }
        table
    }

    #[inline(always)]
    unsafe fn weave(dst: *mut u8, src: Sources, series: &Series<Self::Table>, unit: &Strands) {
        // SAFETY: the caller's.
        unsafe {
            match series.windows {
                (32, 32) => lines::<K, 32, 32>(dst, src, series, unit),
                (_, 32) => lines::<K, 64, 32>(dst, src, series, unit),
                _ => lines::<K, 64, 64>(dst, src, series, unit),
            }
        }
    }
}

/// # Safety
/// As [`Loom::weave`], with windows of so many bytes of the first part and of the others.
#[inline(always)]
unsafe fn lines<const K: usize, const FIRST: usize, const OTHERS: usize>(
    dst: *mut u8,
    src: Sources,
    series: &Series<WideTable>,
    unit: &Strands,
) {
    let WideTable(ref tables, others) = series.table;
    // SAFETY: the caller's; tables are aligned.
    unsafe {
        let [low, high] = tables
            .each_ref()
            .map(|table| _mm512_load_si512(table.as_ptr().cast()));
        let (mut to, mut at) = (dst, src);
        for _ in 0..series.count {
            one_by_one();
            let window = |part: usize| match if part == 0 { FIRST } else { OTHERS } {
                32 => _mm512_castsi256_si512(_mm256_loadu_si256(at[part].cast())),
                _ => _mm512_loadu_si512(at[part].cast()),
            };
            let line = _mm512_permutex2var_epi8(window(0), low, window(1));
            let line = match K {
                2 => line,
                3 => _mm512_mask_permutexvar_epi8(line, others, high, window(2)),
                _ => {
                    let second = _mm512_permutex2var_epi8(window(2), high, window(3));
                    _mm512_mask_mov_epi8(line, others, second)
                }
            };
            _mm512_storeu_si512(to.cast(), line);
            (to, at) = from(to, at, unit);
        }
    }
}

struct WovenParams<T> {
    /// What is around the rows, outermost first; at most [`Woven::DEEPEST`].
    outer: Box<[Circuit]>,
    start: Strands,
    unit: Strands,
    front: Series<T>,
    back: Series<T>,
}

/// So many steps, and the way back from the last.
struct Circuit {
    extent: usize,
    by: Strands,
    back: Strands,
}

/// Some vectors, a unit apart.
struct Series<T> {
    count: usize,
    /// The bytes of windows, of the first part and of the others.
    windows: (usize, usize),
    at: Strands,
    table: T,
}

struct Weaving<L>(L);

impl<L: Loom> Body for Weaving<L> {
    type Params = WovenParams<L::Table>;

    fn elsewhere(params: &Self::Params) -> usize {
        size_of_val(&*params.outer)
    }

    /// The source is where the addresses of all sources are.
    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &Self::Params) {
        // SAFETY: the caller's.
        let src = unsafe { *src.cast::<Sources>() };
        let (mut dst, mut src) = from(dst, src, &params.start);
        let mut left = [0; Woven::DEEPEST];
        for (left, around) in left.iter_mut().zip(&params.outer) {
            *left = around.extent;
        }
        'rows: loop {
            let WovenParams {
                unit, front, back, ..
            } = params;
            let (to, at) = from(dst, src, &front.at);
            // SAFETY: the body is run at the level of its loom; vectors lie in the caller's boxes, and windows in their hulls.
            unsafe { L::weave(to, at, front, unit) }
            let (to, at) = from(dst, src, &back.at);
            // SAFETY: as above.
            unsafe { L::weave(to, at, back, unit) }
            for (left, around) in left.iter_mut().zip(&params.outer).rev() {
                *left = left.wrapping_sub(1);
                if *left > 0 {
                    (dst, src) = from(dst, src, &around.by);
                    continue 'rows;
                }
                *left = around.extent;
                (dst, src) = from(dst, src, &around.back);
            }
            return;
        }
    }
}

pub(super) fn prepare(woven: &Woven) -> Leaf {
    match (woven.vector, woven.parts) {
        (16, 2) => of::<Narrow<2>>(woven),
        (16, 3) => of::<Narrow<3>>(woven),
        (16, _) => of::<Narrow<4>>(woven),
        (_, 2) => of::<Wide<2>>(woven),
        (_, 3) => of::<Wide<3>>(woven),
        (..) => of::<Wide<4>>(woven),
    }
}

fn of<L: Loom>(woven: &Woven) -> Leaf {
    let around = |it: &Repeated| Circuit {
        extent: it.extent,
        by: it.by,
        back: it.by.times(1 - it.extent as isize),
    };
    let series = |vectors: &Vectors| Series {
        count: vectors.count,
        windows: vectors.windows,
        at: vectors.at,
        table: L::table(&vectors.bytes),
    };
    Leaf::new::<L::Level, Weaving<L>>(WovenParams {
        outer: woven.outer.iter().map(around).collect(),
        start: woven.start,
        unit: woven.unit,
        front: series(&woven.front),
        back: series(&woven.back),
    })
}
