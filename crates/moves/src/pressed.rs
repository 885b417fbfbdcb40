//! Short runs that are not next to each other in the source and follow each other in the destination, on a machine that
//! shuffles sixteen bytes: pixels of which channels are left out, or that go backwards.

use std::ops::RangeInclusive;

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::cost;

/// Units that one window of sixteen bytes has. What a vector has too much is written over by the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pressed {
    /// The dimensions of a unit, outermost first.
    pub unit: Steps,
    /// The dimension that is cut into units of so many steps.
    pub long: Step,
    /// How many these are.
    pub steps: usize,
    /// What is around them.
    pub outer: Steps,
}

impl Pressed {
    /// The bytes of a window and of a vector.
    pub const VECTOR: usize = 16;
    /// Units of fewer bytes are not worth it, and those that fill a vector are lines by themselves.
    const BYTES: RangeInclusive<usize> = 9..=15;

    /// The largest units, and what they cost.
    pub(crate) fn of(shape: &ByteBox) -> Option<(usize, Pressed)> {
        if shape.run >= Self::VECTOR || shape.hull().len() < Self::VECTOR {
            return None;
        }
        let (mut bytes, mut span) = (shape.run, shape.run);
        let mut best = None;
        for (number, long) in shape.steps.iter().enumerate().rev() {
            let apart = long.src.unsigned_abs();
            if long.dst != bytes as isize || span > Self::VECTOR || apart > Self::VECTOR {
                break;
            }
            let room = (Self::VECTOR - span).checked_div(apart);
            let most = room.unwrap_or(Self::VECTOR) + 1;
            let steps = most.min(Self::VECTOR / bytes).min(long.extent);
            let row = bytes * long.extent;
            if Self::BYTES.contains(&(bytes * steps)) && row >= 2 * Self::VECTOR {
                best = Some((number, steps, bytes * steps));
            }
            if steps < long.extent {
                break;
            }
            (bytes, span) = (row, span + apart * (long.extent - 1));
        }
        let (number, steps, bytes) = best?;
        let long = shape.steps[number];
        let mut unit: Steps = shape.steps[number..].into();
        unit[0].extent = steps;
        let outer: Steps = shape.steps[..number].into();
        let row = (bytes / steps).saturating_mul(long.extent);
        let cost = cost::pressed(row.div_ceil(bytes)).saturating_mul(extent(&outer));
        let pressed = Pressed {
            unit,
            long,
            steps,
            outer,
        };
        Some((cost, pressed))
    }
}
