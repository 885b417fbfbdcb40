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
mod turns;
mod unit;
mod wide;

use crate::byte_box::{ByteBox, Step};
use crate::cores::Core;
use crate::features::Features;
pub use narrow::Op as NarrowOp;
pub use patterns::{Lines, Place};
use search::{Way as _, cheapest};
pub use unit::Cut;
pub use wide::{Op as WideOp, Windows};

/// Lines of 16 bytes.
pub type NarrowLines = Lines<NarrowOp, { narrow::MAX_WINDOWS }>;

/// Lines of 64 bytes.
pub type WideLines = Lines<WideOp, { wide::MAX_WINDOWS }>;

/// Runs of so many bytes fill vectors by themselves.
const LONG_RUN: usize = 64;

/// Line programs that are remembered.
pub(crate) struct Known {
    narrow: patterns::Known<narrow::Way>,
    wide: patterns::Known<wide::Way>,
}

impl Known {
    /// None yet.
    pub(crate) fn new(core: Core) -> Self {
        Self {
            narrow: patterns::Known::new(core),
            wide: patterns::Known::new(core),
        }
    }
}

/// A line program that was found for a box.
pub enum Program {
    /// Each line with so many windows at most.
    Narrow(Units<NarrowLines, usize>),
    /// The other kind.
    Wide(Units<WideLines, Windows>),
}

/// A box cut into units, and the lines of one.
pub struct Units<L, W> {
    /// Rows of units.
    pub cut: Cut,
    /// The lines of a unit.
    pub lines: L,
    /// How lines get at their windows.
    pub windows: W,
    /// Whether units behind the first of a row begin where lines of memory do, and overlap it.
    pub aligned: bool,
}

impl<L: Clone, W: Copy> Units<L, W> {
    fn stretched(&self, step: &Step, extent: usize) -> Option<Self> {
        Some(Self {
            cut: self.cut.stretched(step, extent)?,
            lines: self.lines.clone(),
            windows: self.windows,
            aligned: self.aligned,
        })
    }
}

impl Program {
    /// Whether one unit is all of the box.
    pub(crate) fn is_one_unit(&self) -> bool {
        match self {
            Self::Narrow(units) => units.cut.is_one_unit(),
            Self::Wide(units) => units.cut.is_one_unit(),
        }
    }

    /// Whether its tables stay in registers, or are used once.
    pub(crate) fn are_held(&self) -> bool {
        match self {
            Self::Narrow(_) => true,
            Self::Wide(units) => units.windows.are_few() || units.cut.is_one_unit(),
        }
    }

    /// The program of a box for one in which a dimension goes on for another extent, if that is not inside
    /// of its units.
    pub(crate) fn stretched(&self, step: &Step, extent: usize) -> Option<Program> {
        Some(match self {
            Self::Narrow(units) => Self::Narrow(units.stretched(step, extent)?),
            Self::Wide(units) => Self::Wide(units.stretched(step, extent)?),
        })
    }

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
            let units = Units {
                cut: found.cut,
                lines: found.way.lines(&found.pattern),
                windows: found.way.windows,
                // A line that straddles two is stored in one and a half times the time there, which a loop of less is worth.
                aligned: known.wide.core() != Core::Zen5,
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
    ) -> Option<(usize, Units<NarrowLines, usize>)> {
        if shape.run >= LONG_RUN || shape.steps.is_empty() {
            return None;
        }
        let found = cheapest(shape, limit, &known.narrow)?;
        let units = Units {
            cut: found.cut,
            lines: found.way.lines(&found.pattern),
            windows: found.way.windows,
            aligned: false,
        };
        Some((found.cost, units))
    }
}
