//! Short rows of the source, far apart, that follow each other in the destination or are interleaved there: what is left of a
//! tensor of small axes when they change places, or planes that become pixels.

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::cost::{self, LINE};
use crate::crowding::{Crowded, leave_room};
use crate::target::Target;

/// Units of up to sixteen rows, each a lane of a register, which permutations of bytes join to lines of the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The dimensions of a unit, the innermost of the destination first. There it has no gaps.
    pub dims: Steps,
    /// What they amount to.
    pub unit: ShortRows,
    /// From unit to unit, in a line of them.
    pub inner: Step,
    /// From line to line of units.
    pub middle: Step,
    /// Where the last of these begins in destination and source, from the first. It may overlap the one before it.
    pub last: (isize, isize),
    /// How many units it has.
    pub in_last: usize,
    /// What is around them.
    pub outer: Steps,
}

/// Rows of the source that are moved together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortRows {
    /// Which dimension goes from row to row, and how many these are; the others stay in a row.
    pub across: Option<(usize, usize)>,
    /// How many bytes of a row are needed.
    pub width: usize,
    /// The bytes of all.
    pub bytes: usize,
}

impl ShortRows {
    /// The bytes of a lane, which a row has at most.
    pub const LANE: usize = 16;
    /// Fewer rows are not worth it, and more do not fit registers.
    const ROWS: std::ops::RangeInclusive<usize> = 3..=16;

    /// With so many steps of another dimension. Nothing if rows share lines of the source: then windows hold several of them.
    fn with(mut self, number: usize, step: Step, steps: usize) -> Option<ShortRows> {
        let apart = step.src.unsigned_abs();
        self.bytes = self.bytes.saturating_mul(steps);
        self.width = self.width.saturating_add(apart.saturating_mul(steps - 1));
        if self.width > Self::LANE {
            let is_across = apart >= LINE && self.across.is_none() && Self::ROWS.contains(&steps);
            self.width -= apart * (steps - 1);
            self.across = is_across.then_some((number, steps));
            self.across?;
        }
        Some(self)
    }

    /// Whether rows are half full at least, and no more than their windows: some may be repeated in the destination.
    fn fits(&self) -> bool {
        self.rows() * Self::LANE <= 2 * self.bytes && self.bytes <= LINE * self.windows()
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.across.map_or(0, |(_, rows)| rows)
    }

    /// How many windows of four lanes they fill.
    #[must_use]
    pub fn windows(&self) -> usize {
        (self.rows() * Self::LANE).div_ceil(LINE)
    }
}

impl Joined {
    /// Dimensions of a unit.
    pub const DEEPEST: usize = 3;

