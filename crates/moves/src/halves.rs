//! Transpositions of narrow elements of which a side is short, for code of a box's own.

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::processor::Shuffles;
use crate::transpose::Transposed;

/// A plane that is loaded and stored by halves of a vector of sixteen bytes, and by quarters where a side ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halves {
    /// Bytes of an element: 1 or 2.
    pub width: usize,
    /// The dimension that is contiguous in the source.
    pub row: Step,
    /// The one that is contiguous in the destination.
    pub column: Step,
    /// Where the walk starts in destination and source, after the start of the box.
    pub start: (isize, isize),
    /// What is around the two.
    pub outer: Steps,
    /// Whether a row of fewer bytes than a half is read as one, which takes a shift where nothing lies behind it.
    pub reads_more: bool,
}

/// Elements of a side that are moved together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfPart {
    /// The first of them,
    pub at: usize,
    /// in so many bytes: a half of a vector, or a quarter,
    pub bytes: usize,
    /// and how many they are. Rows of the source that are shorter than a half are read as one.
    pub elements: usize,
}

/// Bytes of a half of a vector, and of a quarter.
const HALF: usize = 8;
const QUARTER: usize = 4;

/// Sides of so many bytes fill whole vectors well enough.
const LONG: usize = 32;

/// Instructions of a plane that has no loop.
const STRAIGHT: usize = 240;

impl Halves {
    /// Nothing for elements of other widths, if a side has too few, or both are long.
    pub(crate) fn of(shape: &ByteBox, shuffles: Shuffles) -> Option<Halves> {
        let width = shape.run;
        let both = Transposed::of(shape).filter(|both| both.step == 1)?;
        let shorter = both.row.extent.min(both.column.extent) * width;
        let fits = matches!(width, 1 | 2) && (QUARTER..LONG).contains(&shorter);
        fits.then(|| Halves {
            width,
            row: both.row,
            column: both.column,
            start: both.start,
            outer: both.outer(shape),
            reads_more: shuffles != Shuffles::Words,
        })
    }

    /// How many halves of a side follow each other, and what is left of it: a half or quarters, of which the last may overlap
    /// what is before.
    #[must_use]
    pub fn parts(&self, side: &Step) -> (usize, Vec<HalfPart>) {
        let (half, quarter) = (HALF / self.width, QUARTER / self.width);
        let (halves, left) = (side.extent / half, side.extent % half);
        let last = |elements: usize, bytes: usize| HalfPart {
            at: side.extent - elements,
            bytes,
            elements: elements.min(bytes / self.width),
        };
        let (low, high) = self.hull();
        let reads_more = self.reads_more && *side == self.row && high - low >= HALF as isize;
        let rest = match left {
            0 => Vec::new(),
            _ if left <= quarter => vec![last(quarter, QUARTER)],
            _ if halves > 0 => vec![last(half, HALF)],
            _ if reads_more => vec![last(left, HALF)],
            _ => vec![last(left, QUARTER), last(quarter, QUARTER)],
        };
        (halves, rest)
    }

    /// All parts of a side.
    pub fn all_parts(&self, side: &Step) -> impl Iterator<Item = HalfPart> + use<> {
        let (halves, rest) = self.parts(side);
        let half = HALF / self.width;
        let whole = move |number: usize| HalfPart {
            at: number * half,
            bytes: HALF,
            elements: half,
        };
        (0..halves).map(whole).chain(rest)
    }

    /// The bytes that may be read, from where the source of a plane begins.
    #[must_use]
    pub fn hull(&self) -> (isize, isize) {
        let last = (self.column.extent as isize - 1) * self.column.src;
        let row = (self.row.extent * self.width) as isize;
        (last.min(0), last.max(0) + row)
    }

    /// Whether its rows are the long side.
    #[must_use]
    pub fn is_tall(&self) -> bool {
        self.row.extent > self.column.extent
    }

    /// Whether it has no loop.
    #[must_use]
    pub fn is_straight(&self) -> bool {
        self.plane().0 <= STRAIGHT
    }

    /// Loads, shuffles and stores of a rectangle; what is not the first part of a vector takes a shuffle to be stored.
    fn rectangle(&self, load: usize, store: usize, stores: usize) -> usize {
        let loads = store / self.width;
        let vectors = (loads * load).div_ceil(2 * HALF);
        let shuffles: usize = (1..=loads.ilog2())
            .map(|step| vectors.max(loads >> step))
            .sum();
        loads + shuffles + stores + stores.saturating_sub(vectors)
    }

    /// Instructions that a plane takes, and that its code has where halves are in a loop.
    fn plane(&self) -> (usize, usize) {
        let count = |side: &Step| {
            let (halves, rest) = self.parts(side);
            let half = (halves, HALF, HALF / self.width);
            let rest_is = rest
                .first()
                .map_or((HALF, 0), |part| (part.bytes, part.elements));
            [half, (rest.len(), rest_is.0, rest_is.1)]
        };
        let (mut cost, mut code) = (0usize, 0);
        for (rows, load, stores) in count(&self.row) {
            for (columns, store, _) in count(&self.column) {
                let each = self.rectangle(load, store, stores);
                cost = cost.saturating_add(each.saturating_mul(rows.saturating_mul(columns)));
                code += each * rows.min(columns);
            }
        }
        (cost, code)
    }

    /// The instructions that it takes, and that its code has.
    pub(crate) fn cost_and_code(&self) -> (usize, usize) {
        let (cost, code) = self.plane();
        let code = if cost <= STRAIGHT { cost } else { code };
        (cost.saturating_mul(extent(&self.outer)), code)
    }
}

#[cfg(test)]
mod tests {
    use super::Halves;
    use crate::byte_box::Step;

    #[test]
    fn parts_cover_a_side() {
        for width in [1, 2] {
            for extent in 4 / width..70 {
                let step = |extent| Step {
                    extent,
                    ..Step::NONE
                };
                let plane = Halves {
                    width,
                    row: step(extent),
                    column: step(4),
                    start: (0, 0),
                    outer: [].into_iter().collect(),
                    reads_more: extent % 2 == 0,
                };
                let mut done = 0;
                for part in plane.all_parts(&plane.row) {
                    let end = part.at + part.elements;
                    assert!(part.at <= done && done < end, "{part:?} after {done}");
                    done = end;
                }
                assert_eq!(done, extent);
            }
        }
    }
}
