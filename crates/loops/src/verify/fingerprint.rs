//! Whether many writes together are exactly one set, in time linear in the writes.
//!
//! Addresses are exponents: a set of addresses is the polynomial that has `x^a` for each address
//! `a` as often as it comes up. A strided set of any size is a short product,
//!
//! ```text
//! x^low * (1 + x^s + x^2s + ... + x^(n-1)s) * ...    with one factor for each extent n and stride s
//! ```
//!
//! and writes hold every element of an image exactly once, and nothing else, just if the sum of
//! their polynomials is the image's. Both sides are evaluated at one random point of the field of
//! integers modulo `2^127 - 1`. Equal polynomials agree at every point, so nothing that is right
//! is ever refused. Different ones have a degree below `2^63` and agree at fewer than `2^63` of
//! `2^127` points, so something wrong passes with a chance below `2^-64`, whatever it is: the
//! point is drawn when the kernel is there, from keys that the process alone has.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use smallvec::{SmallVec, smallvec};

use super::strided::Strided;

/// `2^127 - 1`, a prime.
const PRIME: u128 = (1 << 127) - 1;

/// A random point and what is often asked of it.
pub(super) struct Point {
    /// `x^(2^k)`, as far as they have been asked for.
    squares: SmallVec<[u128; 32]>,
    /// The factor of an extent and a stride: pieces of one tensor share them.
    factors: HashMap<(i64, i64), u128>,
}

impl Point {
    pub(super) fn random() -> Point {
        let keys = RandomState::new();
        let (low, high) = (keys.hash_one(0u8), keys.hash_one(1u8));
        Point::at((u128::from(high) << 64 | u128::from(low)) & PRIME)
    }

    fn at(x: u128) -> Point {
        Point {
            squares: smallvec![x],
            factors: HashMap::new(),
        }
    }

    /// `x` to a power that is at least 0.
    fn power(&mut self, exponent: i64) -> u128 {
        let last = exponent.max(1).ilog2() as usize;
        while let Some(&square) = self.squares.last()
            && self.squares.len() <= last
        {
            self.squares.push(product(square, square));
        }
        let (mut left, mut value) = (exponent, 1);
        while left > 0 {
            value = product(value, self.squares[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
        value
    }

    /// `1 + y + ... + y^(extent - 1)` for `y = x^stride`, by doubling.
    fn factor(&mut self, extent: i64, stride: i64) -> u128 {
        if let Some(&known) = self.factors.get(&(extent, stride)) {
            return known;
        }
        let y = self.power(stride);
        // The sum of the first terms, and the power that comes after them.
        let (mut terms, mut next) = (0, 1);
        for bit in (0..64 - extent.leading_zeros()).rev() {
            terms = sum(terms, product(terms, next));
            next = product(next, next);
            if extent >> bit & 1 == 1 {
                terms = sum(terms, next);
                next = product(next, y);
            }
        }
        self.factors.insert((extent, stride), terms);
        terms
    }

    /// The value of a set's polynomial.
    pub(super) fn value(&mut self, set: &Strided) -> u128 {
        let mut value = self.power(set.low);
        for &(extent, stride) in &set.dims {
            value = product(value, self.factor(extent, stride));
        }
        value
    }

    /// Whether the sets hold every address of the image exactly once and no other.
    pub(super) fn add_up<'s>(
        &mut self,
        sets: impl IntoIterator<Item = &'s Strided>,
        image: &Strided,
    ) -> bool {
        let mut all = 0;
        for set in sets {
            // An address that comes up again has no polynomial of its own here.
            if set.repeats {
                return false;
            }
            all = sum(all, self.value(set));
        }
        all == self.value(image)
    }
}

fn sum(a: u128, b: u128) -> u128 {
    reduced(a + b)
}

/// What is below `2^128`, as one of `0..PRIME`.
fn reduced(a: u128) -> u128 {
    let folded = (a & PRIME) + (a >> 127);
    if folded >= PRIME {
        folded - PRIME
    } else {
        folded
    }
}

fn product(a: u128, b: u128) -> u128 {
    let halves = |n: u128| (n >> 64, n & u128::from(u64::MAX));
    let ((a1, a0), (b1, b0)) = (halves(a), halves(b));
    // a * b = top * 2^128 + middle * 2^64 + a0 * b0, and 2^127 counts as 1. The upper halves are
    // below 2^63, so neither sum runs over.
    let middle = a1 * b0 + a0 * b1;
    let (carried, kept) = halves(middle);
    let (low, over) = (a0 * b0).overflowing_add(kept << 64);
    let top = a1 * b1 + carried + u128::from(over);
    sum(reduced(low), reduced(2 * top))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn counts_in_the_field() {
        assert_eq!(product(PRIME - 1, PRIME - 1), 1);
        assert_eq!(product(1 << 126, 2), 1);
        assert_eq!(product(1 << 100, 1 << 100), 1 << 73);
        assert_eq!(sum(PRIME - 1, 1), 0);
        let mut r = Random::new(3);
        for _ in 0..10_000 {
            let mut any = || (u128::from(r.bits()) << 64 | u128::from(r.bits())) & PRIME;
            let (a, b, c) = (any(), any(), any());
            assert_eq!(product(a, b), product(b, a));
            assert_eq!(product(a, product(b, c)), product(product(a, b), c));
            assert_eq!(product(a, sum(b, c)), sum(product(a, b), product(a, c)));
        }
    }

    #[test]
    fn a_set_is_the_sum_of_its_addresses() {
        let mut r = Random::new(8);
        for _ in 0..2_000 {
            let mut point = Point::random();
            let dims = (0..r.below(4)).map(|_| (1 + r.below(9) as i64, r.within(1, 40)));
            let dims: Vec<_> = dims.collect();
            let set = Strided::new(r.within(0, 1 << 40), dims);
            let mut expected = 0;
            set.all(|a| {
                expected = sum(expected, point.power(a));
                true
            });
            assert_eq!(point.value(&set), expected, "{set:?}");
        }
    }

    /// Pieces that cover an interval, and the same with one address moved, dropped or doubled.
    #[test]
    fn one_address_too_many_or_too_few_is_seen() {
        let whole = Strided::new(7, [(5 * 6 * 7, 1)]);
        let row = |start: i64, len: i64| Strided::new(7 + start, [(5, 42), (6, 7), (len, 1)]);
        let pieces = [row(0, 2), row(2, 4), row(6, 1)];
        let mut point = Point::random();
        assert!(point.add_up(&pieces, &whole));
        for at in 0..3 {
            for (by, wrong) in [(1, 0), (-1, 0), (0, 1)] {
                let mut changed = pieces.clone();
                changed[at].low += by;
                if wrong == 1 {
                    changed[at] = Strided::new(changed[at].low, [(5, 42), (5, 7)]);
                }
                assert!(!point.add_up(&changed, &whole), "{at} {by} {wrong}");
            }
        }
        assert!(!point.add_up(&pieces[1..], &whole));
        assert!(!point.add_up(pieces.iter().chain([&row(3, 1)]), &whole));
    }
}
