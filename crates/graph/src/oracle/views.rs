//! Operators that move whole axes, repeat them, or lay tensors side by side.

use crate::BroadcastMode;

use super::refusal::{OpError, axes, axis, refused, require};
use super::tensor::Tensor;
use super::walk::{Rule, Shown};

/// `out[i_0, ..] = x[j]` with `j[perm[k]] = i_k`; without a permutation, the axes reversed.
pub(super) fn transpose<'a>(shape: &[i64], perm: &[i64]) -> Result<Rule<'a>, OpError> {
    let op = "transpose";
    let rank = shape.len();
    let perm: Vec<usize> = if perm.is_empty() {
        (0..rank).rev().collect()
    } else {
        require!(
            op,
            perm.len() == rank,
            "perm has {} values for rank {rank}",
            perm.len()
        );
        let negative = perm.iter().find(|&&axis| axis < 0);
        require!(op, negative.is_none(), "axis {negative:?} is negative");
        axes(op, perm, rank)?
    };
    let sizes = perm.iter().map(|&axis| shape[axis]).collect();
    Ok(Rule::from_x(sizes, move |out| {
        let mut index = vec![0; perm.len()];
        for (k, &axis) in perm.iter().enumerate() {
            index[axis] = out[k];
        }
        index
    }))
}

/// Axis `k` of `x` shows at output axis `lined_up[k]`; where its size is 1, its only index repeats.
pub(super) fn broadcast<'a>(
    shape: &[i64],
    target: &[i64],
    mode: &BroadcastMode,
) -> Result<Rule<'a>, OpError> {
    let op = "broadcast";
    let (r, t) = (shape.len(), target.len());
    let negative = target.iter().find(|&&size| size < 0);
    require!(
        op,
        negative.is_none(),
        "target size {negative:?} is negative"
    );
    let mut sizes = target.to_vec();
    let lined_up: Vec<usize> = match mode {
        BroadcastMode::Numpy => {
            require!(op, r <= t, "rank {r} does not fit into rank {t}");
            (t - r..t).collect()
        }
        BroadcastMode::Bidirectional => {
            while sizes.len() < r {
                sizes.insert(0, 1);
            }
            let lined_up: Vec<usize> = (sizes.len() - r..sizes.len()).collect();
            for (k, &at) in lined_up.iter().enumerate() {
                if sizes[at] == 1 {
                    sizes[at] = shape[k];
                }
            }
            lined_up
        }
        BroadcastMode::Explicit(mapping) => {
            require!(
                op,
                mapping.len() == r,
                "{} axes for rank {r}",
                mapping.len()
            );
            let lined_up = axes(op, mapping, t)?;
            let negative = mapping.iter().find(|&&axis| axis < 0);
            require!(op, negative.is_none(), "axis {negative:?} is negative");
            require!(
                op,
                lined_up.is_sorted(),
                "axes {mapping:?} are not in order"
            );
            lined_up
        }
    };
    for (k, &at) in lined_up.iter().enumerate() {
        let (from, to) = (shape[k], sizes[at]);
        require!(
            op,
            from == 1 || from == to,
            "axis {k} has size {from}, which is not 1 or {to}"
        );
    }
    let shape = shape.to_vec();
    Ok(Rule::from_x(sizes, move |out| {
        (lined_up.iter().zip(&shape))
            .map(|(&at, &size)| if size == 1 { 0 } else { out[at] })
            .collect()
    }))
}

/// `out[.., i, ..] = x[.., d - 1 - i, ..]` on the named axes.
pub(super) fn reverse<'a>(shape: &[i64], named: &[i64]) -> Result<Rule<'a>, OpError> {
    let named = axes("reverse", named, shape.len())?;
    let shape = shape.to_vec();
    Ok(Rule::from_x(shape.clone(), move |out| {
        let mut index = out.to_vec();
        for &axis in &named {
            index[axis] = shape[axis] - 1 - index[axis];
        }
        index
    }))
}

