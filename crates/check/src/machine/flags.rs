//! Compares and what is learned from them.

use super::CodeRun;
use crate::symbol::{Relation, Symbol, Test};
use crate::value::Number;
use crate::violation::{Kind, Stop};

/// What is asked of two numbers that were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Equal,
    NotEqual,
    /// Unsigned.
    Below,
    NotBelow,
    Above,
    NotAbove,
    /// Signed.
    Less,
    NotLess,
    Greater,
    NotGreater,
    /// Of the difference.
    Negative,
    NotNegative,
}

/// What the flags were set by.
#[derive(Clone, Copy)]
pub(super) enum Flags {
    /// By nothing in this function.
    Undefined,
    /// By arithmetic, which generated code does not look at.
    Arithmetic,
    /// A compare of the low bits of two numbers.
    Compare { a: Number, b: Number, bits: u32 },
    /// A compare of a truth value with 0.
    Truth(bool, Symbol),
}

/// Why a condition is what it is.
#[derive(Clone, Copy)]
pub(super) enum Cause {
    /// It depends on no index.
    Known,
    /// It depends on an index in a way that is not followed.
    Opaque,
    /// It is a test of an index.
    Test(Test),
    /// It is a truth value, or the opposite of one.
    Truth(Symbol, bool),
}

fn extended(value: u64, bits: u32) -> (u64, i64) {
    let unused = 64 - bits;
    (
        value << unused >> unused,
        (value << unused) as i64 >> unused,
    )
}

/// The condition with its operands exchanged.
const fn mirrored(condition: Condition) -> Condition {
    match condition {
        Condition::Below => Condition::Above,
        Condition::Above => Condition::Below,
        Condition::NotBelow => Condition::NotAbove,
        Condition::NotAbove => Condition::NotBelow,
        Condition::Less => Condition::Greater,
        Condition::Greater => Condition::Less,
        Condition::NotLess => Condition::NotGreater,
        Condition::NotGreater => Condition::NotLess,
        other => other,
    }
}

/// A condition on a number and a bound as a relation.
fn relation(condition: Condition, bound: i64) -> Option<(Relation, i64)> {
    Some(match condition {
        Condition::Equal => (Relation::Equal, bound),
        Condition::NotEqual => (Relation::NotEqual, bound),
        Condition::Below => (Relation::Below, bound),
        Condition::NotBelow => (Relation::NotBelow, bound),
        Condition::NotAbove if bound >= 0 => (Relation::Below, bound.checked_add(1)?),
        Condition::Above if bound >= 0 => (Relation::NotBelow, bound.checked_add(1)?),
        Condition::Less => (Relation::Less, bound),
        Condition::NotLess => (Relation::AtLeast, bound),
        Condition::NotGreater => (Relation::Less, bound.checked_add(1)?),
        Condition::Greater => (Relation::AtLeast, bound.checked_add(1)?),
        Condition::Negative if bound == 0 => (Relation::Less, 0),
        Condition::NotNegative if bound == 0 => (Relation::AtLeast, 0),
        _ => return None,
    })
}

impl CodeRun<'_> {
    /// Whether a condition holds in this run, and why.
    pub(super) fn condition(&self, condition: Condition) -> Result<(bool, Cause), Stop> {
        let not_understood = || Stop::not_understood("flags that are not those of a compare");
        match self.flags {
            Flags::Undefined => Err(Kind::Value {
                what: "undefined flags".to_owned(),
                wanted: "the result of a compare",
            }
            .into()),
            Flags::Arithmetic => Err(not_understood()),
            Flags::Truth(bit, symbol) => {
                let truth = |holds| match (symbol, self.memory.symbols.as_test(symbol)) {
                    (Symbol::KNOWN, _) => Cause::Known,
                    (_, Some(test)) if holds => Cause::Test(test),
                    (_, Some(test)) => Cause::Test(test.negated()),
                    (symbol, None) => Cause::Truth(symbol, holds),
                };
                match condition {
                    Condition::NotEqual => Ok((bit, truth(true))),
                    Condition::Equal => Ok((!bit, truth(false))),
                    _ => Err(not_understood()),
                }
            }
            Flags::Compare { a, b, bits } => {
                let ((a_low, a_signed), (b_low, b_signed)) =
                    (extended(a.bits, bits), extended(b.bits, bits));
                let difference = extended(a_low.wrapping_sub(b_low), bits).1;
                let holds = match condition {
                    Condition::Equal => a_low == b_low,
                    Condition::NotEqual => a_low != b_low,
                    Condition::Below => a_low < b_low,
                    Condition::NotBelow => a_low >= b_low,
                    Condition::NotAbove => a_low <= b_low,
                    Condition::Above => a_low > b_low,
                    Condition::Less => a_signed < b_signed,
                    Condition::NotLess => a_signed >= b_signed,
                    Condition::NotGreater => a_signed <= b_signed,
                    Condition::Greater => a_signed > b_signed,
                    Condition::Negative => difference < 0,
                    Condition::NotNegative => difference >= 0,
                };
                Ok((holds, self.cause(condition, a, b, bits)))
            }
        }
    }

    fn cause(&self, condition: Condition, a: Number, b: Number, bits: u32) -> Cause {
        let (number, bound, condition) = match (a.is_known(), b.is_known()) {
            (true, true) => return Cause::Known,
            (false, true) => (a, b, condition),
            // The sign of a difference is not that of the difference the other way round.
            (true, false) if !matches!(condition, Condition::Negative | Condition::NotNegative) => {
                (b, a, mirrored(condition))
            }
            (true, false) | (false, false) => return Cause::Opaque,
        };
        if bits != 64 {
            return Cause::Opaque;
        }
        relation(condition, bound.bits as i64)
            .and_then(|(relation, bound)| {
                let symbols = &self.memory.symbols;
                symbols.compared(number.symbol, relation, bound)
            })
            .map_or(Cause::Opaque, Cause::Test)
    }

    /// From now on a condition is what it is in this run.
    pub(super) fn assume(&mut self, cause: Cause, holds: bool) {
        let symbols = &mut self.memory.symbols;
        match cause {
            Cause::Known => {}
            Cause::Opaque => symbols.assume_unknown(),
            Cause::Test(test) if holds => symbols.assume(test),
            Cause::Test(test) => symbols.assume(test.negated()),
            Cause::Truth(symbol, sense) => symbols.assume_truth(symbol, holds == sense),
        }
    }

    /// The history of a truth value made from a condition.
    pub(super) fn truth(&mut self, cause: Cause) -> Symbol {
        let symbols = &mut self.memory.symbols;
        match cause {
            Cause::Known => Symbol::KNOWN,
            Cause::Test(test) => symbols.test(test),
            Cause::Truth(symbol, true) => symbol,
            Cause::Truth(symbol, false) => symbols.negation(symbol),
            Cause::Opaque => symbols.opaque(),
        }
    }
}
