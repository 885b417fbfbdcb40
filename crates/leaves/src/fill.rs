//! Boxes of repeated bits.

use std::marker::PhantomData;

use crate::bodies::CpuLevel;
use crate::leaf::Leaf;
use crate::level::{Body, Level, Sixteen, with_level};
use crate::nest::{Nest, walk};
use crate::vector::Vector;
use restride_moves::ByteBox;

/// What a fill needs to know.
pub(crate) struct FillParams {
    nest: Nest,
    run: usize,
    pattern: u128,
}

/// Runs of at least one `V`, of a width that divides it; the last vector overlaps those before.
struct Fill<V>(PhantomData<V>);

impl<V: Vector> Body for Fill<V> {
    type Params = FillParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &FillParams) {
        let vector = V::splat(params.pattern);
        let last = params.run.wrapping_sub(V::BYTES);
        walk!(&params.nest, dst, src, |d, s| {
            let mut at = 0;
            // SAFETY: `last + V::BYTES` is the run's length, and runs lie in the caller's box.
            unsafe {
                while at < last {
                    vector.store(d.add(at));
                    at = at.wrapping_add(V::BYTES);
                }
                vector.store(d.add(last));
            }
        });
    }
}

/// Fills a box with the low `width` bytes of `bits`.
pub(crate) fn prepare(shape: &ByteBox, width: usize, bits: u128, cpu: CpuLevel) -> Leaf {
    with_level!(cpu, of(shape, width, bits))
}

fn of<L: Level>(shape: &ByteBox, width: usize, bits: u128) -> Leaf {
    let run = shape.run;
    let params = FillParams {
        nest: Nest::new(shape, (0, 0), &shape.steps),
        run,
        pattern: repeat(bits, width),
    };
    // Shifting a vector back by part of itself keeps the pattern's phase, since a run is a multiple
    // of the width.
    match run {
        1 => Leaf::new::<L, Fill<u8>>(params),
        2..4 => Leaf::new::<L, Fill<u16>>(params),
        4..8 => Leaf::new::<L, Fill<u32>>(params),
        8..16 => Leaf::new::<L, Fill<u64>>(params),
        _ if run >= L::Wide::BYTES => Leaf::new::<L, Fill<L::Wide>>(params),
        _ if run >= L::Half::BYTES => Leaf::new::<L, Fill<L::Half>>(params),
        _ => Leaf::new::<L, Fill<Sixteen>>(params),
    }
}

/// The low `width` bytes of `bits`, repeated to sixteen; `width` is a power of two up to 16.
fn repeat(bits: u128, width: usize) -> u128 {
    let mut pattern = bits;
    let mut have = width;
    while have < 16 {
        let low = pattern & (u128::MAX >> (128 - 8 * have));
        pattern = low | (low << (8 * have));
        have *= 2;
    }
    pattern
}
