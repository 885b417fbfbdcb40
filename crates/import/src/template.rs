//! One program for all sizes: what is the same of several, with parameters that spell no size.

use restride_graph::{
    BroadcastMode, Graph, Ints, Op, ReshapeDialect, SliceDialect, ValueId, resolve,
};

/// Why graphs are not one graph at several sizes.
pub(crate) enum Differs {
    /// They have other operators or other inputs.
    Operators,
    /// The parameters of this operator spell the size.
    At(ValueId),
}

/// The operators that are right for all samples, which are one group at several sizes. What they
/// do to each sample is proved to be what the sample's own operators do.
pub(crate) fn common(samples: &[&Graph]) -> Result<Vec<Op>, Differs> {
    let Some(first) = samples.first() else {
        return Ok(Vec::new());
    };
    let alike = |other: &&Graph| {
        let outputs = |graph: &Graph| {
            graph
                .outputs()
                .iter()
                .map(|it| it.value)
                .collect::<Vec<_>>()
        };
        other.len() == first.len() && outputs(other) == outputs(first)
    };
    if !samples.iter().all(alike) {
        return Err(Differs::Operators);
    }
    let mut replays = vec![Graph::new("replay"); samples.len()];
    let mut common = Vec::with_capacity(first.len());
    for value in first.values() {
        let own = |sample: &&Graph| {
            let op = sample.op(value);
            op.name() == first.op(value).name() && op.operands() == first.op(value).operands()
        };
        if !samples.iter().all(own) {
            return Err(Differs::Operators);
        }
        let op = match samples.iter().all(|it| it.op(value) == first.op(value)) {
            true => first.op(value).clone(),
            false => without_sizes(samples, value).ok_or(Differs::At(value))?,
        };
        for (replay, sample) in replays.iter_mut().zip(samples) {
            let pushed = match &op {
                Op::Input => replay.typed_input("", sample.ty(value).clone()),
                op => replay.push(op.clone()),
            };
            let same = pushed.is_ok_and(|pushed| replay.ty(pushed) == sample.ty(value));
            if !same || !same_meaning(&op, sample, value) {
                return Err(Differs::At(value));
            }
        }
        common.push(op);
    }
    Ok(common)
}

/// A graph with other operators in the place of its own.
pub(crate) fn with_operators(graph: &Graph, operators: &[Op]) -> Option<Graph> {
    let mut new = Graph::new(graph.name());
    for (value, op) in graph.values().zip(operators) {
        let name = graph.value_name(value).unwrap_or_default();
        let pushed = match op {
            Op::Input => new.typed_input(name, graph.ty(value).clone()).ok()?,
            op => new.push(op.clone()).ok()?,
        };
        if *op != Op::Input && !name.is_empty() {
            new.set_name(pushed, name).ok()?;
        }
    }
    for output in graph.outputs() {
        new.output_like(output.value, output).ok()?;
    }
    Some(new)
}

/// Whether an operator does what a sample's own does in its place, if operand and result have the
/// same types there.
fn same_meaning(op: &Op, sample: &Graph, value: ValueId) -> bool {
    let own = sample.op(value);
    let Some(x) = own.operands().first().map(|&x| sample.ty(x).shape()) else {
        return op == own;
    };
    match (op, own) {
        _ if op == own => true,
        // The order of elements does not depend on the pattern.
        (Op::Reshape { .. }, Op::Reshape { .. }) => true,
        // Both are aligned at the right.
        (Op::Broadcast { mode: new, .. }, Op::Broadcast { mode: old, .. }) => {
            let explicit = |mode: &BroadcastMode| matches!(mode, BroadcastMode::Explicit(_));
            !explicit(new) && !explicit(old)
        }
        (Op::Slice { .. }, Op::Slice { .. }) => {
            op.spans(x).is_some_and(|it| Some(it) == own.spans(x))
        }
        (Op::Split { .. }, Op::Split { .. }) => {
            part(op, x).is_some_and(|it| Some(it) == part(own, x))
        }
        (Op::StridedSlice { .. }, Op::StridedSlice { .. }) => {
            let picked = |op: &Op| resolve::strided_slice(&op.strided_slice_spec()?, x).ok();
            picked(op).is_some_and(|it| Some(it) == picked(own))
        }
        _ => false,
    }
}

fn part(op: &Op, shape: &[i64]) -> Option<(usize, resolve::AxisSpan)> {
    let Op::Split {
        axis,
        lengths,
        part,
        ..
    } = op
    else {
        return None;
    };
    resolve::split(shape, *axis, lengths, *part as usize).ok()
}

/// One number at each sample, if it is the same for all.
fn agreed(numbers: impl IntoIterator<Item = Option<i64>>) -> Option<i64> {
    let mut numbers = numbers.into_iter();
    let first = numbers.next()??;
    numbers.all(|number| number == Some(first)).then_some(first)
}

