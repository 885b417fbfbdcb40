//! The view operations on a piece. Their arguments have been checked against the value's shape.

use super::axis::{self, Coords, DigitPart, Parts, TooMany};
use super::{Axis, AxisView, Digit, MAX_PIECES, Piece, Pieces};
use crate::math::{add, mul};
use crate::{Break, Span, View};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

impl Piece {
    /// Any view step that fits the shape.
    pub(crate) fn view(&self, shape: &[i64], view: &View) -> Result<Pieces, Break> {
        match view {
            View::Slice(spans) => self.slice(shape, spans),
            View::Permute(perm) => self.permute(perm).map(|p| smallvec![p]),
            View::Collapse { groups } => self.collapse(shape, groups).map(|p| smallvec![p]),
            View::Expand { groups, sizes } => self.expand(shape, groups, sizes),
            View::Broadcast { sizes } => self.broadcast(shape, sizes).map(|p| smallvec![p]),
            &View::Windows { axis, size } => self.windows(shape, axis, size).map(|p| smallvec![p]),
        }
    }

    /// A [`view`](Self::view) step that cannot split a piece, or that plainly does not split
    /// this one.
    pub(crate) fn plain(&self, shape: &[i64], view: &View) -> Result<Option<Piece>, Break> {
        match view {
            View::Slice(spans) => self.plain_slice(shape, spans),
            View::Permute(perm) => self.permute(perm).map(Some),
            View::Collapse { groups } => self.collapse(shape, groups).map(Some),
            View::Expand { groups, sizes } => self.plain_expand(shape, groups, sizes),
            View::Broadcast { sizes } => self.broadcast(shape, sizes).map(Some),
            &View::Windows { axis, size } => self.windows(shape, axis, size).map(Some),
        }
    }

    /// [`slice`](Self::slice) where every axis that is cut is whole and owns one digit.
    fn plain_slice(&self, shape: &[i64], spans: &[Span]) -> Result<Option<Piece>, Break> {
        let mut d = 0;
        for (axis, (&n, span)) in self.body.axes.iter().zip(shape.iter().zip(spans)) {
            if !span.is_whole(n) && (span.len == 0 || !self.is_plain(axis, d, n)) {
                return Ok(None);
            }
            d += axis.digits;
        }
        let columns = self.columns();
        let mut out = self.clone();
        let body = &mut *out.body;
        let mut d = 0;
        for (axis, (&n, span)) in body.axes.iter_mut().zip(shape.iter().zip(spans)) {
            if span.is_whole(n) {
                d += axis.digits;
                continue;
            }
            let row = &mut body.strides[d * columns..(d + 1) * columns];
            for (stride, offset) in row.iter_mut().zip(&mut body.offset) {
                *offset = add(*offset, mul(span.start, *stride)?)?;
                if span.len > 1 {
                    *stride = mul(*stride, span.step)?;
                }
            }
            if span.len > 1 {
                body.digits[d].extent = span.len;
                d += 1;
            } else {
                axis.digits = 0;
                body.digits.remove(d);
                body.strides.drain(d * columns..(d + 1) * columns);
            }
        }
        Ok(Some(out))
    }

    /// Whether one digit, digit `d`, steps through exactly the coordinates `0..extent` of an axis.
    fn is_plain(&self, axis: &Axis, d: usize, extent: i64) -> bool {
        let whole = Digit { extent, coord: 1 };
        axis.start == 0 && axis.digits == 1 && self.body.digits[d] == whole
    }

    /// [`expand`](Self::expand) where every axis that is cut is whole and owns one digit.
    fn plain_expand(
        &self,
        shape: &[i64],
        groups: &[usize],
        sizes: &[i64],
    ) -> Result<Option<Piece>, Break> {
        let mut d = 0;
        for (axis, (&n, &count)) in self.body.axes.iter().zip(shape.iter().zip(groups)) {
            if count > 1 && n > 1 && !self.is_plain(axis, d, n) {
                return Ok(None);
            }
            d += axis.digits;
        }
        if groups.is_empty() {
            return Ok(None);
        }
        let mut out = Piece::empty(&self.body.offset);
        let mut next = 0;
        for ((axis, &n), &count) in self.axes().zip(shape).zip(groups) {
            let sizes = &sizes[next..next + count];
            next += count;
            if count == 1 {
                out.copy_axis(self, axis, axis.start);
                continue;
            }
            let mut row = n;
            for &extent in sizes {
                row /= extent;
                let digits = usize::from(extent > 1);
                out.body.axes.push(Axis { start: 0, digits });
                if extent > 1 {
                    out.body.digits.push(Digit { extent, coord: 1 });
                    for &stride in self.strides(axis.first) {
                        out.body.strides.push(mul(stride, row)?);
                    }
                }
            }
        }
        Ok(Some(out))
    }

