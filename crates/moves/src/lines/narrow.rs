//! Lines of 16 bytes for machines with byte shuffles but neither masks nor permutations of wide
//! registers: every window is shuffled by a table of its own and the results are joined.
//!
//! Without masks, windows and vectors are moved back where they would leave the unit; a unit too
//! small for that, or with holes in its destination, has no such program.

use std::ops::RangeInclusive;

use super::NarrowLines;
use super::patterns::{Last, Pattern, Place};
use super::program::{Vector, cover, whole_vectors};
use super::search;
use super::unit::{Least, Unit};
use crate::cores::Core;
use crate::cost::narrow_line;

/// More windows than this and a line is not worth it.
pub(super) const MAX_WINDOWS: usize = 4;

/// The bytes of a line.
const LINE: usize = 16;
const SIZE: i32 = LINE as i32;

/// One line, ready to run. A table says for every byte where it lies in the window, or has its top
/// bit set where another window has it.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(16))]
pub struct Op {
    /// A table a window.
    pub tables: [[u8; LINE]; MAX_WINDOWS],
}

impl Op {
    /// The table of a window that has nothing of a line.
    pub const NONE: [u8; LINE] = [0x80; LINE];
}

/// A way to run a unit: its lines.
pub(crate) struct Way {
    unit: NarrowLines,
    pub(super) windows: usize,
    last: Last<NarrowLines>,
}

impl search::Way for Way {
    type Lines = NarrowLines;
    const SIZE: usize = LINE;
    const ROW: usize = 32 * Self::SIZE;
    const LEAST: usize = narrow_line(1);

    fn lines(&self, pattern: &Pattern) -> NarrowLines {
        match pattern.is_unit() {
            true => self.unit.clone(),
            false => self.last.or_make(pattern, || self.unit.placed(pattern)),
        }
    }

    fn least(of: &Least) -> Option<usize> {
        let rest = of.vectors.saturating_sub(1);
        let windows = of.all.max(of.first + rest * of.each);
        (of.first <= MAX_WINDOWS).then(|| rest * narrow_line(0) + narrow_line(windows))
    }

    fn of(unit: &Unit, _: Core) -> Option<(Way, usize)> {
        let low = unit.elements.iter().map(|element| element.src).min()?;
        let high = unit.elements.iter().map(|element| element.src).max()?;
        let last = high + unit.run as i32 - SIZE;
        if low > last {
            return None;
        }
        let (mut ops, mut places) = (Vec::new(), Vec::new());
        let (mut cost, mut most) = (0, 0);
        for line in &whole_vectors(unit)? {
            let windows = cover(std::slice::from_ref(line), MAX_WINDOWS)?;
            let (op, place) = op(line, &windows, low..=last);
            ops.push(op);
            places.push(place);
            cost += narrow_line(windows.len());
            most = most.max(windows.len());
        }
        let way = Way {
            unit: NarrowLines {
                ops: ops.into(),
                places: places.into(),
                start: 0,
            },
            windows: most,
            last: Last::default(),
        };
        Some((way, cost))
    }
}

/// A line of windows that may start within `inside`.
fn op(
    line: &Vector<LINE>,
    windows: &[i32],
    inside: RangeInclusive<i32>,
) -> (Op, Place<MAX_WINDOWS>) {
    let inside = |src: &i32| (*src).clamp(*inside.start(), *inside.end());
    // Windows that are not needed load the first one again and contribute nothing.
    let mut op = Op {
        tables: [Op::NONE; MAX_WINDOWS],
    };
    let mut place = Place {
        dst: line.dst as isize,
        src: [windows.first().map_or(0, inside) as isize; MAX_WINDOWS],
    };
    for (number, start) in windows.iter().enumerate() {
        let (moved, table) = (inside(start), &mut op.tables[number]);
        line.part(*start, windows.get(number + 1), |byte, its, at| {
            if its {
                table[byte] = at.wrapping_add((start - moved) as u8);
            }
        });
        place.src[number] = moved as isize;
    }
    (op, place)
}
