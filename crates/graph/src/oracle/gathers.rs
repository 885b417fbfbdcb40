//! Gathers: part of the input index comes out of an index tensor.

use crate::{IndexRule, OutOfRange};

use super::refusal::{OpError, axes, axis, require};
use super::tensor::Tensor;
use super::walk::{Rule, Shown, each_index};

/// What an index means on an axis of size `limit`; `None` is "zero bits".
///
/// With [`OutOfRange::Error`] the tensor was checked before, so `None` does not happen.
fn resolve(rule: IndexRule, value: i128, limit: i64) -> Option<i64> {
    let limit = i128::from(limit);
    let value = if rule.wrap && value < 0 {
        value + limit
    } else {
        value
    };
    if 0 <= value && value < limit {
        return Some(value as i64);
    }
    match rule.out_of_range {
        OutOfRange::Clamp if limit > 0 => Some(0.max(value.min(limit - 1)) as i64),
        OutOfRange::Clamp | OutOfRange::Zero | OutOfRange::Error => None,
    }
}

/// With [`OutOfRange::Error`], refuses the first index outside its axis, whether or not the output
/// shows it. `axis_of` says which axis of `x` the index at a position addresses.
fn check(
    op: &'static str,
    x: &Tensor,
    indices: &Tensor,
    rule: IndexRule,
    axis_of: impl Fn(&[i64]) -> usize,
) -> Result<(), OpError> {
    match rule.out_of_range {
        OutOfRange::Zero | OutOfRange::Clamp => return Ok(()),
        OutOfRange::Error => {}
    }
    for position in each_index(indices.shape()) {
        let value = indices.integer(&position);
        let axis = axis_of(&position);
        let limit = x.shape()[axis];
        if resolve(rule, value, limit).is_none() {
            let low = if rule.wrap { -i128::from(limit) } else { 0 };
            return Err(OpError::OutOfRange {
                op,
                position,
                value,
                axis,
                low,
                limit,
            });
        }
    }
    Ok(())
}

fn require_integers(op: &'static str, indices: &Tensor) -> Result<(), OpError> {
    let element = indices.element();
    require!(
        op,
        element.is_index(),
        "the indices are {element}, no integers of at most 64 bits"
    );
    Ok(())
}

/// `out[p_0..p_{a-1}, i_b..i_{q-1}, rest] = x[p, indices[p_0..p_{b-1}, i], rest]`.
pub(super) fn gather<'a>(
    x: &'a Tensor,
    indices: &'a Tensor,
    along: i64,
    batch_dims: i64,
    rule: IndexRule,
) -> Result<Rule<'a>, OpError> {
    let op = "gather";
    require_integers(op, indices)?;
    let (r, q) = (x.rank(), indices.rank());
    require!(op, r > 0, "a scalar has no axis to gather from");
    let a = axis(op, along, r)?;
    let qi = q as i64;
    require!(
        op,
        -qi <= batch_dims && batch_dims <= qi,
        "batch_dims {batch_dims} is not in {}..={qi}",
        -qi
    );
    let b = if batch_dims < 0 {
        batch_dims + qi
    } else {
        batch_dims
    } as usize;
    require!(op, b <= a, "batch_dims {b} is beyond axis {a}");
    require!(
        op,
        x.shape()[..b] == indices.shape()[..b],
        "the first {b} sizes of {:?} and {:?} differ",
        x.shape(),
        indices.shape()
    );
    check(op, x, indices, rule, |_| a)?;
    let shape = [&x.shape()[..a], &indices.shape()[b..], &x.shape()[a + 1..]].concat();
    Ok(Rule::from_x_or(shape, 0, move |out| {
        let (p, rest) = out.split_at(a);
        let (i, rest) = rest.split_at(q - b);
        let value = indices.integer(&[&p[..b], i].concat());
        let at = resolve(rule, value, x.shape()[a])?;
        Some([p, &[at], rest].concat())
    }))
}

/// `out[i] = x[i with i[axis] := indices[i]]`.
pub(super) fn gather_elements<'a>(
    x: &'a Tensor,
    indices: &'a Tensor,
    along: i64,
    rule: IndexRule,
) -> Result<Rule<'a>, OpError> {
    let op = "gather_elements";
    require_integers(op, indices)?;
    let (xs, is) = (x.shape(), indices.shape());
    require!(
        op,
        xs.len() == is.len(),
        "data has rank {}, indices {}",
        xs.len(),
        is.len()
    );
    let a = axis(op, along, xs.len())?;
    for k in 0..xs.len() {
        require!(
            op,
            k == a || is[k] <= xs[k],
            "axis {k} has {} indices for size {}",
            is[k],
            xs[k]
        );
    }
    check(op, x, indices, rule, |_| a)?;
    Ok(Rule::from_x_or(is.to_vec(), 0, move |out| {
        let mut index = out.to_vec();
        index[a] = resolve(rule, indices.integer(out), xs[a])?;
        Some(index)
    }))
}

