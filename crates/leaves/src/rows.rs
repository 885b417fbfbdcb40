//! Runs at every point of a nest.

use std::marker::PhantomData;

use crate::copy::{Copier, STREAMED, Streamed, with_copier};
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::{Nest, walk};
use crate::shape::Shape;
use crate::vector::fence;

/// What rows need to know.
pub(crate) struct RowParams {
    nest: Nest,
    run: usize,
}

struct Rows<L, C>(PhantomData<(L, C)>);

impl<L: Level, C: Copier> Body for Rows<L, C> {
    type Params = RowParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &RowParams) {
        let run = params.run;
        // SAFETY: every point of the nest is a run of the caller's box.
        walk!(&params.nest, dst, src, |d, s| unsafe { C::copy(d, s, run) });
    }
}

struct StreamRows<L>(PhantomData<L>);

impl<L: Level> Body for StreamRows<L> {
    type Params = RowParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &RowParams) {
        let run = params.run;
        // SAFETY: as in `Rows`; the run was found long enough when prepared.
        walk!(&params.nest, dst, src, |d, s| unsafe {
            Streamed::<L::Wide>::copy(d, s, run)
        });
        fence();
    }
}

/// Copies the runs of any shape.
pub(crate) fn prepare<L: Level>(shape: &Shape) -> Leaf {
    fn of<L: Level, C: Copier>(params: RowParams) -> Leaf {
        Leaf::new::<L, Rows<L, C>>("rows", params)
    }
    let params = params(shape);
    with_copier!(shape.run, L, of(params))
}

/// As [`prepare`], past the caches if the runs are long enough for that.
pub(crate) fn prepare_stream<L: Level>(shape: &Shape) -> Leaf {
    if shape.run < STREAMED {
        return prepare::<L>(shape);
    }
    Leaf::new::<L, StreamRows<L>>("stream", params(shape))
}

fn params(shape: &Shape) -> RowParams {
    RowParams {
        nest: Nest::new(shape.dst, shape.src, &shape.steps, shape.empty),
        run: shape.run,
    }
}

/// About how many micro-operations the rows of a shape take.
pub(crate) fn cost(shape: &Shape) -> usize {
    let rows = shape.bytes() / shape.run.max(1);
    rows.saturating_mul(4 + 2 * shape.run.div_ceil(64))
}
