//! A box as a transposition of which each side is several dimensions, such as the kernels of a
//! convolution: none of them alone fills a register.

use smallvec::smallvec;

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::cores::Core;
use crate::cost::{self, LINE};
use crate::crowding::{Crowded, share_sets, steps_in_a_set};
use crate::features::Features;
use crate::target::Target;
use crate::tiling::Tiling;

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
    /// What of them is moved at a time.
    pub tiling: Tiling,
    /// How many rows and columns go by way of a stage together, which rows leave in long runs, if they do.
    pub stage: Option<(usize, usize)>,
}

/// No side has more elements; their places are listed,
const MOST: usize = 512;

/// and are no further apart.
const FURTHEST: usize = u32::MAX as usize;

/// Bytes of each row that are collected at a time where few rows are written at a time.
pub const FEW_ROWS: usize = 4 * LINE;

/// A side of so many elements is long enough.
const ENOUGH: usize = 64;

impl Folded {
    /// The cheapest of several cuts: sides of about the same length, or columns first, of which vectors leave the less the
    /// more there are, and where what is left for rows may be less than a register has. Nothing if each side is a single
    /// dimension, or columns are too short for a register.
    pub(crate) fn of(shape: &ByteBox, target: &Target) -> Option<Folded> {
        let features = target.features;
        let cost = |it: &Folded| cost::folded(it, target);
        let mut best = Self::whole(shape, features);
        for enough in [ENOUGH, 2 * ENOUGH, 3 * ENOUGH, 4 * ENOUGH] {
            let Some(cut) = Self::columns_first(shape, enough, features) else {
                break;
            };
            let vector = cut.lanes * cut.per_lane;
            let leaves_none = extent(&cut.columns).is_multiple_of(vector);
            let least = best.as_ref().map_or(usize::MAX, cost);
            if cost(&cut) < least {
                best = Some(cut);
            }
            if leaves_none {
                break;
            }
        }
        best
    }

    /// As many columns as are enough, if there are, and then rows. By itself, so that it takes its stack once.
    #[inline(never)]
    fn columns_first(shape: &ByteBox, enough: usize, features: Features) -> Option<Folded> {
        let [mut rows, mut columns, mut outer] = first(shape)?;
        while lengthen(&mut columns, &mut outer, to_destination, shape.run, enough) {}
        while lengthen(&mut rows, &mut outer, from_source, shape.run, ENOUGH) {}
        Self::new(rows, columns, outer, shape.run, features)
    }

    /// Sides of about the same length, each at least what a register has.
    #[inline(never)]
    pub(crate) fn whole(shape: &ByteBox, features: Features) -> Option<Folded> {
        let [mut rows, mut columns, mut outer] = first(shape)?;
        loop {
            let mut sides = [
                (&mut rows, from_source as Stride),
                (&mut columns, to_destination),
            ];
            sides.sort_by_key(|(side, _)| extent(side));
            let mut longer = |(side, stride): &mut (&mut Steps, Stride)| {
                lengthen(side, &mut outer, *stride, shape.run, ENOUGH)
            };
            if !sides.iter_mut().any(&mut longer) {
                break;
            }
        }
        let folded = Self::new(rows, columns, outer, shape.run, features)?;
        (!folded.has_short_rows()).then_some(folded)
    }

    fn new(
        rows: Steps,
        columns: Steps,
        outer: Steps,
        width: usize,
        features: Features,
    ) -> Option<Folded> {
        let per_lane = 16 / width;
        let filled = extent(&columns) / per_lane;
        let far = is_far(&rows, to_destination) || is_far(&columns, from_source);
        if rows.len() + columns.len() == 2 || filled == 0 || far {
            return None;
        }
        Some(Folded {
            rows,
            columns,
            outer,
            per_lane,
            lanes: features.widest(filled),
            crowded: None,
            tiling: Tiling::Blocks,
            stage: None,
        })
    }

    /// Whether rows are fewer than a register has elements: what is read beside them is nobody's.
    #[must_use]
    pub fn has_short_rows(&self) -> bool {
        extent(&self.rows) < self.per_lane
    }

