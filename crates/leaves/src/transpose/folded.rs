//! Sides of several dimensions each: where their rows begin is listed.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use restride_moves::{ByteBox, Crowded, FEW_ROWS, Folded, STAGED, Step, Tiling, extent, pitch};

use super::block::{
    Blocks, InBlocks, InFewRows, InRows, InRuns, InSquares, Parts, Rect, rectangle,
};
use super::side::{Apart, Bounded, Listed, Side};
use super::staged::{ROOM, Stage, leave};
use crate::copy::LINE;
use crate::lanes::Lanes;
use crate::leaf::Leaf;
use crate::level::{Body, Level, Sixteen};
use crate::nest::{Nest, walk};

struct FoldedParams {
    nest: Nest,
    /// Where each row lies in the destination,
    rows: Places,
    /// and each column in the source.
    columns: Places,
    /// How far they are apart in the source, if they are of one dimension and many rows are written at a time.
    apart: Option<isize>,
    /// Whether rows are written a few at a time.
    few: bool,
    /// Rows and columns that a stage has.
    stage: (usize, usize),
    /// For fewer rows than a register has elements: where sixteen bytes end of a column, or of one of those after it, the
    /// furthest that a block begins with.
    ends: Box<[isize]>,
    /// Where the box ends in the source, from the caller's address.
    end: isize,
}

struct Lists<V, const K: usize, P>(PhantomData<(V, P)>);

impl<V: Lanes, const K: usize, P: Parts> Body for Lists<V, K, P> {
    type Params = FoldedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &FoldedParams) {
        walk!(&params.nest, dst, src, |dst, src| {
            // SAFETY: the lists name the rows and columns of the caller's box, `K` of each at least.
            unsafe {
                if let Some(stride) = params.apart {
                    let first = src.cast_mut();
                    rectangle::<V, K, P>(params.rect(dst, Apart::new(first, stride)));
                } else {
                    rectangle::<V, K, P>(params.rect(dst, params.columns_at(src)));
                }
            }
        });
    }

    fn elsewhere(params: &FoldedParams) -> usize {
        params.lists()
    }
}

/// Fewer rows than a register has elements: beside them, bytes of the source are read that play no part.
struct FewRows<V, const K: usize>(PhantomData<V>);

impl<V: Lanes, const K: usize> Body for FewRows<V, K> {
    type Params = FoldedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &FoldedParams) {
        let end = src.wrapping_offset(params.end);
        walk!(&params.nest, dst, src, |dst, src| {
            let src = Bounded {
                listed: params.columns_at(src),
                ends: params.ends.as_ptr(),
                end,
            };
            let rect = params.rect(dst, src);
            // SAFETY: the lists name the rows and columns of the caller's box, and there are `K` columns at least.
            unsafe { rectangle::<V, K, InFewRows>(rect) }
        });
    }

    fn elsewhere(params: &FoldedParams) -> usize {
        params.lists()
    }
}

/// Columns that share sets of the nearest cache: a few of them are copied together first, each in one run.
struct Collected<V, const K: usize>(PhantomData<V>);

impl<V: Lanes, const K: usize> Body for Collected<V, K> {
    type Params = FoldedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &FoldedParams) {
        let mut stage = Stage([const { MaybeUninit::uninit() }; STAGED]);
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        let width = 16 / K;
        let run = params.rows.count() * width;
        let pitch = pitch(run);
        let piece = if params.few { FEW_ROWS } else { LINE };
        let most = (piece / width).min(STAGED / pitch);
        let most = most.min(params.columns.count());
        walk!(&params.nest, dst, src, |dst, src| {
            for column in Blocks::new(params.columns.count(), most) {
                let mut to = stage;
                for column in column..column + most {
                    let from = src.wrapping_offset(params.columns.at(column));
                    // SAFETY: the rows of a column lie together in the source, and the stage has room for so many.
                    unsafe {
                        match run >= V::BYTES {
                            true => leave::<V, false>(to, from, run),
                            false => leave::<Sixteen, false>(to, from, run),
                        }
                    }
                    to = to.wrapping_add(pitch);
                }
                let rect = Rect {
                    dst: params.rows_at(dst.wrapping_add(column * width)),
                    src: Apart::new(stage, pitch as isize),
                    rows: params.rows.count(),
                    columns: most,
                };
                // SAFETY: they are rows and columns of the caller's box, which were just copied.
                unsafe {
                    match params.few && most >= V::LANES * K {
                        true => rectangle::<V, K, InRows>(rect),
                        false => rectangle::<V, K, InBlocks>(rect),
                    }
                }
            }
        });
    }

    fn elsewhere(params: &FoldedParams) -> usize {
        params.lists()
    }
}

/// Rows that share sets of the nearest cache: what they get is put together first, and leaves in long runs.
struct Staged<V, const K: usize>(PhantomData<V>);

impl<V: Lanes, const K: usize> Body for Staged<V, K> {
    type Params = FoldedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &FoldedParams) {
        let mut stage = Stage([const { MaybeUninit::uninit() }; STAGED]);
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        let width = 16 / K;
        let (rows, columns) = params.stage;
        let run = columns * width;
        let pitch = pitch(run);
        walk!(&params.nest, dst, src, |dst, src| {
            for column in Blocks::new(params.columns.count(), columns) {
                for row in Blocks::new(params.rows.count(), rows) {
                    let rect = Rect {
                        dst: Apart::new(stage, pitch as isize),
                        src: params.columns_at(src).after(column).along(row * width),
                        rows,
                        columns,
                    };
                    // SAFETY: they are rows and columns of the caller's box, `K` of each at least, and a vector's columns;
                    // the plan is of no more than the stage has room for.
                    unsafe {
                        rectangle::<V, K, InBlocks>(rect);
                        let mut from = stage.cast_const();
                        for row in row..row + rows {
                            let to = dst.wrapping_offset(params.rows.at(row));
                            leave::<V, false>(to.wrapping_add(column * width), from, run);
                            from = from.wrapping_add(pitch);
                        }
                    }
                }
            }
        });
    }

    fn elsewhere(params: &FoldedParams) -> usize {
        params.lists()
    }
}

