//! Pieces: partial affine maps of an index space.
//!
//! A piece says for some points of a value's index space where their element is read from. Each
//! axis has a start coordinate and owns digits; a digit has an extent, a stride in the axis's own
//! coordinate and one stride per column. With digit values `d`,
//!
//! ```text
//! coordinate of axis a = start(a) + sum over its digits of d * coord
//! address of column c  = offset(c) + sum over all digits of d * stride(c)
//! ```
//!
//! A column is whatever has a linear address: the source, or an index tensor. A piece with no
//! columns is a set of points (all hold the same bits).
//!
//! # Invariants
//!
//! * extents are at least 2, coordinate strides at least 1, starts at least 0;
//! * the digits of an axis are *nested*: each coordinate stride exceeds the whole span of the
//!   digits inside it. So they are sorted, and a coordinate has at most one set of digit values;
//! * neighbours of an axis are merged when `outer == inner.extent * inner` holds for the
//!   coordinate stride and in every column.
//!
//! A value is a set of disjoint pieces that cover it. No operation needs a mask: where a digit
//! does not divide, the piece is split.

pub(crate) mod axis;
mod columns;
mod fuse;
mod join;
mod ops;
mod within;

pub use columns::Nested;
pub(crate) use fuse::Marks;
pub use join::{Operand, join};

use crate::Break;
use crate::math::{add, mul, product};
use smallvec::SmallVec;

/// The most pieces one operation may make of one.
pub const MAX_PIECES: usize = 64;

/// What an operation makes of one piece.
pub type Pieces = SmallVec<[Piece; 1]>;

/// One digit: its extent and its stride in its axis's coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digit {
    /// How many values it takes, at least 2.
    pub extent: i64,
    /// Stride in the coordinate of its axis, at least 1.
    pub coord: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Axis {
    start: i64,
    digits: usize,
}

/// A partial affine map, in normal form.
///
/// A handle: what it holds is some hundred bytes, and pieces are handed on more often than made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    body: Box<PieceBody>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct PieceBody {
    axes: SmallVec<[Axis; 6]>,
    digits: SmallVec<[Digit; 6]>,
    /// One row of strides per digit, one entry per column.
    strides: SmallVec<[i64; 8]>,
    offset: SmallVec<[i64; 2]>,
}

/// By hand, for the derived one would copy element by element.
impl Clone for PieceBody {
    fn clone(&self) -> Self {
        PieceBody {
            axes: SmallVec::from_slice(&self.axes),
            digits: SmallVec::from_slice(&self.digits),
            strides: SmallVec::from_slice(&self.strides),
            offset: SmallVec::from_slice(&self.offset),
        }
    }
}

/// One axis of a piece.
#[derive(Clone, Copy, Debug)]
pub struct AxisView<'a> {
    /// Its first coordinate.
    pub start: i64,
    /// Its digits, outermost first.
    pub digits: &'a [Digit],
    /// Number of the first of them within the piece.
    pub first: usize,
}

impl Piece {
    /// Every point of `shape`, with no columns. `None` if there is no point.
    pub fn points(shape: &[i64]) -> Result<Option<Piece>, Break> {
        Self::strided(shape, &[], &[])
    }

    /// Every point of `shape`, addressed row-major. `None` if there is no point.
    pub fn dense(shape: &[i64]) -> Result<Option<Piece>, Break> {
        if let Some(axis) = shape.iter().position(|&n| n < 0) {
            let extent = shape[axis];
            return Err(Break::Extent { axis, extent });
        }
        let mut row = product(shape)?;
        if row == 0 {
            return Ok(None);
        }
        let mut piece = Piece::empty(&[0]);
        for &n in shape {
            row /= n;
            let digits = usize::from(n > 1);
            piece.body.axes.push(Axis { start: 0, digits });
            if n > 1 {
                let (extent, coord) = (n, 1);
                piece.body.digits.push(Digit { extent, coord });
                piece.body.strides.push(row);
            }
        }
        Ok(Some(piece))
    }

    /// Every point of `shape` at `offset[c] + sum(x[a] * strides[a * columns + c])`: strides are
    /// given axis by axis, one per column. `None` if there is no point. Fails when the number of
    /// points or an address does not fit.
    pub fn strided(shape: &[i64], offset: &[i64], strides: &[i64]) -> Result<Option<Piece>, Break> {
        let columns = offset.len();
        if strides.len() != shape.len() * columns {
            return Err(Break::Rank {
                given: strides.len(),
                expected: shape.len() * columns,
            });
        }
        if let Some(axis) = shape.iter().position(|&n| n < 0) {
            return Err(Break::Extent {
                axis,
                extent: shape[axis],
            });
        }
        if product(shape)? == 0 {
            return Ok(None);
        }
        let mut piece = Piece::empty(offset);
        for (a, &n) in shape.iter().enumerate() {
            piece.push_axis(0);
            piece.push_digit(n, 1, &strides[a * columns..(a + 1) * columns])?;
        }
        for c in 0..columns {
            piece.range(c)?;
        }
        Ok(Some(piece))
    }

    /// No axes yet.
    fn empty(offset: &[i64]) -> Piece {
        let body = Box::new(PieceBody {
            axes: SmallVec::new(),
            digits: SmallVec::new(),
            strides: SmallVec::new(),
            offset: SmallVec::from_slice(offset),
        });
        Piece { body }
    }

    fn push_axis(&mut self, start: i64) {
        self.body.axes.push(Axis { start, digits: 0 });
    }

