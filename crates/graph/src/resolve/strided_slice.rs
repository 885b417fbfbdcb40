//! `strided_slice` with its five masks, in three dialects.

use super::{AxisSpan, PerAxis, check_length, result_rank};
use crate::error::{Place, Problem, Refusal};
use crate::{Count, StridedSliceDialect, StridedSliceSpec};

/// The most positions that TensorFlow takes; elsewhere the bits of a mask are the bound.
const TENSORFLOW_POSITIONS: usize = 31;
const POSITIONS: usize = 64;

/// What a position of the spec does; in order, those that are not `NewAxis` take the axes of the
/// operand one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AxisAction {
    /// Reads a range of the next axis.
    Range(AxisSpan),
    /// Reads one index of the next axis and drops the axis.
    Shrink(i64),
    /// Inserts an axis of size 1.
    NewAxis,
}

/// What happens to the axes, the ellipsis (spelled or implied) written out.
///
/// ```
/// use restride_graph::resolve::{self, AxisAction, AxisSpan};
/// use restride_graph::{StridedSliceDialect, StridedSliceSpec};
///
/// // x[1, ..., tf.newaxis, ::-1] on [4, 5, 6]
/// let spec = StridedSliceSpec {
///     dialect: StridedSliceDialect::TensorFlow,
///     begin: &[1, 0, 0, 0],
///     end: &[0, 0, 0, 0],
///     strides: &[1, 1, 1, -1],
///     begin_mask: 0b1000,
///     end_mask: 0b1000,
///     ellipsis_mask: 0b0010,
///     new_axis_mask: 0b0100,
///     shrink_axis_mask: 0b0001,
/// };
/// let actions = resolve::strided_slice(&spec, &[4, 5, 6])?;
/// assert_eq!(actions.as_slice(), [
///     AxisAction::Shrink(1),
///     AxisAction::Range(AxisSpan::full(5)),
///     AxisAction::NewAxis,
///     AxisAction::Range(AxisSpan { start: 5, len: 6, step: -1 }),
/// ]);
/// # Ok::<(), restride_graph::Refusal>(())
/// ```
pub fn strided_slice(
    spec: &StridedSliceSpec<'_>,
    shape: &[i64],
) -> Result<PerAxis<AxisAction>, Refusal> {
    let positions = check_spec(spec, shape)?;
    let mut kinds: PerAxis<Position> = (0..positions).map(|k| spec.position(k)).collect();
    if !kinds.contains(&Position::Ellipsis) {
        // The implied one comes last, so that positions keep their numbers.
        kinds.push(Position::Ellipsis);
    }
    let used = kinds.iter().filter(|kind| kind.takes_an_axis()).count();
    let Some(spanned) = shape.len().checked_sub(used) else {
        return Err(Place::Attribute("begin").refuse(Problem::TooManyPositions {
            got: used,
            rank: shape.len(),
        }));
    };
    let mut actions = PerAxis::new();
    let mut axis = 0;
    for (position, kind) in kinds.iter().enumerate() {
        match kind {
            Position::Ellipsis => {
                let sizes = &shape[axis..axis + spanned];
                actions.extend(
                    sizes
                        .iter()
                        .map(|&size| AxisAction::Range(AxisSpan::full(size))),
                );
                axis += spanned;
            }
            Position::NewAxis => actions.push(AxisAction::NewAxis),
            Position::Shrink => {
                actions.push(AxisAction::Shrink(spec.shrink(
                    position,
                    axis,
                    shape[axis],
                )?));
                axis += 1;
            }
            Position::Range => {
                actions.push(AxisAction::Range(spec.range(position, shape[axis])?));
                axis += 1;
            }
        }
    }
    let dropped = kinds.iter().filter(|&&kind| kind == Position::Shrink);
    result_rank(actions.len() - dropped.count())?;
    Ok(actions)
}

/// What a position of the spec is; the first mask in this order wins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Ellipsis,
    NewAxis,
    Shrink,
    Range,
}

impl Position {
    fn takes_an_axis(self) -> bool {
        matches!(self, Position::Shrink | Position::Range)
    }
}

