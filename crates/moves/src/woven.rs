//! Rows of which several sources have a part each: what is stacked or joined along a short last axis.
//!
//! Moved by itself, each part is short runs, and every line of the destination is written once for each of them. Woven, it
//! is written once, by a shuffle of a window of every part.

use std::iter::zip;
use std::ops::Range;

use smallvec::SmallVec;

use crate::byte_box::{ByteBox, Step, Steps};
use crate::cost;
use crate::features::Features;

const PARTS: usize = 4;

/// How the parts of rows are woven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Woven {
    /// How many parts there are.
    pub parts: usize,
    /// The bytes of a vector of the destination.
    pub vector: usize,
    /// Where the first row begins.
    pub start: Strands,
    /// From one vector to the next: as many rows as it has whole.
    pub unit: Strands,
    /// Vectors whose windows begin with what is needed of them, and
    pub front: Vectors,
    /// behind them those whose windows end with it, since sources end there.
    pub back: Vectors,
    /// What is around the rows, outermost first.
    pub outer: SmallVec<[Repeated; 2]>,
}

/// Places or distances in the destination and in every source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strands {
    /// In the destination.
    pub dst: isize,
    /// In the sources.
    pub src: [isize; PARTS],
}

impl Strands {
    /// So many of these.
    #[must_use]
    pub fn times(self, n: isize) -> Strands {
        Strands {
            dst: self.dst * n,
            src: self.src.map(|src| src * n),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(mut self, other: Strands) -> Strands {
        self.dst += other.dst;
        for (src, other) in zip(&mut self.src, other.src) {
            *src += other;
        }
        self
    }
}

/// So many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// How many.
    pub extent: usize,
    /// How far.
    pub by: Strands,
}

/// Some vectors, a unit apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vectors {
    /// How many there are.
    pub count: usize,
    /// The bytes that are loaded of the first part, and of each of the others.
    pub windows: (usize, usize),
    /// Where the first lies, from the first row, and where its windows do.
    pub at: Strands,
    /// Of each byte, the part that has it and where that is in the window.
    pub bytes: Vec<(u8, u8)>,
}

impl Woven {
    /// Parts at most.
    pub const PARTS: usize = PARTS;
    /// Dimensions around the rows at most.
    pub const DEEPEST: usize = 4;

    /// How boxes are woven of which each begins so far behind the first one in the destination, if they are parts of the same
    /// rows and that is faster than one after the other. The first has the longest part.
    pub(crate) fn of(boxes: &[(ByteBox, isize)], features: Features) -> Option<Woven> {
        let vector = match features {
            Features::Avx512 => 64,
            Features::Avx2 => 16,
            _ => return None,
        };
        if !(2..=PARTS).contains(&boxes.len()) || boxes.iter().any(|(shape, _)| shape.empty) {
            return None;
        }
        let mut dims = common(boxes)?;
        let rows = dims.pop().filter(|_| dims.len() <= Self::DEEPEST)?;
        let begins = |(shape, behind): &(ByteBox, isize)| shape.dst.checked_add(*behind);
        let mut start = Strands {
            dst: boxes.iter().filter_map(begins).min()?,
            ..Strands::default()
        };
        for (start, (shape, _)) in zip(&mut start.src, boxes) {
            *start = shape.src;
        }
        let part = |(it, &step): (&(ByteBox, isize), &isize)| {
            let run = it.0.run as isize;
            Some(PartOfRow {
                at: begins(it)?.checked_sub(start.dst)?,
                run,
                step,
                span: step
                    .checked_mul(rows.extent as isize - 1)?
                    .checked_add(run)?,
            })
        };
        let rows = WovenRows {
            parts: zip(boxes, &rows.by.src).map(part).collect::<Option<_>>()?,
            count: rows.extent as isize,
            pitch: rows.by.dst,
            vector,
        };
        rows.woven(start, dims)
    }

    /// What it costs, in about micro-operations.
    #[must_use]
    pub fn cost(&self) -> usize {
        let vectors = self.front.count + self.back.count;
        let outer = self.outer.iter();
        outer.fold(cost::woven(vectors, self.parts), |cost, it| {
            cost.saturating_mul(it.extent)
        })
    }
}

/// The dimensions that all boxes have, outermost first: those of a box that has fewer are cut where others have two.
fn common(boxes: &[(ByteBox, isize)]) -> Option<SmallVec<[Repeated; 2]>> {
    let mut left: SmallVec<[Steps; PARTS]> =
        boxes.iter().map(|(shape, _)| shape.steps.clone()).collect();
    let mut dims = SmallVec::new();
    while left.iter().any(|steps| !steps.is_empty()) {
        let inner: Option<SmallVec<[Step; PARTS]>> =
            left.iter().map(|steps| steps.last().copied()).collect();
        let inner = inner?;
        let extent = inner.iter().map(|step| step.extent).min()?;
        let mut by = Strands {
            dst: inner[0].dst,
            ..Strands::default()
        };
        for ((step, steps), src) in zip(zip(&inner, &mut left), &mut by.src) {
            if step.dst != by.dst || !step.extent.is_multiple_of(extent) {
                return None;
            }
            *src = step.src;
            steps.pop();
            let mut left = *step;
            left.take(extent);
            steps.extend((left.extent > 1).then_some(left));
        }
        dims.push(Repeated { extent, by });
    }
    dims.reverse();
    Some(dims)
}

type Windows = (isize, isize);

fn of_part(windows: Windows, part: usize) -> isize {
    if part == 0 { windows.0 } else { windows.1 }
}

