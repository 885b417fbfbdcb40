//! How units cover a row.

use restride_moves::Step;
use restride_moves::lines::Cut;

use crate::park::Parked;

/// Distances in both buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Both {
    pub(crate) dst: isize,
    pub(crate) src: isize,
}

impl Both {
    /// A step of a dimension.
    #[inline(always)]
    pub(crate) fn of(step: Step) -> Both {
        Both {
            dst: step.dst,
            src: step.src,
        }
    }

    /// So many of these.
    #[inline(always)]
    pub(crate) fn times(self, n: usize) -> Both {
        Both {
            dst: self.dst.wrapping_mul(n as isize),
            src: self.src.wrapping_mul(n as isize),
        }
    }

    /// Out of the way of a loop.
    #[inline(always)]
    pub(crate) fn parked(self) -> ParkedBoth {
        ParkedBoth {
            dst: Parked::new(self.dst),
            src: Parked::new(self.src),
        }
    }

    /// What is left of these without others.
    #[inline(always)]
    pub(crate) fn less(self, other: Both) -> Both {
        Both {
            dst: self.dst.wrapping_sub(other.dst),
            src: self.src.wrapping_sub(other.src),
        }
    }

    /// The addresses this far from some.
    #[inline(always)]
    pub(crate) fn from(self, dst: *mut u8, src: *const u8) -> (*mut u8, *const u8) {
        (dst.wrapping_offset(self.dst), src.wrapping_offset(self.src))
    }
}

/// Distances that wait in vector registers.
#[derive(Clone, Copy)]
pub(crate) struct ParkedBoth {
    dst: Parked,
    src: Parked,
}

impl ParkedBoth {
    #[inline(always)]
    pub(crate) fn get(self) -> Both {
        Both {
            dst: self.dst.get(),
            src: self.src.get(),
        }
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
            unit: Both::of(cut.long).times(cut.steps),
            last: (last > 0).then(|| Both::of(cut.long).times(last)),
        }
    }
}

/// The units of a row behind the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behind {
    long: Both,
    /// Steps of a unit, and of a row without its first unit.
    unit: usize,
    steps: usize,
    /// How many units these are, and how many steps are left.
    units: usize,
    left: usize,
}

impl Behind {
    pub(crate) fn new(cut: &Cut) -> Behind {
        let steps = cut.long.extent - cut.steps;
        Behind {
            long: Both::of(cut.long),
            unit: cut.steps,
            steps,
            units: steps / cut.steps,
            left: steps % cut.steps,
        }
    }

    /// Those that follow the first `steps` steps, at least one and at most a unit's.
    #[inline(always)]
    pub(crate) fn after(&self, steps: usize) -> Middle {
        Middle {
            start: self.long.times(steps),
            count: match steps {
                _ if steps >= self.steps => 0,
                _ if steps < self.left => self.units.wrapping_add(1),
                // A whole unit of them is one unit less.
                _ if self.left == 0 && steps == self.unit => self.units.wrapping_sub(1),
                _ => self.units,
            },
        }
    }
}
