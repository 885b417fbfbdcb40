//! Line programs: short irregular patterns at full vector width.
//!
//! Steps, reversals, interleaved channels, pixel shuffles, short rows: in all of them each vector
//! of the destination is a fixed permutation of the bytes of a few windows of the source, and after
//! a while the pattern repeats. `unit` says which parts may be the one that repeats, `search` takes
//! the cheapest of them, `program` says for every vector of it which windows and which bytes,
//! `patterns` remembers that, `narrow` and `wide` are the two kinds of machine.

mod narrow;
mod patterns;
mod program;
mod search;
pub(crate) mod turns;
mod unit;
mod wide;

use std::sync::Arc;

use crate::byte_box::ByteBox;
use crate::features::Features;
pub use narrow::Op as NarrowOp;
use search::{Way as _, cheapest};
pub use unit::Cut;
pub use wide::{MAX_WINDOWS, Op as WideOp, Windows};

/// Runs of so many bytes fill vectors by themselves.
const LONG_RUN: usize = 64;

/// Line programs that are remembered.
#[derive(Default)]
pub(crate) struct Known {
    narrow: patterns::Known<narrow::Way>,
    wide: patterns::Known<wide::Way>,
}

/// A line program that was found for a box.
pub enum Program {
    /// Lines of 16 bytes, each with so many windows at most.
    Narrow(Units<NarrowOp, usize>),
    /// Lines of 64 bytes.
    Wide(Units<WideOp, Windows>),
}

/// A box cut into units, and the lines of one.
pub struct Units<Op, W> {
    /// Rows of units.
    pub cut: Cut,
    /// The lines of a unit.
    pub ops: Arc<[Op]>,
    /// Where the first window of the first line lies, from which sources count.
    pub start: isize,
    /// How lines get at their windows.
    pub windows: W,
}

impl Program {
    /// The cheapest line program for a box, if it costs less than `limit` micro-operations, and what
    /// it costs.
    pub(crate) fn find(
        shape: &ByteBox,
        known: &Known,
        features: Features,
        limit: usize,
    ) -> Option<(usize, Program)> {
        if shape.run >= LONG_RUN || shape.steps.is_empty() {
            return None;
        }
        if features >= Features::Avx512 {
            let found = cheapest(shape, limit, &known.wide)?;
            let (ops, start) = found.way.ops(&found.pattern);
            let units = Units {
                cut: turns::take(found.cut),
                ops,
                start,
                windows: found.way.windows,
            };
            return Some((found.cost, Program::Wide(units)));
        }
        if features >= Features::Avx2 {
            let (cost, units) = Program::narrow(shape, known, limit)?;
            return Some((cost, Program::Narrow(units)));
        }
        None
    }

    /// The same of lines of 16 bytes.
    pub(crate) fn narrow(
        shape: &ByteBox,
        known: &Known,
        limit: usize,
    ) -> Option<(usize, Units<NarrowOp, usize>)> {
        if shape.run >= LONG_RUN || shape.steps.is_empty() {
            return None;
        }
        let found = cheapest(shape, limit, &known.narrow)?;
        let (ops, start) = found.way.ops(&found.pattern);
        let units = Units {
            cut: found.cut,
            ops,
            start,
            windows: found.way.windows,
        };
        Some((found.cost, units))
    }
}
