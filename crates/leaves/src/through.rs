//! Two moves, by way of a stage on the stack that the nearest cache holds.

use std::mem::MaybeUninit;

use restride_moves::{ByteBox, Through};

use crate::leaf::Leaf;
use crate::level::{Baseline, Body};
use crate::nest::{Nest, walk};

#[repr(C, align(64))]
struct Stage([MaybeUninit<u8>; Through::ROOM]);

struct ThroughParams {
    nest: Nest,
    first: Leaf,
    second: Leaf,
}

struct InTwo;

impl Body for InTwo {
    type Params = ThroughParams;

    fn elsewhere(params: &ThroughParams) -> usize {
        params.first.bytes() + params.second.bytes()
    }

    #[inline(always)]
    unsafe fn run(dst: *mut u8, src: *const u8, params: &ThroughParams) {
        let mut stage = Stage([const { MaybeUninit::uninit() }; Through::ROOM]);
        let stage = stage.0.as_mut_ptr().cast::<u8>();
        walk!(&params.nest, dst, src, |dst, src| {
            // SAFETY: the plan was made for a stage of this size, of which the first move writes all that
            // the second reads; what is around the two lies in the caller's box.
            unsafe {
                params.first.call(stage, src);
                params.second.call(dst, stage);
            }
        });
    }
}

/// The leaf of two moves.
pub(crate) fn prepare(shape: &ByteBox, plan: &Through) -> Leaf {
    let nest = Nest::new(shape, (0, 0), &plan.outer);
    let params = ThroughParams {
        nest,
        first: Leaf::of(&plan.first),
        second: Leaf::of(&plan.second),
    };
    Leaf::new::<Baseline, InTwo>(params)
}
