//! Constant indices that are digits and strides in disguise.

use crate::engine::{AxisDigits, count};
use restride_layout::radix;
use smallvec::SmallVec;
use std::fmt;

/// Rows that are linear in a mixed radix of their coordinates.
#[derive(Debug)]
pub(crate) struct Sequence {
    pub(crate) start: i64,
    /// The digits of each axis of the index tensor.
    pub(crate) axes: SmallVec<[AxisDigits; 4]>,
}

/// The sequence that rows, row-major in this shape, are; nothing if one is outside.
pub(crate) fn linear(rows: &[Option<i64>], shape: &[i64]) -> Option<Sequence> {
    let start = (*rows.first()?)?;
    let mut axes: SmallVec<[AxisDigits; 4]> = SmallVec::new();
    // Each axis on its own, then all of them together.
    let mut alone: SmallVec<[Vec<i64>; 4]> = SmallVec::new();
    for (axis, &size) in shape.iter().enumerate() {
        let inner = count(&shape[axis + 1..]) as usize;
        // Rows are in range, so their differences are far from overflow.
        let steps = (0..size as usize).map(|x| Some((*rows.get(x * inner)?)? - start));
        let steps: Vec<i64> = steps.collect::<Option<_>>()?;
        axes.push(radix(&steps)?);
        alone.push(steps);
    }
    sums_of(rows, start, &alone).then_some(Sequence { start, axes })
}

/// Whether every row is the sum of what its coordinates add to the first.
fn sums_of(rows: &[Option<i64>], first: i64, alone: &[Vec<i64>]) -> bool {
    let Some((outer, rest)) = alone.split_first() else {
        return rows == [Some(first)];
    };
    let blocks = rows.chunks_exact(rows.len() / outer.len());
    let mut pairs = blocks.zip(outer);
    pairs.all(|(block, by)| {
        first
            .checked_add(*by)
            .is_some_and(|first| sums_of(block, first, rest))
    })
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.start)?;
        for digits in &self.axes {
            let digits = digits
                .iter()
                .map(|(extent, step)| format!("{extent}:{step}"));
            write!(f, " + ({})", digits.collect::<Vec<_>>().join(" "))?;
        }
        Ok(())
    }
}