    /// Post-condition: `r.at(x permuted) == self.at(x)`.
    pub(crate) fn permute(&self, perm: &[usize]) -> Result<Piece, Break> {
        let mut firsts: SmallVec<[usize; 6]> = SmallVec::new();
        let mut first = 0;
        for axis in &self.body.axes {
            firsts.push(first);
            first += axis.digits;
        }
        let mut out = Piece::empty(&self.body.offset);
        for &a in perm {
            let axis = self.body.axes[a];
            out.body.axes.push(axis);
            out.copy_digits(self, firsts[a]..firsts[a] + axis.digits);
        }
        Ok(out)
    }

    /// Post-condition: the results are disjoint, and hold exactly the points
    /// `(x - start) / step` of the points `x` of `self` that the slice takes, at their addresses.
    pub(crate) fn slice(&self, shape: &[i64], spans: &[Span]) -> Result<Pieces, Break> {
        let mut out: Pieces = smallvec![Piece::empty(&self.body.offset)];
        for (a, (view, &span)) in self.axes().zip(spans).enumerate() {
            if span.is_whole(shape[a]) {
                for piece in &mut out {
                    piece.copy_axis(self, view, view.start);
                }
                continue;
            }
            let parts = Coords::of(view)
                .slice(shape[a], span)
                .map_err(|TooMany| Break::TooManyPieces { axis: a })?;
            self.stamp_all(&mut out, &parts, a, |piece, coords| {
                piece.push_axis(coords.start);
                coords
                    .runs
                    .iter()
                    .try_for_each(|r| piece.stamp_run(self, r, 1))
            })?;
        }
        Ok(out)
    }

    /// Axis `k` becomes `groups[k]` axes of the given sizes.
    ///
    /// Post-condition: the results are disjoint, and hold exactly the points of `self`, each
    /// coordinate written in the mixed radix of its sizes.
    pub(crate) fn expand(
        &self,
        shape: &[i64],
        groups: &[usize],
        sizes: &[i64],
    ) -> Result<Pieces, Break> {
        let mut out: Pieces = smallvec![Piece::empty(&self.body.offset)];
        let mut next = 0;
        if groups.is_empty() {
            // Rank 0: every new axis has extent 1.
            let piece = &mut out[0];
            sizes.iter().for_each(|_| piece.push_axis(0));
        }
        for (a, (view, &count)) in self.axes().zip(groups).enumerate() {
            let sizes = &sizes[next..next + count];
            next += count;
            if count == 1 {
                for piece in &mut out {
                    piece.copy_axis(self, view, view.start);
                }
                continue;
            }
            let parts = axis::expand(Coords::of(view), shape[a], sizes)
                .map_err(|TooMany| Break::TooManyPieces { axis: a })?;
            self.stamp_all(&mut out, &parts, a, |piece, coords| {
                let mut row = shape[a];
                let mut start = coords.start;
                let mut runs = coords.runs.as_slice();
                for &n in sizes {
                    row /= n;
                    piece.push_axis(start / row);
                    start %= row;
                    while let [run, rest @ ..] = runs
                        && run.coord >= row
                    {
                        piece.stamp_run(self, run, row)?;
                        runs = rest;
                    }
                }
                Ok(())
            })?;
        }
        Ok(out)
    }

    /// `groups[k]` neighbouring axes become axis `k`. Always exact: coordinates are multiplied.
    ///
    /// Post-condition: `r.at(row-major joined x) == self.at(x)`.
    pub(crate) fn collapse(&self, shape: &[i64], groups: &[usize]) -> Result<Piece, Break> {
        let mut out = Piece::empty(&self.body.offset);
        let mut axes = self.axes();
        let mut next = 0;
        for &count in groups {
            let group = &shape[next..next + count];
            next += count;
            let mut row = group.iter().product::<i64>();
            out.push_axis(0);
            for (&n, view) in group.iter().zip(axes.by_ref()) {
                row /= n;
                if let Some(axis) = out.body.axes.last_mut() {
                    axis.start = add(axis.start, mul(view.start, row)?)?;
                }
                for (k, digit) in view.digits.iter().enumerate() {
                    let strides = self.strides(view.first + k);
                    out.push_digit(digit.extent, mul(digit.coord, row)?, strides)?;
                }
            }
        }
        Ok(out)
    }

