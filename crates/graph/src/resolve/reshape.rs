//! `reshape`: what 0 and -1 mean, in five dialects.

use super::{product, result_rank};
use crate::error::{Place, Problem, Refusal};
use crate::{ReshapeDialect, Shape};

const PATTERN: &str = "shape";

/// The sizes that a pattern comes to.
///
/// ```
/// use restride_graph::{ReshapeDialect, resolve};
///
/// let copy = ReshapeDialect::OpenVino { special_zero: true };
/// assert_eq!(resolve::reshape(copy, &[2, 3, 4], &[0, -1])?.as_slice(), [2, 12]);
/// assert!(resolve::reshape(ReshapeDialect::TensorFlow, &[2, 3], &[0, -1]).is_err());
/// # Ok::<(), restride_graph::Refusal>(())
/// ```
pub fn reshape(dialect: ReshapeDialect, shape: &[i64], pattern: &[i64]) -> Result<Shape, Refusal> {
    result_rank(pattern.len())?;
    let copies = zero_copies(dialect);
    let low = if dialect == ReshapeDialect::Plain {
        0
    } else {
        -1
    };
    let mut out = Shape::new();
    let mut inferred = None;
    for (position, &got) in pattern.iter().enumerate() {
        let at = Place::Entry(PATTERN, position);
        if got < low {
            let high = i64::MAX;
            return Err(at.refuse(Problem::OutOfRange { got, low, high }));
        }
        if got == -1
            && let Some(first) = inferred.replace(position)
        {
            return Err(at.refuse(Problem::SeveralInferred { first }));
        }
        out.push(match (got, shape.get(position)) {
            (0, Some(&size)) if copies => size,
            (0, None) if copies => {
                return Err(at.refuse(Problem::CopyBeyondRank {
                    axis: position,
                    rank: shape.len(),
                }));
            }
            (got, _) => got,
        });
    }
    if let Some(position) = inferred {
        let at = Place::Entry(PATTERN, position);
        out[position] = infer_size(at, dialect, shape, pattern, &out)?;
    }
    let got = product(shape.iter().copied())?;
    let expected = product(out.iter().copied())?;
    if got != expected {
        return Err(Place::Attribute(PATTERN).refuse(Problem::ElementCount { got, expected }));
    }
    Ok(out)
}

fn zero_copies(dialect: ReshapeDialect) -> bool {
    match dialect {
        ReshapeDialect::OpenVino { special_zero } => special_zero,
        ReshapeDialect::Onnx { allow_zero } => !allow_zero,
        ReshapeDialect::Plain | ReshapeDialect::TensorFlow | ReshapeDialect::MindSpore => false,
    }
}

/// The size that the one -1, which stands at `at`, comes to.
fn infer_size(
    at: Place,
    dialect: ReshapeDialect,
    shape: &[i64],
    pattern: &[i64],
    out: &[i64],
) -> Result<i64, Refusal> {
    let beside_zero = || at.refuse(Problem::InferredBesideZero);
    let exact = |elements: i64, by: i64| match elements % by {
        0 => Ok(elements / by),
        _ => Err(at.refuse(Problem::NotInferable { elements, by })),
    };
    let elements = product(shape.iter().copied())?;
    let by = product(out.iter().copied().filter(|&size| size != -1))?;
    match dialect {
        ReshapeDialect::OpenVino { .. } => {
            // Copied axes cancel on both sides, so they may be 0.
            let copied = |k: usize| zero_copies(dialect) && pattern.get(k) == Some(&0);
            let rest = |sizes: &[i64]| {
                let sizes = sizes.iter().copied().enumerate();
                product(
                    sizes
                        .filter(|&(k, size)| size != -1 && !copied(k))
                        .map(|(_, size)| size),
                )
            };
            match (rest(shape)?, rest(out)?) {
                (0, 0) => Ok(1),
                (_, 0) => Err(beside_zero()),
                (elements, by) => exact(elements, by),
            }
        }
        ReshapeDialect::Plain | ReshapeDialect::Onnx { allow_zero: false } => match by {
            0 => Err(beside_zero()),
            by => exact(elements, by),
        },
        ReshapeDialect::MindSpore => match (elements, by) {
            (0, 0) => Ok(0),
            (_, 0) => Err(beside_zero()),
            (elements, by) => exact(elements, by),
        },
        ReshapeDialect::Onnx { allow_zero: true } | ReshapeDialect::TensorFlow if by != 0 => {
            exact(elements, by)
        }
        ReshapeDialect::Onnx { allow_zero: true } | ReshapeDialect::TensorFlow if elements != 0 => {
            Err(beside_zero())
        }
        // Both sides are empty: the -1 is what the sizes other than 0 leave.
        ReshapeDialect::Onnx { allow_zero: true } => exact(positive(shape)?, positive(out)?),
        ReshapeDialect::TensorFlow => Ok(positive(shape)? / positive(out)?),
    }
}

