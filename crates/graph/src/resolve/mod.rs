//! What the operators' attributes come to on a given shape.
//!
//! Each function takes an operator's attributes and the shapes of its operands, applies the rules
//! of its framework, and gives numbers that need no rule any more: axes are positions, steps are
//! never 0, ranges lie inside their axes. Type inference and the canonicaliser both use them, so
//! that the two cannot disagree.
//!
//! Everything here is checked: any `i64` anywhere gives an answer or a [`Refusal`].

mod axes;
mod blocks;
mod broadcast;
mod gather;
mod join;
mod pad;
mod reshape;
mod sequence;
mod slice;
mod strided_slice;

#[cfg(test)]
mod python;

pub use axes::*;
pub use blocks::*;
pub use broadcast::*;
pub use gather::*;
pub use join::*;
pub use pad::*;
pub use reshape::*;
pub use sequence::*;
pub use slice::*;
pub use strided_slice::*;

use smallvec::SmallVec;

use crate::error::{Place, Problem, Refusal};
use crate::{Count, MAX_RANK, Shape};

/// The indices `start, start + step, ...`, `len` of them, all inside their axis.
///
/// `step` is never 0; it is 1 when `len <= 1`, and `start` is 0 when `len` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AxisSpan {
    /// The first index.
    pub start: i64,
    /// How many.
    pub len: i64,
    /// From one to the next.
    pub step: i64,
}

impl AxisSpan {
    /// All of an axis.
    pub const fn full(size: i64) -> AxisSpan {
        AxisSpan {
            start: 0,
            len: size,
            step: 1,
        }
    }

    /// The indices from `first` towards `end` (not included) by `step`, in normal form. The bounds
    /// lie in `-1..=size`, so nothing here overflows.
    fn between(first: i64, end: i64, step: i64) -> AxisSpan {
        let distance = if step > 0 { end - first } else { first - end };
        if distance <= 0 {
            return AxisSpan::full(0);
        }
        // Truncating division of a magnitude: neither `distance + step - 1` nor `-step` would do.
        let steps = (distance as u64 - 1) / step.unsigned_abs();
        AxisSpan {
            start: first,
            len: steps as i64 + 1,
            step: if steps == 0 { 1 } else { step },
        }
    }

    /// Whether it is the whole of an axis, forwards.
    pub const fn is_full(self, size: i64) -> bool {
        self.start == 0 && self.len == size && self.step == 1
    }
}

/// A list with one entry per axis.
pub type PerAxis<T> = SmallVec<[T; 6]>;

/// An axis as a position: negative ones count from the end.
fn axis(at: Place, got: i64, rank: usize) -> Result<usize, Refusal> {
    let limit = rank as i64;
    if got < -limit || got >= limit {
        return Err(at.refuse(Problem::NoSuchAxis { got, rank }));
    }
    Ok(if got < 0 { got + limit } else { got } as usize)
}

/// Axes as positions, none twice.
fn distinct_axes(name: &'static str, axes: &[i64], rank: usize) -> Result<PerAxis<usize>, Refusal> {
    let mut out = PerAxis::new();
    for (position, &got) in axes.iter().enumerate() {
        let at = Place::Entry(name, position);
        let axis = axis(at, got, rank)?;
        if let Some(first) = out.iter().position(|&other| other == axis) {
            return Err(at.refuse(Problem::RepeatedAxis { axis, first }));
        }
        out.push(axis);
    }
    Ok(out)
}

fn check_length(name: &'static str, got: usize, expected: Count) -> Result<(), Refusal> {
    if expected.allows(got) {
        return Ok(());
    }
    Err(Place::Attribute(name).refuse(Problem::Length { got, expected }))
}

fn check_rank(operand: usize, got: usize, expected: Count) -> Result<(), Refusal> {
    if expected.allows(got) {
        return Ok(());
    }
    Err(Place::Operand(operand).refuse(Problem::Rank { got, expected }))
}

/// A rank that a result may have.
fn result_rank(rank: usize) -> Result<(), Refusal> {
    if rank <= MAX_RANK {
        return Ok(());
    }
    Err(Place::Result.refuse(crate::TypeError::Rank { rank }))
}

fn overflow() -> Refusal {
    Place::Result.refuse(Problem::Overflow)
}

/// The product of sizes, none negative.
fn product(sizes: impl IntoIterator<Item = i64>) -> Result<i64, Refusal> {
    let mut product = 1i64;
    let mut zero = false;
    for size in sizes {
        zero |= size == 0;
        // A zero does not excuse the sizes beside it.
        product = product.checked_mul(size.max(1)).ok_or_else(overflow)?;
    }
    Ok(if zero { 0 } else { product })
}

impl Count {
    fn allows(self, got: usize) -> bool {
        match self {
            Count::Exactly(count) => got == count,
            Count::AtLeast(count) => got >= count,
            Count::AtMost(count) => got <= count,
        }
    }
}

/// The shape whose axes have the lengths of these spans.
pub fn lengths(spans: &[AxisSpan]) -> Shape {
    spans.iter().map(|span| span.len).collect()
}
