//! What choosing along an axis of the data adds to its addresses.
//!
//! Where the axis owns one digit that is a stride. Where it owns several, or the data is in
//! several pieces along it that read alike, it is a table over the coordinates of the axis: made
//! once, looked up while the kernel runs. What is filled with zero bits has no entry.

use super::gather::{Blame, Reason};
use super::value::{Reads, Unmoved};
use restride_budget::Meter;
use restride_canon::ir::NodeId;
use restride_layout::{Break, Piece};
use smallvec::SmallVec;

/// The most entries of a table.
pub(super) const MAX_TABLE: i64 = 1 << 16;

/// Address added per coordinate of an axis, for every column of the data.
#[derive(Clone, Debug)]
pub(super) enum AxisAddresses {
    /// One stride per column.
    Linear(SmallVec<[i64; 2]>),
    /// One list per column, with one entry per coordinate; `None` for zero bits.
    Table(Columns),
}

/// For every column what each coordinate adds.
type Columns = SmallVec<[Vec<Option<i64>>; 1]>;

impl AxisAddresses {
    /// What coordinate `x` adds to a column; nothing for zero bits.
    pub(super) fn at(&self, column: usize, x: i64) -> Result<Option<i64>, Break> {
        match self {
            AxisAddresses::Linear(strides) => {
                let by = strides.get(column).map_or(Some(0), |s| s.checked_mul(x));
                by.map(Some).ok_or(Break::Overflow)
            }
            AxisAddresses::Table(columns) => {
                let entry = columns.get(column).and_then(|c| c.get(x as usize));
                Ok(entry.copied().flatten())
            }
        }
    }

    /// The stride in a column, if it has one.
    pub(super) fn stride(&self, column: usize) -> Option<i64> {
        match self {
            AxisAddresses::Linear(strides) => Some(strides.get(column).copied().unwrap_or(0)),
            AxisAddresses::Table(columns) => {
                let column = columns.get(column)?;
                column.iter().all(|x| *x == Some(0)).then_some(0)
            }
        }
    }

    /// Whether no coordinate means zero bits.
    pub(super) fn is_whole(&self) -> bool {
        match self {
            AxisAddresses::Linear(_) => true,
            AxisAddresses::Table(columns) => columns.iter().flatten().all(Option::is_some),
        }
    }
}

/// Data to choose from: whole along every chosen axis.
pub(super) struct Slab<'v> {
    pub(super) piece: &'v Piece,
    pub(super) reads: &'v Reads,
    /// One per chosen axis.
    pub(super) along: SmallVec<[AxisAddresses; 1]>,
}