/// The product of the sizes other than 0 and -1: at least 1.
fn positive(sizes: &[i64]) -> Result<i64, Refusal> {
    product(sizes.iter().copied().filter(|&size| size > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OV: ReshapeDialect = ReshapeDialect::OpenVino {
        special_zero: false,
    };
    const OV_COPY: ReshapeDialect = ReshapeDialect::OpenVino { special_zero: true };
    const ONNX: ReshapeDialect = ReshapeDialect::Onnx { allow_zero: true };
    const ONNX_COPY: ReshapeDialect = ReshapeDialect::Onnx { allow_zero: false };
    const TF: ReshapeDialect = ReshapeDialect::TensorFlow;
    const MS: ReshapeDialect = ReshapeDialect::MindSpore;
    const PLAIN: ReshapeDialect = ReshapeDialect::Plain;

    fn ok(dialect: ReshapeDialect, shape: &[i64], pattern: &[i64]) -> Option<Vec<i64>> {
        reshape(dialect, shape, pattern)
            .ok()
            .map(|shape| shape.to_vec())
    }

    #[test]
    fn empty_data_and_an_inferred_size() {
        type Case<'a> = (&'a [i64], &'a [i64], [&'a [i64]; 4]);
        let cases: [Case<'_>; 3] = [
            (&[3, 0], &[-1, 0], [&[1, 0], &[3, 0], &[0, 0], &[3, 0]]),
            (&[0, 3], &[0, -1], [&[0, 1], &[0, 3], &[0, 0], &[0, 3]]),
            // ONNX Runtime refuses the last: 3 is no multiple of 2.
            (
                &[0, 3],
                &[0, 2, -1],
                [&[0, 2, 1], &[0, 2, 1], &[0, 2, 0], &[]],
            ),
        ];
        for (shape, pattern, expected) in cases {
            for (dialect, expected) in [OV, TF, MS, ONNX].into_iter().zip(expected) {
                let got = ok(dialect, shape, pattern).unwrap_or_default();
                assert_eq!(got, expected, "{dialect:?} {shape:?} {pattern:?}");
            }
            assert!(reshape(PLAIN, shape, pattern).is_err());
        }
    }

    #[test]
    fn zeros_that_copy() {
        assert_eq!(ok(OV_COPY, &[0, 3], &[0, -1]), Some(vec![0, 3]));
        assert_eq!(ok(ONNX_COPY, &[5, 2, 0], &[-1, 0]), Some(vec![0, 2]));
        assert_eq!(ok(ONNX_COPY, &[3, 0], &[-1, 0]), None);
        assert_eq!(ok(ONNX_COPY, &[0], &[-1, 0]), None);
        for dialect in [OV_COPY, ONNX_COPY] {
            assert_eq!(ok(dialect, &[4, 6], &[0, 4]), None);
            assert_eq!(ok(dialect, &[4, 6], &[0, -1]), Some(vec![4, 6]));
            assert_eq!(ok(dialect, &[4], &[4, 0]), None);
        }
    }

    #[test]
    fn products_do_not_wrap() {
        let huge = 1i64 << 32;
        for dialect in [OV, OV_COPY, ONNX, ONNX_COPY, TF, MS, PLAIN] {
            assert!(reshape(dialect, &[0], &[huge, huge]).is_err());
            assert!(reshape(dialect, &[2, 3], &[huge, huge]).is_err());
            assert!(reshape(dialect, &[2, 3], &[huge, huge, -1]).is_err());
            assert!(reshape(dialect, &[0], &[1 << 62, 4, 0]).is_err());
            assert!(reshape(dialect, &[1], &[i64::MIN]).is_err());
            assert!(reshape(dialect, &[6], &[-1, -1]).is_err());
            assert!(reshape(dialect, &[6], &[1; 33]).is_err());
            assert_eq!(ok(dialect, &[1], &[]), Some(vec![]));
            assert!(reshape(dialect, &[2], &[]).is_err());
        }
    }
}
