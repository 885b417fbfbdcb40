//! How a box is moved: by code of its own, or by a call of a precompiled leaf.
//!
//! A leaf has vectors as wide as the machine's and knows every form; a call of one costs about as
//! much as ten instructions. Code of its own costs nothing to reach and much to compile, close to
//! a microsecond per vector instruction. So:
//!
//! * what fits a short straight line is inline: there a call would dominate;
//! * many short rows are inline, in a loop: a leaf's inner loop is no better at 16 bytes a row;
//! * all else is a leaf.

use restride_loops::Form;

use crate::shape::{Shape, run_cost};
use crate::vectors::{Shuffles, Vectors};

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Inline(Inline),
    Leaf,
}

/// Ways to move a box without a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inline {
    /// Run by run.
    Runs,
    /// Vector by vector of the destination.
    Vectors(Box<Vectors>),
    /// Steps `line` (contiguous in the destination) and `column` (in the source) in square tiles.
    Tiles { line: usize, column: usize },
}

/// Runs that take so few loads and stores are not looked at for shuffles.
const WORTH: i64 = 8;
/// Nor are boxes of more bytes than that.
const LARGEST: i64 = 2048;
/// Loads, stores and shuffles of a straight line that is worth its compilation, since a call
/// would take longer than running it.
const SHORT: i64 = 64;
/// The same for one contiguous run, where leaves gain most from their wider vectors.
const SHORT_RUN: i64 = 32;
/// The same for vectors with shuffles, which move sixteen bytes where a leaf has still to find out
/// what it is to do.
const SHORT_VECTORS: i64 = 128;
/// Bytes of a row that a loop of plain loads and stores moves as fast as a leaf.
const SHORT_ROW: i64 = 16;

/// Decides for one box.
pub(crate) fn for_move(shape: &Shape, form: Form, shuffles: Shuffles) -> Choice {
    let (inline, instructions) = best_inline(shape, shuffles);
    let short = match inline {
        Inline::Vectors(_) => SHORT_VECTORS,
        Inline::Runs if shape.steps.is_empty() => SHORT_RUN,
        Inline::Runs | Inline::Tiles { .. } => SHORT,
    };
    if instructions <= short {
        return Choice::Inline(inline);
    }
    match form {
        Form::Rows if shape.run <= SHORT_ROW && run_cost(shape.run) == 1 => {
            Choice::Inline(Inline::Runs)
        }
        Form::Elements
        | Form::Rows
        | Form::Stream
        | Form::Strided
        | Form::Transpose
        | Form::Staged
        | Form::Lines => Choice::Leaf,
    }
}

/// The inline way with the fewest instructions, and how many.
fn best_inline(shape: &Shape, shuffles: Shuffles) -> (Inline, i64) {
    let runs = shape
        .runs()
        .saturating_mul(run_cost(shape.run))
        .saturating_mul(2);
    let mut best = (Inline::Runs, runs);
    if runs > WORTH
        && shape.runs().saturating_mul(shape.run) <= LARGEST
        && let Some(vectors) = Vectors::of(shape, shuffles)
        && vectors.cost < best.1
    {
        let cost = vectors.cost;
        best = (Inline::Vectors(Box::new(vectors)), cost);
    }
    if !matches!(shape.run, 1 | 2 | 4 | 8) {
        return best;
    }
    let per_vector = 16 / shape.run;
    let find = |contiguous: &dyn Fn(usize) -> bool| {
        (0..shape.steps.len()).find(|&at| contiguous(at) && shape.steps[at].extent >= per_vector)
    };
    let line = find(&|at| shape.steps[at].dst == shape.run);
    let column = find(&|at| shape.steps[at].src == shape.run);
    let vectors = |extent: i64| (extent + per_vector - 1) / per_vector;
    if let (Some(line), Some(column)) = (line, column)
        && line != column
    {
        let (down, across) = (shape.steps[line].extent, shape.steps[column].extent);
        let rest = shape.runs() / (down * across);
        let rounds = i64::from(per_vector.trailing_zeros());
        let tiles = rest
            .saturating_mul(vectors(down))
            .saturating_mul(vectors(across))
            .saturating_mul(per_vector * (2 + rounds));
        if tiles < best.1 {
            best = (Inline::Tiles { line, column }, tiles);
        }
    }
    best
}

