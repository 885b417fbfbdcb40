//! The data of a gather is not permuted: its coordinates are.

use super::RuleOutcome;
use crate::engine::{Digits, Engine, PendingGather, Result, ValueSource};
use crate::trace::Rule;
use restride_layout::Axes;

pub(crate) const RULE: Rule = Rule {
    name: "gather_permuted",
    equation: "gather (permute x [1, 0]) [o0, %i(o1)] = gather x [%i(o1), o0]",
    condition: "the axes of the data do not stand in the order of their strides",
    measure: "pairs of axes in the wrong order",
};

pub(crate) fn apply(engine: &mut Engine<'_>, pending: &mut PendingGather) -> Result<RuleOutcome> {
    let ValueSource::View { layout, .. } = &pending.data.source else {
        return Ok(RuleOutcome::Unchanged);
    };
    let Some(digits) = Digits::of(layout) else {
        return Ok(RuleOutcome::Unchanged);
    };
    let mut strides: Axes = Axes::new();
    for axis in &digits.axes {
        let outermost = axis.first().map_or(0, |&(_, stride)| stride.unsigned_abs());
        strides.push(usize::try_from(outermost).unwrap_or(usize::MAX));
    }
    let wrong = inversions(&strides);
    if wrong == 0 {
        return Ok(RuleOutcome::Unchanged);
    }
    let mut order: Axes = (0..strides.len()).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
    pending.data = engine.permute(&pending.data, &order)?;
    pending.coordinates = order
        .iter()
        .map(|&axis| pending.coordinates[axis].clone())
        .collect();
    engine.fired(&RULE, [wrong, 0, 0], [0, 0, 0], || {
        format!(
            "the data's axes are read in the order {:?}",
            order.as_slice()
        )
    })?;
    Ok(RuleOutcome::Changed)
}

fn inversions(strides: &[usize]) -> u64 {
    let after = |(k, a): (usize, &usize)| strides[k + 1..].iter().filter(|b| *b > a).count();
    strides.iter().enumerate().map(after).sum::<usize>() as u64
}
