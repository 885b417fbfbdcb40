//! Operators that keep the row-major order and only rename the sizes.

use crate::ReshapeDialect;

use super::refusal::{OpError, axes, axis, require};
use super::walk::Rule;

/// The product of sizes; `None` beyond `i128`, however many zeros there are elsewhere.
fn product(sizes: impl IntoIterator<Item = i64>) -> Option<i128> {
    let mut sizes: Vec<i64> = sizes.into_iter().collect();
    sizes.sort_unstable_by_key(|&size| std::cmp::Reverse(size));
    sizes
        .iter()
        .try_fold(1i128, |n, &size| n.checked_mul(i128::from(size)))
}

/// Element `k` of the output is element `k` of `x`, both counted in row-major order.
fn same_order<'a>(from: &[i64], to: Vec<i64>) -> Rule<'a> {
    let (from, sizes) = (from.to_vec(), to.clone());
    Rule::from_x(to, move |out| {
        let mut k = 0;
        for (&i, &size) in out.iter().zip(&sizes) {
            k = k * i128::from(size) + i128::from(i);
        }
        let mut index = vec![0; from.len()];
        for (i, &size) in index.iter_mut().zip(&from).rev() {
            *i = (k % i128::from(size)) as i64;
            k /= i128::from(size);
        }
        index
    })
}

/// The pattern becomes sizes as the dialect says; the order stays.
pub(super) fn reshape<'a>(
    shape: &[i64],
    dialect: ReshapeDialect,
    pattern: &[i64],
) -> Result<Rule<'a>, OpError> {
    let op = "reshape";
    let lowest = match dialect {
        ReshapeDialect::Plain => 0,
        ReshapeDialect::OpenVino { .. }
        | ReshapeDialect::Onnx { .. }
        | ReshapeDialect::TensorFlow
        | ReshapeDialect::MindSpore => -1,
    };
    let low = pattern.iter().find(|&&size| size < lowest);
    require!(op, low.is_none(), "size {low:?} is below {lowest}");
    let unknown: Vec<usize> = (0..pattern.len()).filter(|&i| pattern[i] == -1).collect();
    require!(op, unknown.len() <= 1, "{} sizes are -1", unknown.len());

    let copies = match dialect {
        ReshapeDialect::OpenVino { special_zero } => special_zero,
        ReshapeDialect::Onnx { allow_zero } => !allow_zero,
        ReshapeDialect::Plain | ReshapeDialect::TensorFlow | ReshapeDialect::MindSpore => false,
    };
    let copied = |i: usize| copies && pattern[i] == 0;
    let mut sizes = pattern.to_vec();
    for i in (0..sizes.len()).filter(|&i| copied(i)) {
        require!(
            op,
            i < shape.len(),
            "0 at position {i} copies no axis of rank {}",
            shape.len()
        );
        sizes[i] = shape[i];
    }

    if let Some(&unknown) = unknown.first() {
        let known = (0..sizes.len()).filter(|&i| i != unknown);
        sizes[unknown] = match dialect {
            ReshapeDialect::Plain => -1,
            // Copied sizes cancel, so they may be 0; what is left over of nothing is 1.
            ReshapeDialect::OpenVino { .. } => {
                let have = product(
                    (0..shape.len())
                        .filter(|&j| !(j < sizes.len() && copied(j)))
                        .map(|j| shape[j]),
                );
                let want = product(known.filter(|&i| !copied(i)).map(|i| sizes[i]));
                if have == Some(0) && want == Some(0) {
                    1
                } else {
                    quotient(have, want)?
                }
            }
            ReshapeDialect::Onnx { allow_zero: false } => quotient(
                product(shape.iter().copied()),
                product(known.map(|i| sizes[i])),
            )?,
            // Beside a 0, sizes of 0 are left out on both sides.
            ReshapeDialect::Onnx { allow_zero: true } => {
                let empty = known.clone().any(|i| sizes[i] == 0);
                let kept = |size: &i64| !empty || *size != 0;
                let have = product(shape.iter().copied().filter(kept));
                quotient(have, product(known.map(|i| sizes[i]).filter(kept)))?
            }
            // The same, but what does not divide is rounded down.
            ReshapeDialect::TensorFlow => {
                let empty = known.clone().any(|i| sizes[i] == 0);
                let kept = |size: &i64| !empty || *size != 0;
                let have = product(shape.iter().copied().filter(kept));
                let want = product(known.map(|i| sizes[i]).filter(kept));
                match (have, want) {
                    (Some(have), Some(want)) if empty && shape.contains(&0) => (have / want) as i64,
                    (have, want) => quotient(have, want)?,
                }
            }
            // What is left over of nothing is nothing.
            ReshapeDialect::MindSpore => {
                let have = product(shape.iter().copied());
                let want = product(known.map(|i| sizes[i]));
                if have == Some(0) && want == Some(0) {
                    0
                } else {
                    quotient(have, want)?
                }
            }
        };
    }
    let (have, want) = (
        product(shape.iter().copied()),
        product(sizes.iter().copied()),
    );
    require!(
        op,
        have.is_some() && have == want,
        "{shape:?} and {sizes:?} hold unlike numbers of elements"
    );
    Ok(same_order(shape, sizes))
}

