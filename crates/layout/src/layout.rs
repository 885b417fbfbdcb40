//! Layouts: total affine maps of an index space, in their unique normal form.

use crate::cover::fuse;
use crate::math::product;
use crate::{Break, MAX_PIECES, Piece, Pieces, Sizes, Span, View};
use smallvec::SmallVec;
use std::fmt;

/// Where every point of a shape lies, in one or more columns.
///
/// # Normal form
///
/// Digits of extent 1 are absent; neighbours of an axis are merged when
/// `outer == inner.extent * inner` in every column; a shape with an extent of 0 has no digits and
/// offset 0. The form is unique: the innermost digit of an axis must end exactly where the map
/// first departs from linear, the next one likewise, and so on. So derived equality and hash are
/// equality of functions.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    shape: Sizes,
    /// `None` when there is no point.
    piece: Option<Piece>,
    columns: usize,
}

/// By hand, for the derived one would copy the shape element by element.
impl Clone for Layout {
    fn clone(&self) -> Self {
        Layout {
            shape: Sizes::from_slice(&self.shape),
            piece: self.piece.clone(),
            columns: self.columns,
        }
    }
}

impl Layout {
    /// Row-major addresses in one column.
    pub fn dense(shape: &[i64]) -> Result<Layout, Break> {
        Ok(Layout {
            shape: Sizes::from_slice(shape),
            piece: Piece::dense(shape)?,
            columns: 1,
        })
    }

    /// `offset[c] + sum(x[a] * strides[a * columns + c])`, with `columns = offset.len()`: strides
    /// are given axis by axis, one per column.
    pub fn strided(shape: &[i64], offset: &[i64], strides: &[i64]) -> Result<Layout, Break> {
        Ok(Layout {
            shape: Sizes::from_slice(shape),
            piece: Piece::strided(shape, offset, strides)?,
            columns: offset.len(),
        })
    }

    /// The size of each axis.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether it has no point.
    pub fn is_empty(&self) -> bool {
        self.piece.is_none()
    }

    /// The digits and offsets; `None` when there is no point.
    pub fn piece(&self) -> Option<&Piece> {
        self.piece.as_ref()
    }

    /// Whether column 0 is the row-major address of the shape.
    pub fn is_dense(&self) -> bool {
        self.is_dense_over(&self.shape)
    }

    /// Whether it is the row-major layout of this shape.
    pub fn is_dense_over(&self, shape: &[i64]) -> bool {
        *shape == *self.shape
            && match &self.piece {
                Some(piece) => piece.is_dense_over(shape),
                None => self.columns == 1,
            }
    }

    /// The least and the greatest address of a column; `None` when there is no point.
    pub fn range(&self, column: usize) -> Option<(i64, i64)> {
        self.piece.as_ref().and_then(|p| p.range(column).ok())
    }

    /// Applies one view step; [`Break`] says why one layout does not suffice.
    ///
    /// Post-condition: `result.at(x) == self.at(y)`, where `y` is the operand's point that the
    /// step shows at `x`.
    pub fn view(&self, view: &View) -> Result<Layout, Break> {
        self.view_by_pieces(view, &mut 0)
    }

    /// As [`view`](Self::view); adds how many pieces it made and how many pairs of them it looked at on
    /// the way, whatever came of them.
    pub fn view_by_pieces(&self, view: &View, made: &mut usize) -> Result<Layout, Break> {
        let shape = view.shape(&self.shape)?;
        let piece = match &self.piece {
            Some(piece) if !shape.contains(&0) => Some(match piece.plain(&self.shape, view)? {
                Some(piece) => piece,
                None => {
                    let pieces = piece.view(&self.shape, view);
                    *made += pieces.as_ref().map_or(MAX_PIECES, |pieces| pieces.len());
                    one(pieces?, made)?
                }
            }),
            Some(_) | None => None,
        };
        Ok(Layout {
            shape,
            piece,
            columns: self.columns,
        })
    }

    /// Post-condition: `r.at(x) == self.at(y)` with `y[perm[k]] = x[k]`. Never breaks.
    pub fn permute(&self, perm: &[usize]) -> Result<Layout, Break> {
        self.view(&View::Permute(perm.into()))
    }

    /// Post-condition: `r.at(x) == self.at(x with 0 on the repeated axes)`. Never breaks.
    pub fn broadcast(&self, sizes: &[i64]) -> Result<Layout, Break> {
        self.view(&View::Broadcast {
            sizes: sizes.into(),
        })
    }

    /// Post-condition: `r.at(x) == self.at(x with x[axis] := n - 1 - x[axis])`. Never breaks.
    pub fn reverse(&self, axis: usize) -> Result<Layout, Break> {
        let mut spans: SmallVec<[Span; 6]> = self.shape.iter().map(|&n| Span::whole(n)).collect();
        let rank = spans.len();
        let span = spans.get_mut(axis).ok_or(Break::Rank {
            given: axis,
            expected: rank,
        })?;
        if span.len > 1 {
            (span.start, span.step) = (span.len - 1, -1);
        }
        self.view(&View::Slice(spans))
    }

