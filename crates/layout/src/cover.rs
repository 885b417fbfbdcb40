//! A value as disjoint pieces.

use crate::math::add;
use crate::piece::Marks;
use crate::{Break, Layout, MAX_PIECES, Piece, Sizes, View};
use smallvec::SmallVec;

/// Disjoint pieces that together hold every point of a shape; each says with `B` what it reads.
///
/// Each operation keeps both properties: views rename points one to one, and
/// [`concat`](Cover::concat) puts the operands' points side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover<B> {
    shape: Sizes,
    parts: SmallVec<[(Piece, B); 1]>,
}

impl<B: Clone + PartialEq> Cover<B> {
    /// One piece for all points, at row-major addresses.
    pub fn dense(shape: &[i64], body: B) -> Result<Self, Break> {
        Ok(Self::whole(shape, Piece::dense(shape)?, body))
    }

    /// One piece for all points, with a given offset and strides (as [`Piece::strided`]).
    pub fn strided(shape: &[i64], offset: i64, strides: &[i64], body: B) -> Result<Self, Break> {
        let piece = Piece::strided(shape, &[offset], strides)?;
        Ok(Self::whole(shape, piece, body))
    }

    /// One piece for all points, without addresses.
    pub fn points(shape: &[i64], body: B) -> Result<Self, Break> {
        Ok(Self::whole(shape, Piece::points(shape)?, body))
    }

    fn whole(shape: &[i64], piece: Option<Piece>, body: B) -> Self {
        let mut parts = SmallVec::new();
        if let Some(piece) = piece {
            parts.push((piece, body));
        }
        Cover {
            shape: Sizes::from_slice(shape),
            parts,
        }
    }

    /// One piece for all points, at the addresses of a layout.
    pub fn of_layout(layout: &Layout, body: B) -> Self {
        Self::whole(layout.shape(), layout.piece().cloned(), body)
    }

    /// What it reads, if that is one piece at row-major addresses.
    pub fn dense_body(&self) -> Option<&B> {
        match self.parts() {
            [(piece, body)] if piece.is_dense_over(&self.shape) => Some(body),
            [..] => None,
        }
    }

    /// The size of each axis.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The pieces; none when there is no point.
    pub fn parts(&self) -> &[(Piece, B)] {
        &self.parts
    }

    /// A value made of parts that are known to be disjoint and to hold every point.
    pub fn of_parts(
        shape: &[i64],
        parts: impl IntoIterator<Item = (Piece, B)>,
    ) -> Result<Self, Break> {
        let mut parts = parts.into_iter().collect();
        fuse(&mut parts)?;
        Ok(Cover {
            shape: shape.into(),
            parts,
        })
    }

    /// Applies a view step. Breaks only when it would take more than [`MAX_PIECES`].
    ///
    /// Post-condition: the result shows at `x` what the operand's point for `x` has.
    pub fn view(&self, view: &View) -> Result<Self, Break> {
        let shape = view.shape(&self.shape)?;
        let mut parts: SmallVec<[(Piece, B); 1]> = SmallVec::new();
        if !shape.contains(&0) {
            for (piece, body) in &self.parts {
                match piece.plain(&self.shape, view)? {
                    Some(piece) => parts.push((piece, body.clone())),
                    None => {
                        for piece in piece.view(&self.shape, view)? {
                            parts.push((piece, body.clone()));
                        }
                    }
                }
                if parts.len() > MAX_PIECES {
                    return Err(Break::TooManyPieces { axis: 0 });
                }
            }
        }
        fuse(&mut parts)?;
        Ok(Cover { shape, parts })
    }

