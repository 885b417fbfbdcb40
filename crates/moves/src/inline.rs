//! Code of its own for a box, in place of the call of a leaf.
//!
//! A leaf has vectors as wide as the machine's and knows every way; code of its own costs nothing to
//! reach and much to compile. So:
//!
//! * what fits a short straight line is inline: there a call would dominate;
//! * many short rows are inline, in a loop: a leaf's inner loop is no better at 16 bytes a row;
//! * so is what a leaf would have to look up line by line, or move by single elements (`instead`);
//! * all else is a leaf.

use crate::byte_box::ByteBox;
use crate::cells::Cells;
use crate::cost::inline::{
    INDEX, LARGEST, LARGEST_LINES, SHORT, SHORT_CELLS, SHORT_LINES, SHORT_ROW, SHORT_TILES,
    SHORT_WORDS, WORTH_A_SEARCH, loads,
};
use crate::halves::Halves;
use crate::lines::{Known, Program};
use crate::processor::Shuffles;
use crate::tiles::Tiles;

/// Ways to move a box without a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    /// Run by run.
    Runs,
    /// Vector by vector of the destination.
    Cells(Box<Cells>),
    /// In square tiles.
    Tiles(Box<Tiles>),
    /// By halves of vectors.
    Halves(Box<Halves>),
}

impl Inline {
    /// What it is called in listings.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Cells(_) => "vectors",
            Self::Tiles(tiles) if tiles.staged => "staged tiles",
            Self::Tiles(_) => "tiles",
            Self::Halves(_) => "halves",
        }
    }

    /// The straight line that is faster than a call, if there is one.
    pub(crate) fn straight(shape: &ByteBox, shuffles: Shuffles, known: &Known) -> Option<Inline> {
        let (inline, instructions) = best(shape, shuffles);
        if let Some(cells) = of_lines(shape, shuffles, known)
            && cells.cost < instructions.min(SHORT_LINES)
        {
            return Some(Inline::Cells(Box::new(cells)));
        }
        let short = match &inline {
            Inline::Cells(cells) if cells.are_words() => SHORT_WORDS,
            Inline::Cells(_) => SHORT_CELLS,
            Inline::Tiles(_) | Inline::Halves(_) => SHORT_TILES,
            Inline::Runs => SHORT,
        };
        (instructions <= short).then_some(inline)
    }

    /// Whether a loop moves the rows of a box as fast as a leaf that moves rows.
    pub(crate) fn has_short_rows(shape: &ByteBox) -> bool {
        shape.run <= SHORT_ROW && loads(shape.run) == 1
    }

    /// The code that each row of a gather of `extent` rows should have. A leaf knows the rows ahead
    /// and fetches them early, so only a handful of small rows is worth it.
    #[must_use]
    pub fn for_gather(row: &ByteBox, extent: i64, shuffles: Shuffles) -> Option<Inline> {
        let (inline, instructions) = best(row, shuffles);
        let extent = usize::try_from(extent).unwrap_or(usize::MAX);
        let all = extent.saturating_mul(instructions.saturating_add(INDEX));
        (all <= SHORT).then_some(inline)
    }
}

/// Vectors that are put together from up to four of the source, of a box that is a few of them.
fn of_lines(shape: &ByteBox, shuffles: Shuffles, known: &Known) -> Option<Cells> {
    let is_short = shuffles != Shuffles::Words && shape.bytes() <= LARGEST_LINES;
    let lines = is_short.then(|| Program::narrow(shape, known, usize::MAX));
    let (_, units) = lines??;
    Some(Cells::of_lines(&units, shuffles))
}

