//! Boxes in bytes, in one normal form.
//!
//! Every dimension of extent 1 is gone, destination strides are positive and fall from the outside
//! to the inside, neighbours that are one dimension are merged, and the innermost dimensions that
//! are contiguous on both sides have become the run.

use restride_loops::Dim;
use smallvec::SmallVec;

use crate::error::PrepareError;

/// More dimensions of extent 2 and more than any box of at most `isize::MAX` bytes has.
pub(crate) const MAX_RANK: usize = 64;

/// One dimension, with strides in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Step {
    /// At least 2.
    pub(crate) extent: usize,
    /// Destination stride.
    pub(crate) dst: isize,
    /// Source stride.
    pub(crate) src: isize,
}

/// Dimensions, outermost first.
pub(crate) type Steps = SmallVec<[Step; 6]>;

/// A box: `run` contiguous bytes at every point of `steps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Whether there is nothing to move.
    pub(crate) empty: bool,
    /// Bytes moved together; a multiple of the element's width.
    pub(crate) run: usize,
    /// Where the walk starts, relative to the address given by the caller.
    pub(crate) dst: isize,
    /// As `dst`, in the source.
    pub(crate) src: isize,
    /// The dimensions around the run.
    pub(crate) steps: Steps,
}

impl Shape {
    /// The normal form of a box of elements.
    pub(crate) fn of_move(dims: &[Dim], width: usize) -> Result<Shape, PrepareError> {
        Shape::new(dims.iter().map(|d| (d.extent, d.dst, d.src)), width)
    }

    /// The normal form of a box that is only written; source strides are zero and play no part.
    pub(crate) fn of_fill(dims: &[(i64, i64)], width: usize) -> Result<Shape, PrepareError> {
        let mut shape = Shape::new(dims.iter().map(|&(extent, dst)| (extent, dst, dst)), width)?;
        shape.src = 0;
        for step in &mut shape.steps {
            step.src = 0;
        }
        Ok(shape)
    }

    fn new(
        dims: impl Iterator<Item = (i64, i64, i64)>,
        width: usize,
    ) -> Result<Shape, PrepareError> {
        let mut shape = Shape {
            empty: false,
            run: width,
            dst: 0,
            src: 0,
            steps: Steps::new(),
        };
        let (mut dst_span, mut src_span) = (width as i128, width as i128);
        for (dim, (extent, dst, src)) in dims.enumerate() {
            let count =
                usize::try_from(extent).map_err(|_| PrepareError::Extent { dim, extent })?;
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
        shape.steps.sort_by_key(|step| std::cmp::Reverse(step.dst));
        shape.merge();
        shape.take_run();
        if shape.steps.len() > MAX_RANK {
            return Err(PrepareError::Span);
        }
        Ok(shape)
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

    /// Bytes moved.
    pub(crate) fn bytes(&self) -> usize {
        self.steps
            .iter()
            .fold(self.run, |n, step| n.saturating_mul(step.extent))
    }
}

/// Whether `outer` takes up where the last iteration of `inner` ends.
fn continues(outer: &Step, inner: &Step) -> bool {
    let reach = |stride: isize| isize::try_from(inner.extent).ok()?.checked_mul(stride);
    reach(inner.dst) == Some(outer.dst)
        && reach(inner.src) == Some(outer.src)
        && outer.extent.checked_mul(inner.extent).is_some()
}

fn in_bytes(stride: i64, width: usize) -> Result<isize, PrepareError> {
    isize::try_from(stride)
        .ok()
        .and_then(|stride| stride.checked_mul(width as isize))
        .ok_or(PrepareError::Span)
}

/// The bytes reached after a dimension, given those before it.
fn span(before: i128, last: i128, stride: isize) -> Result<i128, PrepareError> {
    last.checked_mul(stride.unsigned_abs() as i128)
        .and_then(|reach| before.checked_add(reach))
        .filter(|&bytes| bytes <= isize::MAX as i128)
        .ok_or(PrepareError::Span)
}

/// A stride in bytes, such that `extent` steps of it stay within the address space. Where there is
/// but one step it leads nowhere, and any stride will do.
pub(crate) fn reach(extent: i64, stride: i64, width: usize) -> Result<isize, PrepareError> {
    if extent < 2 {
        return Ok(0);
    }
    let bytes = in_bytes(stride, width)?;
    span(width as i128, extent as i128 - 1, bytes)?;
    Ok(bytes)
}