/// `out[.., i, ..] = x[.., (i - shift) mod d, ..]`; shifts of one axis add up.
pub(super) fn roll<'a>(shape: &[i64], shift: &[i64], named: &[i64]) -> Result<Rule<'a>, OpError> {
    let op = "roll";
    require!(
        op,
        shift.len() == named.len(),
        "{} shifts for {} axes",
        shift.len(),
        named.len()
    );
    let mut shifts = vec![0i128; shape.len()];
    for (&shift, &named) in shift.iter().zip(named) {
        shifts[axis(op, named, shape.len())?] += i128::from(shift);
    }
    let shape = shape.to_vec();
    Ok(Rule::from_x(shape.clone(), move |out| {
        (out.iter().zip(&shifts).zip(&shape))
            .map(|((&i, shift), &size)| (i128::from(i) - shift).rem_euclid(i128::from(size)) as i64)
            .collect()
    }))
}

/// `out[.., i, ..] = part[.., i - sizes of the parts before, ..]`.
pub(super) fn concat<'a>(parts: &[&Tensor], along: i64) -> Result<Rule<'a>, OpError> {
    let op = "concat";
    let Some(first) = parts.first() else {
        return Err(refused(op, "there is nothing to concatenate".into()));
    };
    let along = axis(op, along, first.rank())?;
    let mut total = 0i128;
    let mut starts = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        require!(
            op,
            part.element() == first.element(),
            "part {k} is {}, part 0 {}",
            part.element(),
            first.element()
        );
        let mut like = part.shape().to_vec();
        require!(
            op,
            like.len() == first.rank(),
            "part {k} has rank {}",
            like.len()
        );
        like[along] = first.shape()[along];
        require!(
            op,
            like == first.shape(),
            "part {k} has shape {:?}",
            part.shape()
        );
        starts.push(total as i64);
        total += i128::from(part.shape()[along]);
        require!(op, i64::try_from(total).is_ok(), "the parts are too large");
    }
    let mut sizes = first.shape().to_vec();
    sizes[along] = total as i64;
    Ok(Rule {
        shape: sizes,
        source: Box::new(move |out| {
            // The last part that starts at or before the index: empty parts never are.
            let part = starts
                .iter()
                .rposition(|&start| start <= out[along])
                .unwrap_or(0);
            let mut index = out.to_vec();
            index[along] -= starts[part];
            Shown::Element(part, index)
        }),
    })
}

/// `out[.., i, ..] = x[.., i mod d, ..]`, the shorter of shape and repeats padded with 1.
pub(super) fn tile<'a>(shape: &[i64], repeats: &[i64]) -> Result<Rule<'a>, OpError> {
    let op = "tile";
    let rank = shape.len().max(repeats.len());
    let padded = |list: &[i64]| [vec![1; rank - list.len()], list.to_vec()].concat();
    let (from, repeats) = (padded(shape), padded(repeats));
    let mut sizes = Vec::new();
    for (&size, &times) in from.iter().zip(&repeats) {
        require!(op, times >= 0, "repeat {times} is negative");
        let tiled = size.checked_mul(times);
        sizes.push(tiled.ok_or_else(|| refused(op, format!("{size} times {times} is too large")))?);
    }
    let added = rank - shape.len();
    Ok(Rule::from_x(sizes, move |out| {
        (out.iter().zip(&from))
            .skip(added)
            .map(|(&i, &size)| i % size)
            .collect()
    }))
}

/// `out[.., t, ..] = x[.., t < len ? len - 1 - t : t, ..]` with `len = lengths[batch index]`.
pub(super) fn reverse_sequence<'a>(
    shape: &[i64],
    lengths: &'a [i64],
    batch_axis: i64,
    seq_axis: i64,
) -> Result<Rule<'a>, OpError> {
    let op = "reverse_sequence";
    let batch = axis(op, batch_axis, shape.len())?;
    let seq = axis(op, seq_axis, shape.len())?;
    require!(op, batch != seq, "batch and sequence are both axis {batch}");
    let (b, d) = (shape[batch], shape[seq]);
    require!(
        op,
        lengths.len() as i128 == i128::from(b),
        "{} lengths for a batch of {b}",
        lengths.len()
    );
    let bad = lengths.iter().find(|&&length| length < 0 || length > d);
    require!(op, bad.is_none(), "length {bad:?} is not in 0..={d}");
    Ok(Rule::from_x(shape.to_vec(), move |out| {
        let mut index = out.to_vec();
        let length = lengths[out[batch] as usize];
        if index[seq] < length {
            index[seq] = length - 1 - index[seq];
        }
        index
    }))
}
