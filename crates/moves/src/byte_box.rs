//! Boxes in bytes, in one normal form.
//!
//! Every dimension of extent 1 is gone, destination strides are positive and fall from the outside
//! to the inside, neighbours that are one dimension are merged, and the innermost dimensions that
//! are contiguous on both sides have become the run.

use std::ops::Range;

use restride_loops::Dim;
use smallvec::SmallVec;

use crate::error::BoxError;

/// More dimensions of extent 2 and more than any box of at most `isize::MAX` bytes has.
pub const MAX_RANK: usize = 64;

/// One dimension, with strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Step {
    /// At least 2.
    pub extent: usize,
    /// Destination stride.
    pub dst: isize,
    /// Source stride.
    pub src: isize,
}

impl Step {
    /// A dimension that there is not.
    pub const NONE: Step = Step {
        extent: 1,
        dst: 0,
        src: 0,
    };

    /// Takes so many steps, which divide it, and leaves one of as many behind the other.
    pub(crate) fn take(&mut self, extent: usize) -> Step {
        let all = *self;
        let by = |stride: isize| stride.wrapping_mul(extent as isize);
        *self = Step {
            extent: all.extent / extent,
            dst: by(all.dst),
            src: by(all.src),
        };
        Step { extent, ..all }
    }

    /// The same of as many as divide it, two at least and `most` at most, if there are any.
    pub(crate) fn take_most(&mut self, most: usize) -> Option<Step> {
        let most = (2..=self.extent.min(most)).rev();
        let extent = { most }.find(|n| self.extent.is_multiple_of(*n))?;
        Some(self.take(extent))
    }
}

/// Dimensions, outermost first.
pub type Steps = SmallVec<[Step; 6]>;

/// A box: `run` contiguous bytes at every point of `steps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteBox {
    /// Whether there is nothing to move.
    pub empty: bool,
    /// Bytes moved together; a multiple of the element's width.
    pub run: usize,
    /// Where the walk starts, relative to the address given by the caller.
    pub dst: isize,
    /// As `dst`, in the source.
    pub src: isize,
    /// The dimensions around the run.
    pub steps: Steps,
}

/// How many elements so many dimensions have.
#[must_use]
pub fn extent(steps: &[Step]) -> usize {
    let extents = steps.iter().map(|step| step.extent);
    extents.fold(1, usize::saturating_mul)
}

impl ByteBox {
    /// The normal form of a box of elements.
    pub fn of_move(dims: &[Dim], width: usize) -> Result<ByteBox, BoxError> {
        ByteBox::new(dims.iter().map(|d| (d.extent, d.dst, d.src)), width)
    }

    /// The normal form of a box that is only written; source strides are zero and play no part.
    pub fn of_fill(dims: &[(i64, i64)], width: usize) -> Result<ByteBox, BoxError> {
        let mut shape = ByteBox::new(dims.iter().map(|&(extent, dst)| (extent, dst, dst)), width)?;
        shape.src = 0;
        for step in &mut shape.steps {
            step.src = 0;
        }
        Ok(shape)
    }

    /// The normal form of steps in bytes that go forwards in the destination.
    pub(crate) fn of_steps(run: usize, steps: Steps) -> ByteBox {
        let mut shape = ByteBox {
            empty: false,
            run,
            dst: 0,
            src: 0,
            steps,
        };
        shape.normalise();
        shape
    }

    fn new(dims: impl Iterator<Item = (i64, i64, i64)>, width: usize) -> Result<ByteBox, BoxError> {
        let mut shape = ByteBox {
            empty: false,
            run: width,
            dst: 0,
            src: 0,
            steps: Steps::new(),
        };
        let (mut dst_span, mut src_span) = (width as i128, width as i128);
        for (dim, (extent, dst, src)) in dims.enumerate() {
            let count = usize::try_from(extent).map_err(|_| BoxError::Extent { dim, extent })?;
            if count == 0 {
                shape.empty = true;
            }
            if count < 2 {
                continue;
            }
            let (mut dst, mut src) = (in_bytes(dst, width)?, in_bytes(src, width)?);
            let last = count as i128 - 1;
            dst_span = span(dst_span, last, dst)?;
            src_span = span(src_span, last, src)?;
            // Both products were just found to fit.
            if dst < 0 || (dst == 0 && src < 0) {
                shape.dst += dst * last as isize;
                shape.src += src * last as isize;
                (dst, src) = (-dst, -src);
            }
            shape.steps.push(Step {
                extent: count,
                dst,
                src,
            });
        }
        if shape.empty {
            shape.steps.clear();
            (shape.dst, shape.src) = (0, 0);
        }
        shape.normalise();
        if shape.steps.len() > MAX_RANK {
            return Err(BoxError::Span);
        }
        Ok(shape)
    }

    fn normalise(&mut self) {
        self.steps.sort_by_key(|step| std::cmp::Reverse(step.dst));
        self.merge();
        self.take_run();
    }

    fn merge(&mut self) {
        let mut merged = Steps::new();
        for &step in &self.steps {
            match merged.last_mut() {
                Some(outer) if continues(outer, &step) => {
                    *outer = Step {
                        extent: outer.extent * step.extent,
                        ..step
                    }
                }
                _ => merged.push(step),
            }
        }
        self.steps = merged;
    }