    /// The same as it is carried out on a machine.
    pub(crate) fn on(mut self, target: &Target) -> Folded {
        // A few rows are no crowd, and what is collected has whole ones.
        if self.has_short_rows() {
            return self;
        }
        let wide = self.per_lane <= 4;
        self.tiling = match target.core {
            Core::Cove if wide => Tiling::Runs,
            Core::Zen | Core::Zen5 if wide => Tiling::Squares,
            _ => Tiling::Blocks,
        };
        if target.core == Core::Cove {
            return self;
        }
        let rows = self.rows.iter().map(|step| (step.extent, step.dst));
        let width = 16 / self.per_lane;
        let run = extent(&self.rows) * width;
        // Short runs are read in about as many pieces as they would be copied in.
        let least = match (target.core, self.per_lane) {
            (Core::Zen, _) => LINE,
            (_, 16) => 2 * LINE,
            _ => 2 * LINE + 1,
        };
        // Narrow elements are written to more rows at a time, bytes to more than a set has ways.
        let at_once = Crowded::UNDER_WAY as usize * if wide { 1 } else { 2 };
        let destination = share_sets(target, rows.clone(), at_once)
            || target.core == Core::Zen5
                && wide
                && steps_in_a_set(target, rows, MOST, false) > 2 * target.ways();
        if destination && self.per_lane == 16 && !target.is_zen_in_lines() {
            return self.on_stage(target.features);
        }
        // What is written a few rows at a time is read as often, all columns for each of them.
        let columns = extent(&self.columns);
        let fits = run * columns.min(FEW_ROWS / width) <= target.l1 as usize / 2;
        let often = destination && fits && self.per_lane == 2 && target.core == Core::Zen5;
        let side = self.lanes * self.per_lane;
        let steps = self.columns.iter().map(|step| (step.extent, step.src));
        let source = run >= least && share_sets(target, steps, if often { columns } else { side });
        let destination = destination && (!source || fits);
        self.crowded = match (source, destination) {
            (true, true) => Some(Crowded::Both),
            (true, false) => Some(Crowded::Source),
            (false, true) => Some(Crowded::Destination),
            (false, false) => None,
        };
        self
    }

    /// By way of a stage, with as many columns as go on in the destination, up to eight lines.
    fn on_stage(mut self, features: Features) -> Folded {
        let width = 16 / self.per_lane;
        let (line, most) = (LINE / width, 8 * LINE / width);
        let (mut columns, mut outer) = (self.columns.clone(), self.outer.clone());
        while lengthen(&mut columns, &mut outer, to_destination, width, most) {}
        if !is_far(&columns, from_source) {
            (self.columns, self.outer) = (columns, outer);
        }
        let (rows, columns) = (extent(&self.rows), extent(&self.columns));
        self.lanes = features.widest(columns / self.per_lane);
        self.stage = Some((rows.min(line), columns.min(most)));
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

/// Whether elements of a side are too far apart for a list of their places.
fn is_far(side: &[Step], stride: Stride) -> bool {
    let steps = side.iter();
    let lengths = steps.map(|step| stride(step).unsigned_abs().saturating_mul(step.extent - 1));
    lengths.fold(0, usize::saturating_add) > FURTHEST
}

/// The first dimensions of rows and of columns, and the others.
fn first(shape: &ByteBox) -> Option<[Steps; 3]> {
    if !matches!(shape.run, 1 | 2 | 4 | 8) || shape.steps.len() < 3 {
        return None;
    }
    let mut outer = shape.steps.clone();
    let row = take(&mut outer, from_source, shape.run, MOST)?;
    let column = take(&mut outer, to_destination, shape.run, MOST)?;
    Some([smallvec![row], smallvec![column], outer])
}

/// Whether a side that is not long enough yet goes on in another dimension.
fn lengthen(
    side: &mut Steps,
    outer: &mut Steps,
    stride: Stride,
    width: usize,
    enough: usize,
) -> bool {
    let so_far = extent(side);
    let next = match so_far < enough {
        true => take(outer, stride, width * so_far, MOST / so_far),
        false => None,
    };
    side.extend(next);
    next.is_some()
}

/// Takes the dimension of this stride, or of its elements as many as divide it, at most `most`.
fn take(steps: &mut Steps, stride: Stride, bytes: usize, most: usize) -> Option<Step> {
    let at = steps
        .iter()
        .position(|step| stride(step) == bytes as isize)?;
    let step = steps[at].take_most(most)?;
    steps.retain(|step| step.extent > 1);
    Some(step)
}
