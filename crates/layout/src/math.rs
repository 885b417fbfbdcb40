//! Checked integer arithmetic.

use crate::Break;

pub(crate) fn mul(a: i64, b: i64) -> Result<i64, Break> {
    a.checked_mul(b).ok_or(Break::Overflow)
}

pub(crate) fn add(a: i64, b: i64) -> Result<i64, Break> {
    a.checked_add(b).ok_or(Break::Overflow)
}

pub(crate) fn product(sizes: &[i64]) -> Result<i64, Break> {
    // A zero wins over an overflow: an empty tensor has 0 elements however large its other axes.
    if sizes.contains(&0) {
        return Ok(0);
    }
    sizes.iter().try_fold(1, |p, &n| mul(p, n))
}

/// Greatest common divisor of two positive numbers.
pub(crate) fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least `d >= 0` with `start + step * d` a multiple of `m`, and the period of such `d`;
/// `start >= 0`, `step >= 1`, `m >= 1`.
pub(crate) fn congruence(start: i64, step: i64, m: i64) -> Option<(i64, i64)> {
    let g = gcd(step, m);
    if start % g != 0 {
        return None;
    }
    let period = m / g;
    if period == 1 {
        return Some((0, 1));
    }
    let wanted = (period - (start / g) % period) % period;
    let inverse = inverse((step / g) % period, period);
    let first = (i128::from(wanted) * i128::from(inverse)) % i128::from(period);
    Some((first as i64, period))
}

/// Inverse of `a` modulo `m`, for coprime `0 < a < m`.
fn inverse(a: i64, m: i64) -> i64 {
    let (mut r0, mut r1) = (i128::from(m), i128::from(a));
    let (mut t0, mut t1) = (0i128, 1i128);
    while r1 != 0 {
        let q = r0 / r1;
        (r0, r1) = (r1, r0 - q * r1);
        (t0, t1) = (t1, t0 - q * t1);
    }
    t0.rem_euclid(i128::from(m)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn congruences_agree_with_search() {
        for m in 1..14 {
            for step in 1..20 {
                for start in 0..20 {
                    let found = (0..m).find(|d| (start + step * d) % m == 0);
                    let got = congruence(start, step, m);
                    assert_eq!(got.map(|g| g.0), found, "{start} + {step} d mod {m}");
                    if let Some((_, p)) = got {
                        assert_eq!((step * p) % m, 0);
                        assert!((1..p).all(|q| (step * q) % m != 0));
                    }
                }
            }
        }
    }
}
