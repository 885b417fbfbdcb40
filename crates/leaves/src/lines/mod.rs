//! Line programs: short irregular patterns at full vector width.
//!
//! Steps, reversals, interleaved channels, pixel shuffles, short rows: in all of them each vector
//! of the destination is a fixed permutation of the bytes of a few windows of the source, and after
//! a while the pattern repeats. [`unit`] finds the repeating part, [`program`] says for every vector
//! of it which windows and which bytes, and one kernel per kind of machine runs that.

#[cfg(target_arch = "x86_64")]
mod narrow;
mod program;
mod row;
mod turns;
mod unit;
#[cfg(target_arch = "x86_64")]
mod wide;

use crate::cpu::CpuLevel;
use crate::leaf::Leaf;
use crate::shape::Shape;
use unit::Cut;

/// Runs of so many bytes fill vectors by themselves.
const LONG_RUN: usize = 64;

/// What starting a row costs, in about micro-operations.
const ROW: usize = 20;

/// Where lines are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stores {
    Cached,
    /// Past the caches, where the machine can.
    Past,
}

/// The cheapest line program for a shape, if it costs less than `limit` micro-operations.
pub(crate) fn prepare(shape: &Shape, cpu: CpuLevel, limit: usize, stores: Stores) -> Option<Leaf> {
    if shape.run >= LONG_RUN || shape.steps.is_empty() {
        return None;
    }
    match cpu {
        #[cfg(target_arch = "x86_64")]
        CpuLevel::Avx512 => {
            let cut = turns::take(cheapest(shape, limit, wide::costs)?);
            wide::prepare(shape, &cut, stores)
        }
        #[cfg(target_arch = "x86_64")]
        CpuLevel::Avx2 => narrow::prepare(shape, &cheapest(shape, limit, narrow::costs)?),
        CpuLevel::Baseline => None,
        #[cfg(not(target_arch = "x86_64"))]
        CpuLevel::Avx2 | CpuLevel::Avx512 => None,
    }
}

/// The cut of least cost below a limit. `costs` says what a unit costs.
fn cheapest(shape: &Shape, limit: usize, costs: fn(&Cut) -> Option<usize>) -> Option<Cut> {
    let cost = |cut: &Cut| {
        // A row may start and end with a unit that overlaps its neighbour.
        let ends = if cut.long.extent.is_multiple_of(cut.steps) {
            0
        } else {
            2
        };
        let units = cut.long.extent / cut.steps + ends;
        let row = costs(cut)?.saturating_mul(units).saturating_add(ROW);
        Some(row.saturating_mul(cut.rows()))
    };
    let all = unit::cuts(shape).filter_map(|cut| Some((cost(&cut)?, cut)));
    let (cost, cut) = all.min_by_key(|&(cost, _)| cost)?;
    (cost < limit).then_some(cut)
}
