//! What is known of numbers that come from indices.
//!
//! A loaded index is a root: an interval of signed 64-bit integers that it may lie in, given the
//! path taken so far. Numbers made from it by additions and multiplications are affine in the root;
//! the result of a compare is a test of it, and branching on a test narrows the interval. So is an
//! address that is a sum of multiples of roots shown to be inside for all of the interval.

use std::collections::HashMap;

/// A number's history. [`Symbol::KNOWN`] has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Symbol(u32);

impl Symbol {
    pub(crate) const KNOWN: Self = Self(0);
}

/// Signed bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

impl Interval {
    pub(crate) const ALL: Self = Self {
        low: i64::MIN,
        high: i64::MAX,
    };

    fn point(value: i64) -> Self {
        Self {
            low: value,
            high: value,
        }
    }

    fn is_empty(self) -> bool {
        self.low > self.high
    }

    fn up_to(self, high: i64) -> Self {
        Self {
            low: self.low,
            high: self.high.min(high),
        }
    }

    fn from(self, low: i64) -> Self {
        Self {
            low: self.low.max(low),
            high: self.high,
        }
    }

    /// All of two, and whether there is something between them.
    fn union(self, other: Self) -> (Self, bool) {
        let (first, second) = if self.low <= other.low {
            (self, other)
        } else {
            (other, self)
        };
        match (first.is_empty(), second.is_empty()) {
            (true, _) => (second, false),
            (_, true) => (first, false),
            _ => {
                let high = first.high.max(second.high);
                let apart = first.high.saturating_add(1) < second.low;
                (Self { high, ..first }, apart)
            }
        }
    }

    /// What remains of it where the relation to `bound` holds, and whether that has holes.
    fn within(self, relation: Relation, bound: i64) -> (Self, bool) {
        let before = bound.saturating_sub(1);
        match relation {
            Relation::Equal => (self.from(bound).up_to(bound), false),
            Relation::NotEqual => (self.up_to(before)).union(self.from(bound.saturating_add(1))),
            Relation::Less => (self.up_to(before), false),
            Relation::AtLeast => (self.from(bound), false),
            // Negative numbers are above all others.
            Relation::Below if bound >= 0 => (self.from(0).up_to(before), false),
            Relation::Below => self.from(0).union(self.up_to(before)),
            Relation::NotBelow if bound < 0 => (self.from(bound).up_to(-1), false),
            Relation::NotBelow => self.up_to(-1).union(self.from(bound)),
        }
    }
}

/// How a root compares with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    NotEqual,
    /// Signed.
    Less,
    AtLeast,
    /// Unsigned.
    Below,
    NotBelow,
}

impl Relation {
    fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::AtLeast,
            Self::AtLeast => Self::Less,
            Self::Below => Self::NotBelow,
            Self::NotBelow => Self::Below,
        }
    }
}

/// How far an address may lie from the one of this run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) low: i128,
    pub(crate) high: i128,
    /// Whether it may lie that far indeed, for all that is known of the path.
    pub(crate) is_exact: bool,
}

/// That a root relates so to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) root: Symbol,
    pub(crate) relation: Relation,
    pub(crate) bound: i64,
}

impl Test {
    pub(crate) fn negated(self) -> Self {
        Self {
            relation: self.relation.negated(),
            ..self
        }
    }
}

/// What a number may be on the path taken so far.
#[derive(Clone, Copy, Debug)]
struct Range {
    may_be: Interval,
    /// Whether there are numbers between the ends that it cannot be.
    has_holes: bool,
    /// Whether the ends may be among them.
    is_vague: bool,
}

impl From<Interval> for Range {
    fn from(may_be: Interval) -> Self {
        Self {
            may_be,
            has_holes: false,
            is_vague: false,
        }
    }
}

impl Range {
    const UNKNOWN: Self = Self {
        may_be: Interval::ALL,
        has_holes: true,
        is_vague: true,
    };

    /// What remains where a test holds.
    fn within(self, test: Test) -> Self {
        let (may_be, holes) = self.may_be.within(test.relation, test.bound);
        Self {
            may_be,
            has_holes: self.has_holes || holes,
            is_vague: self.is_vague || (self.has_holes && may_be != self.may_be),
        }
    }

