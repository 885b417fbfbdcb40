//! What is known of numbers that come from indices.
//!
//! A loaded index is a root: an interval of signed 64-bit integers that it may lie in, given the
//! path taken so far. Numbers made from it by additions and multiplications are affine in the root;
//! the result of a compare is a test of it, and branching on a test narrows the interval. So is an
//! address that is a sum of multiples of roots shown to be inside for all of the interval.

/// A number's history. [`Symbol::KNOWN`] has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    fn hull(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// What remains of it where the relation to `bound` holds.
    fn within(self, relation: Relation, bound: i64) -> Self {
        let Self { low, high } = self;
        let (low, high) = match relation {
            Relation::Equal => (low.max(bound), high.min(bound)),
            Relation::Less => (low, high.min(bound.saturating_sub(1))),
            Relation::AtLeast => (low.max(bound), high),
            Relation::Below if bound >= 0 => (low.max(0), high.min(bound.saturating_sub(1))),
            Relation::NotBelow if bound >= 0 && low >= 0 => (low.max(bound), high),
            Relation::NotEqual | Relation::Below | Relation::NotBelow => (low, high),
        };
        Self { low, high }
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

#[derive(Clone, Copy, Debug)]
enum Node {
    Root {
        value: i64,
        may_be: Interval,
    },
    Affine {
        root: Symbol,
        times: i64,
        plus: i64,
    },
    Test(Test),
    Both(Symbol, Symbol),
    Sum {
        rest: Symbol,
        root: Symbol,
        times: i64,
    },
    Opaque,
}

/// The histories of one run.
pub(crate) struct Symbols {
    nodes: Vec<Node>,
}

impl Symbols {
    pub(crate) fn new() -> Self {
        // The place of `KNOWN`.
        Self {
            nodes: vec![Node::Opaque],
        }
    }

    fn add(&mut self, node: Node) -> Symbol {
        self.nodes.push(node);
        Symbol(u32::try_from(self.nodes.len() - 1).unwrap_or(u32::MAX))
    }

    fn get(&self, symbol: Symbol) -> Node {
        self.nodes
            .get(symbol.0 as usize)
            .copied()
            .unwrap_or(Node::Opaque)
    }

    /// A new index with the value it has in this run.
    pub(crate) fn root(&mut self, value: i64, may_be: Interval) -> Symbol {
        self.add(Node::Root { value, may_be })
    }

    /// A number of which nothing is known but its value in this run.
    pub(crate) fn opaque(&mut self) -> Symbol {
        self.add(Node::Opaque)
    }

    /// The number as a multiple of a root and a constant.
    fn affine(&self, symbol: Symbol) -> Option<(Symbol, i64, i64)> {
        match self.get(symbol) {
            Node::Root { .. } => Some((symbol, 1, 0)),
            Node::Affine { root, times, plus } => Some((root, times, plus)),
            Node::Test(_) | Node::Both(..) | Node::Sum { .. } | Node::Opaque => None,
        }
    }

    /// `symbol * times + plus`.
    pub(crate) fn scaled(&mut self, symbol: Symbol, times: i64, plus: i64) -> Symbol {
        if symbol == Symbol::KNOWN {
            return symbol;
        }
        let node = self.affine(symbol).and_then(|(root, t, p)| {
            Some(Node::Affine {
                root,
                times: t.checked_mul(times)?,
                plus: p.checked_mul(times)?.checked_add(plus)?,
            })
        });
        self.add(node.unwrap_or(Node::Opaque))
    }

    /// Adds a number to what an address depends on; nothing if it cannot be followed.
    pub(crate) fn sum(&mut self, rest: Symbol, number: Symbol) -> Option<Symbol> {
        if number == Symbol::KNOWN {
            return Some(rest);
        }
        let (root, times, _) = self.affine(number)?;
        Some(self.add(Node::Sum { rest, root, times }))
    }

    /// How far an address may lie before and after the one of this run.
    pub(crate) fn spread(&self, mut sum: Symbol) -> (i128, i128) {
        let (mut low, mut high) = (0i128, 0i128);
        while let Node::Sum { rest, root, times } = self.get(sum) {
            if let Node::Root { value, may_be } = self.get(root) {
                let by =
                    |end: i64| (i128::from(end) - i128::from(value)).saturating_mul(times.into());
                let (a, b) = (by(may_be.low), by(may_be.high));
                low = low.saturating_add(a.min(b));
                high = high.saturating_add(a.max(b));
            }
            sum = rest;
        }
        (low, high)
    }

    /// A number that is 1 if a test holds and 0 if not.
    pub(crate) fn test(&mut self, test: Option<Test>) -> Symbol {
        match test {
            Some(test) => self.add(Node::Test(test)),
            None => Symbol::KNOWN,
        }
    }

    /// A number that is 1 if both are.
    pub(crate) fn both(&mut self, a: Symbol, b: Symbol) -> Symbol {
        match (a, b) {
            (Symbol::KNOWN, other) | (other, Symbol::KNOWN) => other,
            (a, b) => self.add(Node::Both(a, b)),
        }
    }

    /// The test that a root relates so to a bound; nothing if the number is no root.
    pub(crate) fn compared(&self, symbol: Symbol, relation: Relation, bound: i64) -> Option<Test> {
        match self.get(symbol) {
            Node::Root { .. } => Some(Test {
                root: symbol,
                relation,
                bound,
            }),
            Node::Affine { .. }
            | Node::Test(_)
            | Node::Both(..)
            | Node::Sum { .. }
            | Node::Opaque => None,
        }
    }

    /// From now on the test holds.
    pub(crate) fn assume(&mut self, test: Test) {
        if let Some(Node::Root { may_be, .. }) = self.nodes.get_mut(test.root.0 as usize) {
            *may_be = may_be.within(test.relation, test.bound);
        }
    }

    /// From now on a truth value is what it is in this run.
    pub(crate) fn assume_truth(&mut self, truth: Symbol, holds: bool) {
        match self.get(truth) {
            Node::Test(test) if holds => self.assume(test),
            Node::Test(test) => self.assume(test.negated()),
            Node::Both(a, b) if holds => {
                self.assume_truth(a, true);
                self.assume_truth(b, true);
            }
            Node::Both(..)
            | Node::Root { .. }
            | Node::Affine { .. }
            | Node::Sum { .. }
            | Node::Opaque => {}
        }
    }

    /// What a number may be where a test holds.
    fn range(&self, value: i64, symbol: Symbol, test: Test) -> Interval {
        if symbol == Symbol::KNOWN {
            return Interval::point(value);
        }
        let Some((root, times, plus)) = self.affine(symbol) else {
            return Interval::ALL;
        };
        let Node::Root { may_be, .. } = self.get(root) else {
            return Interval::ALL;
        };
        let may_be = if root == test.root {
            may_be.within(test.relation, test.bound)
        } else {
            may_be
        };
        let at = |end: i64| end.checked_mul(times)?.checked_add(plus);
        match (at(may_be.low), at(may_be.high)) {
            (Some(a), Some(b)) => Interval {
                low: a.min(b),
                high: a.max(b),
            },
            _ => Interval::ALL,
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
        self.root(value, yes.hull(no))
    }
}
