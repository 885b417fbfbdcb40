//! Which part of a box is the repeating pattern.
//!
//! A unit is some dimensions in full and a few steps of one more, the long one. A row of the long
//! dimension is covered by units, of which the last may overlap the one before; all other dimensions
//! are the nest around that.

use super::patterns::Pattern;
use crate::byte_box::{ByteBox, MAX_RANK, Step, Steps};

/// An element of a unit, relative to its first byte on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) dst: i32,
    pub(super) src: i32,
}

/// The elements of a unit in ascending order of destination, which do not overlap.
#[derive(Debug)]
pub(super) struct Unit {
    /// The bytes of each.
    pub(super) run: usize,
    pub(super) elements: Vec<Element>,
}

impl Unit {
    /// Elements of `run` bytes in these dimensions, the one of the smallest destination stride first;
    /// nothing where they overlap or lie too far apart.
    pub(super) fn of(run: usize, dims: &[Step]) -> Option<Unit> {
        let count = dims.iter().fold(1, |n: usize, step| n * step.extent);
        let mut elements = Vec::with_capacity(count);
        elements.push(Element { dst: 0, src: 0 });
        let (mut reach, mut in_order) = (run as isize, true);
        for step in dims {
            in_order &= step.dst >= reach;
            reach += step.dst * (step.extent as isize - 1);
            let src = step.src.checked_mul(step.extent as isize)?;
            if i32::try_from(reach).is_err() || i32::try_from(src).is_err() {
                return None;
            }
            let inner = elements.len();
            for i in 1..step.extent {
                elements.extend_from_within(..inner);
                let (dst, src) = (step.dst * i as isize, step.src * i as isize);
                for element in &mut elements[inner * i..] {
                    element.dst = element.dst.wrapping_add(dst as i32);
                    element.src = element.src.wrapping_add(src as i32);
                }
            }
        }
        if !in_order {
            elements.sort_by_key(|element| element.dst);
        }
        let overlap = |pair: &[Element]| pair[1].dst - pair[0].dst < run as i32;
        let fits = in_order || !elements.windows(2).any(overlap);
        fits.then_some(Unit { run, elements })
    }
}

/// A box cut into rows of units.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The dimensions around the row of units.
    pub outer: Steps,
    /// The long dimension, by single steps.
    pub long: Step,
    /// How many of them a unit has; at most as many as there are.
    pub steps: usize,
    /// Whether a part of some other dimension is inside a unit, and the rest around.
    parts: bool,
}

impl Cut {
    /// Whether a unit is all of the box.
    #[must_use]
    pub fn is_one_unit(&self) -> bool {
        self.outer.is_empty() && self.steps == self.long.extent
    }

    /// The same of a box in which this dimension goes on for another extent; nothing where that
    /// changes the unit.
    pub(super) fn stretched(&self, step: &Step, extent: usize) -> Option<Cut> {
        if self.parts {
            return None;
        }
        let mut cut = self.clone();
        let its = match cut.long == *step {
            true if extent < cut.steps => return None,
            true => &mut cut.long,
            false => cut.outer.iter_mut().find(|outer| *outer == step)?,
        };
        its.extent = extent;
        Some(cut)
    }
}

/// A unit has at most so many elements and bytes of destination.
const MAX_ELEMENTS: usize = 1024;
const MAX_BYTES: usize = 2048;
/// So many lines stay in registers, with all that they are put together from.
const FEW: usize = 3;

/// A box of so few bytes may be a unit by itself.
const WHOLE: usize = 512;

/// The bytes of a line.
pub(super) const LINE: usize = 64;

/// A set of a shape's dimensions.
type Dims = u64;
const _: () = assert!(MAX_RANK <= Dims::BITS as usize);

/// A way to cut a box, by the numbers of its dimensions.
#[derive(Clone, Debug)]
pub(super) struct Choice<'s> {
    shape: &'s ByteBox,
    /// The long dimension.
    long: usize,
    /// Those that are inside a unit in full.
    full: Dims,
    /// One of which only so many steps are.
    part: Option<(usize, usize)>,
    /// Steps of the long dimension in a unit.
    pub(super) steps: usize,
}

/// What vectors and windows a unit takes at least.
pub(super) struct Least {
    pub(super) vectors: usize,
    /// Windows of the first vector,
    pub(super) first: usize,
    /// of each that is written whole,
    pub(super) each: usize,
    /// and of all vectors together.
    pub(super) all: usize,
}

