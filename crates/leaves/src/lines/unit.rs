//! Which part of a box is the repeating pattern.
//!
//! A unit is some dimensions in full and a few steps of one more, the long one. The rest of the
//! long dimension repeats the unit, what does not divide is a smaller unit at its end, and all
//! other dimensions are the nest around that.

use crate::shape::{Shape, Step, Steps};

/// Contiguous bytes of a unit, relative to its first byte on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) dst: isize,
    pub(crate) src: isize,
    pub(crate) len: usize,
}

/// A way to cut a box into units.
#[derive(Debug)]
pub(crate) struct Cut {
    /// The dimensions around the row of units.
    pub(crate) outer: Steps,
    /// Whole units in a row, each so far from the one before.
    pub(crate) reps: Step,
    /// The unit, in ascending order of destination.
    pub(crate) unit: Vec<Segment>,
    /// What follows the whole units, relative to the address after the last of them.
    pub(crate) tail: Vec<Segment>,
}

/// A unit has at most so many elements and bytes of destination.
const MAX_ELEMENTS: usize = 1024;
const MAX_BYTES: usize = 2048;

/// The bytes of a line.
const LINE: usize = 64;

/// Every sensible way to cut a shape.
pub(crate) fn cuts(shape: &Shape) -> impl Iterator<Item = Cut> {
    (0..shape.steps.len()).filter_map(|long| cut(shape, long))
}

fn cut(shape: &Shape, long: usize) -> Option<Cut> {
    let step = shape.steps[long];
    // In the unit: whatever lies between two steps of the long dimension, on either side.
    let inside = |other: &Step| {
        other.dst < step.dst || other.src.unsigned_abs() < step.src.unsigned_abs() && other.src != 0
    };
    let (mut full, mut outer) = (Steps::new(), Steps::new());
    for (at, other) in shape.steps.iter().enumerate() {
        if at == long {
        } else if inside(other) {
            full.push(*other);
        } else {
            outer.push(*other);
        }
    }
    let elements = full
        .iter()
        .try_fold(1usize, |n, step| n.checked_mul(step.extent))
        .filter(|&n| n <= MAX_ELEMENTS / 2 && n * shape.run <= MAX_BYTES / 2)?;
    let bytes = elements * shape.run;
    let steps = steps_per_unit(&full, step, bytes)
        .min(MAX_ELEMENTS / elements)
        .min(MAX_BYTES / bytes)
        .clamp(1, step.extent);
    let partial = |extent| Step { extent, ..step };
    let whole = step.extent / steps;
    Some(Cut {
        outer,
        reps: Step {
            extent: whole,
            dst: step.dst * steps as isize,
            src: step.src * steps as isize,
        },
        unit: segments(&full, partial(steps), shape.run)?,
        tail: segments(&full, partial(step.extent % steps), shape.run)?,
    })
}

/// How many steps of the long dimension fill whole lines of the destination.
fn steps_per_unit(full: &Steps, long: Step, bytes: usize) -> usize {
    let within: usize = full
        .iter()
        .filter(|step| step.dst < long.dst)
        .map(|step| step.extent)
        .product();
    let dense = bytes / full.iter().map(|step| step.extent).product::<usize>() * within;
    if dense as isize == long.dst {
        let common = 1 << dense.trailing_zeros().min(LINE.trailing_zeros());
        let steps = LINE / common;
        if steps * bytes <= MAX_BYTES {
            return steps;
        }
        return (MAX_BYTES / 2 / bytes).max(1);
    }
    // Lines with holes.
    (LINE / long.dst.unsigned_abs().max(1)).max(1)
}

/// The elements of a unit as segments in ascending order of destination; nothing when they overlap.
fn segments(full: &Steps, long: Step, run: usize) -> Option<Vec<Segment>> {
    let first = Segment {
        dst: 0,
        src: 0,
        len: run,
    };
    let mut all = vec![first];
    if long.extent == 0 {
        return Some(Vec::new());
    }
    // From the innermost outwards, so that the list is nearly sorted.
    let mut steps: Steps = full.clone();
    steps.push(long);
    steps.sort_by_key(|step| step.dst);
    for step in &steps {
        let inner = all.len();
        for i in 1..step.extent {
            for at in 0..inner {
                let Segment { dst, src, len } = all[at];
                all.push(Segment {
                    dst: dst + step.dst * i as isize,
                    src: src + step.src * i as isize,
                    len,
                });
            }
        }
    }
    all.sort_by_key(|segment| segment.dst);
    let mut merged: Vec<Segment> = Vec::with_capacity(all.len());
    for segment in all {
        match merged.last_mut() {
            Some(last) if last.dst + last.len as isize > segment.dst => return None,
            Some(last)
                if last.dst + last.len as isize == segment.dst
                    && last.src + last.len as isize == segment.src =>
            {
                last.len += segment.len;
            }
            _ => merged.push(segment),
        }
    }
    Some(merged)
}