    /// The cheapest units, and what they cost. Elements of eight and sixteen bytes fill tiles of registers as well.
    pub(crate) fn of(shape: &ByteBox, target: &Target) -> Option<(usize, Joined)> {
        if shape.run >= ShortRows::LANE / 2 && shape.run.is_power_of_two()
            || shape.run > ShortRows::LANE
        {
            return None;
        }
        let mut inside = ShortRows {
            across: None,
            width: shape.run,
            bytes: shape.run,
        };
        let mut best: Option<(usize, ShortRows, usize, usize)> = None;
        for (number, &long) in shape.steps.iter().rev().enumerate().take(Self::DEEPEST) {
            if long.dst != inside.bytes as isize {
                break;
            }
            let around = extent(&shape.steps[..shape.steps.len() - number - 1]);
            for steps in 2..=long.extent.min(ShortRows::LANE) {
                let Some(unit) = inside.with(number, long, steps).filter(ShortRows::fits) else {
                    continue;
                };
                // Of rows that do not begin where those of the unit before end, more straddle lines.
                let goes_on = long.src.unsigned_abs() * steps;
                let inside = unit.across.is_some_and(|(across, _)| across < number);
                let straddles = inside && !goes_on.is_multiple_of(ShortRows::LANE);
                let units = around.saturating_mul(long.extent.div_ceil(steps));
                let cost = cost::joined(&unit, straddles, target.core).saturating_mul(units);
                if best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, unit, number, steps));
                }
            }
            match inside.with(number, long, long.extent) {
                Some(all) => inside = all,
                None => break,
            }
        }
        let (cost, unit, number, steps) = best?;
        Some((
            cost.saturating_add(cost::UNITS),
            Self::cut(shape, unit, (number, steps), target),
        ))
    }

    /// A box in units of its innermost dimensions up to one, of which it has so many steps.
    fn cut(
        shape: &ByteBox,
        unit: ShortRows,
        (number, steps): (usize, usize),
        target: &Target,
    ) -> Joined {
        let (outer, inside) = shape.steps.split_at(shape.steps.len() - number - 1);
        let (mut outer, long) = (Steps::from_slice(outer), inside[0]);
        let mut dims: Steps = inside.iter().rev().copied().collect();
        dims[number].extent = steps;
        let whole = long.extent == steps;
        let overlaps = usize::from(!long.extent.is_multiple_of(steps));
        let mut every = long;
        every.take(steps);
        let units = |extent| Step { extent, ..every };
        // What shares lines of the source is moved while these are near: inside of lines of units if these stay so.
        let is_near = |step: &Step| {
            let apart = step.src.unsigned_abs();
            let reach = unit
                .rows()
                .saturating_mul(apart)
                .saturating_mul(step.extent);
            apart < LINE && (whole || reach <= cost::NEAREST)
        };
        let near = outer.iter().rposition(is_near);
        let innermost = outer.len().checked_sub(1).filter(|_| whole);
        let count = long.extent / steps;
        let (inner, middle, in_last) = match near.or(innermost) {
            Some(at) => {
                let inner = at_once(&mut outer[at], target);
                outer.retain(|step| step.extent > 1);
                (inner, units(count + overlaps), inner.extent)
            }
            None if overlaps > 0 => (units(count), units(2), 1),
            None => (units(count), units(1), count),
        };
        let left = (long.extent - steps) as isize;
        Joined {
            dims,
            unit,
            inner,
            middle,
            last: (long.dst * left, long.src * left),
            in_last,
            outer,
        }
    }
}

/// Takes from a dimension all steps, or, if their lines of the destination fall into few sets, as many as do not drive each
/// other out.
fn at_once(step: &mut Step, target: &Target) -> Step {
    let fits = |n: usize| leave_room(target, step.dst, n);
    let few = step.extent.min(4 * Crowded::UNDER_WAY as usize);
    let divides = |n: &usize| step.extent.is_multiple_of(*n) && fits(*n);
    let extent = match fits(few) {
        true => step.extent,
        false => (1..=few).rev().find(divides).unwrap_or(1),
    };
    step.take(extent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use restride_loops::Dim;

    #[test]
    fn rows_that_no_memory_holds_have_units() {
        let dim = |extent, dst, src| Dim { extent, dst, src };
        let dims = [dim(3, 12, (1 << 62) - 7), dim(12, 1, 1)];
        let shape = ByteBox::of_move(&dims, 1).expect("a box");
        let (_, found) = Joined::of(&shape, &Target::with(Features::Avx512)).expect("units");
        assert_eq!((found.unit.rows(), found.middle.extent), (3, 1));
    }

    #[test]
    fn only_crowded_rows_are_cut() {
        let target = Target::with(Features::Avx512);
        // Many short rows of the source beside each other, to rows of the destination so far apart.
        let at_once = |extent, rows, apart| {
            let dims = [(extent, apart, 12), (rows, 12, 12 * extent), (12, 1, 1)];
            let dims = dims.map(|(extent, dst, src)| Dim { extent, dst, src });
            let shape = ByteBox::of_move(&dims, 1).expect("a box");
            Joined::of(&shape, &target).expect("units").1.inner.extent
        };
        assert_eq!(at_once(31, 48, 600), 31);
        assert_eq!(at_once(67, 48, 600), 67);
        assert_eq!(at_once(1009, 5, 60), 1009);
        assert!((2..=8).contains(&at_once(64, 48, 4096)));
        assert_eq!(at_once(61, 48, 4096), 1);
    }

    #[test]
    fn rows_beyond_counting_are_cut_at_once() {
        let target = Target::with(Features::Avx512);
        for apart in [600, 4096] {
            let mut step = Step {
                extent: (1 << 50) - 27,
                dst: apart,
                src: 12,
            };
            assert!(at_once(&mut step, &target).extent >= 1);
        }
    }
}
