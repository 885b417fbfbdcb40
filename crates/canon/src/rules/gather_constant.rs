//! Constant indices are resolved; a sequence of them in a mixed radix is a view.

use super::{RuleOutcome, table};
use crate::engine::{
    AxisDigits, Digits, Engine, PendingCoordinate, PendingGather, PendingIndex, Result, Value,
    ValueSource, count,
};
use crate::ir::Policy;
use crate::sequence::{Sequence, linear};
use crate::trace::Rule;
use restride_graph::{ElementType, MAX_RANK};
use restride_layout::Span;

pub(crate) const RULE: Rule = Rule {
    name: "gather_constant",
    equation: "gather x [o0, (constant a, a+d, ..)(o1)] = slice x [whole, a:n:d]",
    condition: "the indices are constant. All outside: the result is 0. In range and linear in \
                digits of their coordinates, along output axes of their own: a view of the data. \
                Otherwise wrap and clamp are carried out, and axes along which they repeat are \
                views",
    measure: "indices, then those not yet carried out, then elements of them",
};

pub(crate) fn apply(engine: &mut Engine<'_>, pending: &mut PendingGather) -> Result<RuleOutcome> {
    for axis in 0..pending.coordinates.len() {
        let (Some(PendingCoordinate::Index(index)), Some(&limit)) = (
            pending.coordinates.get(axis),
            pending.data.shape().get(axis),
        ) else {
            continue;
        };
        let Some(rows) = table::rows(engine, index, limit) else {
            continue;
        };
        let index = index.clone();
        match resolve(engine, pending, axis, &index, &rows)? {
            RuleOutcome::Unchanged => {}
            outcome @ (RuleOutcome::Changed | RuleOutcome::Done(_)) => return Ok(outcome),
        }
    }
    Ok(RuleOutcome::Unchanged)
}

fn resolve(
    engine: &mut Engine<'_>,
    pending: &mut PendingGather,
    axis: usize,
    index: &PendingIndex,
    rows: &[Option<i64>],
) -> Result<RuleOutcome> {
    let indices = pending.indices().count() as u64;
    let before = [indices, 1, rows.len() as u64];
    if rows.iter().all(Option::is_none) {
        engine.fired(&RULE, before, [0, 0, 0], || {
            format!("every index of axis {axis} is outside it")
        })?;
        let (element, shape) = (pending.data.element, &pending.shape);
        return Ok(RuleOutcome::Done(Value::fill(element, shape, 0)));
    }
    let shape = index.value.shape();
    if let Some(repeated) = (0..shape.len()).find(|&t| repeats(rows, shape, t)) {
        let first = engine.slice_axis(&index.value, repeated, Span::whole(1))?;
        let value = engine.broadcast(&first, shape)?;
        let fewer = rows.len() as u64 / shape[repeated].unsigned_abs().max(2);
        engine.fired(&RULE, before, [indices, 1, fewer], || {
            format!("the indices of axis {axis} do not vary along their axis {repeated}")
        })?;
        if let Some(PendingCoordinate::Index(index)) = pending.coordinates.get_mut(axis) {
            index.value = value;
        }
        return Ok(RuleOutcome::Changed);
    }
    if alone(pending, axis, &index.outputs)
        && let Some(sequence) = linear(rows, shape)
        && let Some(data) = as_view(engine, &pending.data, axis, &sequence, shape)?
    {
        engine.fired(&RULE, before, [indices - 1, 0, 0], || {
            format!("the indices of axis {axis} are {sequence}")
        })?;
        pending.data = data;
        pending.coordinates.remove(axis);
        let outputs = index.outputs.iter().map(|&o| PendingCoordinate::Output(o));
        pending.coordinates.insert_many(axis, outputs);
        return Ok(RuleOutcome::Changed);
    }
    carry_out(engine, pending, axis, rows, before)
}

/// Whether the rows are the same all along one axis of the table.
fn repeats(rows: &[Option<i64>], shape: &[i64], axis: usize) -> bool {
    let inner = count(&shape[axis + 1..]) as usize;
    let size = shape[axis] as usize;
    size > 1
        && rows
            .chunks_exact(size * inner)
            .all(|block| block.chunks_exact(inner).all(|row| row == &block[..inner]))
}

/// Whether nothing but this index follows its output axes.
fn alone(pending: &PendingGather, axis: usize, outputs: &[u8]) -> bool {
    pending
        .coordinates
        .iter()
        .enumerate()
        .all(|(at, coordinate)| match coordinate {
            _ if at == axis => true,
            PendingCoordinate::Output(o) => !outputs.contains(o),
            PendingCoordinate::Index(other) => !outputs.iter().any(|o| other.outputs.contains(o)),
        })
}

