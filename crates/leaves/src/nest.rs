//! The loops around a leaf's inner kernel.

use std::mem::MaybeUninit;

use crate::shape::{MAX_RANK, Step, Steps};

/// Dimensions to walk, and where the walk starts.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    dst: isize,
    src: isize,
    outer: Steps,
    inner: Step,
    /// Whether anything is walked at all.
    empty: bool,
}

impl Nest {
    /// Walks `steps`, outermost first, from so many bytes past the caller's addresses.
    pub(crate) fn new(dst: isize, src: isize, steps: &[Step], empty: bool) -> Nest {
        let one = Step {
            extent: 1,
            dst: 0,
            src: 0,
        };
        let (inner, outer) = match steps.split_last() {
            Some((inner, outer)) => (*inner, outer),
            None => (one, steps),
        };
        Nest {
            dst,
            src,
            outer: outer.into(),
            inner,
            empty,
        }
    }

    /// Calls `body` with the addresses of every point.
    #[inline(always)]
    pub(crate) fn walk(
        &self,
        dst: *mut u8,
        src: *const u8,
        mut body: impl FnMut(*mut u8, *const u8),
    ) {
        let inner = self.inner;
        self.walk_rows(dst, src, |mut dst, mut src| {
            let mut left = inner.extent;
            loop {
                body(dst, src);
                left = left.wrapping_sub(1);
                if left == 0 {
                    return;
                }
                dst = dst.wrapping_offset(inner.dst);
                src = src.wrapping_offset(inner.src);
            }
        });
    }

    /// Calls `row` with the first address of every walk of the innermost dimension.
    #[inline(always)]
    pub(crate) fn walk_rows(
        &self,
        dst: *mut u8,
        src: *const u8,
        mut row: impl FnMut(*mut u8, *const u8),
    ) {
        if self.empty {
            return;
        }
        let outer = self.outer.as_slice();
        let mut dst = dst.wrapping_offset(self.dst);
        let mut src = src.wrapping_offset(self.src);
        let mut left = [MaybeUninit::<usize>::uninit(); MAX_RANK];
        for (left, step) in left.iter_mut().zip(outer) {
            left.write(step.extent);
        }
        loop {
            row(dst, src);
            let mut at = outer.len();
            loop {
                if at == 0 {
                    return;
                }
                at = at.wrapping_sub(1);
                let step = &outer[at];
                // SAFETY: shapes have at most MAX_RANK dimensions, so `at < outer.len() <= MAX_RANK`,
                // and the first `outer.len()` counters were written above.
                let count = unsafe { left.get_unchecked_mut(at).assume_init_mut() };
                *count = count.wrapping_sub(1);
                if *count != 0 {
                    dst = dst.wrapping_offset(step.dst);
                    src = src.wrapping_offset(step.src);
                    break;
                }
                *count = step.extent;
                let back = (step.extent as isize).wrapping_sub(1).wrapping_neg();
                dst = dst.wrapping_offset(step.dst.wrapping_mul(back));
                src = src.wrapping_offset(step.src.wrapping_mul(back));
            }
        }
    }
}
