//! Bytes of vectors: they change places, never their values.

use crate::label::Label;
use crate::memory::CarriedLabels;
use crate::violation::Stop;

/// What is done bit by bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bitwise {
    Or,
    And,
    /// The second, but what the first has.
    AndNot,
    Xor,
}

pub(super) fn on_data() -> Stop {
    Stop::not_understood("bits of data are computed with")
}

/// Lanes of two vectors, those of the second numbered from 16.
pub(super) fn picked(
    a: &CarriedLabels,
    b: &CarriedLabels,
    pick: impl Fn(usize) -> usize,
) -> CarriedLabels {
    std::array::from_fn(|at| match pick(at) {
        from @ 0..16 => a[from],
        from => b[(from - 16) & 15],
    })
}

pub(super) fn interleaved(
    a: &CarriedLabels,
    b: &CarriedLabels,
    size: usize,
    high: bool,
) -> CarriedLabels {
    let half = if high { 8 } else { 0 };
    picked(a, b, |at| {
        let lane = at / size;
        lane % 2 * 16 + half + lane / 2 * size + at % size
    })
}

/// Bit by bit on two bytes, where the result is one of them, a constant, or certainly neither.
pub(super) fn bitwise(operation: Bitwise, a: Label, b: Label) -> Result<Label, Stop> {
    let (x, y) = (a.as_literal(), b.as_literal());
    Ok(match operation {
        Bitwise::Or => match (x, y) {
            (Some(x), Some(y)) => Label::literal(x | y),
            (Some(0), None) => b,
            (None, Some(0)) => a,
            _ if a == b => a,
            _ if a == Label::NOTHING || b == Label::NOTHING => Label::NOTHING,
            // None of the two, whatever they are.
            _ => Label::MIXED,
        },
        Bitwise::And => match (x, y) {
            (Some(x), Some(y)) => Label::literal(x & y),
            (Some(0), None) | (None, Some(0)) => Label::ZERO,
            (Some(0xff), None) => b,
            (None, Some(0xff)) => a,
            _ => return Err(on_data()),
        },
        Bitwise::AndNot => match (x, y) {
            (Some(x), Some(y)) => Label::literal(!x & y),
            (Some(0), None) => b,
            (Some(0xff), None) | (None, Some(0)) => Label::ZERO,
            _ => return Err(on_data()),
        },
        Bitwise::Xor => match (x, y) {
            (Some(x), Some(y)) => Label::literal(x ^ y),
            (Some(0), None) => b,
            (None, Some(0)) => a,
            _ => return Err(on_data()),
        },
    })
}
