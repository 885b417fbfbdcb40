//! Whether two sets of addresses meet, decided exactly.
//!
//! `a + sum(s_k * i_k) = b + sum(t_j * j_j)` is one linear equation with bounded unknowns. Terms of
//! equal stride are joined, the largest strides are tried first, and a branch ends as soon as what
//! is left to reach lies outside what the smaller strides span or off the grid of their common
//! divisor. In address patterns that come from tensors, large strides exceed what lies inside
//! them, so that hardly any branch has a second value to try. Patterns made up to be hard are met
//! by a budget.

use smallvec::SmallVec;

use super::strided::Strided;

/// How many steps of searching one kernel is worth.
pub(super) struct SearchBudget(u64);

/// The budget ran out: nothing is known.
#[derive(Debug)]
pub(super) struct Exhausted;

impl SearchBudget {
    pub(super) fn new(steps: u64) -> SearchBudget {
        SearchBudget(steps)
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        self.0 = self.0.checked_sub(steps as u64).ok_or(Exhausted)?;
        Ok(())
    }
}

/// An unknown in `low..=high` times a positive stride, and what it and all smaller ones reach.
#[derive(Clone, Copy, Debug)]
struct Term {
    stride: i128,
    low: i128,
    high: i128,
    reach: (i128, i128),
    divisor: i128,
}

type Terms = SmallVec<[Term; 12]>;

/// Whether two sets have an address in common.
pub(super) fn meet(a: &Strided, b: &Strided, budget: &mut SearchBudget) -> Result<bool, Exhausted> {
    budget.spend(1)?;
    if a.high() < b.low || b.high() < a.low {
        return Ok(false);
    }
    let mut terms = Terms::new();
    for &(extent, stride) in &a.dims {
        add(&mut terms, stride, 0, extent - 1);
    }
    for &(extent, stride) in &b.dims {
        add(&mut terms, stride, 1 - extent, 0);
    }
    solvable(&mut terms, i128::from(b.low) - i128::from(a.low), budget)
}

/// Whether a set runs through some address twice.
pub(super) fn repeats(set: &Strided, budget: &mut SearchBudget) -> Result<bool, Exhausted> {
    if set.is_nested() {
        return Ok(false);
    }
    if set.repeats || set.count() > i128::from(set.span) + 1 {
        return Ok(true);
    }
    // Two steps that meet differ by a vector with sum(stride * difference) = 0. Take its first
    // difference that is not zero to be positive.
    for first in 0..set.dims.len() {
        let mut terms = Terms::new();
        for (at, &(extent, stride)) in set.dims[first..].iter().enumerate() {
            let (low, high) = if at == 0 {
                (1, extent - 1)
            } else {
                (1 - extent, extent - 1)
            };
            terms.push(Term::new(stride, low, high));
        }
        if solvable(&mut terms, 0, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Term {
    fn new(stride: i64, low: i64, high: i64) -> Term {
        Term {
            stride: stride.into(),
            low: low.into(),
            high: high.into(),
            reach: (0, 0),
            divisor: 0,
        }
    }
}

/// Adds a term, joined with one of the same stride.
fn add(terms: &mut Terms, stride: i64, low: i64, high: i64) {
    match terms.iter_mut().find(|t| t.stride == i128::from(stride)) {
        Some(term) => {
            term.low += i128::from(low);
            term.high += i128::from(high);
        }
        None => terms.push(Term::new(stride, low, high)),
    }
}

fn solvable(terms: &mut Terms, target: i128, budget: &mut SearchBudget) -> Result<bool, Exhausted> {
    terms.sort_unstable_by_key(|t| std::cmp::Reverse(t.stride));
    let (mut reach, mut divisor) = ((0, 0), 0);
    for term in terms.iter_mut().rev() {
        reach = (
            reach.0 + term.stride * term.low,
            reach.1 + term.stride * term.high,
        );
        divisor = gcd(divisor, term.stride);
        (term.reach, term.divisor) = (reach, divisor);
    }
    descend(terms, target, budget)
}

fn descend(terms: &[Term], target: i128, budget: &mut SearchBudget) -> Result<bool, Exhausted> {
    budget.spend(1)?;
    let Some((term, inner)) = terms.split_first() else {
        return Ok(target == 0);
    };
    if target < term.reach.0 || target > term.reach.1 || target % term.divisor != 0 {
        return Ok(false);
    }
    let reach = inner.first().map_or((0, 0), |t| t.reach);
    let least = div_ceil(target - reach.1, term.stride).max(term.low);
    let most = (target - reach.0).div_euclid(term.stride).min(term.high);
    let mut value = least;
    while value <= most {
        if descend(inner, target - value * term.stride, budget)? {
            return Ok(true);
        }
        value += 1;
    }
    Ok(false)
}

fn div_ceil(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b)
}

fn gcd(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use std::collections::BTreeSet;

    fn random_set(r: &mut Random) -> (Strided, Vec<i64>) {
        let mut dims: SmallVec<[(i64, i64); 6]> = SmallVec::new();
        for _ in 0..r.below(4) {
            dims.push((1 + r.below(4) as i64, r.below(13) as i64 - 4));
        }
        let set = Strided::new(60 + r.below(12) as i64, dims.iter().copied());
        let mut members = Vec::new();
        set.all(|a| {
            members.push(a);
            true
        });
        (set, members)
    }

    #[test]
    fn agrees_with_brute_force() {
        let mut r = Random::new(11);
        let (mut met, mut apart, mut twice) = (0, 0, 0);
        for _ in 0..60_000 {
            let ((a, in_a), (b, in_b)) = (random_set(&mut r), random_set(&mut r));
            let (set_a, set_b): (BTreeSet<i64>, BTreeSet<i64>) = (
                in_a.iter().copied().collect(),
                in_b.iter().copied().collect(),
            );
            let budget = &mut SearchBudget::new(100_000);
            let expected = !set_a.is_disjoint(&set_b);
            assert_eq!(meet(&a, &b, budget).unwrap(), expected, "{a:?} {b:?}");
            let again = a.repeats || set_a.len() < in_a.len();
            assert_eq!(repeats(&a, budget).unwrap(), again, "{a:?}");
            met += usize::from(expected);
            apart += usize::from(!expected);
            twice += usize::from(again);
        }
        assert!(
            met > 1000 && apart > 1000 && twice > 1000,
            "{met} {apart} {twice}"
        );
    }

    #[test]
    fn a_budget_ends_it() {
        let a = Strided::new(0, [(1 << 20, 1_000_003), (1 << 20, 1_000_033)]);
        let b = Strided::new(1, [(1 << 20, 1_000_037), (1 << 20, 1_000_039)]);
        let mut budget = SearchBudget::new(3);
        assert!(meet(&a, &b, &mut budget).is_err());
    }
}