    /// Post-condition: `r.at(x) == self.at(x with 0 on the repeated axes)`.
    pub(crate) fn broadcast(&self, shape: &[i64], sizes: &[i64]) -> Result<Piece, Break> {
        let mut out = Piece::empty(&self.body.offset);
        let still: SmallVec<[i64; 4]> = SmallVec::from_elem(0, self.columns());
        for (a, view) in self.axes().enumerate() {
            out.copy_axis(self, view, view.start);
            if shape[a] == 1 {
                out.push_digit(sizes[a], 1, &still)?;
            }
        }
        Ok(out)
    }

    /// Post-condition: `r.at(.., place, within, ..) == self.at(.., place + within, ..)`. Breaks where
    /// a run would go from one digit of the axis to the next.
    fn windows(&self, shape: &[i64], axis: usize, size: i64) -> Result<Piece, Break> {
        let mut out = Piece::empty(&self.body.offset);
        for (a, view) in self.axes().enumerate() {
            let places = shape[a] - size + 1;
            if a != axis {
                out.copy_axis(self, view, view.start);
            } else if size == 1 {
                out.copy_axis(self, view, view.start);
                out.push_axis(0);
            } else if places == 1 {
                out.push_axis(0);
                out.copy_axis(self, view, view.start);
            } else if self.is_plain(&self.body.axes[a], view.first, shape[a]) {
                for extent in [places, size] {
                    out.push_axis(0);
                    out.push_digit(extent, 1, self.strides(view.first))?;
                }
            } else {
                return Err(Break::Digits {
                    axis,
                    digits: view.digits.len(),
                });
            }
        }
        Ok(out)
    }

    /// The same points, `by` further along an axis.
    pub(crate) fn shift(&self, axis: usize, by: i64) -> Result<Piece, Break> {
        let mut out = self.clone();
        out.body.axes[axis].start = add(out.body.axes[axis].start, by)?;
        Ok(out)
    }

    /// Appends an axis as it stands in `from`.
    pub(super) fn copy_axis(&mut self, from: &Piece, view: AxisView<'_>, start: i64) {
        let digits = view.digits.len();
        self.body.axes.push(Axis { start, digits });
        self.copy_digits(from, view.first..view.first + digits);
    }

    /// Appends digits as they stand in `from`. They are few: one by one is the fastest.
    fn copy_digits(&mut self, from: &Piece, digits: Range<usize>) {
        let columns = from.columns();
        let rows = digits.start * columns..digits.end * columns;
        for &digit in &from.body.digits[digits] {
            self.body.digits.push(digit);
        }
        for &stride in &from.body.strides[rows] {
            self.body.strides.push(stride);
        }
    }

    /// Every piece with every part. `stamp` appends a part's axes to a piece.
    fn stamp_all(
        &self,
        pieces: &mut Pieces,
        parts: &Parts,
        axis: usize,
        stamp: impl Fn(&mut Piece, &Coords) -> Result<(), Break>,
    ) -> Result<(), Break> {
        let count = pieces.len();
        if count * parts.len() > MAX_PIECES {
            return Err(Break::TooManyPieces { axis });
        }
        let Some((first, others)) = parts.split_first() else {
            pieces.clear();
            return Ok(());
        };
        for coords in others {
            for k in 0..count {
                let mut piece = pieces[k].clone();
                piece.stamp_fixed(self, coords)?;
                stamp(&mut piece, coords)?;
                pieces.push(piece);
            }
        }
        for piece in &mut pieces[..count] {
            piece.stamp_fixed(self, first)?;
            stamp(piece, first)?;
        }
        Ok(())
    }

    fn stamp_fixed(&mut self, from: &Piece, coords: &Coords) -> Result<(), Break> {
        for &(digit, value) in &coords.fixed {
            for (offset, &stride) in self.body.offset.iter_mut().zip(from.strides(digit)) {
                *offset = add(*offset, mul(value, stride)?)?;
            }
        }
        Ok(())
    }

    /// Appends a run as a digit of the last axis, its coordinate counted in rows.
    fn stamp_run(&mut self, from: &Piece, run: &DigitPart, row: i64) -> Result<(), Break> {
        let mut strides: SmallVec<[i64; 4]> = SmallVec::new();
        for &stride in from.strides(run.digit) {
            strides.push(mul(stride, run.by)?);
        }
        self.push_digit(run.extent, run.coord / row, &strides)
    }
}
