//! The one loop of the oracle: for every output index, fetch what the operator's rule names.

use crate::TensorType;

use super::refusal::{OpError, refused};
use super::tensor::{Tensor, push_bits};

/// More output than this is refused instead of allocated.
const LIMIT: usize = 1 << 28;

/// What an output element shows.
pub(super) enum Shown {
    /// The element of operand `.0` at index `.1`.
    Element(usize, Vec<i64>),
    /// These bits.
    Bits(u128),
}

/// From an output index to what it shows.
type Equation<'a> = Box<dyn Fn(&[i64]) -> Shown + 'a>;

/// The meaning of one operator on given operands: a shape, and an equation per output index.
pub(super) struct Rule<'a> {
    /// The output's sizes.
    pub(super) shape: Vec<i64>,
    /// Which element each output index shows.
    pub(super) source: Equation<'a>,
}

impl<'a> Rule<'a> {
    /// A rule whose every output element shows an element of operand 0.
    pub(super) fn from_x(shape: Vec<i64>, index: impl Fn(&[i64]) -> Vec<i64> + 'a) -> Rule<'a> {
        Rule {
            shape,
            source: Box::new(move |out| Shown::Element(0, index(out))),
        }
    }

    /// A rule whose output elements show operand 0 or, where there is no index, these bits.
    pub(super) fn from_x_or(
        shape: Vec<i64>,
        bits: u128,
        index: impl Fn(&[i64]) -> Option<Vec<i64>> + 'a,
    ) -> Rule<'a> {
        Rule {
            shape,
            source: Box::new(move |out| match index(out) {
                Some(index) => Shown::Element(0, index),
                None => Shown::Bits(bits),
            }),
        }
    }
}

/// Runs a rule: the output is made element by element, in row-major order.
pub(super) fn run(
    op: &'static str,
    rule: &Rule<'_>,
    operands: &[&Tensor],
) -> Result<Tensor, OpError> {
    let element = operands[0].element();
    let ty =
        TensorType::dense(element, &rule.shape).map_err(|error| refused(op, error.to_string()))?;
    if ty.byte_size() > LIMIT {
        return Err(refused(op, format!("{ty} is more than the oracle makes")));
    }
    let mut bytes = Vec::with_capacity(ty.byte_size());
    for out in each_index(&rule.shape) {
        match (rule.source)(&out) {
            Shown::Element(k, index) => bytes.extend_from_slice(operands[k].element_bytes(&index)),
            Shown::Bits(bits) => push_bits(&mut bytes, element.width(), bits),
        }
    }
    Tensor::new(ty, bytes).map_err(|error| refused(op, error.to_string()))
}

/// Every index of a shape, in row-major order. A scalar has one, an empty tensor none.
pub(super) fn each_index(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> + '_ {
    let first = (!shape.contains(&0)).then(|| vec![0; shape.len()]);
    std::iter::successors(first, move |index| {
        let mut next = index.clone();
        for axis in (0..shape.len()).rev() {
            next[axis] += 1;
            if next[axis] < shape[axis] {
                return Some(next);
            }
            next[axis] = 0;
        }
        None
    })
}
