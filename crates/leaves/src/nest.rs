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

    /// The innermost dimension; extent 1 when there is none.
    #[inline(always)]
    pub(crate) fn inner(&self) -> Step {
        self.inner
    }

    /// The first addresses of every walk of the innermost dimension. They are computed by wrapping
    /// arithmetic, so nothing is claimed about memory.
    #[inline(always)]
    pub(crate) fn rows(&self, dst: *mut u8, src: *const u8) -> Rows<'_> {
        let mut left = [MaybeUninit::uninit(); MAX_RANK];
        for (left, step) in left.iter_mut().zip(&self.outer) {
            left.write(step.extent);
        }
        Rows {
            outer: self.outer.as_slice(),
            dst: dst.wrapping_offset(self.dst),
            src: src.wrapping_offset(self.src),
            left,
            more: !self.empty,
        }
    }
}

/// The odometer of the outer dimensions.
pub(crate) struct Rows<'a> {
    outer: &'a [Step],
    dst: *mut u8,
    src: *const u8,
    left: [MaybeUninit<usize>; MAX_RANK],
    more: bool,
}

impl Iterator for Rows<'_> {
    type Item = (*mut u8, *const u8);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.more {
            return None;
        }
        let here = (self.dst, self.src);
        let mut at = self.outer.len();
        loop {
            if at == 0 {
                self.more = false;
                break;
            }
            at = at.wrapping_sub(1);
            let step = &self.outer[at];
            // SAFETY: shapes have at most MAX_RANK dimensions, so `at < outer.len() <= MAX_RANK`,
            // and the first `outer.len()` counters were written by `rows`.
            let left = unsafe { self.left.get_unchecked_mut(at).assume_init_mut() };
            *left = left.wrapping_sub(1);
            if *left != 0 {
                self.dst = self.dst.wrapping_offset(step.dst);
                self.src = self.src.wrapping_offset(step.src);
                break;
            }
            *left = step.extent;
            let back = (step.extent as isize).wrapping_sub(1).wrapping_neg();
            self.dst = self.dst.wrapping_offset(step.dst.wrapping_mul(back));
            self.src = self.src.wrapping_offset(step.src.wrapping_mul(back));
        }
        Some(here)
    }
}

/// Runs a block at the addresses of every point of a nest. A macro and not a function with a
/// closure, since a closure would be compiled without the features of the function around it.
macro_rules! walk {
    ($nest:expr, $dst:expr, $src:expr, |$d:ident, $s:ident| $body:expr) => {{
        let nest: &$crate::nest::Nest = $nest;
        let inner = nest.inner();
        for (mut $d, mut $s) in nest.rows($dst, $src) {
            let mut left = inner.extent;
            loop {
                $body;
                left = left.wrapping_sub(1);
                if left == 0 {
                    break;
                }
                $d = $d.wrapping_offset(inner.dst);
                $s = $s.wrapping_offset(inner.src);
            }
        }
    }};
}
pub(crate) use walk;