/// The inline way with the fewest instructions, and how many.
fn best(shape: &ByteBox, shuffles: Shuffles) -> (Inline, usize) {
    let runs = shape.runs().saturating_mul(2 * loads(shape.run));
    let mut best = (Inline::Runs, runs);
    if runs > WORTH_A_SEARCH
        && shape.bytes() <= LARGEST
        && let Some(cells) = Cells::of(shape, shuffles)
        && cells.cost < best.1
    {
        let cost = cells.cost;
        best = (Inline::Cells(Box::new(cells)), cost);
    }
    if let Some(plane) = Tiles::plane(shape, Shuffles::Words) {
        let is_short = Tiles::straight(plane.clone()).cost() <= SHORT;
        let tiles = match is_short {
            true => Tiles::straight(plane),
            false => Tiles::looped(plane, false),
        };
        let cost = tiles.cost();
        // A tile has fewer stores than runs, which take longer than all else.
        let before = match best.0 {
            Inline::Runs => best.1 / 2 * 3,
            _ => best.1,
        };
        if cost < before {
            best = (Inline::Tiles(Box::new(tiles)), cost);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::Inline;
    use crate::byte_box::ByteBox;
    use crate::cores::Core;
    use crate::processor::Shuffles;
    use crate::{Features, Planner, Target};
    use restride_loops::{Dim, Form};

    /// Where there are wide vectors: without them loops are inline, too.
    fn choice(dims: &[(i64, i64, i64)], width: usize, form: Form) -> Option<Inline> {
        let dims: Vec<Dim> = dims
            .iter()
            .map(|&(extent, dst, src)| Dim { extent, dst, src })
            .collect();
        let shape = ByteBox::of_move(&dims, width).expect("a box");
        let target = Target {
            core: Core::Zen,
            ..Target::default()
        };
        Planner::new(&target).inline(&shape, form, Shuffles::Bytes)
    }

    #[test]
    fn shuffles_are_found_and_bounded() {
        if !Features::Avx512.is_available() {
            return;
        }
        let in_vectors = |dims: &[_], width| {
            let choice = choice(dims, width, Form::Strided);
            matches!(choice, Some(Inline::Cells(_)))
        };
        assert!(in_vectors(&[(30, 1, -1)], 4));
        assert!(in_vectors(&[(32, 2, 2), (2, 1, -1)], 4));
        assert!(in_vectors(&[(40, 3, 3), (3, 1, -1)], 1));
        assert!(in_vectors(&[(2, 9, 40), (9, 1, -1)], 8));
        assert_eq!(choice(&[(3, 1, -1)], 4, Form::Strided), Some(Inline::Runs));
        assert_eq!(choice(&[(1000, 1, 2)], 4, Form::Strided), None);
        let tiles = choice(&[(8, 1, 8), (8, 8, 1)], 4, Form::Transpose);
        assert!(matches!(tiles, Some(Inline::Tiles(_))), "{tiles:?}");
        let tiles = |n, width| {
            let choice = choice(&[(n, 1, n), (n, n, 1)], width, Form::Transpose);
            matches!(choice, Some(Inline::Tiles(_)))
        };
        assert!(tiles(16, 2) && tiles(12, 2));
        assert!(!tiles(16, 1) && !tiles(9, 2), "lines of wide vectors");
        assert!(tiles(24, 2) && tiles(20, 4), "rows of whole vectors");
        assert!(tiles(22, 2) && !tiles(25, 2) && !tiles(21, 4));
        assert!(!tiles(32, 1) && !tiles(32, 2) && !tiles(24, 4));
        assert!(tiles(13, 4) && tiles(13, 8) && !tiles(15, 8), "few tiles");
        let planes = |n, rows, columns| {
            let dims = [
                (n, rows * columns, rows * columns),
                (columns, rows, 1),
                (rows, 1, columns),
            ];
            matches!(choice(&dims, 4, Form::Transpose), Some(Inline::Tiles(_)))
        };
        let wide = choice(&[(14, 1, 14), (14, 14, 1)], 16, Form::Transpose);
        assert_eq!(wide, None, "pairs of elements");
        assert!(planes(4, 5, 9) && !planes(16, 7, 9), "lines start slowly");
        assert!(
            planes(16, 8, 9) && planes(64, 6, 13),
            "lines of many windows"
        );
    }

    #[test]
    fn only_a_handful_of_indices_is_inline() {
        let row = ByteBox::of_move(&[], 4).expect("a box");
        assert_eq!(
            Inline::for_gather(&row, 6, Shuffles::Bytes),
            Some(Inline::Runs)
        );
        assert_eq!(Inline::for_gather(&row, 7, Shuffles::Bytes), None);
    }
}