/// Checks what does not depend on one axis; gives the number of positions.
fn check_spec(spec: &StridedSliceSpec<'_>, shape: &[i64]) -> Result<usize, Refusal> {
    let positions = spec.begin.len();
    let limit = match spec.dialect {
        StridedSliceDialect::TensorFlow => TENSORFLOW_POSITIONS,
        StridedSliceDialect::OpenVino => POSITIONS,
        // Its kernel counts new axes and the ellipsis too.
        StridedSliceDialect::MindSpore => shape.len(),
    };
    check_length("end", spec.end.len(), Count::Exactly(positions))?;
    check_length("strides", spec.strides.len(), Count::Exactly(positions))?;
    check_length("begin", positions, Count::AtMost(limit))?;
    if spec.dialect == StridedSliceDialect::MindSpore {
        check_mindspore(spec)?;
    }
    // Anywhere in the mask, also beyond the last position.
    if spec.ellipsis_mask.count_ones() > 1 {
        let mask = spec.ellipsis_mask;
        return Err(Place::Attribute("ellipsis_mask").refuse(Problem::SeveralEllipses { mask }));
    }
    Ok(positions)
}

/// What only MindSpore refuses: negative masks, and stride 0 also where it would be ignored.
fn check_mindspore(spec: &StridedSliceSpec<'_>) -> Result<(), Refusal> {
    let masks = [
        ("begin_mask", spec.begin_mask),
        ("end_mask", spec.end_mask),
        ("ellipsis_mask", spec.ellipsis_mask),
        ("new_axis_mask", spec.new_axis_mask),
        ("shrink_axis_mask", spec.shrink_axis_mask),
    ];
    for (name, got) in masks {
        if got < 0 {
            let (low, high) = (0, i64::MAX);
            return Err(Place::Attribute(name).refuse(Problem::OutOfRange { got, low, high }));
        }
    }
    match spec.strides.iter().position(|&stride| stride == 0) {
        Some(position) => Err(Place::Entry("strides", position).refuse(Problem::ZeroStep)),
        None => Ok(()),
    }
}

impl StridedSliceSpec<'_> {
    fn position(&self, position: usize) -> Position {
        if bit(self.ellipsis_mask, position) {
            Position::Ellipsis
        } else if bit(self.new_axis_mask, position) {
            Position::NewAxis
        } else if bit(self.shrink_axis_mask, position) {
            Position::Shrink
        } else {
            Position::Range
        }
    }

    fn shrink(&self, position: usize, axis: usize, size: i64) -> Result<i64, Refusal> {
        let stride = self.strides[position];
        let at = Place::Entry("strides", position);
        let masked = match self.dialect {
            StridedSliceDialect::OpenVino => false,
            StridedSliceDialect::TensorFlow | StridedSliceDialect::MindSpore if stride == 0 => {
                return Err(at.refuse(Problem::ZeroStep));
            }
            StridedSliceDialect::TensorFlow | StridedSliceDialect::MindSpore if stride < 0 => {
                return Err(at.refuse(Problem::BackwardShrink { got: stride }));
            }
            StridedSliceDialect::TensorFlow => false,
            StridedSliceDialect::MindSpore => bit(self.begin_mask, position),
        };
        let got = if masked { 0 } else { self.begin[position] };
        let index = if got < 0 { got + size } else { got };
        if (0..size).contains(&index) {
            return Ok(index);
        }
        Err(Place::Entry("begin", position).refuse(if size == 0 {
            Problem::EmptyAxis { got, axis }
        } else {
            Problem::OutsideAxis {
                got,
                axis,
                size,
                low: -size,
                high: size - 1,
            }
        }))
    }

    fn range(&self, position: usize, size: i64) -> Result<AxisSpan, Refusal> {
        let stride = self.strides[position];
        if stride == 0 {
            return Err(Place::Entry("strides", position).refuse(Problem::ZeroStep));
        }
        let forward = stride > 0;
        let (low, high) = if forward { (0, size) } else { (-1, size - 1) };
        let (first, last) = if forward { (low, high) } else { (high, low) };
        let from_end = |index: i64| if index < 0 { index + size } else { index };
        let begin = if bit(self.begin_mask, position) {
            first
        } else {
            match self.dialect {
                StridedSliceDialect::TensorFlow | StridedSliceDialect::MindSpore => {
                    from_end(self.begin[position]).clamp(low, high)
                }
                // A backward begin clamps at 0, as in Slice-8, if there is a 0.
                StridedSliceDialect::OpenVino => {
                    from_end(self.begin[position]).clamp(high.min(0), high)
                }
            }
        };
        let end = if bit(self.end_mask, position) {
            last
        } else {
            from_end(self.end[position]).clamp(low, high)
        };
        Ok(AxisSpan::between(begin, end, stride))
    }
}

