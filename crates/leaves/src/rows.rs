//! Runs at every point of a nest.

use std::marker::PhantomData;

use crate::copy::{
    Aligned, Copier, LINE, Many, One, Straight, with_copier, with_following, with_short_copier,
    with_vectors,
};
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::{Nest, walk, walk_rows};
use crate::stream;
use crate::transpose::Blocks;
use crate::vector::{Vector, prefetch};
use restride_moves::{ByteBox, Rows as Way, Step};

/// What rows need to know.
pub(crate) struct RowParams {
    nest: Nest,
    run: usize,
    /// How many bytes of the next row are asked for while one is copied.
    early: usize,
}

struct Rows<L, C>(PhantomData<(L, C)>);

impl<L: Level, C: Copier> Body for Rows<L, C> {
    type Params = RowParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &RowParams) {
        let (run, early) = (params.run, params.early);
        let [_, inner] = params.nest.plane();
        walk!(&params.nest, dst, src, |d, s| {
            // Short runs are not asked for, and to look whether they are would take half of the time.
            let mut at = 0;
            while C::IN_A_TURN == 0 && at < early {
                prefetch(s.wrapping_offset(inner.src).wrapping_add(at));
                at = at.wrapping_add(LINE);
            }
            // SAFETY: every point of the nest is a run of the caller's box.
            unsafe { C::copy(d, s, run) }
        });
    }
}

/// One run and nothing around it, which would take as long as a kilobyte.
struct Alone<C>(PhantomData<C>);

impl<C: Copier> Body for Alone<C> {
    type Params = RowParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &RowParams) {
        let (to, from) = params.nest.begin(dst, src);
        // SAFETY: the run is the caller's box.
        unsafe { C::copy(to, from, params.run) }
    }
}

/// Runs that follow each other in the destination, each moved as one vector: what that has too much, the next run is
/// written over. The last of an inner row is moved as it is.
struct Following<L, C, V>(PhantomData<(L, C, V)>);

impl<L: Level, C: Copier, V: Vector> Body for Following<L, C, V> {
    type Params = RowParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &RowParams) {
        let run = params.run;
        let [_, inner] = params.nest.plane();
        walk_rows!(&params.nest, dst, src, |d, s| {
            let (mut to, mut from) = (d, s);
            // SAFETY: every point of the nest is a run of the caller's box. A vector begins with one and ends, on both
            // sides, before the next one does.
            unsafe {
                let mut next = || {
                    V::load(from).store(to);
                    to = to.wrapping_add(run);
                    from = from.wrapping_offset(inner.src);
                };
                // A turn of one takes a clock, or two where its code straddles lines.
                let others = inner.extent - 1;
                for _ in 0..others / 4 {
                    next();
                    next();
                    next();
                    next();
                }
                for _ in 0..others % 4 {
                    next();
                }
                C::copy(to, from, run);
            }
        });
    }
}

pub(crate) struct SharingParams {
    nest: Nest,
    run: usize,
    /// The dimension whose runs share lines, and how many of it are moved at a time.
    row: Step,
    at_once: usize,
    /// The innermost one.
    inner: Step,
}

/// Short runs, some of one dimension at every point of the innermost one.
struct Sharing<L, C>(PhantomData<(L, C)>);

impl<L: Level, C: Copier> Body for Sharing<L, C> {
    type Params = SharingParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &SharingParams) {
        let &SharingParams {
            run,
            row,
            at_once,
            inner,
            ..
        } = params;
        walk!(&params.nest, dst, src, |d, s| {
            for first in Blocks::new(row.extent, at_once) {
                let mut to = d.wrapping_offset(row.dst.wrapping_mul(first as isize));
                let mut from = s.wrapping_offset(row.src.wrapping_mul(first as isize));
                for _ in 0..inner.extent {
                    let (mut to_row, mut from_row) = (to, from);
                    for _ in 0..at_once {
                        // SAFETY: every point is a run of the caller's box.
                        unsafe { C::copy(to_row, from_row, run) }
                        to_row = to_row.wrapping_offset(row.dst);
                        from_row = from_row.wrapping_offset(row.src);
                    }
                    to = to.wrapping_offset(inner.dst);
                    from = from.wrapping_offset(inner.src);
                }
            }
        });
    }
}