    /// The range of a multiple and a constant.
    fn affine(self, times: i64, plus: i64) -> Self {
        if self.may_be.is_empty() {
            return self;
        }
        let at = |end: i64| end.checked_mul(times)?.checked_add(plus);
        match (at(self.may_be.low), at(self.may_be.high)) {
            (Some(a), Some(b)) => Self {
                may_be: Interval {
                    low: a.min(b),
                    high: a.max(b),
                },
                has_holes: self.has_holes || times != 1,
                ..self
            },
            _ => Self::UNKNOWN,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum SymbolNode {
    Root {
        value: i64,
        range: Range,
    },
    Affine {
        root: Symbol,
        times: i64,
        plus: i64,
    },
    Test(Test),
    Both(Symbol, Symbol),
    Either(Symbol, Symbol),
    Sum {
        rest: Symbol,
        root: Symbol,
        times: i64,
    },
    Opaque,
}

/// The histories of one run.
pub(crate) struct Symbols {
    nodes: Vec<SymbolNode>,
    /// Indices that were extended by their sign from so many bytes, and what they became: the same
    /// however often that is done.
    extended: HashMap<(Symbol, usize), Symbol>,
    /// Whether a branch was taken for reasons that are not followed.
    lost: bool,
}

impl Symbols {
    pub(crate) fn new() -> Self {
        // The place of `KNOWN`.
        Self {
            nodes: vec![SymbolNode::Opaque],
            extended: HashMap::new(),
            lost: false,
        }
    }

    fn add(&mut self, node: SymbolNode) -> Symbol {
        self.nodes.push(node);
        Symbol(u32::try_from(self.nodes.len() - 1).unwrap_or(u32::MAX))
    }

    fn get(&self, symbol: Symbol) -> SymbolNode {
        self.nodes
            .get(symbol.0 as usize)
            .copied()
            .unwrap_or(SymbolNode::Opaque)
    }

    /// A new index with the value it has in this run.
    pub(crate) fn root(&mut self, value: i64, may_be: Interval) -> Symbol {
        let range = Range::from(may_be);
        self.add(SymbolNode::Root { value, range })
    }

    /// The low bytes of an index, extended by their sign to the value they have in this run.
    pub(crate) fn extended(&mut self, from: Option<Symbol>, size: usize, value: i64) -> Symbol {
        let half = 1i64 << (8 * size - 1);
        let may_be = Interval {
            low: -half,
            high: half - 1,
        };
        let known = from.and_then(|from| self.extended.get(&(from, size)));
        if let Some(known) = known {
            return *known;
        }
        let root = self.root(value, may_be);
        if let Some(from) = from {
            self.extended.insert((from, size), root);
        }
        root
    }

    /// A number of which nothing is known but its value in this run.
    pub(crate) fn opaque(&mut self) -> Symbol {
        self.add(SymbolNode::Opaque)
    }

    /// The number as a multiple of a root and a constant.
    fn affine(&self, symbol: Symbol) -> Option<(Symbol, i64, i64)> {
        match self.get(symbol) {
            SymbolNode::Root { .. } => Some((symbol, 1, 0)),
            SymbolNode::Affine { root, times, plus } => Some((root, times, plus)),
            SymbolNode::Test(_)
            | SymbolNode::Both(..)
            | SymbolNode::Either(..)
            | SymbolNode::Sum { .. }
            | SymbolNode::Opaque => None,
        }
    }

    /// `symbol * times + plus`.
    pub(crate) fn scaled(&mut self, symbol: Symbol, times: i64, plus: i64) -> Symbol {
        if symbol == Symbol::KNOWN {
            return symbol;
        }
        let node = self.affine(symbol).and_then(|(root, t, p)| {
            Some(SymbolNode::Affine {
                root,
                times: t.checked_mul(times)?,
                plus: p.checked_mul(times)?.checked_add(plus)?,
            })
        });
        self.add(node.unwrap_or(SymbolNode::Opaque))
    }

    /// Adds a number to what an address depends on.
    pub(crate) fn sum(&mut self, rest: Symbol, number: Symbol) -> Symbol {
        if number == Symbol::KNOWN {
            return rest;
        }
        let (root, times, _) = self.affine(number).unwrap_or((number, 1, 0));
        self.add(SymbolNode::Sum { rest, root, times })
    }

    /// How far an address may lie before and after the one of this run.
    pub(crate) fn spread(&self, mut sum: Symbol) -> Spread {
        let mut spread = Spread {
            low: 0,
            high: 0,
            is_exact: !self.lost,
        };
        while let SymbolNode::Sum { rest, root, times } = self.get(sum) {
            let (value, range) = match self.get(root) {
                SymbolNode::Root { value, range } => (value, range),
                _ => (0, Range::UNKNOWN),
            };
            let by = |end: i64| (i128::from(end) - i128::from(value)).saturating_mul(times.into());
            let (a, b) = (by(range.may_be.low), by(range.may_be.high));
            spread.low = spread.low.saturating_add(a.min(b));
            spread.high = spread.high.saturating_add(a.max(b));
            spread.is_exact &= !range.is_vague;
            sum = rest;
        }
        spread
    }

    /// A number that is 1 if a test holds and 0 if not.
    pub(crate) fn test(&mut self, test: Test) -> Symbol {
        self.add(SymbolNode::Test(test))
    }

    /// A number that is 1 if both are.
    pub(crate) fn both(&mut self, a: Symbol, b: Symbol) -> Symbol {
        match (a, b) {
            (Symbol::KNOWN, other) | (other, Symbol::KNOWN) => other,
            (a, b) if a == b => a,
            (a, b) => self.add(SymbolNode::Both(a, b)),
        }
    }

    /// A number that is 1 if one of two is, of which neither is known to be.
    pub(crate) fn either(&mut self, a: Symbol, b: Symbol) -> Symbol {
        match (a, b) {
            (Symbol::KNOWN, other) | (other, Symbol::KNOWN) => other,
            (a, b) if a == b => a,
            (a, b) => self.add(SymbolNode::Either(a, b)),
        }
    }

    /// A number that is 1 if a truth value is 0.
    pub(crate) fn negation(&mut self, truth: Symbol) -> Symbol {
        match self.get(truth) {
            _ if truth == Symbol::KNOWN => truth,
            SymbolNode::Test(test) => self.add(SymbolNode::Test(test.negated())),
            SymbolNode::Both(a, b) => {
                let (a, b) = (self.negation(a), self.negation(b));
                self.either(a, b)
            }
            SymbolNode::Either(a, b) => {
                let (a, b) = (self.negation(a), self.negation(b));
                self.both(a, b)
            }
            SymbolNode::Root { .. }
            | SymbolNode::Affine { .. }
            | SymbolNode::Sum { .. }
            | SymbolNode::Opaque => self.opaque(),
        }
    }

    /// The test that a truth value is the outcome of, if it is that of one.
    pub(crate) fn as_test(&self, truth: Symbol) -> Option<Test> {
        match self.get(truth) {
            SymbolNode::Test(test) => Some(test),
            _ => None,
        }
    }

    /// The test that a root relates so to a bound; nothing if the number is no root.
    pub(crate) fn compared(&self, symbol: Symbol, relation: Relation, bound: i64) -> Option<Test> {
        match self.get(symbol) {
            SymbolNode::Root { .. } => Some(Test {
                root: symbol,
                relation,
                bound,
            }),
            SymbolNode::Affine { .. }
            | SymbolNode::Test(_)
            | SymbolNode::Both(..)
            | SymbolNode::Either(..)
            | SymbolNode::Sum { .. }
            | SymbolNode::Opaque => None,
        }
    }

    /// From now on the test holds.
    pub(crate) fn assume(&mut self, test: Test) {
        if let Some(SymbolNode::Root { range, .. }) = self.nodes.get_mut(test.root.0 as usize) {
            *range = range.within(test);
        }
    }

    /// From now on something holds that is not followed.
    pub(crate) fn assume_unknown(&mut self) {
        self.lost = true;
    }

    /// From now on a truth value is what it is in this run.
    pub(crate) fn assume_truth(&mut self, truth: Symbol, holds: bool) {
        match self.get(truth) {
            SymbolNode::Test(test) if holds => self.assume(test),
            SymbolNode::Test(test) => self.assume(test.negated()),
            SymbolNode::Both(a, b) if holds => {
                self.assume_truth(a, true);
                self.assume_truth(b, true);
            }
            SymbolNode::Either(a, b) if !holds => {
                self.assume_truth(a, false);
                self.assume_truth(b, false);
            }
            // One of two, and which is not known.
            SymbolNode::Both(a, b) | SymbolNode::Either(a, b) => {
                self.blur(a);
                self.blur(b);
            }
            SymbolNode::Root { .. }
            | SymbolNode::Affine { .. }
            | SymbolNode::Sum { .. }
            | SymbolNode::Opaque => {
                self.assume_unknown();
            }
        }
    }

    /// More is known from now on of the indices that a truth value depends on than their intervals
    /// say.
    fn blur(&mut self, truth: Symbol) {
        match self.get(truth) {
            SymbolNode::Test(test) => {
                if let Some(SymbolNode::Root { range, .. }) =
                    self.nodes.get_mut(test.root.0 as usize)
                {
                    range.is_vague = true;
                }
            }
            SymbolNode::Both(a, b) | SymbolNode::Either(a, b) => {
                self.blur(a);
                self.blur(b);
            }
            SymbolNode::Root { .. }
            | SymbolNode::Affine { .. }
            | SymbolNode::Sum { .. }
            | SymbolNode::Opaque => {
                self.assume_unknown();
            }
        }
    }

    /// What a number may be where a test holds.
    fn range(&self, value: i64, symbol: Symbol, test: Test) -> Range {
        if symbol == Symbol::KNOWN {
            return Range::from(Interval::point(value));
        }
        let Some((root, times, plus)) = self.affine(symbol) else {
            return Range::UNKNOWN;
        };
        match self.get(root) {
            SymbolNode::Root { range, .. } if root == test.root => {
                range.within(test).affine(times, plus)
            }
            SymbolNode::Root { range, .. } => range.affine(times, plus),
            _ => Range::UNKNOWN,
        }
    }

    /// A number chosen by a test: the first if it holds, the second if not; which of them it is in
    /// this run is `value`.
    pub(crate) fn chosen(
        &mut self,
        test: Test,
        if_true: (i64, Symbol),
        if_false: (i64, Symbol),
        value: i64,
    ) -> Symbol {
        let yes = self.range(if_true.0, if_true.1, test);
        let no = self.range(if_false.0, if_false.1, test.negated());
        let (may_be, apart) = yes.may_be.union(no.may_be);
        let range = Range {
            may_be,
            has_holes: apart || yes.has_holes || no.has_holes,
            is_vague: yes.is_vague || no.is_vague,
        };
        self.add(SymbolNode::Root { value, range })
    }
}
