//! Dense pixels of the source whose channels become rows of the destination, whatever order these have the pixels in: what
//! splits channels, and much of what is left of a tensor of small axes when all of them change places.

use smallvec::SmallVec;

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::cores::Core;
use crate::cost::{self, LINE};

/// Patches of as many pixels as a vector has of each channel, on a machine with lines of 64 bytes that permutes their bytes.
///
/// A window of the source has a few pixels. Of two windows, one permutation takes the first half of the channels, another one
/// the rest; and of such pairs, others take a vector of each channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// From channel to channel, and how many these are.
    pub channels: Step,
    /// From pixel to pixel of a window, in bytes.
    pub pitch: usize,
    /// How many pixels a window has.
    pub window: usize,
    /// Which pixel of the patch each window begins with, and where that is in the source.
    pub windows: SmallVec<[(usize, isize); Patch::WINDOWS]>,
    /// How far apart in the patch the pixels of a window are.
    pub apart: usize,
    /// What is moved at a time.
    pub patch: Patch,
    /// The dimension that is cut into patches.
    pub long: Step,
    /// What is around them.
    pub outer: Steps,
}

/// Pixels that are moved together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    /// How many windows they are in.
    pub windows: usize,
    /// The bytes that they have of each channel, in the destination without gaps.
    pub bytes: usize,
    /// How many steps they are of the dimension that is cut into patches.
    pub steps: usize,
    /// How many steps later another patch begins that is moved along with it, if the vectors of the two go on far enough
    /// together that what the first one has too much is written over.
    pub second: Option<usize>,
}

impl Patch {
    /// Registers hold twice as many pairs of windows, of two patches.
    pub const WINDOWS: usize = 12;
    /// Of two windows, other ways make do with one permutation.
    const FEWEST: usize = 3;

    /// So many steps of a dimension, each of so many bytes of a channel.
    fn new(windows: usize, bytes: usize, steps: usize, extent: usize) -> Patch {
        let patch = Patch {
            windows,
            bytes: bytes * steps,
            steps,
            second: None,
        };
        let second = steps.min(extent - steps);
        let covers = bytes * (steps + second) >= patch.vector();
        Patch {
            second: (second > 0 && covers).then_some(second),
            ..patch
        }
    }

    /// The bytes of its vectors: those of a line, or half of them.
    #[must_use]
    pub fn vector(&self) -> usize {
        if self.bytes > LINE / 2 {
            LINE
        } else {
            LINE / 2
        }
    }

    /// Pairs of windows.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.windows.div_ceil(2)
    }

    /// How many steps are moved at a time.
    #[must_use]
    pub fn together(&self) -> usize {
        self.steps + self.second.unwrap_or(0)
    }
}

impl Pixels {
    /// The most bytes of a pixel: a window has three at least.
    const PIXEL: usize = LINE / Self::FEWEST;
    const FEWEST: usize = 3;
    /// The most bytes of an element.
    const WIDEST: usize = 8;

    /// The cheapest patches, and what they cost.
    pub(crate) fn of(shape: &ByteBox, core: Core) -> Option<(usize, Pixels)> {
        let width = shape.run;
        let at = shape
            .steps
            .iter()
            .position(|step| step.src == width as isize)?;
        let mut steps = shape.steps.clone();
        let channels = steps.remove(at);
        let pixel = channels.extent.checked_mul(width)?;
        let forwards = steps.iter().filter(|step| step.src >= pixel as isize);
        let along = *forwards.min_by_key(|step| step.src)?;
        let pitch = along.src as usize;
        if width > Self::WIDEST || pixel > Self::PIXEL || pitch > LINE - pixel {
            return None;
        }
        let half = channels.extent.div_ceil(2);
        let most = ((LINE - pixel) / pitch + 1).min(LINE / (2 * half * width));
        if most < Self::FEWEST {
            return None;
        }
        let mut best: Option<(usize, Patch, usize)> = None;
        let (mut inside, mut row) = (1, None);
        for (number, long) in steps.iter().enumerate().rev() {
            let bytes = width * inside;
            if long.dst != bytes as isize || bytes > LINE / 2 {
                break;
            }
            let around = extent(&steps[..number]);
            for taken in 2..=long.extent.min(LINE / bytes) {
                let row = if *long == along { Some(taken) } else { row };
                let windows = row.map_or(0, |row| inside * taken / row * row.div_ceil(most));
                if !(Patch::FEWEST..=Patch::WINDOWS).contains(&windows) {
                    continue;
                }
                let patch = Patch::new(windows, bytes, taken, long.extent);
                let turns = long.extent.div_ceil(patch.together());
                let patches = turns * (1 + usize::from(patch.second.is_some()));
                let cost = cost::pixels(&patch, 2 * half, core);
                let cost = cost.saturating_mul(patches).saturating_mul(around);
                if best.is_none_or(|(least, ..)| cost < least) {
                    best = Some((cost, patch, number));
                }
            }
            if *long == along {
                row = Some(long.extent);
            }
            inside *= long.extent;
        }
        let (cost, patch, number) = best?;
        let mut dims: Steps = steps.drain(number..).rev().collect();
        let at = dims.iter().position(|step| *step == along)?;
        let last = dims.last_mut()?;
        let long = *last;
        last.extent = patch.steps;
        let row = dims[at].extent;
        let window = row.div_ceil(row.div_ceil(most));
        let begins =
            |at: usize| at.is_multiple_of(window) && at + window <= row || at + window == row;
        let mut windows = SmallVec::new();
        for pixel in 0..extent(&dims) {
            let (mut left, mut src, mut is_first) = (pixel, 0, false);
            for (number, step) in dims.iter().enumerate() {
                is_first |= number == at && begins(left % step.extent);
                src += step.src * (left % step.extent) as isize;
                left /= step.extent;
            }
            windows.extend(is_first.then_some((pixel, src)));
        }
        let pixels = Pixels {
            channels,
            pitch,
            window,
            windows,
            apart: extent(&dims[..at]),
            patch,
            long,
            outer: steps,
        };
        Some((cost.saturating_add(cost::UNITS), pixels))
    }
}