/// The data with `axis` replaced by the axes of a sequence.
fn as_view(
    engine: &mut Engine<'_>,
    data: &Value,
    axis: usize,
    sequence: &Sequence,
    shape: &[i64],
) -> Result<Option<Value>> {
    if data.shape().len() - 1 + shape.len() > MAX_RANK {
        return Ok(None);
    }
    let start = sequence.start;
    let step = match &sequence.axes[..] {
        [] => Some((1, 1)),
        [digits] => match digits[..] {
            [] => Some((1, 1)),
            [digit] => Some(digit),
            [..] => None,
        },
        [..] => None,
    };
    if let Some((len, step)) = step {
        let slice = engine.slice_axis(data, axis, Span { start, len, step })?;
        return match shape.is_empty() {
            true => engine.drop_axes(&slice, |k| k == axis).map(Some),
            false => Ok(Some(slice)),
        };
    }
    let ValueSource::View { base, layout } = &data.source else {
        let mut sizes = restride_graph::Shape::from_slice(data.shape());
        sizes.remove(axis);
        sizes.insert_many(axis, shape.iter().copied());
        let bits = match &data.source {
            ValueSource::Fill(fill) => fill.bits,
            ValueSource::View { .. } => 0,
        };
        return Ok(Some(Value::fill(data.element, &sizes, bits)));
    };
    let Some(mut digits) = Digits::of(layout) else {
        return Ok(None);
    };
    let stride = match digits.axes[axis].as_slice() {
        [] => 0,
        [(_, stride)] => *stride,
        [_, _, ..] => return Ok(None),
    };
    let moved = start.checked_mul(stride);
    let Some(offset) = moved.and_then(|by| digits.offset.checked_add(by)) else {
        return Ok(None);
    };
    digits.offset = offset;
    digits.axes.remove(axis);
    for (k, steps) in sequence.axes.iter().enumerate() {
        let along = |&(extent, step): &(i64, i64)| Some((extent, stride.checked_mul(step)?));
        let Some(steps) = steps.iter().map(along).collect::<Option<AxisDigits>>() else {
            return Ok(None);
        };
        digits.axes.insert(axis + k, steps);
    }
    let Ok(layout) = digits.layout() else {
        return Ok(None);
    };
    // Windows that overlap are linear, but no chain of views.
    let is_chain = engine.chain_of(&layout, &engine.ty(*base).shape).is_ok();
    Ok(is_chain.then(|| Value::view(data.element, *base, layout)))
}

/// The narrowest type for rows, signed if that is as narrow, and what stands in it for those that
/// are outside. It is never wider than the type that they came in.
fn narrowest(rows: &[Option<i64>], limit: i64) -> (ElementType, i64) {
    let most = rows.iter().copied().flatten().max().unwrap_or(0);
    let whole = rows.iter().all(Option::is_some);
    let unsigned = if whole { most } else { limit };
    let types = [
        (ElementType::I8, ElementType::U8, 8),
        (ElementType::I16, ElementType::U16, 16),
        (ElementType::I32, ElementType::U32, 32),
    ];
    for (signed, type_without_sign, bits) in types {
        if most < 1 << (bits - 1) {
            return (signed, -1);
        }
        if unsigned < 1 << bits {
            return (type_without_sign, limit);
        }
    }
    (ElementType::I64, -1)
}

/// Wrap and clamp are carried out: an index is a row, or else stands for zero bits.
fn carry_out(
    engine: &mut Engine<'_>,
    pending: &mut PendingGather,
    axis: usize,
    rows: &[Option<i64>],
    before: [u64; 3],
) -> Result<RuleOutcome> {
    let Some(&limit) = pending.data.shape().get(axis) else {
        return Ok(RuleOutcome::Unchanged);
    };
    let Some(PendingCoordinate::Index(index)) = pending.coordinates.get_mut(axis) else {
        return Ok(RuleOutcome::Unchanged);
    };
    let (element, outside) = narrowest(rows, limit);
    let done = !index.wrap && index.policy == Policy::Zero && index.value.element == element;
    let normal = |(row, value): (&Option<i64>, i64)| row.unwrap_or(outside) == value;
    if done
        && table::numbers(engine, &index.value)
            .is_some_and(|values| rows.iter().zip(values).all(normal))
    {
        return Ok(RuleOutcome::Unchanged);
    }
    let mut bytes = Vec::with_capacity(rows.len() * element.width());
    for row in rows {
        bytes.extend_from_slice(&row.unwrap_or(outside).to_le_bytes()[..element.width()]);
    }
    index.value = engine.constant(element, index.value.shape(), &bytes.into())?;
    index.wrap = false;
    index.policy = Policy::Zero;
    engine.fired(&RULE, before, [before[0], 0, before[2]], || {
        format!("the indices of axis {axis} are constant: wrap and clamp are carried out")
    })?;
    Ok(RuleOutcome::Changed)
}
