//! Views of a concat become a concat of views.

use crate::engine::{Base, BaseId, Engine, MAX_PARTS, Parts, Result, Value, count};
use crate::trace::{Rule, few};
use restride_layout::{Sizes, Span, View};
use smallvec::SmallVec;
use std::borrow::Cow;

pub(crate) const RULE: Rule = Rule {
    name: "concat_views",
    equation: "v(concat [a, b]) = concat [v1(a), v2(b)]",
    condition: "v is the first step of the chain: a slice (it picks and cuts parts), a permute, an \
                expand whose sizes divide every part, or a collapse that has the axis outermost; \
                at most 64 parts",
    measure: "elements of the concat, then views above it",
};

/// Moves the leading views of a chain below its concat.
#[inline(never)] // For a frame of its own: `below` is called from within itself.
pub(crate) fn sink(engine: &mut Engine<'_>, value: &Value, base: BaseId) -> Result<Option<Value>> {
    let chain = engine.chain(value)?;
    let Base::Concat { parts, axis } = engine.base(base) else {
        return Ok(None);
    };
    if chain.is_empty() || parts.len() > MAX_PARTS {
        return Ok(None);
    }
    let (mut values, mut axis) = (parts.clone(), *axis);
    let had = values.len();
    let mut shape = Sizes::from_slice(&engine.ty(base).shape);
    let before = [count(&shape), chain.len() as u64, 0];
    let mut taken = 0;
    for step in chain.iter() {
        let sizes: Sizes = values.iter().map(|part| part.shape()[axis]).collect();
        let Some(sunk) = sink_step(step, &shape, axis, &sizes) else {
            break;
        };
        let mut next = Parts::new();
        for &(part, own) in &sunk.parts {
            next.push(engine.view(&values[part], &own.of(step))?);
        }
        values = next;
        shape = step.shape(&shape)?;
        axis = sunk.axis;
        taken += 1;
    }
    if taken == 0 {
        return Ok(None);
    }
    let after = [count(&shape), (chain.len() - taken) as u64, 0];
    let has = values.len();
    engine.fired(&RULE, before, after, || {
        let taken = few(taken as u64, "view moves", "views move");
        format!("{taken} below the concat, which had {had} parts and has {has}")
    })?;
    let mut value = engine.concat(values, axis)?;
    for step in &chain[taken..] {
        value = engine.view(&value, step)?;
    }
    Ok(Some(value))
}

/// Which parts stay, in order, with what the step becomes for each; and the axis that they lie
/// along.
struct Sunk {
    axis: usize,
    parts: SmallVec<[(usize, Own); 4]>,
}

/// Where the step for one part differs from the step for the whole.
#[derive(Clone, Copy)]
enum Own {
    /// Nowhere.
    Same,
    /// In the span of this axis.
    Span(usize, Span),
    /// In this size.
    Size(usize, i64),
}

impl Own {
    fn of(self, step: &View) -> Cow<'_, View> {
        let mut own = match self {
            Self::Same => return Cow::Borrowed(step),
            Self::Span(..) | Self::Size(..) => step.clone(),
        };
        match (&mut own, self) {
            (View::Slice(spans), Self::Span(axis, span)) => spans[axis] = span,
            (View::Expand { sizes, .. }, Self::Size(axis, size)) => sizes[axis] = size,
            (
                View::Slice(_)
                | View::Permute(_)
                | View::Collapse { .. }
                | View::Expand { .. }
                | View::Broadcast { .. }
                | View::Windows { .. },
                _,
            ) => {}
        }
        Cow::Owned(own)
    }
}