    fn take_run(&mut self) {
        while let Some(last) = self.steps.last() {
            let run = self.run as isize;
            if (last.dst, last.src) != (run, run) {
                return;
            }
            self.run *= last.extent;
            self.steps.pop();
        }
    }

    /// The bytes of one vector that may move each run but the last of an inner row: the runs are a little shorter and
    /// follow each other in the destination, so that the next one is written over what is too much, and that is read
    /// from before the end of the next one in the source.
    #[must_use]
    pub fn following(&self) -> Option<usize> {
        let inner = self.steps.last()?;
        let follows = inner.dst == self.run as isize && inner.src > 0;
        following(self.run, inner.src as usize).filter(|_| follows)
    }

    /// The bytes of the source from the first to the last one that is read, from the caller's address.
    #[must_use]
    pub fn hull(&self) -> Range<isize> {
        let (mut low, mut high) = (self.src, self.src + self.run as isize);
        for step in &self.steps {
            let reach = (step.extent as isize - 1) * step.src;
            low += reach.min(0);
            high += reach.max(0);
        }
        low..high
    }

    /// Bytes moved.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.runs().saturating_mul(self.run)
    }

    /// How many runs it has.
    #[must_use]
    pub fn runs(&self) -> usize {
        extent(&self.steps)
    }
}

/// The bytes of a vector that holds a run and ends before the next one does, which begins `step` bytes further on. Two
/// vectors of 32 bytes are as fast as one of 64.
#[must_use]
pub fn following(run: usize, step: usize) -> Option<usize> {
    let vector = run.next_power_of_two();
    (vector > run && vector <= 32 && vector - run <= step).then_some(vector)
}

/// Whether `outer` takes up where the last iteration of `inner` ends.
fn continues(outer: &Step, inner: &Step) -> bool {
    let reach = |stride: isize| isize::try_from(inner.extent).ok()?.checked_mul(stride);
    reach(inner.dst) == Some(outer.dst)
        && reach(inner.src) == Some(outer.src)
        && outer.extent.checked_mul(inner.extent).is_some()
}

fn in_bytes(stride: i64, width: usize) -> Result<isize, BoxError> {
    isize::try_from(stride)
        .ok()
        .and_then(|stride| stride.checked_mul(width as isize))
        .ok_or(BoxError::Span)
}

/// The bytes reached after a dimension, given those before it.
fn span(before: i128, last: i128, stride: isize) -> Result<i128, BoxError> {
    last.checked_mul(stride.unsigned_abs() as i128)
        .and_then(|reach| before.checked_add(reach))
        .filter(|&bytes| bytes <= isize::MAX as i128)
        .ok_or(BoxError::Span)
}

/// A stride in bytes, such that `extent` steps of it stay within the address space. Where there is
/// but one step it leads nowhere, and any stride will do.
pub fn reach(extent: i64, stride: i64, width: usize) -> Result<isize, BoxError> {
    if extent < 2 {
        return Ok(0);
    }
    let bytes = in_bytes(stride, width)?;
    span(width as i128, extent as i128 - 1, bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn dim(extent: i64, dst: i64, src: i64) -> Dim {
        Dim { extent, dst, src }
    }

    fn of(dims: &[Dim], width: usize) -> ByteBox {
        ByteBox::of_move(dims, width).expect("a box")
    }

    #[test]
    fn contiguous_boxes_are_one_run() {
        let dims = [dim(3, 20, 20), dim(1, 7, 9), dim(4, 5, 5), dim(5, 1, 1)];
        let shape = of(&dims, 4);
        assert_eq!((shape.run, shape.steps.len()), (240, 0));
    }

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        let shape = of(&[dim(8, 1, 1), dim(3, 10, 20)], 2);
        assert_eq!(shape.run, 16);
        let step = Step {
            extent: 3,
            dst: 20,
            src: 40,
        };
        assert_eq!(shape.steps[..], [step]);
    }

    #[test]
    fn neighbours_join_and_transposes_stay() {
        let shape = of(&[dim(2, 12, 6), dim(3, 4, 2), dim(4, 1, 100)], 1);
        assert_eq!((shape.steps.len(), shape.runs()), (2, 24));
        assert_eq!(of(&[dim(4, 1, 4), dim(4, 4, 1)], 4).steps.len(), 2);
    }

    #[test]
    fn the_destination_is_walked_forwards() {
        let shape = of(&[dim(5, -1, 2)], 4);
        assert_eq!((shape.dst, shape.src), (-16, 32));
        let step = Step {
            extent: 5,
            dst: 4,
            src: -8,
        };
        assert_eq!(shape.steps[..], [step]);
    }

    #[test]
    fn what_no_memory_holds_is_refused() {
        let refused = |dims: &[Dim], width| ByteBox::of_move(dims, width).unwrap_err();
        assert_eq!(
            refused(&[dim(-1, 1, 1)], 1),
            BoxError::Extent { dim: 0, extent: -1 }
        );
        let far = |dims: &[Dim]| assert_eq!(refused(dims, 4), BoxError::Span);
        far(&[dim(i64::MAX, 1, 1)]);
        far(&[dim(3, i64::MAX, 1)]);
        far(&[dim(3, 1, i64::MIN)]);
        far(&[dim(2, 1 << 60, 0), dim(2, 1 << 60, 0)]);
    }
}