/// Calls `see` with every sensible way to cut a shape. Rows of more than `row` bytes are cut: a unit
/// with all of them is a pattern of this very width, which takes long to find and gains little.
pub(super) fn choices<'s>(shape: &'s ByteBox, row: usize, mut see: impl FnMut(Choice<'s>)) {
    for long in 0..shape.steps.len() {
        insides(shape, long, |full, part| {
            let choice = Choice {
                shape,
                long,
                full,
                part,
                steps: 1,
            };
            let Some(sizes) = choice.sizes(row) else {
                return;
            };
            let mut latest = 0;
            for steps in sizes.into_iter().filter(|steps| *steps > 0) {
                if steps != latest {
                    see(Choice {
                        steps,
                        ..choice.clone()
                    });
                }
                latest = steps;
            }
        });
    }
}

/// Calls `see` with what may be inside a unit: the dimensions that lie between two steps of the long
/// one in the destination; the same in the source, in full or as far as they share lines.
fn insides(shape: &ByteBox, long: usize, mut see: impl FnMut(Dims, Option<(usize, usize)>)) {
    let step = shape.steps[long];
    let others = || {
        let all = shape.steps.iter().enumerate();
        all.filter(move |&(at, _)| at != long)
    };
    let set = |inside: &dyn Fn(&Step) -> bool| -> Dims {
        let all = others().filter(|(_, other)| inside(other));
        all.fold(0, |set, (at, _)| set | 1 << at)
    };
    let in_src = |other: &Step| {
        let stride = other.src.unsigned_abs();
        stride != 0 && stride < step.src.unsigned_abs()
    };
    let within = set(&|other| other.dst < step.dst);
    see(within, None);
    if !others().any(|(_, other)| other.dst > step.dst && in_src(other)) {
        return;
    }
    see(within | set(&in_src), None);
    let mut around = others().filter(|(at, _)| within & 1 << at == 0);
    let shares = |other: &Step| in_src(other) && other.src.unsigned_abs() < LINE;
    if let Some((at, other)) = around.rfind(|(_, other)| shares(other)) {
        let part = LINE / other.src.unsigned_abs();
        if part > 1 && other.extent > part && other.extent.is_multiple_of(part) {
            see(within, Some((at, part)));
        }
    }
}