/// Whether bit `position` is set; a mask has no bits beyond its width.
fn bit(mask: i64, position: usize) -> bool {
    position < 64 && mask >> position & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{python, slice::clamped};

    const DIALECTS: [StridedSliceDialect; 3] = [
        StridedSliceDialect::TensorFlow,
        StridedSliceDialect::OpenVino,
        StridedSliceDialect::MindSpore,
    ];

    fn one(dialect: StridedSliceDialect, range: &[[i64; 1]; 3], masks: i64, size: i64) -> AxisSpan {
        let spec = StridedSliceSpec {
            dialect,
            begin: &range[0],
            end: &range[1],
            strides: &range[2],
            begin_mask: masks & 1,
            end_mask: masks >> 1,
            ellipsis_mask: 0,
            new_axis_mask: 0,
            shrink_axis_mask: 0,
        };
        match strided_slice(&spec, &[size]).unwrap()[..] {
            [AxisAction::Range(span)] => span,
            ref actions => panic!("{actions:?}"),
        }
    }

    fn every_range(mut check: impl FnMut(i64, i64, i64, i64)) {
        for size in 0..5i64 {
            for begin in python::interesting(size) {
                for end in python::interesting(size) {
                    for stride in python::steps() {
                        check(size, begin, end, stride);
                    }
                }
            }
        }
    }

    #[test]
    fn ranges_agree_with_a_list() {
        every_range(|size, begin, end, stride| {
            for masks in 0..4 {
                for dialect in DIALECTS {
                    let span = one(dialect, &[[begin], [end], [stride]], masks, size);
                    let below = dialect == StridedSliceDialect::OpenVino && stride < 0;
                    let begin = if below && begin < -size { 0 } else { begin };
                    let first = (masks & 1 == 0).then_some(begin);
                    let last = (masks & 2 == 0).then_some(end);
                    let expected = python::slice(size, first, last, stride);
                    let case = (dialect, size, first, last, stride);
                    assert_eq!(python::indices(span), expected, "{case:?}");
                    python::assert_normal(span, size);
                }
            }
        });
    }

    #[test]
    fn openvino_clamps_as_its_slice_does() {
        every_range(|size, begin, end, stride| {
            let range = [[begin], [end], [stride]];
            let span = one(StridedSliceDialect::OpenVino, &range, 0, size);
            assert_eq!(span, clamped(begin, end, stride, size));
        });
    }

    /// Every setting of the five masks over two positions, on every rank up to 3: the actions take
    /// each axis once, or the spec is refused for a reason that holds.
    #[test]
    fn every_mask_of_two_positions() {
        let mut accepted = 0;
        for masks in 0..1i64 << 10 {
            for rank in 0..4 {
                for dialect in DIALECTS {
                    let spec = StridedSliceSpec {
                        dialect,
                        begin: &[-1, 0],
                        end: &[2, 9],
                        strides: &[1, 2],
                        begin_mask: masks & 3,
                        end_mask: masks >> 2 & 3,
                        ellipsis_mask: masks >> 4 & 3,
                        new_axis_mask: masks >> 6 & 3,
                        shrink_axis_mask: masks >> 8 & 3,
                    };
                    let takes = |k| !bit(spec.ellipsis_mask | spec.new_axis_mask, k);
                    let used = usize::from(takes(0)) + usize::from(takes(1));
                    let refused = spec.ellipsis_mask == 3
                        || used > rank
                        || dialect == StridedSliceDialect::MindSpore && rank < 2;
                    let result = strided_slice(&spec, &vec![3; rank]);
                    assert_eq!(result.is_err(), refused, "{spec:?} on rank {rank}");
                    if let Ok(actions) = result {
                        accepted += 1;
                        let axes = actions.iter().filter(|&&a| a != AxisAction::NewAxis);
                        assert_eq!(axes.count(), rank);
                    }
                }
            }
        }
        assert!(accepted > 3_000);
    }
}
