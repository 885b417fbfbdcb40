//! How units cover a row.

use super::unit::Cut;

/// Distances in both buffers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Both {
    pub(crate) dst: isize,
    pub(crate) src: isize,
}

impl Both {
    /// So many of these.
    #[inline(always)]
    pub(crate) fn times(self, n: usize) -> Both {
        Both {
            dst: self.dst.wrapping_mul(n as isize),
            src: self.src.wrapping_mul(n as isize),
        }
    }

    /// The addresses this far from some.
    #[inline(always)]
    pub(crate) fn from(self, dst: *mut u8, src: *const u8) -> (*mut u8, *const u8) {
        (dst.wrapping_offset(self.dst), src.wrapping_offset(self.src))
    }
}

/// A row of the long dimension: a unit at its start, one at its end, and those between them, of
/// which the first and the last may overlap the former.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// From one unit to the next.
    pub(crate) unit: Both,
    /// From the first unit to the last; nothing if that is the same.
    pub(crate) last: Option<Both>,
}

/// Units between the first and the last of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Middle {
    /// From the start of the row.
    pub(crate) start: Both,
    pub(crate) count: usize,
}

impl Row {
    pub(crate) fn new(cut: &Cut) -> Row {
        let last = cut.long.extent - cut.steps;
        Row {
            unit: step(cut).times(cut.steps),
            last: (last > 0).then(|| step(cut).times(last)),
        }
    }

    /// The units that follow the first `steps` steps, at least one and at most a unit's.
    pub(crate) fn middle(cut: &Cut, steps: usize) -> Middle {
        let left = (cut.long.extent - cut.steps).saturating_sub(steps);
        Middle {
            start: step(cut).times(steps),
            count: left.div_ceil(cut.steps),
        }
    }
}

fn step(cut: &Cut) -> Both {
    Both {
        dst: cut.long.dst,
        src: cut.long.src,
    }
}