impl FoldedParams {
    /// The bytes of its lists.
    fn lists(&self) -> usize {
        let places = self.rows.count() + self.columns.count();
        places * size_of::<u32>() + self.ends.len() * size_of::<isize>()
    }

    #[inline(always)]
    fn rect<S>(&self, dst: *mut u8, src: S) -> Rect<Listed, S> {
        Rect {
            dst: self.rows_at(dst),
            src,
            rows: self.rows.count(),
            columns: self.columns.count(),
        }
    }

    #[inline(always)]
    fn rows_at(&self, dst: *mut u8) -> Listed {
        self.rows.listed(dst)
    }

    #[inline(always)]
    fn columns_at(&self, src: *const u8) -> Listed {
        self.columns.listed(src.cast_mut())
    }
}

/// Where the elements of a side lie.
struct Places {
    /// The lowest of them, from where the side begins,
    lowest: isize,
    /// and each from there.
    above: Box<[u32]>,
}

impl Places {
    /// The finest dimension first. A side is planned as listed only if its elements are no further apart.
    fn of(side: &[Step], stride: impl Fn(&Step) -> isize) -> Places {
        let last = |step: &Step| stride(step).wrapping_mul(step.extent as isize - 1);
        let lowest = side.iter().map(|step| last(step).min(0)).sum::<isize>();
        let mut above = Vec::with_capacity(extent(side));
        above.push(lowest.unsigned_abs() as u32);
        for step in side {
            let finer = above.len();
            for n in 1..step.extent as isize {
                let begin = above.len();
                above.extend_from_within(..finer);
                let at = stride(step).wrapping_mul(n) as u32;
                above[begin..]
                    .iter_mut()
                    .for_each(|place| *place = place.wrapping_add(at));
            }
        }
        Places {
            lowest,
            above: above.into(),
        }
    }

    fn count(&self) -> usize {
        self.above.len()
    }

    #[inline(always)]
    fn at(&self, element: usize) -> isize {
        self.lowest.wrapping_add(self.above[element] as isize)
    }

    #[inline(always)]
    fn listed(&self, begin: *mut u8) -> Listed {
        Listed {
            base: begin.wrapping_offset(self.lowest),
            places: self.above.as_ptr(),
        }
    }
}

/// Prepares a transposition of sides that are several dimensions each.
pub(crate) fn prepare<L: Level>(shape: &ByteBox, folded: &Folded) -> Leaf {
    let width = shape.run;
    let columns = Places::of(&folded.columns, |step| step.src);
    let few_rows = folded.has_short_rows();
    // Which read lists in less time than rows of a stride.
    let few = matches!(folded.crowded, Some(Crowded::Destination | Crowded::Both));
    let ends = |at: usize| {
        let block = columns.above.iter().skip(at).take(64);
        block.max().map_or(0, |place| *place as isize + 16)
    };
    let params = FoldedParams {
        nest: Nest::new(shape, (0, 0), &folded.outer),
        rows: Places::of(&folded.rows, |step| step.dst),
        apart: match &folded.columns[..] {
            [one] if !few => Some(one.src),
            _ => None,
        },
        stage: folded.stage.unwrap_or_default(),
        few,
        ends: (0..columns.count())
            .filter(|_| few_rows)
            .map(ends)
            .collect(),
        end: shape.hull().end,
        columns,
    };
    if folded.lanes == L::Wide::LANES {
        of_width::<L, L::Wide>(params, width, folded)
    } else if folded.lanes == L::Half::LANES {
        of_width::<L, L::Half>(params, width, folded)
    } else {
        of_width::<L, Sixteen>(params, width, folded)
    }
}

fn of_width<L: Level, V: Lanes>(params: FoldedParams, width: usize, folded: &Folded) -> Leaf {
    match width {
        1 => of::<L, V, 16>(params, folded),
        2 => of::<L, V, 8>(params, folded),
        4 => of::<L, V, 4>(params, folded),
        _ => of::<L, V, 2>(params, folded),
    }
}

fn of<L: Level, V: Lanes, const K: usize>(params: FoldedParams, folded: &Folded) -> Leaf {
    fn cut<L: Level, V: Lanes, const K: usize, P: Parts>(
        params: FoldedParams,
        folded: &Folded,
    ) -> Leaf {
        match folded.crowded {
            Some(Crowded::Source | Crowded::Both) => {
                Leaf::with_room::<L, Collected<V, K>, Lists<V, K, P>, ROOM>(params)
            }
            _ => Leaf::new::<L, Lists<V, K, P>>(params),
        }
    }
    match folded.tiling {
        _ if folded.has_short_rows() => Leaf::new::<L, FewRows<V, K>>(params),
        _ if folded.stage.is_some() => {
            Leaf::with_room::<L, Staged<V, K>, Lists<V, K, InBlocks>, ROOM>(params)
        }
        _ if params.few => cut::<L, V, K, InRows>(params, folded),
        Tiling::Squares => cut::<L, V, K, InSquares>(params, folded),
        Tiling::Runs => cut::<L, V, K, InRuns>(params, folded),
        _ => cut::<L, V, K, InBlocks>(params, folded),
    }
}