/// What one source has of every row.
struct PartOfRow {
    /// Where it begins in the row, and how many bytes it has.
    at: isize,
    run: isize,
    /// From row to row in the source, and from the first byte to behind the last.
    step: isize,
    span: isize,
}

/// Rows to be woven.
struct WovenRows {
    parts: SmallVec<[PartOfRow; PARTS]>,
    count: isize,
    /// The bytes of a row.
    pitch: isize,
    /// The bytes of a vector.
    vector: isize,
}

/// A vector of the destination: the part of each of its bytes, and where that lies in the source.
struct Needed {
    dst: isize,
    bytes: Vec<(usize, isize)>,
    /// The first byte of each part that is needed, and the end of those that are.
    of: [(isize, isize); PARTS],
}

impl WovenRows {
    fn woven(&self, start: Strands, outer: SmallVec<[Repeated; 2]>) -> Option<Woven> {
        let &WovenRows {
            count,
            pitch,
            vector,
            ..
        } = self;
        let dense: isize = self.parts.iter().map(|part| part.run).sum();
        let all = count.checked_mul(pitch)?;
        if dense != pitch || self.parts.iter().any(|part| part.step < part.run) || all < vector {
            return None;
        }
        // By themselves, parts are stored with a mask, or in powers of two.
        let stores = |part: &PartOfRow| match vector {
            16 if !(part.run as usize).is_power_of_two() => 2,
            _ => 1,
        };
        let rows = vector / pitch;
        let separate: isize = self.parts.iter().map(stores).sum();
        let lanes = self.parts.iter().all(|part| part.run == 16);
        // A load and a shuffle take as long as a load and a store.
        if lanes || rows * separate <= self.parts.len() as isize {
            return None;
        }
        let mut unit = Strands {
            dst: rows * pitch,
            ..Strands::default()
        };
        // What the first vectors have behind their last whole row, the next ones write over.
        let (front, back) = (
            self.needed(0, unit.dst)?,
            self.needed(all - vector, vector)?,
        );
        let windows = [front.windows(vector)?, back.windows(vector)?];
        // Both loads would straddle lines, which takes two clocks each.
        if windows[0].1 == 64 {
            return None;
        }
        for (unit, part) in zip(&mut unit.src, &self.parts) {
            *unit = rows * part.step;
        }
        let mut ahead = (all - vector) / unit.dst + 1;
        for (number, part) in self.parts.iter().enumerate() {
            let room = part.span - of_part(windows[0], number) - front.of[number].0;
            let fit = if room < 0 {
                0
            } else {
                room / unit.src[number] + 1
            };
            ahead = ahead.min(fit);
        }
        let behind = match all - ahead * unit.dst {
            0 => 0,
            left => 1 + ((left - vector).max(0) + unit.dst - 1) / unit.dst,
        };
        let front = front.vectors(ahead, windows[0], |(low, _), _| low);
        let mut back = back.vectors(behind, windows[1], |(_, high), window| high - window);
        back.at = back.at.plus(unit.times(1 - behind.max(1)));
        if behind > 0 && (back.at.dst < 0 || back.at.src.iter().any(|src| *src < 0)) {
            return None;
        }
        Some(Woven {
            parts: self.parts.len(),
            vector: vector as usize,
            start,
            unit,
            front,
            back,
            outer,
        })
    }

    /// What so many bytes of the destination are taken from; nothing if one has no part.
    fn needed(&self, dst: isize, bytes: isize) -> Option<Needed> {
        let mut needed = Needed {
            dst,
            bytes: Vec::with_capacity(bytes as usize),
            of: [(0, 0); PARTS],
        };
        for byte in dst..dst + bytes {
            let (row, place) = (byte / self.pitch, byte % self.pitch);
            let has = |part: &PartOfRow| (part.at..part.at + part.run).contains(&place);
            let number = self.parts.iter().position(has)?;
            let part = &self.parts[number];
            let from = row * part.step + place - part.at;
            let (low, high) = &mut needed.of[number];
            if *high == 0 {
                *low = from;
            }
            *low = (*low).min(from);
            *high = (*high).max(from + 1);
            needed.bytes.push((number, from));
        }
        Some(needed)
    }
}

impl Needed {
    /// The most that is needed of one of some parts.
    fn widest(&self, parts: Range<usize>) -> isize {
        let of = self.of[parts].iter();
        of.fold(0, |most, (low, high)| most.max(high - low))
    }

    /// The bytes that are loaded of the first part, and of each of the others, which are no more: a vector's, or half a line.
    fn windows(&self, vector: isize) -> Option<Windows> {
        let window = |parts: Range<usize>| match self.widest(parts) {
            ..=32 if vector == 64 => Some(32),
            bytes => Some(vector).filter(|vector| bytes <= *vector),
        };
        let (first, others) = (window(0..1)?, window(1..PARTS)?);
        Some((first.max(others), others))
    }

    /// So many, whose windows begin where `begin` says of what is needed and the bytes of a window.
    fn vectors(
        &self,
        count: isize,
        windows: Windows,
        begin: impl Fn((isize, isize), isize) -> isize,
    ) -> Vectors {
        let mut at = Strands {
            dst: self.dst,
            ..Strands::default()
        };
        for &(part, _) in &self.bytes {
            at.src[part] = begin(self.of[part], of_part(windows, part));
        }
        let inside = |&(part, from): &(usize, isize)| (part as u8, (from - at.src[part]) as u8);
        Vectors {
            count: count as usize,
            windows: (windows.0 as usize, windows.1 as usize),
            bytes: self.bytes.iter().map(inside).collect(),
            at,
        }
    }
}
