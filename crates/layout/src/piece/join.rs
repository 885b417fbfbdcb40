//! Joining pieces that share axes: what a gather makes of its data and its indices.

use super::{Piece, Pieces};
use crate::math::{add, mul};
use crate::{Break, MAX_PIECES, Sizes, Span};
use smallvec::SmallVec;

/// One piece that takes part in a join, and where each of its axes goes.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// The piece.
    pub piece: &'a Piece,
    /// For each of its axes the axis of the result, or `None`: then it stays at coordinate 0 and
    /// something else moves along it.
    pub axes: &'a [Option<usize>],
}

/// The points of `sizes` that every operand has, with the columns of all operands side by side.
///
/// Post-condition: the results are disjoint, and `r.at(x)` is the concatenation of
/// `operand.at(x at its axes)`, defined where all of them are.
pub fn join(operands: &[Operand<'_>], sizes: &[i64]) -> Result<Pieces, Break> {
    for axis in 0..sizes.len() {
        let mut sharers = operands
            .iter()
            .flat_map(|o| o.axes.iter().enumerate().map(move |(k, &to)| (o, k, to)))
            .filter(|&(_, _, to)| to == Some(axis))
            .map(|(o, k, _)| o.piece.axis(k));
        if sharers.clone().nth(1).is_none() {
            continue;
        }
        if sharers.clone().all(|view| view.is_total(sizes[axis])) {
            continue;
        }
        let partial = sharers
            .find(|view| view.digits.len() <= 1 && !view.is_total(sizes[axis]))
            .ok_or(Break::Digits { axis, digits: 2 })?;
        let span = Span {
            start: partial.start,
            len: partial.digits.first().map_or(1, |d| d.extent),
            step: partial.digits.first().map_or(1, |d| d.coord),
        };
        return restricted(operands, sizes, axis, span);
    }
    aligned(operands, sizes).map(|piece| SmallVec::from_elem(piece, 1))
}

/// Joins within the coordinates of one span only, where one more operand is total.
fn restricted(
    operands: &[Operand<'_>],
    sizes: &[i64],
    axis: usize,
    span: Span,
) -> Result<Pieces, Break> {
    let mut choices: SmallVec<[Pieces; 3]> = SmallVec::new();
    for operand in operands {
        // Only the shape of the shared axis matters: the others are taken whole.
        let mut shape = Sizes::new();
        let mut spans: SmallVec<[Span; 6]> = SmallVec::new();
        for &to in operand.axes {
            let shared = to == Some(axis);
            shape.push(if shared { sizes[axis] } else { 1 });
            spans.push(if shared { span } else { Span::whole(1) });
        }
        choices.push(operand.piece.slice(&shape, &spans)?);
    }
    let mut inner = Sizes::from_slice(sizes);
    inner[axis] = span.len;
    let mut out = Pieces::new();
    if choices.iter().any(|c| c.is_empty()) {
        return Ok(out);
    }
    let mut odometer: SmallVec<[usize; 3]> = SmallVec::from_elem(0, operands.len());
    loop {
        let chosen: SmallVec<[Operand<'_>; 3]> = operands
            .iter()
            .zip(&choices)
            .zip(&odometer)
            .map(|((operand, pieces), &k)| Operand {
                piece: &pieces[k],
                axes: operand.axes,
            })
            .collect();
        for piece in join(&chosen, &inner)? {
            out.push(piece.unslice(axis, span)?);
        }
        if out.len() > MAX_PIECES {
            return Err(Break::TooManyPieces { axis });
        }
        let Some(k) = (0..odometer.len()).find(|&k| odometer[k] + 1 < choices[k].len()) else {
            return Ok(out);
        };
        odometer[k] += 1;
        odometer[..k].fill(0);
    }
}

/// Joins operands that are total on every axis they share.
fn aligned(operands: &[Operand<'_>], sizes: &[i64]) -> Result<Piece, Break> {
    let columns = operands.iter().map(|o| o.piece.columns()).sum();
    let mut offset: SmallVec<[i64; 4]> = SmallVec::with_capacity(columns);
    for operand in operands {
        offset.extend_from_slice(&operand.piece.body.offset);
    }
    let mut out = Piece::empty(&offset);
    let mut strides: SmallVec<[i64; 4]> = SmallVec::from_elem(0, columns);
    for (axis, &extent) in sizes.iter().enumerate() {
        let mut cuts: SmallVec<[i64; 6]> = SmallVec::new();
        let mut start = None;
        let mut sharers = 0;
        for operand in operands {
            for (k, _) in operand.on(axis) {
                let view = operand.piece.axis(k);
                start = Some(view.start);
                sharers += 1;
                cuts.extend(view.digits.iter().map(|d| d.coord));
            }
        }
        out.push_axis(start.ok_or(Break::Rank {
            given: 0,
            expected: 1,
        })?);
        if sharers == 1 {
            out.alone(operands, axis, &mut strides)?;
            continue;
        }
        cuts.sort_unstable_by(|a, b| b.cmp(a));
        cuts.dedup();
        let mut row = extent;
        for &cut in &cuts {
            if row % cut != 0 {
                return Err(Break::Indivisible { pieces: 2 });
            }
            strides.fill(0);
            let mut base = 0;
            for operand in operands {
                let width = operand.piece.columns();
                for (k, _) in operand.on(axis) {
                    let view = operand.piece.axis(k);
                    let Some(d) = view.digits.iter().position(|d| d.coord <= cut) else {
                        continue;
                    };
                    let times = cut / view.digits[d].coord;
                    let from = operand.piece.strides(view.first + d);
                    for (to, &stride) in strides[base..base + width].iter_mut().zip(from) {
                        *to = add(*to, mul(stride, times)?)?;
                    }
                }
                base += width;
            }
            out.push_digit(row / cut, cut, &strides)?;
            row = cut;
        }
    }
    Ok(out)
}

impl Operand<'_> {
    /// The axes of its own that go to this axis of the result.
    fn on(&self, axis: usize) -> impl Iterator<Item = (usize, Option<usize>)> {
        let axes = self.axes.iter().copied().enumerate();
        axes.filter(move |&(_, to)| to == Some(axis))
    }
}

impl Piece {
    /// Appends the digits of the one operand axis that goes to `axis`.
    fn alone(
        &mut self,
        operands: &[Operand<'_>],
        axis: usize,
        strides: &mut SmallVec<[i64; 4]>,
    ) -> Result<(), Break> {
        let mut base = 0;
        strides.fill(0);
        for operand in operands {
            let width = operand.piece.columns();
            for (k, _) in operand.on(axis) {
                let view = operand.piece.axis(k);
                for (d, digit) in view.digits.iter().enumerate() {
                    strides[base..base + width]
                        .copy_from_slice(operand.piece.strides(view.first + d));
                    self.push_digit(digit.extent, digit.coord, strides)?;
                }
            }
            base += width;
        }
        Ok(())
    }

    /// Undoes a slice of positive step: coordinate `x` becomes `start + step * x`.
    fn unslice(mut self, axis: usize, span: Span) -> Result<Piece, Break> {
        let first = self.body.axes[..axis]
            .iter()
            .map(|a| a.digits)
            .sum::<usize>();
        let count = self.body.axes[axis].digits;
        let start = mul(self.body.axes[axis].start, span.step)?;
        self.body.axes[axis].start = add(start, span.start)?;
        for digit in &mut self.body.digits[first..first + count] {
            digit.coord = mul(digit.coord, span.step)?;
        }
        Ok(self)
    }
}
