//! Constant indices that are digits and strides in disguise.

use crate::engine::AxisDigits;
use restride_layout::radix_of_box;
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
    let rows: Vec<i64> = rows.iter().copied().collect::<Option<_>>()?;
    let extents: SmallVec<[usize; 6]> = shape.iter().map(|&n| n as usize).collect();
    let (start, axes) = radix_of_box(&rows, &extents)?;
    Some(Sequence { start, axes })
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
