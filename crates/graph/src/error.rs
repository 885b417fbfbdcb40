//! What can be wrong with a graph: the operator, the place in it, the value it got, the range.

use std::fmt;

use crate::{ConstantError, ElementType, TypeError, ValueId};

/// Why an operator, an input or an output was refused.
///
/// It reads as one line: `strided_slice: strides[1]: a step must not be 0`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{op}: {at}{problem}")]
#[non_exhaustive]
pub struct GraphError {
    /// The operator, by its name in the text form.
    pub op: &'static str,
    /// The part of it that is wrong.
    pub at: Place,
    /// What is wrong with it.
    pub problem: Problem,
}

/// The part of an operator that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The operator as a whole.
    Whole,
    /// An operand, counted from 0.
    Operand(usize),
    /// An attribute, by its name in the text form.
    Attribute(&'static str),
    /// One entry of an attribute that is a list.
    Entry(&'static str, usize),
    /// The type it would have.
    Result,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Operand(operand) => write!(f, "operand {operand}: "),
            Place::Attribute(name) => write!(f, "{name}: "),
            Place::Entry(name, position) => write!(f, "{name}[{position}]: "),
            Place::Result => f.write_str("result: "),
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages explain the fields")]
pub enum Problem {
    /// An axis that the tensor does not have.
    #[error("{got} is no axis of rank {rank}{}", axis_range(*rank))]
    NoSuchAxis { got: i64, rank: usize },
    /// An axis named twice.
    #[error("axis {axis} is named twice (also in entry {first})")]
    RepeatedAxis { axis: usize, first: usize },
    /// A rank that the operator does not take.
    #[error("rank {got}; expected {expected}")]
    Rank { got: usize, expected: Count },
    /// A list of the wrong length.
    #[error("{got} entries; expected {expected}")]
    Length { got: usize, expected: Count },
    /// A number outside the range it may have.
    #[error("{got} {}", outside(*low, *high))]
    OutOfRange { got: i64, low: i64, high: i64 },
    /// A number outside the range that the size of an axis allows.
    #[error("{got} is outside {low}..={high} for axis {axis} of size {size}")]
    OutsideAxis {
        got: i64,
        axis: usize,
        size: i64,
        low: i64,
        high: i64,
    },
    /// One index taken from an axis that has none.
    #[error("{got} picks an index of axis {axis}, which has size 0")]
    EmptyAxis { got: i64, axis: usize },
    /// Step 0.
    #[error("a step must not be 0")]
    ZeroStep,
    /// A backward step where one index is taken.
    #[error("step {got} on a position that picks one index; it must be positive")]
    BackwardShrink { got: i64 },
    /// Two ellipses.
    #[error("mask {mask:#b} has {} ellipses; at most one is allowed", mask.count_ones())]
    SeveralEllipses { mask: i64 },
    /// More positions than axes.
    #[error("{got} positions take an axis each, but the rank is {rank}")]
    TooManyPositions { got: usize, rank: usize },
    /// A size that does not match another.
    #[error("axis {axis} has size {got}; expected {expected}")]
    Size {
        axis: usize,
        got: i64,
        expected: i64,
    },
    /// A size that is too large beside another.
    #[error("axis {axis} has size {got}; at most {limit} is allowed")]
    SizeAbove { axis: usize, got: i64, limit: i64 },
    /// An axis that should have size 1.
    #[error("axis {axis} has size {size}; only an axis of size 1 can be dropped")]
    NotUnit { axis: usize, size: i64 },
    /// An axis that cannot be repeated to the size asked for.
    #[error("axis {axis} of size {size} cannot be repeated to size {target}")]
    NotBroadcastable { axis: usize, size: i64, target: i64 },
    /// An axis whose size is no multiple.
    #[error("axis {axis} of size {size} is not divisible by {by}")]
    NotDivisible { axis: usize, size: i64, by: i64 },
    /// A count of elements that a size to be inferred does not divide.
    #[error("{elements} elements cannot be divided into parts of {by} to infer the -1")]
    NotInferable { elements: i64, by: i64 },
    /// A -1 beside a 0.
    #[error("a -1 cannot be inferred beside a size of 0")]
    InferredBesideZero,
    /// Two -1.
    #[error("a second -1 (the first is entry {first}); one size can be inferred")]
    SeveralInferred { first: usize },
    /// A 0 that has no axis to copy from.
    #[error("0 copies the size of axis {axis}, but the rank is {rank}")]
    CopyBeyondRank { axis: usize, rank: usize },
    /// Element counts that differ.
    #[error("the operand has {got} elements, the result would have {expected}")]
    ElementCount { got: i64, expected: i64 },
    /// Parts that do not add up to the axis.
    #[error("the parts add up to {sum}, but axis {axis} has size {size}")]
    PartsSum { sum: i128, axis: usize, size: i64 },
    /// More cropped than there is.
    #[error("{got} elements are cropped from axis {axis}, which has size {size}")]
    CroppedAway { got: u128, axis: usize, size: i64 },
    /// A rim wider than its mode can fill from the operand.
    #[error("a rim of {got} on axis {axis} of size {size}; mode {mode} fills at most {limit}")]
    RimTooWide {
        got: i64,
        axis: usize,
        size: i64,
        limit: i64,
        mode: &'static str,
    },
    /// No operand at all.
    #[error("at least one operand is needed")]
    NoOperands,
    /// Two axes that must differ.
    #[error("axis {axis} is also the other axis; they must differ")]
    SameAxis { axis: usize },
    /// Numbers whose product or sum is out of range.
    #[error("the sizes overflow")]
    Overflow,
    /// An operand of the wrong element type.
    #[error("{got} elements; expected {expected}")]
    Element {
        got: ElementType,
        expected: ElementType,
    },
    /// An index operand that holds no integers.
    #[error("{got} elements cannot index; expected i8..i64 or u8..u64")]
    NotAnIndex { got: ElementType },
    /// Bits that the element does not have.
    #[error("{bits:#x} has more bits than {element}")]
    TooManyBits { bits: u128, element: ElementType },
    /// An operand that does not stand before the operator.
    #[error("{got} is not defined here; this graph has {defined} values before it")]
    UnknownValue { got: ValueId, defined: usize },
    /// A result type that cannot be.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// A constant that cannot be.
    #[error(transparent)]
    Constant(#[from] ConstantError),
    /// A name that another value has.
    #[error("the name `{name}` is taken by value {taken_by}")]
    NameTaken { name: Box<str>, taken_by: ValueId },
    /// A name that the text form could not read back.
    #[error(
        "`{}` is not a valid name: a letter or `_`, then letters, digits and `_`, {MAX_NAME} at most",
        name.escape_debug()
    )]
    BadName { name: Box<str> },
    /// An input pushed as an operator: its type is not known.
    #[error("an input is added with its type, by `Graph::input`")]
    InputWithoutType,
    /// More values than a graph may have.
    #[error("a graph has at most {limit} values")]
    TooManyValues { limit: usize },
    /// Any of the others in a node of the host's, which [`Graph::begin_node`](crate::Graph::begin_node) has named.
    #[error("{problem} (in {node})")]
    In {
        node: Box<str>,
        problem: Box<Problem>,
    },
}

/// The longest name.
pub(crate) const MAX_NAME: usize = 200;

/// How many of something are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Count {
    /// This many.
    Exactly(usize),
    /// This many or more.
    AtLeast(usize),
    /// This many or fewer.
    AtMost(usize),
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Exactly(count) => write!(f, "{count}"),
            Count::AtLeast(count) => write!(f, "at least {count}"),
            Count::AtMost(count) => write!(f, "at most {count}"),
        }
    }
}

