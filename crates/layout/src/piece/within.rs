//! Whether a piece reads only what another one reads.

use super::Piece;
use smallvec::SmallVec;

/// A digit of the other piece, and the values that it takes for addresses of this one.
struct DigitStep {
    stride: i128,
    extent: i128,
    greatest: i128,
}

impl Piece {
    /// Whether every address in column 0 of this piece is one of column 0 of another. It may say
    /// no where that is so, but not where digits are the other's, or slices of them.
    pub fn is_within(&self, other: &Piece) -> bool {
        let (Ok((low, _)), Ok((base, _))) = (self.range(0), other.range(0)) else {
            return false;
        };
        let mut steps: SmallVec<[DigitStep; 6]> = other
            .moving()
            .map(|(extent, stride)| DigitStep {
                stride,
                extent,
                greatest: 0,
            })
            .collect();
        steps.sort_unstable_by_key(|step| std::cmp::Reverse(step.stride));
        let mut rest = i128::from(low) - i128::from(base);
        if rest < 0 {
            return false;
        }
        for step in &mut steps {
            step.greatest = (rest / step.stride).min(step.extent - 1);
            rest -= step.greatest * step.stride;
        }
        if rest != 0 {
            return false;
        }
        for (extent, stride) in self.moving() {
            let Some(step) = steps.iter_mut().find(|step| stride % step.stride == 0) else {
                return false;
            };
            step.greatest += (extent - 1) * (stride / step.stride);
        }
        steps.iter().all(|step| step.greatest < step.extent)
    }

    /// Extent and size of the stride of each digit that moves column 0.
    fn moving(&self) -> impl Iterator<Item = (i128, i128)> {
        let digits = self.digits().iter().enumerate();
        digits
            .map(|(d, digit)| (digit.extent.into(), i128::from(self.strides(d)[0]).abs()))
            .filter(|&(_, stride)| stride != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Piece;
    use crate::{Cover, Span, View};
    use std::collections::BTreeSet;

    fn addresses(piece: &Piece) -> BTreeSet<i64> {
        let mut all = vec![piece.offset(0)];
        for (d, digit) in piece.digits().iter().enumerate() {
            let stride = piece.strides(d)[0];
            let steps = |&at: &i64| (0..digit.extent).map(move |x| at + x * stride);
            all = all.iter().flat_map(steps).collect();
        }
        all.into_iter().collect()
    }

    #[test]
    fn it_never_says_yes_wrongly_and_knows_slices() {
        let whole = Cover::dense(&[4, 6], ()).expect("small");
        let spans = |n: i64| {
            let starts = (0..n).flat_map(move |start| [-2, -1, 1, 2].map(|step| (start, step)));
            starts.flat_map(move |(start, step)| (1..=n).map(move |len| Span { start, len, step }))
        };
        let mut pieces = Vec::new();
        for (at, rows) in spans(4).enumerate() {
            for columns in spans(6).skip(at % 3).step_by(3) {
                let slice = View::Slice([rows, columns].into_iter().collect());
                if let Ok(cut) = whole.view(&slice) {
                    let turned = View::Permute([1, 0].into_iter().collect());
                    pieces.push(cut.parts()[0].0.clone());
                    pieces.push(cut.view(&turned).expect("fits").parts()[0].0.clone());
                }
            }
        }
        assert!(pieces.len() > 300, "{}", pieces.len());
        let all: Vec<_> = pieces.iter().map(addresses).collect();
        let (mut yes, mut missed) = (0, 0);
        for (a, mine) in pieces.iter().zip(&all) {
            for (b, theirs) in pieces.iter().zip(&all) {
                let inside = mine.is_subset(theirs);
                let said = a.is_within(b);
                assert!(inside || !said, "{a:?} in {b:?}");
                yes += usize::from(said);
                missed += usize::from(inside && !said);
            }
            assert!(a.is_within(a), "{a:?}");
        }
        assert!(missed * 20 < yes, "{missed} of {yes}");
    }
}