    /// Operands side by side along an axis; their other sizes are equal. Breaks only when it
    /// would take more than [`MAX_PIECES`] and more than one per operand.
    ///
    /// Post-condition: the result has the points of each operand, shifted by the sizes of those
    /// before it.
    pub fn concat(operands: &[&Self], axis: usize) -> Result<Self, Break> {
        let [first, ..] = operands else {
            return Err(Break::Rank {
                given: 0,
                expected: 1,
            });
        };
        let mut shape = Sizes::from_slice(&first.shape);
        if axis >= shape.len() {
            return Err(Break::Rank {
                given: axis,
                expected: shape.len(),
            });
        }
        // Found out before any is made: whoever asks may ask once more for each operand.
        let pieces: usize = operands.iter().map(|operand| operand.parts.len()).sum();
        if pieces > MAX_PIECES.max(operands.len()) {
            return Err(Break::TooManyPieces { axis });
        }
        shape[axis] = 0;
        let mut parts = SmallVec::with_capacity(pieces);
        for operand in operands {
            if operand.shape.len() != shape.len() {
                return Err(Break::Rank {
                    given: operand.shape.len(),
                    expected: shape.len(),
                });
            }
            for (a, (&given, &expected)) in operand.shape.iter().zip(&shape).enumerate() {
                if a != axis && given != expected {
                    return Err(Break::Sizes {
                        axis: a,
                        given,
                        expected,
                    });
                }
            }
            for (piece, body) in &operand.parts {
                parts.push((piece.shift(axis, shape[axis])?, body.clone()));
            }
            shape[axis] = add(shape[axis], operand.shape[axis])?;
        }
        fuse(&mut parts)?;
        Ok(Cover { shape, parts })
    }
}

/// Joins pieces that continue one another and read alike, until none does. Of more than
/// [`MAX_PIECES`] only neighbours are joined, in one pass. Returns how many pairs were looked at.
pub(crate) fn fuse<B: PartialEq>(parts: &mut SmallVec<[(Piece, B); 1]>) -> Result<usize, Break> {
    if parts.len() > MAX_PIECES {
        fuse_neighbours(parts)?;
        return Ok(parts.len());
    }
    let mut looks = 0;
    // Of many pieces most differ along several axes, which their marks tell at less cost.
    let marks = parts.iter().map(|(piece, _)| piece.marks());
    let mut marks: Vec<Marks> = match parts.len() {
        0..FEW => Vec::new(),
        _ => marks.collect(),
    };
    // Those before `first` are known not to continue part `i`.
    let (mut i, mut first) = (0, 1);
    while i < parts.len() {
        let (piece, body) = &parts[i];
        let found = (first..parts.len())
            .filter(|&j| j != i && (marks.is_empty() || are_near(&marks[i], &marks[j])))
            .filter(|&j| parts[j].1 == *body)
            .inspect(|_| looks += 1)
            .find_map(|j| Some((j, piece.followed_by(&parts[j].0)?)));
        match found {
            Some((j, joined)) => {
                parts[i].0 = joined?;
                if !marks.is_empty() {
                    marks[i] = parts[i].0.marks();
                    marks.remove(j);
                }
                parts.remove(j);
                // What it is now may continue any other one.
                (i, first) = (i - usize::from(j < i), 0);
            }
            None => (i, first) = (i + 1, i + 2),
        }
    }
    Ok(looks)
}

/// So few pieces are compared without marks.
const FEW: usize = 8;

/// Whether pieces with these marks may be the same along all axes but one.
fn are_near(a: &Marks, b: &Marks) -> bool {
    let differ = a.iter().zip(b).map(|(a, b)| usize::from(a != b));
    differ.sum::<usize>() <= 1
}

fn fuse_neighbours<B: PartialEq>(parts: &mut SmallVec<[(Piece, B); 1]>) -> Result<(), Break> {
    let mut kept: SmallVec<[(Piece, B); 1]> = SmallVec::with_capacity(parts.len());
    for (piece, body) in parts.drain(..) {
        let joined = match kept.last() {
            Some((last, other)) if *other == body => last.followed_by(&piece),
            Some(_) | None => None,
        };
        match (joined, kept.last_mut()) {
            (Some(joined), Some(last)) => last.0 = joined?,
            (_, _) => kept.push((piece, body)),
        }
    }
    *parts = kept;
    Ok(())
}
