//! A box as a transposition of which each side is several dimensions, such as the kernels of a
//! convolution: none of them alone fills a register.

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::crowding::{Crowded, share_sets};
use crate::features::Features;
use crate::target::Target;

/// Several dimensions of a box, the finest first, that are contiguous in the source together, and
/// others that are in the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// The dimensions that are contiguous in the source.
    pub rows: Steps,
    /// Those that are contiguous in the destination.
    pub columns: Steps,
    /// What is around them.
    pub outer: Steps,
    /// How many elements sixteen bytes of a register hold.
    pub per_lane: usize,
    /// How many lanes of sixteen bytes the vectors have that its columns fill.
    pub lanes: usize,
    /// Which side shares too few sets of the nearest cache: columns are copied together first, rows written a few at a
    /// time.
    pub crowded: Option<Crowded>,
}

/// No side has more elements; their places are listed.
const MOST: usize = 256;

/// A side of so many elements is long enough.
const ENOUGH: usize = 64;

impl Folded {
    /// Nothing if each side is a single dimension, or too short for a register.
    pub(crate) fn of(shape: &ByteBox, features: Features) -> Option<Folded> {
        let width = shape.run;
        if !matches!(width, 1 | 2 | 4 | 8) || shape.steps.len() < 3 {
            return None;
        }
        let mut outer = shape.steps.clone();
        // The longer side of the two begins, so that the shorter one may choose.
        let (mut rows, mut columns) = (Steps::new(), Steps::new());
        let mut sides = [
            (&mut rows, from_source as Stride),
            (&mut columns, to_destination),
        ];
        for (side, stride) in &mut sides {
            side.push(take(&mut outer, *stride, width, MOST)?);
        }
        loop {
            sides.sort_by_key(|(side, _)| extent(side));
            let more = sides.iter_mut().any(|(side, stride)| {
                let so_far = extent(side);
                let next = match so_far < ENOUGH {
                    true => take(&mut outer, *stride, width * so_far, MOST / so_far),
                    false => None,
                };
                side.extend(next);
                next.is_some()
            });
            if !more {
                break;
            }
        }
        let per_lane = 16 / width;
        let (height, filled) = (extent(&rows), extent(&columns) / per_lane);
        if rows.len() + columns.len() == 2 || height < per_lane || filled == 0 {
            return None;
        }
        let mut vectors = features.lanes().into_iter();
        let lanes = vectors.find(|&n| filled >= n).unwrap_or(1);
        Some(Folded {
            rows,
            columns,
            outer,
            per_lane,
            lanes,
            crowded: None,
        })
    }

    /// The same as it is carried out on a machine.
    pub(crate) fn on(mut self, target: &Target) -> Folded {
        let columns = self.columns.iter().map(|step| (step.extent, step.src));
        let rows = self.rows.iter().map(|step| (step.extent, step.dst));
        let source = share_sets(target, columns, self.lanes * self.per_lane);
        let destination = share_sets(target, rows, Crowded::UNDER_WAY as usize);
        self.crowded = match (source, destination) {
            (true, true) => Some(Crowded::Both),
            (true, false) => Some(Crowded::Source),
            (false, true) => Some(Crowded::Destination),
            (false, false) => None,
        };
        self
    }
}

type Stride = fn(&Step) -> isize;

fn from_source(step: &Step) -> isize {
    step.src
}

fn to_destination(step: &Step) -> isize {
    step.dst
}

/// Takes the dimension of this stride, or of its elements as many as divide it, at most `most`.
fn take(steps: &mut Steps, stride: Stride, bytes: usize, most: usize) -> Option<Step> {
    let at = steps
        .iter()
        .position(|step| stride(step) == bytes as isize)?;
    let whole = steps[at];
    let taken = (2..=whole.extent.min(most)).rev();
    let taken = taken
        .into_iter()
        .find(|n| whole.extent.is_multiple_of(*n))?;
    let step = Step {
        extent: taken,
        ..whole
    };
    match whole.extent / taken {
        1 => drop(steps.remove(at)),
        left => {
            steps[at] = Step {
                extent: left,
                dst: whole.dst * taken as isize,
                src: whole.src * taken as isize,
            };
        }
    }
    Some(step)
}
