//! Neighbouring parts that continue each other are one part.

use crate::engine::{AxisDigits, Digits, Engine, Result, Source, Value, chain_of};
use crate::trace::Rule;
use smallvec::SmallVec;

pub(crate) const RULE: Rule = Rule {
    name: "concat_rejoin",
    equation: "concat [x[0:2], x[2:5]] = x[0:5]",
    condition: "both are views of one value, and one chain of views of it shows both side by side; \
                or both are fills of the same bits",
    measure: "parts",
};

/// The parts, neighbours joined where they can be.
pub(crate) fn rejoin(
    engine: &mut Engine<'_>,
    parts: SmallVec<[Value; 4]>,
    axis: usize,
) -> Result<SmallVec<[Value; 4]>> {
    let before = parts.len() as u64;
    let mut joined: SmallVec<[Value; 4]> = SmallVec::new();
    for mut part in parts {
        // What has grown may continue what stands before it.
        while let Some(last) = joined.last() {
            let Some(both) = join(engine, last, &part, axis)? else {
                break;
            };
            part = both;
            joined.pop();
        }
        joined.push(part);
    }
    let after = joined.len() as u64;
    if after < before {
        engine.fired(&RULE, [before, 0, 0], [after, 0, 0], || {
            format!("{before} parts along axis {axis} continue each other and make {after}")
        })?;
    }
    Ok(joined)
}

fn join(engine: &Engine<'_>, a: &Value, b: &Value, axis: usize) -> Result<Option<Value>> {
    match (&a.source, &b.source) {
        (Source::Fill { bits, shape }, Source::Fill { bits: other, .. }) if bits == other => {
            let mut shape = restride_graph::Shape::clone(shape);
            if let (Some(size), Some(more)) = (shape.get_mut(axis), b.shape().get(axis)) {
                *size += more;
            }
            Ok(Some(Value::fill(a.element, &shape, *bits)))
        }
        (
            Source::View { base, layout },
            Source::View {
                base: other,
                layout: next,
            },
        ) if base == other => {
            let (Some(first), Some(second)) = (Digits::of(layout), Digits::of(next)) else {
                return Ok(None);
            };
            let Some(both) = continued(&first, &second, axis) else {
                return Ok(None);
            };
            let Ok(layout) = both.layout() else {
                return Ok(None);
            };
            // Not every list of digits is a chain of views.
            let is_chain = chain_of(&layout, &engine.ty(*base).shape).is_ok();
            Ok(is_chain.then(|| Value::view(a.element, *base, layout)))
        }
        (Source::Fill { .. } | Source::View { .. }, Source::Fill { .. } | Source::View { .. }) => {
            Ok(None)
        }
    }
}

/// The digits of both, side by side along an axis, if those of `b` continue those of `a`.
fn continued(a: &Digits, b: &Digits, axis: usize) -> Option<Digits> {
    let same = |k: usize| k == axis || a.axes[k] == b.axes[k];
    if a.axes.len() != b.axes.len() || !(0..a.axes.len()).all(same) {
        return None;
    }
    let step = b.offset.checked_sub(a.offset)?;
    let digits = side_by_side(a.axes.get(axis)?, b.axes.get(axis)?, step)?;
    let mut both = a.clone();
    both.axes[axis] = digits;
    Some(both)
}

/// The outermost digit grows; what is inside it must be the same on both sides.
fn side_by_side(a: &AxisDigits, b: &AxisDigits, step: i64) -> Option<AxisDigits> {
    (0..=a.len().min(b.len())).find_map(|inside| {
        let (outer_a, inner) = a.split_at(a.len() - inside);
        let (outer_b, inner_b) = b.split_at(b.len() - inside);
        if inner != inner_b {
            return None;
        }
        let (extent_a, stride_a) = only(outer_a)?;
        let (extent_b, stride_b) = only(outer_b)?;
        let stride = match (stride_a, stride_b) {
            (Some(stride), Some(other)) if stride == other => stride,
            (Some(_), Some(_)) => return None,
            (Some(stride), None) | (None, Some(stride)) => stride,
            (None, None) => step,
        };
        if stride.checked_mul(extent_a)? != step {
            return None;
        }
        let mut digits = AxisDigits::from_slice(&[(extent_a.checked_add(extent_b)?, stride)]);
        digits.extend_from_slice(inner);
        Some(digits)
    })
}

/// Extent and stride of at most one digit.
fn only(digits: &[(i64, i64)]) -> Option<(i64, Option<i64>)> {
    match digits {
        [] => Some((1, None)),
        [(extent, stride)] => Some((*extent, Some(*stride))),
        [_, _, ..] => None,
    }
}
