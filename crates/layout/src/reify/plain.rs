//! The short way for the most common layouts: as many axes as the source has, each with at most
//! one digit, each digit inside an axis of the source. They are a slice and a permute.

use super::Chain;
use crate::{Axes, Piece, Span, View};
use smallvec::SmallVec;

/// No digit, or no axis yet.
const NONE: usize = usize::MAX;

/// The chain that the long way would give as well; `None` if the layout is of another kind.
/// `base` is its least address; all its addresses lie below `total`, the source's elements.
pub(super) fn chain(piece: &Piece, base: i64, source: &[i64], total: i64) -> Option<Chain> {
    let digits = piece.digits();
    if piece.rank() != source.len() || piece.axes().any(|axis| axis.digits.len() > 1) {
        return None;
    }
    let mut spans: SmallVec<[Span; 6]> = SmallVec::new();
    // Which axis of the source each digit steps through.
    let mut within: Axes = Axes::from_elem(NONE, digits.len());
    let (mut row, mut rest, mut whole) = (total, base, true);
    for (a, &n) in source.iter().enumerate() {
        let above = row;
        row /= n;
        let mut own = NONE;
        for d in 0..digits.len() {
            let stride = piece.strides(d)[0].abs();
            if stride >= row && stride < above {
                if own != NONE {
                    return None;
                }
                own = d;
            }
        }
        let start = rest / row;
        rest -= start * row;
        let mut span = Span {
            start,
            len: 1,
            step: 1,
        };
        if own != NONE {
            let stride = piece.strides(own)[0];
            let step = stride / row;
            let reach = (digits[own].extent - 1) * step.abs();
            if step * row != stride || start + reach >= n {
                return None;
            }
            within[own] = a;
            span = Span {
                start: if step < 0 { start + reach } else { start },
                len: digits[own].extent,
                step,
            };
        } else if start >= n {
            return None;
        }
        whole &= span.is_whole(n);
        spans.push(span);
    }
    if within.contains(&NONE) {
        return None;
    }
    let mut chain = Chain::new();
    if !whole {
        chain.push(View::Slice(spans.clone()));
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
