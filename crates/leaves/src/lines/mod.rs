//! Line programs: short irregular patterns at full vector width.
//!
//! Steps, reversals, interleaved channels, pixel shuffles, short rows: in all of them each vector
//! of the destination is a fixed permutation of the bytes of a few windows of the source, and after
//! a while the pattern repeats. [`unit`] says which parts may be the one that repeats, [`search`]
//! takes the cheapest of them, [`program`] says for every vector of it which windows and which bytes,
//! [`patterns`] remembers that, and one kernel per kind of machine runs that.

mod narrow;
mod patterns;
mod program;
mod row;
mod search;
mod turns;
mod unit;
mod wide;

use crate::cpu::CpuLevel;
use crate::leaf::Leaf;
use crate::shape::Shape;
use search::{Found, cheapest};

/// Runs of so many bytes fill vectors by themselves.
const LONG_RUN: usize = 64;

/// Where lines are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stores {
    Cached,
    /// Past the caches, where the machine can.
    Past,
}

/// Line programs that are remembered.
#[derive(Default)]
pub(crate) struct Known {
    narrow: patterns::Known<narrow::Way>,
    wide: patterns::Known<wide::Way>,
}

/// A line program that was found for a shape.
pub(crate) enum Program {
    Narrow(Found<narrow::Way>),
    Wide(Found<wide::Way>),
}

impl Program {
    /// The cheapest line program for a shape, if it costs less than `limit` micro-operations.
    pub(crate) fn find(
        shape: &Shape,
        known: &Known,
        cpu: CpuLevel,
        limit: usize,
    ) -> Option<Program> {
        if shape.run >= LONG_RUN || shape.steps.is_empty() {
            return None;
        }
        match cpu {
            CpuLevel::Avx512 => cheapest(shape, limit, &known.wide).map(Program::Wide),
            CpuLevel::Avx2 => cheapest(shape, limit, &known.narrow).map(Program::Narrow),
            CpuLevel::Baseline => None,
        }
    }

    /// The leaf that runs it.
    pub(crate) fn leaf(self, shape: &Shape, stores: Stores) -> Option<Leaf> {
        match self {
            Program::Narrow(found) => narrow::prepare(shape, found),
            Program::Wide(found) => wide::prepare(shape, found, stores),
        }
    }
}
