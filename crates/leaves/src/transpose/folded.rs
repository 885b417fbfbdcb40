//! Sides of several dimensions each: where their rows begin is listed.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use restride_moves::{ByteBox, Crowded, Folded, Step, extent};

use super::block::{Apart, Blocks, Listed, Rect, bands, rectangle};
use super::staged::{ROOM, STAGE, Stage, leave, pitch};
use crate::copy::LINE;
use crate::lanes::Lanes;
use crate::leaf::Leaf;
use crate::level::{Body, Level, Sixteen};
use crate::nest::{Nest, walk};

struct FoldedParams {
    nest: Nest,
    /// Where each row lies in the destination.
    rows: Box<[isize]>,
    /// Where each column lies in the source.
    columns: Box<[isize]>,
    /// Whether rows are written a few at a time.
    few: bool,
}

struct Lists<V, const K: usize, const SQUARE: bool>(PhantomData<V>);

impl<V: Lanes, const K: usize, const SQUARE: bool> Body for Lists<V, K, SQUARE> {
    type Params = FoldedParams;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &FoldedParams) {
        walk!(&params.nest, dst, src, |dst, src| {
            let rect = Rect {
                dst: Listed {
                    base: dst,
                    places: params.rows.as_ptr(),
                },
                src: Listed {
                    base: src.cast_mut(),
                    places: params.columns.as_ptr(),
                },
                rows: params.rows.len(),
                columns: params.columns.len(),
            };
            // SAFETY: the lists name the rows and columns of the caller's box, `K` of each at least.
            unsafe {
                match params.few {
                    true => bands::<V, K>(rect, 1),
                    false => rectangle::<V, K, SQUARE>(rect),
                }
            }
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
        let mut stage = Stage([const { MaybeUninit::uninit() }; STAGE]);
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        let width = 16 / K;
        let run = params.rows.len() * width;
        let pitch = pitch(run);
        let lines = if params.few { 4 } else { 1 };
        let most = (lines * LINE / width).min(STAGE / pitch);
        let most = most.min(params.columns.len());
        walk!(&params.nest, dst, src, |dst, src| {
            for column in Blocks::new(params.columns.len(), most) {
                let mut to = stage;
                for place in params.columns.iter().skip(column).take(most) {
                    let from = src.wrapping_offset(*place);
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
                    dst: Listed {
                        base: dst.wrapping_add(column * width),
                        places: params.rows.as_ptr(),
                    },
                    src: Apart {
                        first: stage,
                        stride: pitch as isize,
                    },
                    rows: params.rows.len(),
                    columns: most,
                };
                // SAFETY: they are rows and columns of the caller's box, which were just copied.
                unsafe {
                    match params.few && most >= V::LANES * K {
                        true => bands::<V, K>(rect, 1),
                        false => rectangle::<V, K, false>(rect),
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
        (self.rows.len() + self.columns.len()) * size_of::<isize>()
    }
}

/// Where every element of a side lies, the finest dimension first.
fn places(side: &[Step], stride: impl Fn(&Step) -> isize) -> Box<[isize]> {
    let mut places = Vec::with_capacity(extent(side));
    places.push(0);
    for step in side {
        let finer = places.len();
        for n in 1..step.extent as isize {
            let begin = places.len();
            places.extend_from_within(..finer);
            let at = stride(step).wrapping_mul(n);
            places[begin..].iter_mut().for_each(|place| *place += at);
        }
    }
    places.into()
}

/// Prepares a transposition of sides that are several dimensions each.
pub(crate) fn prepare<L: Level>(shape: &ByteBox, folded: &Folded) -> Leaf {
    let width = shape.run;
    let params = FoldedParams {
        nest: Nest::new(shape, (0, 0), &folded.outer),
        rows: places(&folded.rows, |step| step.dst),
        columns: places(&folded.columns, |step| step.src),
        few: matches!(folded.crowded, Some(Crowded::Destination | Crowded::Both)),
    };
    let collected = matches!(folded.crowded, Some(Crowded::Source | Crowded::Both));
    if folded.lanes == L::Wide::LANES {
        of_width::<L, L::Wide>(params, width, collected)
    } else if folded.lanes == L::Half::LANES {
        of_width::<L, L::Half>(params, width, collected)
    } else {
        of_width::<L, Sixteen>(params, width, collected)
    }
}

fn of_width<L: Level, V: Lanes>(params: FoldedParams, width: usize, collected: bool) -> Leaf {
    match width {
        1 => of::<L, V, 16, false>(params, collected),
        2 => of::<L, V, 8, false>(params, collected),
        4 => of::<L, V, 4, true>(params, collected),
        _ => of::<L, V, 2, true>(params, collected),
    }
}

fn of<L: Level, V: Lanes, const K: usize, const SQUARE: bool>(
    params: FoldedParams,
    collected: bool,
) -> Leaf {
    match collected {
        true => Leaf::with_room::<L, Collected<V, K>, Lists<V, K, SQUARE>, ROOM>(
            "folded, collected",
            params,
        ),
        false => Leaf::new::<L, Lists<V, K, SQUARE>>("folded", params),
    }
}
