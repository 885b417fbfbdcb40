//! `slice` as OpenVINO Slice-8 and ONNX Slice-13 have it.

use super::{AxisSpan, PerAxis, check_length, check_rank, distinct_axes};
use crate::error::{Place, Problem, Refusal};
use crate::{Count, SliceDialect};

/// The span of every axis of the operand.
///
/// ```
/// use restride_graph::{SliceDialect, resolve};
///
/// let (start, stop, step) = ([-2], [i64::MIN], [-3]);
/// let spans = resolve::slice(SliceDialect::OpenVino, &[8, 9], &start, &stop, &step, Some(&[1]))?;
/// assert_eq!(spans[0], resolve::AxisSpan::full(8));
/// assert_eq!(spans[1], resolve::AxisSpan { start: 7, len: 3, step: -3 });
/// # Ok::<(), restride_graph::Refusal>(())
/// ```
pub fn slice(
    dialect: SliceDialect,
    shape: &[i64],
    start: &[i64],
    stop: &[i64],
    step: &[i64],
    axes: Option<&[i64]>,
) -> Result<PerAxis<AxisSpan>, Refusal> {
    let [starts, stops, steps] = dialect.words();
    check_rank(0, shape.len(), Count::AtLeast(1))?;
    check_length(starts, start.len(), Count::AtMost(shape.len()))?;
    check_length(stops, stop.len(), Count::Exactly(start.len()))?;
    check_length(steps, step.len(), Count::Exactly(start.len()))?;
    let axes = match axes {
        Some(axes) => {
            check_length("axes", axes.len(), Count::Exactly(start.len()))?;
            distinct_axes("axes", axes, shape.len())?
        }
        None => (0..start.len()).collect(),
    };
    let mut spans: PerAxis<AxisSpan> = shape.iter().map(|&size| AxisSpan::full(size)).collect();
    for (position, axis) in axes.into_iter().enumerate() {
        if step[position] == 0 {
            return Err(Place::Entry(steps, position).refuse(Problem::ZeroStep));
        }
        spans[axis] = clamped(start[position], stop[position], step[position], shape[axis]);
    }
    Ok(spans)
}

/// A range with both ends clamped into the axis. A backward start clamps at 0, not before it: it
/// reads index 0 even if it was far below.
pub(super) fn clamped(start: i64, stop: i64, step: i64, size: i64) -> AxisSpan {
    if size == 0 {
        return AxisSpan::full(0);
    }
    let from_end = |index: i64| if index < 0 { index + size } else { index };
    if step > 0 {
        let first = from_end(start).clamp(0, size);
        AxisSpan::between(first, from_end(stop).clamp(0, size), step)
    } else {
        let first = from_end(start).clamp(0, size - 1);
        AxisSpan::between(first, from_end(stop).clamp(-1, size - 1), step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::python;

    #[test]
    fn agrees_with_a_list_everywhere_but_below_the_start() {
        let mut seen = 0;
        for size in 0..6 {
            for start in python::interesting(size) {
                for stop in python::interesting(size) {
                    for step in python::steps() {
                        let span = clamped(start, stop, step, size);
                        // The one place where the frameworks clamp to 0 and Python to -1.
                        let below = step < 0 && start < -size && size > 0;
                        let first = if below { 0 } else { start };
                        let expected = python::slice(size, Some(first), Some(stop), step);
                        let case = (size, start, stop, step);
                        assert_eq!(python::indices(span), expected, "{case:?}");
                        python::assert_normal(span, size);
                        seen += 1;
                    }
                }
            }
        }
        assert!(seen > 10_000);
    }
}
