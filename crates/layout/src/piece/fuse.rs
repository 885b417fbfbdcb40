//! Joining two pieces that continue one another along an axis.

use super::{AxisView, Piece};
use crate::Break;
use smallvec::SmallVec;

/// The outermost digit of an axis, taken apart from what is inside it.
#[derive(Clone, Copy)]
struct Outer {
    extent: i64,
    coord: i64,
    /// Number of the digit within its piece.
    digit: usize,
}

/// A number for each axis of a piece; the same for axes that are the same.
pub(crate) type Marks = SmallVec<[u64; 8]>;

impl Piece {
    /// What tells most axes that differ apart.
    pub(crate) fn marks(&self) -> Marks {
        let mix = |mark: u64, word: i64| {
            (mark.rotate_left(23) ^ word as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let mark = |axis: AxisView<'_>| {
            let digits = axis.digits.iter().enumerate();
            digits.fold(mix(0, axis.start), |mark, (k, digit)| {
                let strides = self.strides(axis.first + k).iter();
                let mark = mix(mix(mark, digit.extent), digit.coord);
                strides.fold(mark, |mark, &stride| mix(mark, stride))
            })
        };
        self.axes().map(mark).collect()
    }

    /// The one piece that holds the points of both, if they differ only along one axis and there
    /// continue one another.
    ///
    /// Post-condition: `r.at(x)` is `self.at(x)` or `other.at(x)`, whichever has `x`.
    pub(crate) fn followed_by(&self, other: &Piece) -> Option<Result<Piece, Break>> {
        let mut differs = None;
        for (a, (mine, theirs)) in self.axes().zip(other.axes()).enumerate() {
            if !self.same_axis(mine, other, theirs) {
                if differs.is_some() {
                    return None;
                }
                differs = Some((a, mine, theirs));
            }
        }
        let (a, mine, theirs) = differs?;
        match mine.start < theirs.start {
            true => self.continued(a, mine, other, theirs),
            false => other.continued(a, theirs, self, mine),
        }
    }

    /// The one piece that holds the points of this one and those of another, moved by `by` along
    /// an axis, if they continue one another there.
    ///
    /// Post-condition: `r.at(x)` is `self.at(x)` or `other.at(x moved back)`, whichever has `x`.
    pub(crate) fn followed_along(
        &self,
        axis: usize,
        other: &Piece,
        by: i64,
    ) -> Option<Result<Piece, Break>> {
        let mut pairs = self.axes().zip(other.axes()).enumerate();
        let same = |(a, (mine, theirs)): (usize, (AxisView<'_>, AxisView<'_>))| {
            a == axis || self.same_axis(mine, other, theirs)
        };
        let mut theirs = other.axis(axis);
        theirs.start = theirs.start.checked_add(by)?;
        match pairs.all(same) {
            true => self.continued(axis, self.axis(axis), other, theirs),
            false => None,
        }
    }

    fn same_axis(&self, mine: AxisView<'_>, other: &Piece, theirs: AxisView<'_>) -> bool {
        mine.start == theirs.start && self.same_digits(mine, other, theirs)
    }

    fn same_digits(&self, mine: AxisView<'_>, other: &Piece, theirs: AxisView<'_>) -> bool {
        let rows = |piece: &Piece, view: AxisView<'_>| {
            let columns = piece.columns();
            view.first * columns..(view.first + view.digits.len()) * columns
        };
        mine.digits == theirs.digits
            && self.columns() == other.columns()
            && self.body.strides[rows(self, mine)] == other.body.strides[rows(other, theirs)]
    }

    fn continued(
        &self,
        axis: usize,
        low: AxisView<'_>,
        other: &Piece,
        high: AxisView<'_>,
    ) -> Option<Result<Piece, Break>> {
        let gap = high.start - low.start;
        let step = |c: usize| other.body.offset[c].checked_sub(self.body.offset[c]);
        let columns = self.columns();
        // Either side may be a single step of the outer digit, which then is absent there.
        let splits = [(true, true), (true, false), (false, true), (false, false)];
        for (low_has, high_has) in splits {
            let (Some((a, low_in)), Some((b, high_in))) =
                (take(low, low_has), take(high, high_has))
            else {
                continue;
            };
            if !self.same_digits(low_in, other, high_in) {
                continue;
            }
            let (extent, coord) = match (a, b) {
                (Some(a), Some(b)) if a.coord == b.coord => (a.extent + b.extent, a.coord),
                (Some(a), None) => (a.extent + 1, a.coord),
                (None, Some(b)) => (b.extent + 1, b.coord),
                (None, None) => (2, low_in.digits.first().map_or(1, |d| d.coord * d.extent)),
                (Some(_), Some(_)) => continue,
            };
            let before = a.map_or(1, |a| a.extent);
            if coord.checked_mul(before) != Some(gap) {
                continue;
            }
            let mut strides: SmallVec<[i64; 4]> = SmallVec::new();
            for c in 0..columns {
                let stride = match (a, b) {
                    (Some(a), _) => self.strides(a.digit)[c],
                    (None, Some(b)) => other.strides(b.digit)[c],
                    (None, None) => step(c)?,
                };
                strides.push(stride);
            }
            let agrees = |c: usize| {
                strides[c].checked_mul(before) == step(c)
                    && b.is_none_or(|b| other.strides(b.digit)[c] == strides[c])
            };
            if (0..columns).all(agrees) {
                return Some(self.with_outer(axis, low_in, extent, coord, &strides));
            }
        }
        None
    }

    /// This piece with the digits of one axis replaced by an outer digit and those of `inner`.
    fn with_outer(
        &self,
        axis: usize,
        inner: AxisView<'_>,
        extent: i64,
        coord: i64,
        strides: &[i64],
    ) -> Result<Piece, Break> {
        let mut out = Piece::empty(&self.body.offset);
        for (a, view) in self.axes().enumerate() {
            if a != axis {
                out.copy_axis(self, view, view.start);
                continue;
            }
            out.push_axis(view.start);
            out.push_digit(extent, coord, strides)?;
            for (k, digit) in inner.digits.iter().enumerate() {
                out.push_digit(digit.extent, digit.coord, self.strides(inner.first + k))?;
            }
        }
        Ok(out)
    }
}

/// Takes the outermost digit off, if `has`; `None` if there is none to take.
fn take(view: AxisView<'_>, has: bool) -> Option<(Option<Outer>, AxisView<'_>)> {
    if !has {
        return Some((None, view));
    }
    let (digit, inner) = view.digits.split_first()?;
    let outer = Outer {
        extent: digit.extent,
        coord: digit.coord,
        digit: view.first,
    };
    let inner = AxisView {
        start: view.start,
        digits: inner,
        first: view.first + 1,
    };
    Some((Some(outer), inner))
}