/// `sizes` are those of the parts along `axis`; `shape` is that of the whole.
#[inline(never)] // For a frame of its own, as what `sink` calls calls it again.
fn sink_step(step: &View, shape: &[i64], axis: usize, sizes: &[i64]) -> Option<Sunk> {
    match step {
        View::Slice(spans) => Some(sink_slice(spans, axis, sizes)),
        View::Permute(perm) => {
            let to = perm.iter().position(|&a| a == axis)?;
            Some(everywhere(to, sizes.len(), |_| Own::Same))
        }
        View::Expand { groups, sizes: cut } => sink_expand(groups, cut, axis, sizes),
        View::Collapse { groups } => {
            let mut first = 0;
            let group = groups.iter().position(|&n| {
                let inside = (first..first + n).contains(&axis);
                first += if inside { 0 } else { n };
                inside
            })?;
            let outermost = shape[first..axis].iter().all(|&n| n == 1);
            outermost.then(|| everywhere(group, sizes.len(), |_| Own::Same))
        }
        // Below the concat it would only make the parts larger.
        View::Broadcast { .. } | View::Windows { .. } => None,
    }
}

fn everywhere(axis: usize, parts: usize, own: impl Fn(usize) -> Own) -> Sunk {
    let parts = (0..parts).map(|part| (part, own(part))).collect();
    Sunk { axis, parts }
}

fn sink_slice(spans: &[Span], axis: usize, sizes: &[i64]) -> Sunk {
    let span = spans[axis];
    let mut parts = SmallVec::new();
    let mut low = 0;
    for (part, &size) in sizes.iter().enumerate() {
        let high = low + size;
        if let Some(inside) = within(span, low, high) {
            parts.push((part, Own::Span(axis, inside)));
        }
        low = high;
    }
    if span.len > 1 && span.step < 0 {
        parts.reverse();
    }
    Sunk { axis, parts }
}

/// The part of a span that lies in `low..high`, counted from `low`.
fn within(span: Span, low: i64, high: i64) -> Option<Span> {
    let Span { start, len, step } = span;
    let step = if len <= 1 { 1 } else { step };
    // Steps before the first one inside, and before the first one past it.
    let (first, end) = if step > 0 {
        (div_up(low - start, step), div_up(high - start, step))
    } else {
        (
            div_up(start - (high - 1), -step),
            div_up(start - (low - 1), -step),
        )
    };
    let (first, end) = (first.clamp(0, len), end.clamp(0, len));
    (first < end).then(|| Span {
        start: start + first * step - low,
        len: end - first,
        step: if end - first == 1 { 1 } else { step },
    })
}

/// Rounded up; `b > 0`. Positions are below 2^63, so nothing here overflows.
fn div_up(a: i64, b: i64) -> i64 {
    -(-a).div_euclid(b)
}

fn sink_expand(groups: &[usize], cut: &[i64], axis: usize, sizes: &[i64]) -> Option<Sunk> {
    let first: usize = groups.get(..axis)?.iter().sum();
    let group = cut.get(first..first + groups.get(axis)?)?;
    // Along the first of the new axes that is no unit.
    let within = group.iter().position(|&n| n != 1)?;
    let inner: i64 = group[within + 1..].iter().product();
    if sizes.iter().any(|size| size % inner != 0) {
        return None;
    }
    let own = |part: usize| Own::Size(first + within, sizes[part] / inner);
    Some(everywhere(first + within, sizes.len(), own))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slices of a concat, by listing what they take.
    #[test]
    fn a_slice_takes_the_same_elements_from_the_parts() {
        let sizes = [3i64, 1, 4];
        let total: i64 = sizes.iter().sum();
        for start in 0..total {
            for step in (-total..=total).filter(|&s| s != 0) {
                for len in 1..=total {
                    let last = start + (len - 1) * step;
                    if last < 0 || last >= total || (len == 1 && step != 1) {
                        continue;
                    }
                    let sunk = sink_slice(&[Span { start, len, step }], 0, &sizes);
                    let mut taken = vec![];
                    for (part, own) in &sunk.parts {
                        let base: i64 = sizes[..*part].iter().sum();
                        let Own::Span(0, span) = own else {
                            panic!("a slice becomes slices")
                        };
                        taken.extend((0..span.len).map(|i| base + span.start + i * span.step));
                    }
                    let wanted: Vec<i64> = (0..len).map(|i| start + i * step).collect();
                    assert_eq!(taken, wanted, "{start}:{len}:{step}");
                }
            }
        }
    }
}