fn outside(low: i64, high: i64) -> String {
    match high {
        i64::MAX => format!("is less than {low}"),
        high => format!("is outside {low}..={high}"),
    }
}

fn axis_range(rank: usize) -> String {
    match rank {
        0 => ", which has no axes".to_owned(),
        rank => format!(" (-{rank}..={})", rank - 1),
    }
}

impl GraphError {
    pub(crate) fn new(op: &'static str, at: Place, problem: impl Into<Problem>) -> GraphError {
        GraphError {
            op,
            at,
            problem: problem.into(),
        }
    }

    /// The same, in a node of the host's if it has said so.
    pub(crate) fn in_node(mut self, node: Option<&str>) -> GraphError {
        if let Some(node) = node {
            self.problem = Problem::In {
                node: node.into(),
                problem: Box::new(self.problem),
            };
        }
        self
    }

    /// What to do about it, where that can be told.
    pub fn advice(&self) -> Option<&'static str> {
        match (self.op, &self.problem) {
            (
                "reshape",
                Problem::OutOfRange {
                    got: -1, low: 0, ..
                },
            ) => Some(
                "a size is inferred in the dialects `openvino`, `onnx`, `tensorflow`, `mindspore`",
            ),
            ("strided_slice", Problem::BackwardShrink { .. }) => {
                Some("`dialect openvino` ignores the stride there")
            }
            _ => None,
        }
    }
}

/// A problem at a place, before the operator's name is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}{problem}")]
#[non_exhaustive]
pub struct Refusal {
    /// The part of the operator that is wrong.
    pub at: Place,
    /// What is wrong with it.
    pub problem: Problem,
}

impl Refusal {
    /// Names the operator.
    pub fn of(self, op: &'static str) -> GraphError {
        GraphError::new(op, self.at, self.problem)
    }
}

/// `Place`s make refusals: `Entry("axes", 0).refuse(Problem::ZeroStep)`.
impl Place {
    pub(crate) fn refuse(self, problem: impl Into<Problem>) -> Refusal {
        Refusal {
            at: self,
            problem: problem.into(),
        }
    }
}