    /// Post-condition: `r.at(x) == self.at(start + step * x)`. Breaks where the range does not
    /// fit an axis of several digits.
    pub fn slice(&self, spans: &[Span]) -> Result<Layout, Break> {
        self.view(&View::Slice(spans.into()))
    }

    /// Post-condition: `r.at(.., place, within, ..) == self.at(.., place + within, ..)`. Breaks where
    /// the axis has several digits.
    pub fn windows(&self, axis: usize, size: i64) -> Result<Layout, Break> {
        self.view(&View::Windows { axis, size })
    }

    /// Post-condition: `r.at(row-major joined x) == self.at(x)`. Never breaks.
    pub fn collapse(&self, groups: &[usize]) -> Result<Layout, Break> {
        self.view(&View::Collapse {
            groups: groups.into(),
        })
    }

    /// Post-condition: `r.at(x) == self.at(row-major joined x)`. Breaks where a size falls inside
    /// a digit and does not divide it.
    pub fn expand(&self, groups: &[usize], sizes: &[i64]) -> Result<Layout, Break> {
        self.view(&View::Expand {
            groups: groups.into(),
            sizes: sizes.into(),
        })
    }

    /// Post-condition: points at the same place of the row-major order have the same addresses.
    /// Breaks as [`expand`](Self::expand) does.
    pub fn reshape(&self, sizes: &[i64]) -> Result<Layout, Break> {
        if let Some(axis) = sizes.iter().position(|&n| n < 0) {
            return Err(Break::Extent {
                axis,
                extent: sizes[axis],
            });
        }
        let (given, expected) = (product(sizes)?, product(&self.shape)?);
        if given != expected {
            return Err(Break::Sizes {
                axis: 0,
                given,
                expected,
            });
        }
        let piece = match &self.piece {
            None => None,
            Some(piece) => {
                // A rank of 0 has no axis to join or to split: there the lists are empty.
                let (flat, axes) = ([expected], [self.shape.len()]);
                let from = self.shape.len().min(1);
                let joined = piece.collapse(&self.shape, &axes[..from])?;
                Some(match sizes.len() {
                    0 => joined.collapse(&flat[..from], &[])?,
                    n => one(joined.expand(&flat[..from], &[n][..from], sizes)?, &mut 0)?,
                })
            }
        };
        Ok(Layout {
            shape: sizes.into(),
            piece,
            columns: self.columns,
        })
    }

    /// This layout and behind it, along an axis, another one, if one layout shows both. Their
    /// other sizes are equal.
    ///
    /// Post-condition: `r.at(x)` is `self.at(x)`, or `other.at(x with x[axis] - self.shape[axis])`
    /// where that is not negative.
    pub fn followed_by(&self, other: &Layout, axis: usize) -> Option<Layout> {
        let (mine, theirs) = (self.piece.as_ref()?, other.piece.as_ref()?);
        let mut shape = Sizes::from_slice(&self.shape);
        let alike = |a: usize| a == axis || self.shape[a] == other.shape[a];
        if shape.len() != other.shape.len() || !(0..shape.len()).all(alike) {
            return None;
        }
        let size = shape.get_mut(axis)?;
        let piece = mine.followed_along(axis, theirs, *size)?.ok()?;
        *size = size.checked_add(other.shape[axis])?;
        Some(Layout {
            shape,
            piece: Some(piece),
            columns: self.columns,
        })
    }

    /// The addresses of a point, one per column; `None` outside the shape.
    pub fn at(&self, point: &[i64]) -> Option<SmallVec<[i64; 2]>> {
        self.piece.as_ref().and_then(|p| p.at(point))
    }
}

/// The one piece of a total result.
fn one(mut pieces: Pieces, made: &mut usize) -> Result<Piece, Break> {
    if pieces.len() == 1
        && let Some(piece) = pieces.pop()
    {
        return Ok(piece);
    }
    let mut parts: SmallVec<[(Piece, ()); 1]> = pieces.into_iter().map(|p| (p, ())).collect();
    *made += fuse(&mut parts)?;
    match (parts.pop(), parts.len()) {
        (Some((piece, ())), 0) => Ok(piece),
        (_, others) => Err(Break::Indivisible { pieces: others + 1 }),
    }
}

/// `offset + [extent](digit digit) ...` with a digit as `extent:stride`; several columns are
/// separated by `/`.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, numbers: &[i64]| {
            for (k, n) in numbers.iter().enumerate() {
                write!(f, "{}{n}", if k > 0 { "/" } else { "" })?;
            }
            Ok(())
        };
        let Some(piece) = &self.piece else {
            return write!(f, "empty {:?}", self.shape.as_slice());
        };
        let offsets: Sizes = (0..self.columns).map(|c| piece.offset(c)).collect();
        list(f, &offsets)?;
        for (k, (axis, n)) in piece.axes().zip(&self.shape).enumerate() {
            write!(f, "{}[{n}](", if k == 0 { " + " } else { " " })?;
            for (d, digit) in axis.digits.iter().enumerate() {
                write!(f, "{}{}:", if d > 0 { " " } else { "" }, digit.extent)?;
                list(f, piece.strides(axis.first + d))?;
            }
            write!(f, ")")?;
        }
        Ok(())
    }
}