impl Choice<'_> {
    /// The long dimension.
    pub(super) fn long(&self) -> Step {
        self.shape.steps[self.long]
    }

    /// The dimensions of the unit but for the long one, the one of the smallest stride first.
    fn full(&self) -> impl DoubleEndedIterator<Item = Step> {
        let all = self.shape.steps.iter().enumerate().rev();
        all.filter_map(|(at, &step)| match self.part {
            Some((part, extent)) if part == at => Some(Step { extent, ..step }),
            _ => (self.full & 1 << at != 0).then_some(step),
        })
    }

    /// All dimensions of the unit, likewise.
    fn dims(&self) -> impl Iterator<Item = Step> {
        let long = Step {
            extent: self.steps,
            ..self.long()
        };
        let mut full = self.full().peekable();
        let mut long = Some(long);
        std::iter::from_fn(move || match (full.peek(), long) {
            (Some(step), Some(long)) if step.dst <= long.dst => full.next(),
            (_, Some(_)) => long.take(),
            (_, None) => full.next(),
        })
    }

    /// The box as it is cut.
    pub(super) fn cut(&self) -> Cut {
        Cut {
            outer: self.outer().collect(),
            long: self.long(),
            steps: self.steps,
            parts: self.part.is_some(),
        }
    }

    fn outer(&self) -> impl Iterator<Item = Step> {
        let all = self.shape.steps.iter().enumerate();
        all.filter_map(|(at, step)| match self.part {
            Some((part, extent)) if part == at => Some(Step {
                extent: step.extent / extent,
                dst: step.dst * extent as isize,
                src: step.src * extent as isize,
            }),
            _ => (at != self.long && self.full & 1 << at == 0).then_some(*step),
        })
    }

    /// Whether all units of a row begin at the same place in a line of the destination.
    pub(super) fn keeps_to_lines(&self) -> bool {
        let long = self.long();
        self.steps == long.extent || (long.dst.unsigned_abs() * self.steps).is_multiple_of(LINE)
    }

    /// The bytes of a unit.
    pub(super) fn bytes(&self) -> usize {
        self.dims()
            .fold(self.shape.run, |bytes, step| bytes * step.extent)
    }

    /// How many rows of units there are.
    pub(super) fn rows(&self) -> usize {
        self.outer()
            .fold(1, |rows, step| rows.saturating_mul(step.extent))
    }

    /// How many steps of the long dimension a unit may have, if rows of more than `row` bytes are cut;
    /// nothing if its other dimensions are too large.
    fn sizes(&self, row: usize) -> Option<[usize; 5]> {
        if self.row() > row {
            return None;
        }
        let elements = self
            .full()
            .try_fold(1usize, |n, step| n.checked_mul(step.extent))
            .filter(|&n| n <= MAX_ELEMENTS / 2 && n * self.shape.run <= MAX_BYTES / 2)?;
        let bytes = elements * self.shape.run;
        let most = (MAX_ELEMENTS / elements).min(MAX_BYTES / bytes);
        let once = self.steps_per_unit(bytes);
        let extent = self.long().extent;
        let fits = |steps: usize| steps.min(most).clamp(1, extent);
        // Four times as many are hardly ever better, but where there are no more.
        let whole = self.rows() == 1 && self.shape.bytes() <= WHOLE;
        let few = extent <= 4 * once && extent * bytes <= row || whole;
        let all = if few { fits(extent) } else { 0 };
        let [line, lines] = match bytes * once > FEW * LINE {
            true => [LINE / bytes, Self::in_few_lines(bytes)].map(|steps| steps.min(extent)),
            false => [0, 0],
        };
        Some([line, lines, fits(once), fits(2 * once), all])
    }

    /// How many steps of so many bytes a few lines have, of which the last is not written whole: as many lines as that fills best.
    fn in_few_lines(bytes: usize) -> usize {
        let steps = |lines: usize| lines * LINE / bytes;
        let better = |best: usize, lines: usize| match steps(lines) * best > steps(best) * lines {
            true => lines,
            false => best,
        };
        steps((1..=FEW).fold(1, better))
    }

    /// How many steps of the long dimension fill whole lines of the destination.
    fn steps_per_unit(&self, bytes: usize) -> usize {
        let long = self.long();
        let within = self.full().filter(|step| step.dst < long.dst);
        let dense = within.fold(self.shape.run, |n, step| n * step.extent);
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

    /// How many bytes lie together in a row that is inside of the unit on both sides.
    fn row(&self) -> usize {
        let long = self.long();
        let mut row = self.shape.run;
        for step in self.full() {
            let inside = step.dst < long.dst && step.src.unsigned_abs() < long.src.unsigned_abs();
            if step.dst != row as isize || !inside {
                break;
            }
            row = row.saturating_mul(step.extent);
        }
        row
    }

    /// The least vectors and windows of so many bytes that its unit takes. Vectors: as many as its
    /// bytes fill, or, where copies are so far apart that none shares a vector, those of each.
    pub(super) fn least(&self, size: usize) -> Least {
        let windows = |elements: usize, src: isize| match src.unsigned_abs() {
            0 => 1,
            step => elements.div_ceil((size - 1) / step + 1),
        };
        let run = self.shape.run;
        let (mut reach, mut bytes) = (run as isize, run);
        let mut least = Least {
            vectors: run.div_ceil(size),
            first: 1,
            each: 1,
            all: 1,
        };
        for step in self.dims().filter(|step| step.extent > 1) {
            if bytes == run {
                let apart = step.dst.unsigned_abs();
                let most = (size - 1).checked_div(apart).map_or(1, |n| n + 1);
                least.first = windows(step.extent.min(most), step.src);
                // A vector without gaps has all elements of this dimension, or half of what it holds
                // lies together.
                least.each = match 2 * step.extent * apart <= size {
                    true => least.first,
                    false => windows(step.extent.min(size / apart.max(1)).div_ceil(2), step.src),
                };
            }
            least.all = least.all.max(windows(step.extent, step.src));
            bytes *= step.extent;
            if step.dst >= reach + size as isize - 1 {
                least.vectors *= step.extent;
            }
            least.vectors = least.vectors.max(bytes.div_ceil(size));
            reach = reach.saturating_add(step.dst.saturating_mul(step.extent as isize - 1));
        }
        if reach != bytes as isize {
            least.each = 1;
        }
        least
    }

    /// What the program of its unit depends on.
    pub(super) fn pattern(&self) -> Pattern {
        Pattern::new(self.shape.run, self.dims())
    }
}