    /// Appends a digit to the last axis, inside those it has, and keeps the normal form.
    fn push_digit(&mut self, extent: i64, coord: i64, strides: &[i64]) -> Result<(), Break> {
        if extent == 1 {
            return Ok(());
        }
        let columns = self.body.offset.len();
        let Some(axis) = self.body.axes.last_mut() else {
            return Err(Break::Rank {
                given: 0,
                expected: 1,
            });
        };
        if axis.digits > 0 {
            let last = self.body.digits.len() - 1;
            let outer = &mut self.body.digits[last];
            let row = &mut self.body.strides[last * columns..];
            let merges = extent.checked_mul(coord) == Some(outer.coord)
                && row
                    .iter()
                    .zip(strides)
                    .all(|(&o, &i)| extent.checked_mul(i) == Some(o));
            if merges {
                outer.extent = mul(outer.extent, extent)?;
                outer.coord = coord;
                row.copy_from_slice(strides);
                return Ok(());
            }
        }
        axis.digits += 1;
        self.body.digits.push(Digit { extent, coord });
        self.body.strides.extend_from_slice(strides);
        Ok(())
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.body.offset.len()
    }

    /// How many axes it has.
    pub fn rank(&self) -> usize {
        self.body.axes.len()
    }

    /// Address of a column at digit values 0.
    pub fn offset(&self, column: usize) -> i64 {
        self.body.offset[column]
    }

    /// All digits, axis by axis, outermost first.
    pub fn digits(&self) -> &[Digit] {
        &self.body.digits
    }

    /// The strides of digit `d`, one per column.
    pub fn strides(&self, d: usize) -> &[i64] {
        let columns = self.body.offset.len();
        &self.body.strides[d * columns..(d + 1) * columns]
    }

    /// The axes in order.
    pub fn axes(&self) -> impl Iterator<Item = AxisView<'_>> {
        self.body.axes.iter().scan(0, |first, axis| {
            let at = *first;
            *first += axis.digits;
            Some(AxisView {
                start: axis.start,
                digits: &self.body.digits[at..*first],
                first: at,
            })
        })
    }

    /// One axis.
    pub fn axis(&self, a: usize) -> AxisView<'_> {
        let first = self.body.axes[..a].iter().map(|x| x.digits).sum();
        AxisView {
            start: self.body.axes[a].start,
            digits: &self.body.digits[first..first + self.body.axes[a].digits],
            first,
        }
    }

    /// How many points it has.
    pub fn count(&self) -> i64 {
        self.body
            .digits
            .iter()
            .fold(1, |n, d| n.saturating_mul(d.extent))
    }

    /// The least and the greatest address of a column, exactly.
    pub fn range(&self, column: usize) -> Result<(i64, i64), Break> {
        let (mut low, mut high) = (
            i128::from(self.body.offset[column]),
            i128::from(self.body.offset[column]),
        );
        for (d, digit) in self.body.digits.iter().enumerate() {
            let reach = i128::from(self.strides(d)[column]) * i128::from(digit.extent - 1);
            if reach < 0 {
                low += reach;
            } else {
                high += reach;
            }
        }
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) => Ok((low, high)),
            _ => Err(Break::Overflow),
        }
    }

    /// The addresses of a point, one per column; `None` if the point is not in the piece.
    pub fn at(&self, point: &[i64]) -> Option<SmallVec<[i64; 2]>> {
        let mut address: SmallVec<[i64; 2]> = SmallVec::from_slice(&self.body.offset);
        for (axis, &x) in self.axes().zip(point) {
            let mut rest = x - axis.start;
            for (k, digit) in axis.digits.iter().enumerate() {
                let d = (rest.max(0) / digit.coord).min(digit.extent - 1);
                rest -= d * digit.coord;
                for (sum, stride) in address.iter_mut().zip(self.strides(axis.first + k)) {
                    *sum += d * stride;
                }
            }
            if rest != 0 {
                return None;
            }
        }
        Some(address)
    }

    /// Whether it holds every point of `shape`: then it is a total layout.
    pub fn is_total(&self, shape: &[i64]) -> bool {
        self.axes()
            .zip(shape)
            .all(|(axis, &extent)| axis.is_total(extent))
    }

    /// Whether it is the row-major layout of this shape, of which it holds every point. Its one
    /// normal form has a digit for each axis that is no unit axis.
    pub(crate) fn is_dense_over(&self, shape: &[i64]) -> bool {
        if self.columns() != 1 || self.offset(0) != 0 {
            return false;
        }
        let (mut digits, mut row) = (self.digits().len(), 1);
        for &n in shape.iter().rev().filter(|&&n| n != 1) {
            digits = match digits.checked_sub(1) {
                Some(d) if self.digits()[d].extent == n && self.strides(d)[0] == row => d,
                Some(_) | None => return false,
            };
            row *= n;
        }
        digits == 0
    }

    /// The same points without addresses.
    pub fn without_columns(&self) -> Result<Piece, Break> {
        let mut out = Piece::empty(&[]);
        for axis in self.axes() {
            out.push_axis(axis.start);
            for digit in axis.digits {
                out.push_digit(digit.extent, digit.coord, &[])?;
            }
        }
        Ok(out)
    }

    /// Sets one column's offset to what it is plus `delta`.
    pub fn move_column(&mut self, column: usize, delta: i64) -> Result<(), Break> {
        self.body.offset[column] = add(self.body.offset[column], delta)?;
        self.range(column).map(|_| ())
    }
}

impl AxisView<'_> {
    /// Whether its coordinates are exactly `0..extent`.
    pub fn is_total(&self, extent: i64) -> bool {
        let mut inside = 1i64;
        for digit in self.digits.iter().rev() {
            if digit.coord != inside {
                return false;
            }
            inside = inside.saturating_mul(digit.extent);
        }
        self.start == 0 && inside == extent
    }
}