/// What -1 stands for: `have / want`, which must be whole.
fn quotient(have: Option<i128>, want: Option<i128>) -> Result<i64, OpError> {
    let op = "reshape";
    match (have, want) {
        (Some(have), Some(want)) if want != 0 && have % want == 0 => i64::try_from(have / want)
            .map_err(|_| super::refusal::refused(op, format!("-1 would be {}", have / want))),
        (have, want) => Err(super::refusal::refused(
            op,
            format!("-1 cannot be found: {have:?} elements over {want:?}"),
        )),
    }
}

/// Drops the named axes, or all of size 1; a named axis must have size 1, and may be named again.
pub(super) fn squeeze<'a>(shape: &[i64], named: Option<&[i64]>) -> Result<Rule<'a>, OpError> {
    let op = "squeeze";
    let dropped: Vec<usize> = match named {
        Some(named) => (named.iter())
            .map(|&a| axis(op, a, shape.len()))
            .collect::<Result<_, _>>()?,
        None => (0..shape.len()).filter(|&a| shape[a] == 1).collect(),
    };
    for &a in &dropped {
        require!(op, shape[a] == 1, "axis {a} has size {}, not 1", shape[a]);
    }
    let kept = (0..shape.len()).filter(|a| !dropped.contains(a));
    Ok(same_order(shape, kept.map(|a| shape[a]).collect()))
}

/// Inserts axes of size 1, which then stand where `named` says.
pub(super) fn unsqueeze<'a>(shape: &[i64], named: &[i64]) -> Result<Rule<'a>, OpError> {
    let op = "unsqueeze";
    let rank = shape.len() + named.len();
    let inserted = axes(op, named, rank)?;
    let mut rest = shape.iter().copied();
    let sizes = (0..rank).filter_map(|a| {
        if inserted.contains(&a) {
            Some(1)
        } else {
            rest.next()
        }
    });
    Ok(same_order(shape, sizes.collect()))
}

/// `[product of the sizes before axis, product of the others]`, with `axis` in `-r..=r`.
pub(super) fn flatten<'a>(shape: &[i64], axis: i64) -> Result<Rule<'a>, OpError> {
    let op = "flatten";
    let r = shape.len() as i64;
    require!(
        op,
        -r <= axis && axis <= r,
        "axis {axis} is not in {}..={r}",
        -r
    );
    let at = if axis < 0 { axis + r } else { axis } as usize;
    let size = |part: &[i64]| product(part.iter().copied()).and_then(|n| i64::try_from(n).ok());
    match (size(&shape[..at]), size(&shape[at..])) {
        (Some(rows), Some(columns)) => Ok(same_order(shape, vec![rows, columns])),
        _ => Err(super::refusal::refused(
            op,
            format!("{shape:?} is too large"),
        )),
    }
}
