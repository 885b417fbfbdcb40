//! Sides of several dimensions each: where their rows begin is listed.

use std::marker::PhantomData;

use restride_moves::{ByteBox, Folded, Step, extent};

use super::block::{Listed, Rect, rectangle};
use crate::lanes::Lanes;
use crate::leaf::Leaf;
use crate::level::{Body, Level};
use crate::nest::{Nest, walk};

struct FoldedParams {
    nest: Nest,
    /// Where each row lies in the destination.
    rows: Box<[isize]>,
    /// Where each column lies in the source.
    columns: Box<[isize]>,
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
            unsafe { rectangle::<V, K, SQUARE>(rect) }
        });
    }

    fn elsewhere(params: &FoldedParams) -> usize {
        (params.rows.len() + params.columns.len()) * size_of::<isize>()
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
    };
    if folded.lanes == L::Wide::LANES {
        of_width::<L, L::Wide>(params, width)
    } else if folded.lanes == L::Half::LANES {
        of_width::<L, L::Half>(params, width)
    } else {
        of_width::<L, crate::level::Sixteen>(params, width)
    }
}

fn of_width<L: Level, V: Lanes>(params: FoldedParams, width: usize) -> Leaf {
    match width {
        1 => Leaf::new::<L, Lists<V, 16, false>>("folded", params),
        2 => Leaf::new::<L, Lists<V, 8, false>>("folded", params),
        4 => Leaf::new::<L, Lists<V, 4, true>>("folded", params),
        _ => Leaf::new::<L, Lists<V, 2, true>>("folded", params),
    }
}
