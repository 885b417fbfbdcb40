//! The loops around a leaf's inner kernel.
//!
//! The two innermost dimensions are loops of their own, with all that they need in registers; the
//! others are an odometer, which most boxes do without.

use std::mem::MaybeUninit;

use restride_moves::{ByteBox, MAX_RANK, Step};

/// Dimensions to walk, and where the walk starts.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    dst: isize,
    src: isize,
    /// At most `MAX_RANK`.
    outer: Box<[Step]>,
    plane: [Step; 2],
    /// Whether anything is walked at all.
    empty: bool,
}

impl Nest {
    /// Walks `steps` of a box, outermost first, from so many bytes past its start in destination and
    /// source. A box has at most `MAX_RANK` of them.
    pub(crate) fn new(shape: &ByteBox, start: (isize, isize), steps: &[Step]) -> Nest {
        let one = Step::NONE;
        let (outer, plane) = match steps {
            [] => (steps, [one; 2]),
            [inner] => (&steps[1..], [one, *inner]),
            [outer @ .., middle, inner] => (outer, [*middle, *inner]),
        };
        Nest {
            dst: shape.dst + start.0,
            src: shape.src + start.1,
            outer: outer.into(),
            plane,
            empty: shape.empty || outer.len() > MAX_RANK,
        }
    }

    /// Whether it is a single point.
    pub(crate) fn is_one(&self) -> bool {
        !self.empty && self.outer.is_empty() && self.plane.iter().all(|step| step.extent == 1)
    }

    /// How far from the caller's addresses the walk starts.
    pub(crate) fn start(&self) -> (isize, isize) {
        (self.dst, self.src)
    }

    /// Where it starts.
    #[inline(always)]
    pub(crate) fn begin(&self, dst: *mut u8, src: *const u8) -> (*mut u8, *const u8) {
        (dst.wrapping_offset(self.dst), src.wrapping_offset(self.src))
    }

    /// The two innermost dimensions; extent 1 where there is none.
    #[inline(always)]
    pub(crate) fn plane(&self) -> [Step; 2] {
        self.plane
    }

    /// A walk over the planes of the two innermost dimensions, not begun yet.
    #[inline(always)]
    pub(crate) fn walk(&self, dst: *mut u8, src: *const u8) -> Walk<'_> {
        let (dst, src) = self.begin(dst, src);
        Walk {
            nest: self,
            dst,
            src,
            left: [MaybeUninit::uninit(); MAX_RANK],
        }
    }
}

/// The odometer of the outer dimensions. Addresses are computed by wrapping arithmetic, so nothing
/// is claimed about memory.
pub(crate) struct Walk<'a> {
    nest: &'a Nest,
    dst: *mut u8,
    src: *const u8,
    /// How many steps of each outer dimension are left; written by `first`, in place.
    left: [MaybeUninit<usize>; MAX_RANK],
}

impl Walk<'_> {
    /// The first addresses of the first plane, unless there is none.
    #[inline(always)]
    pub(crate) fn first(&mut self) -> Option<(*mut u8, *const u8)> {
        if !self.nest.outer.is_empty() {
            start(&mut self.left, &self.nest.outer);
        }
        (!self.nest.empty).then_some((self.dst, self.src))
    }

    /// Those of the next plane.
    ///
    /// # Safety
    /// `first` was called.
    #[inline(always)]
    pub(crate) unsafe fn next(&mut self) -> Option<(*mut u8, *const u8)> {
        for (step, left) in self.nest.outer.iter().zip(&mut self.left).rev() {
            // SAFETY: written by `first` for every outer dimension.
            let left = unsafe { left.assume_init_mut() };
            *left = left.wrapping_sub(1);
            if *left != 0 {
                self.dst = self.dst.wrapping_offset(step.dst);
                self.src = self.src.wrapping_offset(step.src);
                return Some((self.dst, self.src));
            }
            *left = step.extent;
            let back = (step.extent as isize).wrapping_sub(1).wrapping_neg();
            self.dst = self.dst.wrapping_offset(step.dst.wrapping_mul(back));
            self.src = self.src.wrapping_offset(step.src.wrapping_mul(back));
        }
        None
    }
}

/// Sets the counters. Apart, so that it is not made into vectors in every leaf.
#[inline(never)]
fn start(left: &mut [MaybeUninit<usize>; MAX_RANK], outer: &[Step]) {
    for (left, step) in left.iter_mut().zip(outer) {
        left.write(step.extent);
    }
}

/// Runs a block at the addresses of the first point of every plane of the two innermost dimensions.
/// A macro and not a function with a closure, since a closure would be compiled without the features
/// of the function around it.
macro_rules! walk_planes {
    ($nest:expr, $dst:expr, $src:expr, |$d:ident, $s:ident| $body:expr) => {{
        let nest: &$crate::nest::Nest = $nest;
        let mut walk = nest.walk($dst, $src);
        let mut plane = walk.first();
        while let Some(($d, $s)) = plane {
            $body;
            #[allow(unused_unsafe, reason = "some walks are within unsafe blocks")]
            // SAFETY: the walk has begun.
            let next = unsafe { walk.next() };
            plane = next;
        }
    }};
}
pub(crate) use walk_planes;

/// As [`walk_planes`], at the first point of every row, which is a walk of the innermost dimension.
macro_rules! walk_rows {
    ($nest:expr, $dst:expr, $src:expr, |$d:ident, $s:ident| $body:expr) => {{
        let nest: &$crate::nest::Nest = $nest;
        let [middle, _] = nest.plane();
        $crate::nest::walk_planes!(nest, $dst, $src, |plane_dst, plane_src| {
            let (mut $d, mut $s) = (plane_dst, plane_src);
            let mut rows = middle.extent;
            loop {
                $body;
                rows = rows.wrapping_sub(1);
                if rows == 0 {
                    break;
                }
                $d = $d.wrapping_offset(middle.dst);
                $s = $s.wrapping_offset(middle.src);
            }
        });
    }};
}
pub(crate) use walk_rows;

/// As [`walk_rows`], at the addresses of every point.
macro_rules! walk {
    ($nest:expr, $dst:expr, $src:expr, |$d:ident, $s:ident| $body:expr) => {{
        let nest: &$crate::nest::Nest = $nest;
        let [_, inner] = nest.plane();
        $crate::nest::walk_rows!(nest, $dst, $src, |row_dst, row_src| {
            let (mut $d, mut $s) = (row_dst, row_src);
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
        });
    }};
}
pub(crate) use walk;
