//! Boxes in bytes, reduced to what matters for choosing and emitting code.

use restride_loops::Dim;
use smallvec::SmallVec;

/// One dimension of a box, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) extent: i64,
    pub(crate) dst: i64,
    pub(crate) src: i64,
}

/// A box of runs: `run` contiguous bytes on both sides, repeated over `steps`, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) run: i64,
    pub(crate) steps: SmallVec<[Step; 4]>,
}

impl Shape {
    /// The shape of a move's box of elements `width` bytes wide. The box is a set of element
    /// moves, so its dimensions may be reordered and joined. Products cannot overflow: the
    /// verifier has bounded every address of the box.
    pub(crate) fn of(dims: &[Dim], width: i64) -> Self {
        let mut shape = Self {
            run: width,
            steps: dims
                .iter()
                .filter(|dim| dim.extent != 1)
                .map(|dim| Step {
                    extent: dim.extent,
                    dst: dim.dst * width,
                    src: dim.src * width,
                })
                .collect(),
        };
        while let Some(at) = shape
            .steps
            .iter()
            .position(|step| step.dst == shape.run && step.src == shape.run)
        {
            shape.run *= shape.steps.remove(at).extent;
        }
        let mut at = 1;
        while at < shape.steps.len() {
            let (outer, inner) = (shape.steps[at - 1], shape.steps[at]);
            let follows = |outer: i64, inner_stride: i64| {
                inner.extent.checked_mul(inner_stride) == Some(outer)
            };
            if follows(outer.dst, inner.dst) && follows(outer.src, inner.src) {
                shape.steps[at - 1] = Step {
                    extent: outer.extent * inner.extent,
                    ..inner
                };
                shape.steps.remove(at);
            } else {
                at += 1;
            }
        }
        shape
    }

    /// How many runs it has.
    pub(crate) fn runs(&self) -> i64 {
        self.steps
            .iter()
            .fold(1, |n, step| n.saturating_mul(step.extent))
    }
}

/// Loads (and as many stores) that move a run of so many bytes.
pub(crate) const fn run_cost(run: i64) -> i64 {
    if run >= 16 {
        (run + 15) / 16
    } else if run & (run - 1) == 0 {
        1
    } else {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, Step, run_cost};
    use restride_loops::Dim;

    const fn dim(extent: i64, dst: i64, src: i64) -> Dim {
        Dim { extent, dst, src }
    }

    #[test]
    fn contiguous_boxes_are_one_run() {
        let shape = Shape::of(
            &[dim(3, 20, 20), dim(1, 7, 9), dim(4, 5, 5), dim(5, 1, 1)],
            4,
        );
        assert_eq!((shape.run, shape.steps.len()), (240, 0));
    }

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        let shape = Shape::of(&[dim(8, 1, 1), dim(3, 10, 20)], 2);
        assert_eq!(shape.run, 16);
        assert_eq!(
            shape.steps[..],
            [Step {
                extent: 3,
                dst: 20,
                src: 40
            }]
        );
    }

    #[test]
    fn neighbours_join_and_transposes_stay() {
        let shape = Shape::of(&[dim(2, 12, 6), dim(3, 4, 2), dim(4, 1, 100)], 1);
        assert_eq!(shape.steps.len(), 2);
        assert_eq!(shape.runs(), 24);
        assert_eq!(Shape::of(&[dim(4, 1, 4), dim(4, 4, 1)], 4).steps.len(), 2);
    }

    #[test]
    fn costs_count_loads() {
        let costs = [1, 2, 3, 4, 7, 8, 12, 16, 17, 32, 100].map(run_cost);
        assert_eq!(costs, [1, 1, 2, 1, 2, 1, 2, 1, 2, 2, 7]);
    }
}