/// Instructions that load, normalise and test one index.
const INDEX: i64 = 8;

/// Decides for a gather of `extent` rows. A leaf knows the rows ahead and fetches them early, so
/// only a handful of small rows is worth code of its own.
pub(crate) fn for_gather(row: &Shape, extent: i64, shuffles: Shuffles) -> Choice {
    let (inline, instructions) = best_inline(row, shuffles);
    if extent.saturating_mul(instructions.saturating_add(INDEX)) <= SHORT {
        Choice::Inline(inline)
    } else {
        Choice::Leaf
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, Inline, for_gather, for_move};
    use crate::shape::Shape;
    use crate::vectors::Shuffles;
    use restride_loops::{Dim, Form};

    fn choice(dims: &[(i64, i64, i64)], width: i64, form: Form) -> Choice {
        let dims: Vec<Dim> = dims
            .iter()
            .map(|&(extent, dst, src)| Dim { extent, dst, src })
            .collect();
        for_move(&Shape::of(&dims, width), form, Shuffles::Bytes)
    }

    #[test]
    fn what_is_short_is_inline() {
        let runs = Choice::Inline(Inline::Runs);
        assert_eq!(choice(&[(64, 1, 1)], 4, Form::Rows), runs);
        assert_eq!(choice(&[(65, 1, 1)], 4, Form::Rows), Choice::Leaf);
        assert_eq!(choice(&[(8, 4, 9), (4, 1, 1)], 4, Form::Rows), runs);
        assert_eq!(choice(&[(900, 4, 9), (4, 1, 1)], 4, Form::Rows), runs);
        assert_eq!(
            choice(&[(900, 5, 9), (5, 1, 1)], 4, Form::Rows),
            Choice::Leaf
        );
        assert_eq!(choice(&[(30, 1, 7)], 4, Form::Elements), runs);
        assert_eq!(choice(&[(1000, 1, 7)], 4, Form::Elements), Choice::Leaf);
    }

    #[test]
    fn shuffles_are_found_and_bounded() {
        let in_vectors = |dims: &[_], width| {
            let choice = choice(dims, width, Form::Strided);
            matches!(choice, Choice::Inline(Inline::Vectors(_)))
        };
        assert!(in_vectors(&[(30, 1, -1)], 4));
        assert!(in_vectors(&[(32, 2, 2), (2, 1, -1)], 4));
        assert!(in_vectors(&[(40, 3, 3), (3, 1, -1)], 1));
        assert!(in_vectors(&[(2, 9, 40), (9, 1, -1)], 8));
        assert_eq!(
            choice(&[(3, 1, -1)], 4, Form::Strided),
            Choice::Inline(Inline::Runs)
        );
        assert_eq!(choice(&[(1000, 1, 2)], 4, Form::Strided), Choice::Leaf);
        let tiles = Choice::Inline(Inline::Tiles { line: 0, column: 1 });
        assert_eq!(choice(&[(8, 1, 8), (8, 8, 1)], 4, Form::Transpose), tiles);
        assert_eq!(
            choice(&[(16, 1, 16), (16, 16, 1)], 1, Form::Transpose),
            Choice::Leaf
        );
    }

    #[test]
    fn only_a_handful_of_indices_is_inline() {
        let row = Shape::of(&[], 4);
        assert_eq!(
            for_gather(&row, 6, Shuffles::Bytes),
            Choice::Inline(Inline::Runs)
        );
        assert_eq!(for_gather(&row, 7, Shuffles::Bytes), Choice::Leaf);
    }
}