/// An operator whose parameters differ from sample to sample, with ones that spell no size; whether
/// they are right is left to others.
fn without_sizes(samples: &[&Graph], value: ValueId) -> Option<Op> {
    let ops = || samples.iter().map(|sample| sample.op(value));
    let mut op = samples.first()?.op(value).clone();
    let x = *op.operands().first()?;
    let from = |axis: usize| {
        samples
            .iter()
            .map(move |it| it.ty(x).shape().get(axis).copied())
    };
    let to = |axis: usize| {
        samples
            .iter()
            .map(move |it| it.ty(value).shape().get(axis).copied())
    };
    let kept =
        |axis: usize, into: usize| from(axis).eq(to(into)) && from(axis).all(|size| size.is_some());
    match &mut op {
        Op::Reshape {
            dialect, pattern, ..
        } => {
            // Where no size is 0 by itself, a 0 may as well copy: the pattern means the same.
            let copies = match dialect {
                ReshapeDialect::OpenVino { special_zero } => {
                    *special_zero |= !pattern.contains(&0);
                    *special_zero
                }
                ReshapeDialect::Onnx { allow_zero } => {
                    *allow_zero &= pattern.contains(&0);
                    !*allow_zero
                }
                _ => false,
            };
            for (at, entry) in pattern.iter_mut().enumerate() {
                let own = agreed(ops().map(|op| match op {
                    Op::Reshape { pattern, .. } => pattern.get(at).copied(),
                    _ => None,
                }));
                *entry = match (own.filter(|&own| own != -1), agreed(to(at))) {
                    (Some(own), _) => own,
                    (None, Some(size)) => size,
                    (None, None) if copies && kept(at, at) => 0,
                    (None, None) => -1,
                };
            }
        }
        Op::Broadcast { shape, mode, .. } if !matches!(mode, BroadcastMode::Explicit(_)) => {
            let rank = samples.first()?.ty(x).rank();
            let more = shape.len().checked_sub(rank)?;
            for (at, entry) in shape.iter_mut().enumerate() {
                if agreed(to(at)).is_none() {
                    // Only the operand can tell the size.
                    let axis = at.checked_sub(more)?;
                    *entry = kept(axis, at).then_some(1)?;
                }
            }
            *mode = BroadcastMode::Bidirectional;
        }
        Op::Slice {
            start,
            stop,
            step,
            axes,
            dialect: SliceDialect::OpenVino | SliceDialect::Onnx,
            ..
        } => {
            for at in 0..start.len() {
                let axis = axes
                    .as_ref()
                    .map_or(Some(at as i64), |axes| axes.get(at).copied())?;
                let rank = samples.first()?.ty(x).rank() as i64;
                let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()?;
                let sizes: Vec<i64> = from(axis).collect::<Option<_>>()?;
                let of = |pick: fn(&Op) -> Option<&Ints>| -> Option<Vec<i64>> {
                    ops().map(|op| pick(op)?.get(at).copied()).collect()
                };
                let starts = of(|op| match op {
                    Op::Slice { start, .. } => Some(start),
                    _ => None,
                })?;
                let stops = of(|op| match op {
                    Op::Slice { stop, .. } => Some(stop),
                    _ => None,
                })?;
                start[at] = from_end(&starts, &sizes, false)?;
                stop[at] = from_end(&stops, &sizes, *step.get(at)? > 0)?;
            }
        }
        Op::StridedSlice {
            end,
            end_mask,
            strides,
            ellipsis_mask: 0,
            new_axis_mask: 0,
            ..
        } => {
            for at in 0..end.len() {
                let sizes: Vec<i64> = from(at).collect::<Option<_>>()?;
                let ends = ops().map(|op| match op {
                    Op::StridedSlice { end, .. } => end.get(at).copied(),
                    _ => None,
                });
                let ends: Vec<i64> = ends.collect::<Option<_>>()?;
                match from_end(&ends, &sizes, *strides.get(at)? > 0)? {
                    i64::MAX => *end_mask |= 1 << at,
                    place => end[at] = place,
                }
            }
        }
        Op::Split { lengths, .. } => {
            let own = |at: usize| {
                agreed(ops().map(|op| match op {
                    Op::Split { lengths, .. } => lengths.get(at).copied(),
                    _ => None,
                }))
            };
            *lengths = (0..lengths.len()).map(|at| own(at).unwrap_or(-1)).collect();
        }
        _ => return None,
    }
    Some(op)
}

/// A place in an axis of several sizes that spells none of them: the same one everywhere, or the
/// same one from the end, or, where that is allowed, the end.
fn from_end(places: &[i64], sizes: &[i64], open: bool) -> Option<i64> {
    if let Some(place) = agreed(places.iter().copied().map(Some)) {
        return Some(place);
    }
    if open && places.iter().zip(sizes).all(|(place, size)| place >= size) {
        return Some(i64::MAX);
    }
    let behind = places
        .iter()
        .zip(sizes)
        .map(|(place, size)| place.checked_sub(*size));
    agreed(behind).filter(|&place| place < 0)
}