/// The pieces of a value as slabs along some of its axes.
pub(super) fn slabs<'v>(
    data: NodeId,
    value: &'v Unmoved,
    axes: &[usize],
    meter: &Meter,
) -> Result<SmallVec<[Slab<'v>; 1]>, Blame> {
    let shape = value.shape();
    let blame = |reason: Break| Blame {
        node: data,
        reason: Reason::Pieces(reason),
    };
    let mut out: SmallVec<[Slab<'v>; 1]> = SmallVec::new();
    let mut used: SmallVec<[bool; 8]> = SmallVec::from_elem(false, value.parts().len());
    for (at, (piece, reads)) in value.parts().iter().enumerate() {
        let partial = |&&axis: &&usize| !piece.axis(axis).is_total(shape[axis]);
        let mut partials = axes.iter().filter(partial);
        let Some(&axis) = partials.next() else {
            let along = axes.iter().map(|&axis| of(piece, axis, shape[axis], meter));
            out.push(Slab {
                piece,
                reads,
                along: along.collect::<Result<_, _>>().map_err(blame)?,
            });
            continue;
        };
        // The first piece that reads stands for those it continues.
        if used[at] || !matches!(reads, Reads::Copy { .. }) {
            continue;
        }
        if partials.next().is_some() {
            return Err(blame(Break::Partial { axis }));
        }
        let along = joined(value, at, axis, &mut used, meter)
            .map_err(|_| blame(Break::Partial { axis }))?;
        let mut all: SmallVec<[AxisAddresses; 1]> = SmallVec::new();
        for &other in axes {
            match other == axis {
                true => all.push(along.clone()),
                false => all.push(of(piece, other, shape[other], meter).map_err(blame)?),
            }
        }
        out.push(Slab {
            piece,
            reads,
            along: all,
        });
    }
    // What is filled along a part of an axis must have found its place in a table.
    for (at, (piece, _)) in value.parts().iter().enumerate() {
        let partial = axes.iter().find(|&&a| !piece.axis(a).is_total(shape[a]));
        if let Some(&axis) = partial
            && !used[at]
        {
            return Err(blame(Break::Partial { axis }));
        }
    }
    Ok(out)
}

/// An axis that a piece holds all of.
fn of(piece: &Piece, axis: usize, extent: i64, meter: &Meter) -> Result<AxisAddresses, Break> {
    let columns = piece.columns();
    let view = piece.axis(axis);
    if let [_] | [] = view.digits {
        let zeros = || SmallVec::from_elem(0, columns);
        let stride = view.digits.first().map(|_| piece.strides(view.first));
        return Ok(AxisAddresses::Linear(
            stride.map_or_else(zeros, SmallVec::from_slice),
        ));
    }
    let mut tables = empty(columns, extent, meter).ok_or(Break::Digits {
        axis,
        digits: view.digits.len(),
    })?;
    enter(piece, axis, &mut tables, None)?;
    Ok(AxisAddresses::Table(tables))
}

/// A table without entries for every column; nothing if it would be too large.
fn empty(columns: usize, extent: i64, meter: &Meter) -> Option<Columns> {
    let entries = u64::try_from(extent).ok()? * columns as u64;
    let fits = extent <= MAX_TABLE && meter.table(entries, 32).is_ok();
    fits.then(|| SmallVec::from_elem(vec![None; extent as usize], columns))
}

/// The pieces that differ from piece `at` along one axis only, as one table of distances from
/// where that piece starts.
fn joined(
    value: &Unmoved,
    at: usize,
    axis: usize,
    used: &mut [bool],
    meter: &Meter,
) -> Result<AxisAddresses, Break> {
    let partial = Break::Partial { axis };
    let extent = value.shape()[axis];
    let (first, reads) = &value.parts()[at];
    let mut tables = empty(first.columns(), extent, meter).ok_or(partial)?;
    let mut held = 0;
    for (k, (piece, other)) in value.parts().iter().enumerate() {
        let fits = match other {
            Reads::Fill(bits) => *bits == 0,
            Reads::Copy { .. } => other == reads,
        };
        if !fits
            || piece.axis(axis).is_total(extent)
            || !alike(first, piece, axis, fits_fill(other))
        {
            continue;
        }
        if let Reads::Copy { .. } = other {
            enter(piece, axis, &mut tables, Some(first))?;
        }
        used[k] = true;
        let digits = piece.axis(axis).digits.iter();
        held += digits.fold(1, |n, d| n * d.extent);
    }
    match held == extent {
        true => Ok(AxisAddresses::Table(tables)),
        false => Err(partial),
    }
}

fn fits_fill(reads: &Reads) -> bool {
    matches!(reads, Reads::Fill(_))
}

/// Whether two pieces hold the same coordinates on all other axes, and move alike there.
fn alike(a: &Piece, b: &Piece, axis: usize, points_only: bool) -> bool {
    let pairs = a.axes().zip(b.axes()).enumerate();
    pairs.filter(|(k, _)| *k != axis).all(|(_, (x, y))| {
        let strides =
            || (0..x.digits.len()).all(|d| a.strides(x.first + d) == b.strides(y.first + d));
        match points_only {
            false => x.start == y.start && x.digits == y.digits && strides(),
            true => {
                let points = extents(x.digits);
                x.start == y.start && points.is_some() && points == extents(y.digits)
            }
        }
    })
}

/// How many coordinates an axis has, if they are without gaps.
fn extents(digits: &[restride_layout::Digit]) -> Option<i64> {
    let mut inside = 1;
    for digit in digits.iter().rev() {
        if digit.coord != inside {
            return None;
        }
        inside *= digit.extent;
    }
    Some(inside)
}

/// Enters what the coordinates of an axis add to each column: to the offset of the piece, or of
/// another one.
fn enter(
    piece: &Piece,
    axis: usize,
    tables: &mut [Vec<Option<i64>>],
    base: Option<&Piece>,
) -> Result<(), Break> {
    let view = piece.axis(axis);
    for (c, table) in tables.iter_mut().enumerate() {
        let offset = base.map_or(Some(0), |b| piece.offset(c).checked_sub(b.offset(c)));
        let mut all: Vec<(i64, i64)> = vec![(view.start, offset.ok_or(Break::Overflow)?)];
        for (k, digit) in view.digits.iter().enumerate() {
            let stride = piece.strides(view.first + k)[c];
            let mut finer = Vec::with_capacity(all.len() * digit.extent as usize);
            for &(x, address) in &all {
                for d in 0..digit.extent {
                    let by = stride.checked_mul(d).and_then(|s| s.checked_add(address));
                    finer.push((x + d * digit.coord, by.ok_or(Break::Overflow)?));
                }
            }
            all = finer;
        }
        for (x, address) in all {
            if let Some(entry) = table.get_mut(x as usize) {
                *entry = Some(address);
            }
        }
    }
    Ok(())
}
