//! Short runs, a vector of sixteen bytes at a time: a load, a shuffle, and a store of which the next one writes over what is
//! too much.

use std::arch::x86_64::*;

use restride_moves::{ByteBox, Pressed, Step};

use crate::leaf::Leaf;
use crate::level::{Avx2, Body};
use crate::nest::{Nest, walk};

const VECTOR: usize = Pressed::VECTOR;

#[repr(C, align(16))]
struct PressedParams {
    /// Which bytes of its window a unit has, and the same of the last eight bytes of it.
    table: [u8; VECTOR],
    last: [u8; VECTOR],
    nest: Nest,
    /// From unit to unit in a row, how many of them are followed by a vector of the row, and where the two begin that are not.
    unit: Step,
    ends: [(isize, isize); 2],
    /// Where the last eight bytes of a unit begin.
    tail: usize,
    /// Where windows begin, from where units do, and where the source ends, from the caller's address.
    window: isize,
    end: isize,
}

struct Pressing;

impl Body for Pressing {
    type Params = PressedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &PressedParams) {
        let &PressedParams {
            unit,
            ends,
            tail,
            window,
            ..
        } = params;
        let end = src.wrapping_offset(params.end).wrapping_sub(VECTOR);
        let reach = unit.src.wrapping_mul(unit.extent as isize - 1);
        // SAFETY: the units lie in the caller's box, which goes on for a vector behind those that are stored whole; windows
        // begin in the box, and before its last sixteen bytes. The body is run where AVX2 is.
        unsafe {
            let [table, last] =
                [&params.table, &params.last].map(|table| _mm_load_si128(table.as_ptr().cast()));
            let load = |from: *const u8, table: __m128i| {
                let from = from.wrapping_offset(window);
                // Windows do not go on behind the source.
                let begin = from.min(end);
                let moved = _mm_set1_epi8(from.addr().wrapping_sub(begin.addr()) as i8);
                let window = _mm_loadu_si128(begin.cast());
                _mm_shuffle_epi8(window, _mm_add_epi8(table, moved))
            };
            walk!(&params.nest, dst, src, |dst, src| {
                let (mut to, mut from) = (dst, src);
                // One loop for both would take half as long again for each unit.
                let first = from.wrapping_offset(window);
                if first.max(first.wrapping_offset(reach)) <= end {
                    for _ in 0..unit.extent {
                        let window = _mm_loadu_si128(from.wrapping_offset(window).cast());
                        _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(window, table));
                        to = to.wrapping_offset(unit.dst);
                        from = from.wrapping_offset(unit.src);
                    }
                } else {
                    for _ in 0..unit.extent {
                        let begin = from.wrapping_offset(window);
                        let pressed = match begin > end {
                            true => load(from, table),
                            false => _mm_shuffle_epi8(_mm_loadu_si128(begin.cast()), table),
                        };
                        _mm_storeu_si128(to.cast(), pressed);
                        to = to.wrapping_offset(unit.dst);
                        from = from.wrapping_offset(unit.src);
                    }
                }
                for (to, from) in ends {
                    let to = dst.wrapping_offset(to);
                    let from = src.wrapping_offset(from);
                    _mm_storel_epi64(to.cast(), load(from, table));
                    _mm_storel_epi64(to.wrapping_add(tail).cast(), load(from, last));
                }
            });
        }
    }
}

/// Prepares it.
pub(crate) fn prepare(shape: &ByteBox, plan: &Pressed) -> Leaf {
    let Pressed {
        unit,
        long,
        steps,
        outer,
    } = plan;
    // Where each run of a unit lies, in order.
    let mut runs = vec![0isize];
    for step in unit {
        let places = |from| (0..step.extent as isize).map(move |at| from + at * step.src);
        runs = runs.into_iter().flat_map(places).collect();
    }
    let window = runs.iter().copied().min().unwrap_or(0);
    let bytes = runs.len() * shape.run;
    let mut table = [0; VECTOR];
    for (at, byte) in table[..bytes].iter_mut().enumerate() {
        *byte = (runs[at / shape.run] - window) as u8 + (at % shape.run) as u8;
    }
    let tail = bytes - VECTOR / 2;
    let mut last = [0; VECTOR];
    last[..VECTOR / 2].copy_from_slice(&table[tail..bytes]);
    let (row, each) = (long.dst as usize * long.extent, long.dst as usize);
    let whole = (row - VECTOR) / bytes + 1;
    let end = long.extent - steps;
    let at = |step: usize| (long.dst * step as isize, long.src * step as isize);
    let params = PressedParams {
        table,
        last,
        nest: Nest::new(shape, (0, 0), outer),
        unit: Step {
            extent: whole,
            dst: bytes as isize,
            src: long.src * *steps as isize,
        },
        ends: [at((whole * bytes / each).min(end)), at(end)],
        tail,
        window,
        end: shape.hull().end,
    };
    Leaf::new::<Avx2, Pressing>(params)
}
