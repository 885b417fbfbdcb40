//! Line programs: short irregular patterns at full vector width.
//!
//! Steps, reversals, interleaved channels, pixel shuffles, short rows: in all of them each vector
//! of the destination is a fixed permutation of the bytes of a few windows of the source, and after
//! a while the pattern repeats. [`unit`] finds the repeating part, [`program`] says for every vector
//! of it which windows and which bytes, and one kernel per kind of machine runs that.

mod program;
mod unit;
#[cfg(target_arch = "x86_64")]
mod wide;

use crate::cpu::CpuLevel;
use crate::leaf::Leaf;
use crate::shape::Shape;
use unit::Cut;

/// A cut and about how many micro-operations its whole box takes.
struct Estimate {
    cut: Cut,
    cost: usize,
}

fn estimate(cut: Cut, size: usize, windows: usize) -> Option<Estimate> {
    let part = |segments: &[unit::Segment]| {
        let lines = program::lines(segments, size);
        let fits = lines.iter().all(|line| line.windows.len() <= windows);
        fits.then(|| program::cost(&lines))
    };
    let (unit, tail) = (part(&cut.unit)?, part(&cut.tail)?);
    let row = unit
        .saturating_mul(cut.reps.extent)
        .saturating_add(tail + 4);
    let rows = cut
        .outer
        .iter()
        .fold(1usize, |n, step| n.saturating_mul(step.extent));
    let cost = row.saturating_mul(rows);
    Some(Estimate { cut, cost })
}

/// The cheapest line program for a shape, if it costs less than `limit` micro-operations.
pub(crate) fn prepare(shape: &Shape, cpu: CpuLevel, limit: usize) -> Option<Leaf> {
    match cpu {
        #[cfg(target_arch = "x86_64")]
        CpuLevel::Avx512 => {
            let best = unit::cuts(shape)
                .filter_map(|cut| estimate(cut, 64, wide::MAX_WINDOWS))
                .min_by_key(|estimate| estimate.cost)
                .filter(|estimate| estimate.cost < limit)?;
            wide::prepare(shape, &best.cut)
        }
        _ => None,
    }
}
