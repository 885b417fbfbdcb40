//! Runs at every point of a nest.

use std::marker::PhantomData;

use crate::copy::{Copier, LINE, with_copier, with_short_copier, with_vectors};
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::{Nest, walk};
use crate::vector::prefetch;
use restride_moves::ByteBox;

/// What rows need to know.
pub(crate) struct RowParams {
    nest: Nest,
    run: usize,
    /// How many bytes of the next row are asked for while one is copied.
    early: usize,
}

/// What fits the smallest cache with room to spare is not asked for.
const CACHED: usize = 24 << 10;

/// The hardware finds the beginning of a short row, or of one that follows closely, by itself.
const LONG_ROW: usize = 384;
const GAP: usize = 256;

/// The beginning of a row, until the hardware has noticed that it goes on.
const EARLY: usize = 256;

/// How much of the next row is worth asking for.
fn early(shape: &ByteBox) -> usize {
    let Some(inner) = shape.steps.last() else {
        return 0;
    };
    let gap = inner.src.unsigned_abs().saturating_sub(shape.run);
    match shape.run >= LONG_ROW && gap >= GAP && shape.bytes() >= CACHED {
        true => EARLY,
        false => 0,
    }
}

struct Rows<L, C>(PhantomData<(L, C)>);

impl<L: Level, C: Copier> Body for Rows<L, C> {
    type Params = RowParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &RowParams) {
        let (run, early) = (params.run, params.early);
        let [_, inner] = params.nest.plane();
        walk!(&params.nest, dst, src, |d, s| {
            let mut at = 0;
            while at < early {
                prefetch(s.wrapping_offset(inner.src).wrapping_add(at));
                at = at.wrapping_add(LINE);
            }
            // SAFETY: every point of the nest is a run of the caller's box.
            unsafe { C::copy(d, s, run) }
        });
    }
}

/// Copies the runs of any shape.
pub(crate) fn prepare<L: Level>(shape: &ByteBox) -> Leaf {
    fn of<L: Level, C: Copier>(params: RowParams) -> Leaf {
        Leaf::new::<L, Rows<L, C>>("rows", params)
    }
    let params = RowParams {
        nest: Nest::new(shape, (0, 0), &shape.steps),
        run: shape.run,
        early: early(shape),
    };
    with_copier!(shape.run, L, of(params))
}