/// `out[p, i, rest] = x[p, indices[p, i, 0], .., indices[p, i, k-1], rest]` with `b` axes `p`.
pub(super) fn gather_nd<'a>(
    x: &'a Tensor,
    indices: &'a Tensor,
    batch_dims: i64,
    rule: IndexRule,
) -> Result<Rule<'a>, OpError> {
    let op = "gather_nd";
    require_integers(op, indices)?;
    let (xs, is) = (x.shape(), indices.shape());
    let (r, q) = (xs.len(), is.len());
    require!(op, q > 0, "the indices have no axis");
    let most = r.min(q - 1) as i64;
    require!(
        op,
        0 <= batch_dims && batch_dims <= most,
        "batch_dims {batch_dims} is not in 0..={most}"
    );
    let b = batch_dims as usize;
    require!(
        op,
        xs[..b] == is[..b],
        "the first {b} sizes of {xs:?} and {is:?} differ"
    );
    let k = is[q - 1];
    require!(
        op,
        k <= (r - b) as i64,
        "{k} indices address rank {r} after {b} batch axes"
    );
    let k = k as usize;
    check(op, x, indices, rule, |position| {
        b + position[q - 1] as usize
    })?;
    let shape = [&is[..q - 1], &xs[b + k..]].concat();
    Ok(Rule::from_x_or(shape, 0, move |out| {
        let (place, rest) = out.split_at(q - 1);
        let mut index = place[..b].to_vec();
        for c in 0..k {
            let value = indices.integer(&[place, &[c as i64]].concat());
            index.push(resolve(rule, value, xs[b + c])?);
        }
        index.extend_from_slice(rest);
        Some(index)
    }))
}

/// Where a region of `sizes` stands along every axis; nothing where it does not fit and the policy
/// is `zero`.
fn place(
    op: &'static str,
    shape: &[i64],
    starts: &Tensor,
    sizes: &[i64],
    named: Option<&[i64]>,
    out_of_range: OutOfRange,
) -> Result<Option<Vec<i64>>, OpError> {
    require_integers(op, starts)?;
    let count = sizes.len();
    require!(
        op,
        starts.shape() == [count as i64],
        "{count} sizes, but starts of shape {:?}",
        starts.shape()
    );
    require!(op, count <= shape.len(), "{count} sizes for {shape:?}");
    let first: Vec<i64> = (0..count as i64).collect();
    let named = axes(op, named.unwrap_or(&first), shape.len())?;
    require!(op, named.len() == count, "{count} sizes for {named:?}");
    let wrap = false;
    let rule = IndexRule { out_of_range, wrap };
    let mut at = Some(vec![0; shape.len()]);
    for (k, (&axis, &size)) in named.iter().zip(sizes).enumerate() {
        let d = shape[axis];
        require!(
            op,
            0 <= size && size <= d,
            "{size} elements of axis {axis} of size {d}"
        );
        require!(op, d - size < i64::MAX, "axis {axis} is too long");
        let position = vec![k as i64];
        let (value, limit) = (starts.integer(&position), d - size + 1);
        match (resolve(rule, value, limit), out_of_range) {
            (Some(start), _) => at.iter_mut().for_each(|at| at[axis] = start),
            (None, OutOfRange::Error) => {
                return Err(OpError::OutOfRange {
                    op,
                    position,
                    value,
                    axis,
                    low: 0,
                    limit,
                });
            }
            (None, OutOfRange::Zero | OutOfRange::Clamp) => at = None,
        }
    }
    Ok(at)
}

/// `out[i] = x[i + start]`.
pub(super) fn dynamic_slice<'a>(
    x: &Tensor,
    starts: &Tensor,
    sizes: &[i64],
    named: Option<&[i64]>,
    out_of_range: OutOfRange,
) -> Result<Rule<'a>, OpError> {
    let op = "dynamic_slice";
    let at = place(op, x.shape(), starts, sizes, named, out_of_range)?;
    let mut shape = x.shape().to_vec();
    let first: Vec<i64> = (0..sizes.len() as i64).collect();
    let named = axes(op, named.unwrap_or(&first), shape.len())?;
    named
        .iter()
        .zip(sizes)
        .for_each(|(&axis, &size)| shape[axis] = size);
    Ok(Rule::from_x_or(shape, 0, move |out| {
        let at = at.as_ref()?;
        Some(out.iter().zip(at).map(|(i, start)| i + start).collect())
    }))
}

/// `out[i] = update[i - start]` where there is such an element, and `x[i]` elsewhere.
pub(super) fn dynamic_update_slice<'a>(
    x: &'a Tensor,
    update: &'a Tensor,
    starts: &Tensor,
    named: Option<&[i64]>,
    out_of_range: OutOfRange,
) -> Result<Rule<'a>, OpError> {
    let op = "dynamic_update_slice";
    let (xs, us) = (x.shape(), update.shape());
    require!(
        op,
        x.element() == update.element() && xs.len() == us.len(),
        "{} {xs:?} is updated by {} {us:?}",
        x.element(),
        update.element()
    );
    require!(op, starts.rank() == 1, "starts of rank {}", starts.rank());
    let first: Vec<i64> = (0..starts.shape()[0].min(33)).collect();
    let axes = axes(op, named.unwrap_or(&first), xs.len())?;
    for axis in (0..xs.len()).filter(|axis| !axes.contains(axis)) {
        require!(op, us[axis] == xs[axis], "axis {axis} has no start");
    }
    let sizes: Vec<i64> = axes.iter().map(|&axis| us[axis]).collect();
    let at = place(op, xs, starts, &sizes, named, out_of_range)?;
    Ok(Rule {
        shape: xs.to_vec(),
        source: Box::new(move |out| {
            let index = at
                .as_ref()
                .map(|at| -> Vec<i64> { out.iter().zip(at).map(|(i, start)| i - start).collect() });
            let inside = |index: &Vec<i64>| index.iter().zip(us).all(|(i, n)| (0..*n).contains(i));
            match index.filter(inside) {
                Some(index) => Shown::Element(1, index),
                None => Shown::Element(0, out.to_vec()),
            }
        }),
    })
}
