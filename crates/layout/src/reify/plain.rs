//! The short way for the most common layouts: as many axes as the source has, each with at most
//! one digit, each digit inside an axis of the source. They are a slice and a permute.

use super::Chain;
use crate::{Axes, Piece, Sizes, Span, View};
use smallvec::SmallVec;

/// The chain that the long way would give as well; `None` if the layout is of another kind.
/// `base` is its least address; all its addresses lie below `total`, the source's elements.
pub(super) fn chain(piece: &Piece, base: i64, source: &[i64], total: i64) -> Option<Chain> {
    if piece.rank() != source.len() || piece.axes().any(|axis| axis.digits.len() > 1) {
        return None;
    }
    // What is taken of each axis of the source, and how far apart its coordinates are.
    let mut spans: SmallVec<[Span; 6]> = SmallVec::new();
    let mut rows = Sizes::new();
    let (mut row, mut rest) = (total, base);
    for &n in source {
        row /= n;
        let start = rest / row;
        rest -= start * row;
        spans.push(Span {
            start,
            len: 1,
            step: 1,
        });
        rows.push(row);
    }
    // Which axis of the source each digit steps through.
    let mut within = Axes::new();
    let (taken, rows) = (spans.as_mut_slice(), rows.as_slice());
    for (d, digit) in piece.digits().iter().enumerate() {
        let stride = piece.strides(d)[0];
        let axis = rows.iter().position(|&row| stride.abs() >= row)?;
        let span = &mut taken[axis];
        let step = stride / rows[axis];
        let reach = (digit.extent - 1) * step.abs();
        if span.len != 1 || step * rows[axis] != stride || span.start + reach >= source[axis] {
            return None;
        }
        span.start += if step < 0 { reach } else { 0 };
        (span.len, span.step) = (digit.extent, step);
        within.push(axis);
    }
    let mut chain = Chain::new();
    if !spans.iter().zip(source).all(|(s, &n)| s.is_whole(n)) {
        chain.push(View::Slice(spans));
    }
    let mut units = (0..source.len()).filter(|a| !within.contains(a));
    let mut order = Axes::new();
    for axis in piece.axes() {
        match axis.digits {
            [] => order.push(units.next()?),
            [..] => order.push(within[axis.first]),
        }
    }
    if !order.is_sorted() {
        chain.push(View::Permute(order));
    }
    Some(chain)
}
