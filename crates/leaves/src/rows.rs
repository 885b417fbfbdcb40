//! Runs at every point of a nest.

use std::marker::PhantomData;

use crate::copy::{
    Aligned, Copier, LINE, LONG, Many, One, Straight, with_copier, with_following,
    with_short_copier, with_vectors,
};
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::{Nest, walk, walk_rows};
use crate::vector::{Vector, prefetch};
use restride_moves::{ByteBox, Core};

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
                for _ in 1..inner.extent {
                    V::load(from).store(to);
                    to = to.wrapping_add(run);
                    from = from.wrapping_offset(inner.src);
                }
                C::copy(to, from, run);
            }
        });
    }
}

/// So much of a run is written to all of its places before more of it is read, since it stays in the
/// smallest cache meanwhile.
const PIECE: usize = 8 << 10;

/// A run that stays in the second cache is read again for less than writing to several places costs.
const READ_ONCE: usize = 256 << 10;

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

/// Runs of whole lines from so many bytes on are copied four widest vectors at a time. Where more is written than read from
/// afar, lines that are complete at once take a tenth less than halves of them in between.
const WIDE: usize = 8 * LINE;

/// Copies the runs of any shape.
pub(crate) fn prepare<L: Level>(shape: &ByteBox, core: Core) -> Leaf {
    fn of<L: Level, C: Copier>(params: RowParams) -> Leaf {
        Leaf::new::<L, Rows<L, C>>("rows", params)
    }
    fn following<L: Level, C: Copier, V: Vector>(params: RowParams) -> Leaf {
        Leaf::new::<L, Following<L, C, V>>("following rows", params)
    }
    let params = RowParams {
        nest: Nest::new(shape, (0, 0), &shape.steps),
        run: shape.run,
        early: early(shape),
    };
    match shape.steps.last() {
        Some(inner) if inner.src == 0 && inner.extent > 1 && shape.run >= READ_ONCE => {
            Leaf::new::<L, Repeated<L>>("repeated rows", params)
        }
        _ if shape.following().is_some() => {
            with_following!(shape.run, L, following(params), of(params))
        }
        // What stores lines at once does not store halves of them.
        _ if core == Core::Cove && (LINE..LONG).contains(&shape.run) => {
            match shape.run.div_ceil(<L::Wide as Vector>::BYTES) {
                ..=8 => with_vectors!(L::Wide, shape.run, L, of(params)),
                _ => of::<L, Aligned<L::Wide>>(params),
            }
        }
        _ if (WIDE..LONG).contains(&shape.run) && shape.run.is_multiple_of(LINE) => {
            of::<L, Aligned<L::Wide>>(params)
        }
        _ => with_copier!(shape.run, L, of(params)),
    }
}
