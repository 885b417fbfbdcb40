//! Which part of a box is the repeating pattern.
//!
//! A unit is some dimensions in full and a few steps of one more, the long one. A row of the long
//! dimension is covered by units, of which the last may overlap the one before; all other dimensions
//! are the nest around that.

use crate::shape::{Shape, Step, Steps};

/// Contiguous bytes of a unit, relative to its first byte on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) dst: isize,
    pub(crate) src: isize,
    pub(crate) len: usize,
}

/// A way to cut a box into units.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    /// The dimensions around the row of units.
    pub(crate) outer: Steps,
    /// The long dimension, by single steps.
    pub(crate) long: Step,
    /// How many of them a unit has; at most as many as there are.
    pub(crate) steps: usize,
    /// The unit, in ascending order of destination.
    pub(crate) unit: Vec<Segment>,
}

impl Cut {
    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        let extents = self.outer.iter().map(|step| step.extent);
        extents.fold(1, usize::saturating_mul)
    }
}

/// A unit has at most so many elements and bytes of destination.
const MAX_ELEMENTS: usize = 1024;
const MAX_BYTES: usize = 2048;

/// The bytes of a line.
pub(super) const LINE: usize = 64;

/// Every sensible way to cut a shape.
pub(crate) fn cuts(shape: &Shape) -> impl Iterator<Item = Cut> {
    let longs = 0..shape.steps.len();
    longs.flat_map(|long| {
        let mut found: Vec<Cut> = Vec::new();
        for (full, outer) in insides(shape, long) {
            for times in [1, 2, 4] {
                let same = |cut: &Cut, other: &Cut| cut.unit == other.unit;
                if let Some(cut) = cut(shape, long, &full, &outer, times)
                    && !found.iter().any(|other| same(&cut, other))
                {
                    found.push(cut);
                }
            }
        }
        found
    })
}

/// Which dimensions may be inside a unit, and those around it: whatever lies between two steps of
/// the long dimension in the destination; the same in the source, in full or as far as it shares
/// lines.
fn insides(shape: &Shape, long: usize) -> Vec<(Steps, Steps)> {
    let step = shape.steps[long];
    let others = || {
        let all = shape.steps.iter().enumerate();
        all.filter(|&(at, _)| at != long).map(|(_, other)| *other)
    };
    let in_src = |other: &Step| {
        let stride = other.src.unsigned_abs();
        stride != 0 && stride < step.src.unsigned_abs()
    };
    let halves = |inside: &dyn Fn(&Step) -> bool| -> (Steps, Steps) {
        (
            others().filter(|other| inside(other)).collect(),
            others().filter(|other| !inside(other)).collect(),
        )
    };
    let mut all = vec![halves(&|other| other.dst < step.dst)];
    if others().any(|other| other.dst > step.dst && in_src(&other)) {
        all.push(halves(&|other| other.dst < step.dst || in_src(other)));
        let (mut full, mut outer) = all[0].clone();
        let shares = |other: &&mut Step| in_src(other) && other.src.unsigned_abs() < LINE;
        if let Some(other) = outer.iter_mut().rev().find(shares) {
            let part = LINE / other.src.unsigned_abs();
            if part > 1 && other.extent > part && other.extent % part == 0 {
                full.push(Step {
                    extent: part,
                    ..*other
                });
                *other = Step {
                    extent: other.extent / part,
                    dst: other.dst * part as isize,
                    src: other.src * part as isize,
                };
                all.push((full, outer));
            }
        }
    }
    all
}

fn cut(shape: &Shape, long: usize, full: &Steps, outer: &Steps, times: usize) -> Option<Cut> {
    let step = shape.steps[long];
    let elements = full
        .iter()
        .try_fold(1usize, |n, step| n.checked_mul(step.extent))
        .filter(|&n| n <= MAX_ELEMENTS / 2 && n * shape.run <= MAX_BYTES / 2)?;
    let bytes = elements * shape.run;
    let steps = (steps_per_unit(full, step, bytes) * times)
        .min(MAX_ELEMENTS / elements)
        .min(MAX_BYTES / bytes)
        .clamp(1, step.extent);
    Some(Cut {
        outer: outer.clone(),
        long: step,
        steps,
        unit: segments(
            full,
            Step {
                extent: steps,
                ..step
            },
            shape.run,
        )?,
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
