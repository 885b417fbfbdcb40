//! Constant index tensors: what they choose is known, and often linear in a mixed radix.
//!
//! An index such as `[1, 0, 3, 2]`, or the windows `frame * 160 + sample` of a signal, is digits
//! and strides in disguise: then there is nothing to look up.

use super::PlanConstant;
use super::axis_addresses::AxisAddresses;
use super::gather::Chosen;
use restride_budget::Meter;
use restride_layout::{Break, Digit, Nested, Piece, radix_of_box};
use smallvec::SmallVec;

/// The most indices that are looked into.
const MAX_KNOWN: i64 = 1 << 20;

/// The coordinates that a piece of a constant index tensor chooses.
pub(super) struct KnownPiece {
    /// The digits of the piece that move through the constant, outermost first.
    pub(super) digits: SmallVec<[usize; 4]>,
    extents: SmallVec<[usize; 4]>,
    /// Row-major over those digits; -1 for what is outside.
    rows: Vec<i64>,
    pub(super) all_inside: bool,
    pub(super) all_outside: bool,
}

/// Reads the indices of a piece whose column 0 is the address in a constant.
pub(super) fn read(
    constant: &PlanConstant,
    piece: &Piece,
    one: &Chosen<'_>,
    meter: &Meter,
) -> Option<KnownPiece> {
    let moving = |&d: &usize| piece.strides(d)[0] != 0;
    let digits: SmallVec<[usize; 4]> = (0..piece.digits().len()).filter(moving).collect();
    let extent = |&d: &usize| piece.digits()[d].extent;
    let count = digits.iter().map(extent).try_fold(1i64, i64::checked_mul)?;
    if count > MAX_KNOWN {
        return None;
    }
    let extents: SmallVec<[usize; 4]> = digits.iter().map(|d| extent(d) as usize).collect();
    let elements = constant.bytes.len() / constant.element.width();
    if elements as i64 > MAX_KNOWN {
        return None;
    }
    meter
        .table((elements as u64).max(count.unsigned_abs()), 16)
        .ok()?;
    let mut rows = constant.element.integers(&constant.bytes);
    if !is_dense(piece, &digits, rows.len() as i64) {
        let mut places = vec![piece.offset(0)];
        for d in &digits {
            let stride = piece.strides(*d)[0];
            let steps = |&at: &i64| (0..extent(d)).map(move |x| at + x * stride);
            places = places.iter().flat_map(steps).collect();
        }
        let at = |place: i64| rows.get(usize::try_from(place).ok()?).copied();
        rows = places.into_iter().map(at).collect::<Option<_>>()?;
    }
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    for row in &mut rows {
        *row = one.row((*row).into()).unwrap_or(OUTSIDE);
        (low, high) = (low.min(*row), high.max(*row));
    }
    Some(KnownPiece {
        digits,
        extents,
        rows,
        all_inside: low != OUTSIDE,
        all_outside: high == OUTSIDE,
    })
}

/// Stands for what is outside of an axis.
const OUTSIDE: i64 = -1;

/// Whether the digits walk all elements of the constant in order.
fn is_dense(piece: &Piece, digits: &[usize], elements: i64) -> bool {
    let mut inside = 1;
    for &d in digits.iter().rev() {
        if piece.strides(d)[0] != inside {
            return false;
        }
        inside *= piece.digits()[d].extent;
    }
    inside == elements && piece.offset(0) == 0
}

impl KnownPiece {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// What they add to a column of the data; nothing for zero bits.
    pub(super) fn entries(
        &self,
        along: &AxisAddresses,
        column: usize,
    ) -> Result<Vec<Option<i64>>, Break> {
        let entry = |&row: &i64| match row {
            OUTSIDE => Ok(None),
            x => along.at(column, x),
        };
        self.rows.iter().map(entry).collect()
    }

    /// As [`linear`](Self::linear) for a stride along the axis.
    pub(super) fn strided(&self, stride: i64, piece: &Piece) -> Option<(i64, Vec<Nested>)> {
        let (first, mut nested) = self.linear(&self.rows, piece)?;
        for (_, strides) in nested.iter_mut().flatten() {
            strides[0] = strides[0].checked_mul(stride)?;
        }
        Some((first.checked_mul(stride)?, nested))
    }

    /// An offset and, for every digit of the piece, what it becomes, if these entries (one per
    /// row) are linear in a mixed radix of the digits.
    pub(super) fn linear(&self, entries: &[i64], piece: &Piece) -> Option<(i64, Vec<Nested>)> {
        let (first, axes) = radix_of_box(entries, &self.extents)?;
        let one = |(extent, stride)| (extent, SmallVec::from_elem(stride, 1));
        let still = |d: &Digit| Nested::from_elem(one((d.extent, 0)), 1);
        let mut nested: Vec<Nested> = piece.digits().iter().map(still).collect();
        for (&d, digits) in self.digits.iter().zip(axes) {
            nested[d] = digits.into_iter().map(one).collect();
        }
        Some((first, nested))
    }
}
