//! Other addresses for the same points.

use super::{MAX_PIECES, Piece};
use crate::Break;
use crate::math::{add, mul};
use smallvec::SmallVec;

/// What a digit becomes: nested digits, outermost first, each with its extent and one stride per
/// new column. Their extents multiply to that of the digit.
pub type Nested = SmallVec<[(i64, SmallVec<[i64; 2]>); 2]>;

impl Piece {
    /// The same points with columns that are sums of its columns: `sums[c]` lists `(old column,
    /// times)`.
    ///
    /// Post-condition: `r.at(x)[c] == sum of self.at(x)[old] * times`.
    pub fn with_sums<S: AsRef<[(usize, i64)]>>(&self, sums: &[S]) -> Result<Piece, Break> {
        let combine = |row: &[i64]| -> Result<SmallVec<[i64; 4]>, Break> {
            let one = |sum: &S| {
                let mut terms = sum.as_ref().iter();
                terms.try_fold(0, |total, &(old, times)| {
                    let of = row.get(old).copied().ok_or(Break::Rank {
                        given: old,
                        expected: row.len(),
                    })?;
                    add(total, mul(of, times)?)
                })
            };
            sums.iter().map(one).collect()
        };
        let mut out = Piece::empty(&combine(&self.body.offset)?);
        for axis in self.axes() {
            out.push_axis(axis.start);
            for (k, digit) in axis.digits.iter().enumerate() {
                let row = combine(self.strides(axis.first + k))?;
                out.push_digit(digit.extent, digit.coord, &row)?;
            }
        }
        for c in 0..sums.len() {
            out.range(c)?;
        }
        Ok(out)
    }

    /// The same points with columns of their own making: `nested[d]` says what digit `d` becomes.
    ///
    /// Post-condition: `r.at(x)[c]` is `offset[c]` and, for each digit of `self`, its value at
    /// `x` written in the mixed radix of its nested digits, times their strides.
    pub fn with_columns(&self, offset: &[i64], nested: &[Nested]) -> Result<Piece, Break> {
        let mut out = Piece::empty(offset);
        for axis in self.axes() {
            out.push_axis(axis.start);
            for (k, digit) in axis.digits.iter().enumerate() {
                let mut row = digit.extent;
                let inner = nested.get(axis.first + k).map_or(&[][..], |n| n.as_slice());
                for (extent, strides) in inner {
                    if *extent < 1 || row % extent != 0 || strides.len() != offset.len() {
                        return Err(Break::Indivisible { pieces: MAX_PIECES });
                    }
                    row /= extent;
                    out.push_digit(*extent, mul(digit.coord, row)?, strides)?;
                }
                if row != 1 {
                    return Err(Break::Indivisible { pieces: MAX_PIECES });
                }
            }
        }
        for c in 0..offset.len() {
            out.range(c)?;
        }
        Ok(out)
    }
}