/// So much of a run is written to all of its places before more of it is read, since it stays in the
/// smallest cache meanwhile.
const PIECE: usize = 8 << 10;

/// Copies a run to four places, one after the other, and returns where a fifth would be.
///
/// # Safety
/// So many bytes, and at least a vector, are readable at `src` and writable at the places.
#[inline(always)]
unsafe fn to_four_places<V: Vector>(
    dst: *mut u8,
    src: *const u8,
    n: usize,
    step: isize,
) -> *mut u8 {
    let mut at = 0;
    while at < n {
        // The last vector ends where the run does, and overlaps what is before it.
        let begin = at.min(n.wrapping_sub(V::BYTES));
        let mut to = dst.wrapping_add(begin);
        // SAFETY: the caller's.
        unsafe {
            let vector = V::load(src.wrapping_add(begin));
            for _ in 0..4 {
                vector.store(to);
                to = to.wrapping_offset(step);
            }
        }
        at = at.wrapping_add(V::BYTES);
    }
    dst.wrapping_offset(step.wrapping_mul(4))
}

/// Long runs of which each goes to several places: the innermost dimension.
struct Repeated<L>(PhantomData<L>);

impl<L: Level> Body for Repeated<L> {
    type Params = RowParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &RowParams) {
        let [_, places] = params.nest.plane();
        walk_rows!(&params.nest, dst, src, |d, s| {
            let mut at = 0;
            while at < params.run {
                // The last piece takes with it what would be too short for one.
                let left = params.run.wrapping_sub(at);
                let piece = if left < 2 * PIECE { left } else { PIECE };
                let (mut to, from) = (d.wrapping_add(at), s.wrapping_add(at));
                let mut left = places.extent;
                // SAFETY: a piece of a run of the caller's box, and longer than four vectors.
                unsafe {
                    while left >= 4 {
                        to = to_four_places::<L::Wide>(to, from, piece, places.dst);
                        left = left.wrapping_sub(4);
                    }
                    for _ in 0..left {
                        Many::<L::Wide>::copy(to, from, piece);
                        to = to.wrapping_offset(places.dst);
                    }
                }
                at = at.wrapping_add(piece);
            }
        });
    }
}

/// Vectors of a run that need no loop.
const FEW: usize = 8;

/// Copies the runs of any shape.
pub(crate) fn prepare<L: Level>(shape: &ByteBox, way: Way) -> Leaf {
    fn of<L: Level, C: Copier>(params: RowParams) -> Leaf {
        match params.nest.is_one() {
            true => Leaf::new::<L, Alone<C>>(params),
            false => Leaf::new::<L, Rows<L, C>>(params),
        }
    }
    fn following<L: Level, C: Copier, V: Vector>(params: RowParams) -> Leaf {
        Leaf::new::<L, Following<L, C, V>>(params)
    }
    let params = |early| RowParams {
        nest: Nest::new(shape, (0, 0), &shape.steps),
        run: shape.run,
        early,
    };
    fn sharing<L: Level, C: Copier>(params: SharingParams) -> Leaf {
        Leaf::new::<L, Sharing<L, C>>(params)
    }
    match way {
        Way::Sharing { row, at_once } => {
            let mut outer = shape.steps.clone();
            let inner = outer.pop().unwrap_or(Step::NONE);
            let row = outer.remove(row);
            let params = SharingParams {
                nest: Nest::new(shape, (0, 0), &outer),
                run: shape.run,
                row,
                at_once,
                inner,
            };
            match shape.run < LINE {
                true => with_short_copier!(shape.run, L, sharing(params)),
                false => with_vectors!(L::Half, shape.run, L, sharing(params)),
            }
        }
        Way::Past => stream::prepare::<L>(shape),
        Way::Repeated => Leaf::new::<L, Repeated<L>>(params(0)),
        Way::Following => with_following!(shape.run, L, following(params(0)), of(params(0))),
        Way::Each { whole_lines, early } => {
            let (params, most) = (params(early), FEW * <L::Wide as Vector>::BYTES);
            match (whole_lines, shape.run <= most) {
                (false, _) => with_copier!(shape.run, L, of(params)),
                (_, true) => with_vectors!(L::Wide, shape.run, L, of(params)),
                (_, false) => of::<L, Aligned<L::Wide>>(params),
            }
        }
    }
}
