//! Small boxes as vectors of the destination, each put together from one or two of the source.
//!
//! A cell is a handful of such vectors that repeats. It reads nothing outside the hull of its own
//! source, so a window at the edge begins earlier than it needs to, and it writes nothing but its
//! own destination, so its last vector may overlap the one before; both hold the same bytes there.

use smallvec::SmallVec;

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::cost;
use crate::lines::{NarrowLines, NarrowOp, Place, Units};

/// Bytes of a vector.
const VECTOR: isize = 16;

/// Sixteen consecutive bytes of the destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Where they are.
    pub dst: isize,
    /// Where they are loaded from, sixteen bytes at a time.
    pub windows: SmallVec<[isize; 4]>,
    /// The shuffles that join the windows one after the other. The first takes bytes of the first window,
    /// and, from 16 on, of the second, or of the first again if that is all; each other one takes bytes of
    /// what there is by then, and of the next window. There is none where a window is what is wanted.
    pub shuffles: SmallVec<[[u8; 16]; 3]>,
    /// Whether another vector of its cell takes one of its windows, too.
    shares: bool,
}

impl Vector {
    /// From windows and a shuffle for each but the first, or for the only one.
    fn new(
        dst: isize,
        windows: SmallVec<[isize; 4]>,
        mut shuffles: SmallVec<[[u8; 16]; 3]>,
    ) -> Self {
        let stays = |lanes: &[u8; 16]| lanes.iter().zip(0u8..).all(|(lane, at)| *lane == at);
        if windows.len() == 1 && shuffles.iter().all(stays) {
            shuffles.clear();
        }
        Self {
            dst,
            windows,
            shuffles,
            shares: false,
        }
    }

    /// A line of a line program.
    fn of_line(line: &NarrowOp, dst: isize, windows: [isize; 4]) -> Self {
        const NONE: u8 = 0x80;
        let mut parts: SmallVec<[(isize, &[u8; 16]); 4]> = SmallVec::new();
        for (window, table) in windows.into_iter().zip(&line.tables) {
            if table.iter().any(|at| *at < NONE) {
                parts.push((window, table));
            }
        }
        // The first byte is the first window's: shuffles are cheaper so.
        parts.sort_by_key(|(_, table)| table[0] >= NONE);
        let windows = parts.iter().map(|(window, _)| *window).collect();
        let (first, others) = match parts.split_first() {
            Some(((_, first), others)) => (**first, others),
            None => ([NONE; 16], &[][..]),
        };
        let mut joined = first;
        let mut shuffles: SmallVec<[[u8; 16]; 3]> = SmallVec::new();
        for (_, table) in others {
            let mut lanes = [0; 16];
            for (at, lane) in lanes.iter_mut().enumerate() {
                *lane = match (joined[at], table[at]) {
                    (from @ 0..NONE, _) => from,
                    (_, from @ 0..NONE) => from + VECTOR as u8,
                    _ => at as u8,
                };
                if joined[at] < NONE || table[at] < NONE {
                    joined[at] = at as u8;
                }
            }
            shuffles.push(lanes);
        }
        if others.is_empty() {
            shuffles.push(first);
        }
        Self::new(dst, windows, shuffles)
    }

    /// For each window, which of its bytes are which of the vector: 255 where another window's are.
    #[must_use]
    pub fn tables(&self) -> SmallVec<[[u8; 16]; 4]> {
        const NONE: u8 = 255;
        let mut from: [(usize, u8); 16] = std::array::from_fn(|at| (0, at as u8));
        for (number, lanes) in self.shuffles.iter().enumerate() {
            from = lanes.map(|lane| match lane < VECTOR as u8 || self.windows.len() < 2 {
                true => from[usize::from(lane % VECTOR as u8)],
                false => (number + 1, lane - VECTOR as u8),
            });
        }
        let of = |window: usize| from.map(|(it, byte)| if it == window { byte } else { NONE });
        (0..self.windows.len()).map(of).collect()
    }

    /// Instructions that put its windows together, where tables are in registers, and whether it takes tables.
    #[must_use]
    pub fn joined_by_tables(&self) -> (usize, bool) {
        let windows = self.windows.len();
        // A shuffle of two loads its table, and copies them beside each other unless it is the only one that takes them.
        let each = self.shuffles.iter();
        let each = each.map(|it| match (is_network(it) || windows == 1, self.shares) {
            (true, _) => 1,
            (false, false) => 2,
            (false, true) => 3,
        });
        let (one_by_one, networks) = (each.sum(), self.shuffles.iter().all(is_network));
        match networks || one_by_one < 2 * windows - 1 {
            true => (one_by_one, windows == 1 && !networks),
            false => (2 * windows - 1, true),
        }
    }

    /// Whether it takes one instruction of the first x86-64: words of one window, or two of one
    /// followed by two of the other.
    fn is_words(&self) -> bool {
        let [lanes] = &self.shuffles[..] else {
            return self.shuffles.is_empty();
        };
        let words = lanes.chunks(4);
        let starts = words
            .clone()
            .all(|word| word[0] % 4 == 0 && word.windows(2).all(|two| two[0] + 1 == two[1]));
        let mut windows = words.map(|word| word[0] / 16);
        let [a, b, c, d] = std::array::from_fn(|_| windows.next().unwrap_or_default());
        starts && a == b && c == d
    }
}

/// Whether a shuffle takes no table on a machine that has instructions for what is common: elements that are zipped,
/// unzipped, transposed, repeated or in reverse, or bytes that follow each other.
fn is_network(lanes: &[u8; 16]) -> bool {
    let is = |f: &dyn Fn(usize) -> usize| (0..16).all(|at| usize::from(lanes[at]) == f(at));
    let first = usize::from(lanes[0]);
    if is(&|at| first + at) {
        return true;
    }
    [1, 2, 4, 8].into_iter().any(|size| {
        let network = |half: usize| {
            is(&|at| at / size % 2 * 16 + (half * 8 / size + at / size / 2) * size + at % size)
                || is(&|at| (2 * (at / size) + half) * size + at % size)
                || is(&|at| at / size % 2 * 16 + (at / size / 2 * 2 + half) * size + at % size)
        };
        let mut groups = [2, 4, 8].into_iter().filter(|group| *group > size);
        let turned = |group: usize| {
            is(&|at| at / group * group + group - (at % group / size + 1) * size + at % size)
        };
        network(0) || network(1) || is(&|at| first / size * size + at % size) || groups.any(turned)
    })
}

/// The vectors of a cell, and so many steps between one cell and the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where the first cell lies in the destination.
    pub dst: isize,
    /// As `dst`, in the source.
    pub src: isize,
    /// From cell to cell.
    pub steps: Steps,
    /// The vectors of one.
    pub cell: Vec<Vector>,
}

/// A box in cells: the whole ones, and those that end where a dimension does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// Both.
    pub parts: SmallVec<[Part; 2]>,
    /// Loads, shuffles and stores of all of them.
    pub cost: usize,
    /// What they are for.
    shuffles: Shuffles,
}

/// What can be shuffled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffles {
    /// Words of 32 bits.
    Words,
    /// Any bytes of two vectors.
    Bytes,
    /// The same, by tables that stay in registers, of each vector those bytes that are wanted and zeros
    /// elsewhere; what zips, unzips, transposes, repeats, reverses or shifts takes no table.
    Tables,
}

/// Bytes of destination that a cell should have: a few vectors that are loaded at once.
const CELL: isize = 64;
/// And at most.
const LARGEST: isize = 256;

impl Cells {
    /// A box in vectors, if that is possible; nothing for runs that are vectors by themselves.
    #[must_use]
    pub fn of(shape: &ByteBox, shuffles: Shuffles) -> Option<Self> {
        let run = shape.run as isize;
        if run >= VECTOR {
            return None;
        }
        let mut outer = shape.steps.clone();
        let mut inner = Steps::new();
        let mut bytes = run;
        while bytes < CELL
            && let Some(step) = outer.last().copied()
            && step.dst == bytes
        {
            outer.pop();
            let Some(taken) = steps_of_cell(bytes, step.extent as isize) else {
                bytes *= step.extent as isize;
                inner.push(step);
                continue;
            };
            return Self::split(run, &outer, inner, step, taken, bytes, shuffles);
        }
        let parts = [Part::new((0, 0), outer, &inner, run, shuffles)?];
        Some(Self::from_parts(parts.into_iter().collect(), shuffles))
    }

    /// `taken` steps of `step` are part of the cell; the others repeat it. Cells that end with the
    /// dimension overlap those before if it does not divide.
    fn split(
        run: isize,
        outer: &[Step],
        inner: Steps,
        step: Step,
        taken: isize,
        bytes: isize,
        shuffles: Shuffles,
    ) -> Option<Self> {
        let part = |first: isize, repeated: isize, taken: isize| {
            let mut steps = Steps::from_slice(outer);
            if repeated > 1 {
                steps.push(Step {
                    extent: repeated as usize,
                    dst: step.dst.checked_mul(taken)?,
                    src: step.src.checked_mul(taken)?,
                });
            }
            let mut within = inner.clone();
            within.push(Step {
                extent: taken as usize,
                ..step
            });
            let at = (step.dst.checked_mul(first)?, step.src.checked_mul(first)?);
            Part::new(at, steps, &within, run, shuffles)
        };
        let mut parts: SmallVec<[Part; 2]> = SmallVec::new();
        let extent = step.extent as isize;
        parts.push(part(0, extent / taken, taken)?);
        let rest = extent % taken;
        if rest > 0 {
            let rest = rest.max((VECTOR + bytes - 1) / bytes);
            parts.push(part(extent - rest, 1, rest)?);
        }
        Some(Self::from_parts(parts, shuffles))
    }

    /// The lines of a line program: rows of units, of which the last may overlap the one before.
    pub(crate) fn of_lines(units: &Units<NarrowLines, usize>, shuffles: Shuffles) -> Self {
        let (cut, lines) = (units.cut.in_turns(), &units.lines);
        let line = |(op, place): (&NarrowOp, &Place<4>)| {
            Vector::of_line(op, place.dst, place.src.map(|src| lines.start + src))
        };
        let cell: Vec<Vector> = lines.ops.iter().zip(&*lines.places).map(line).collect();
        let part = |first: usize, repeated: usize| {
            let mut steps = cut.outer.clone();
            if repeated > 1 {
                steps.push(Step {
                    extent: repeated,
                    dst: cut.long.dst * cut.steps as isize,
                    src: cut.long.src * cut.steps as isize,
                });
            }
            Part {
                dst: cut.long.dst * first as isize,
                src: cut.long.src * first as isize,
                steps,
                cell: cell.clone(),
            }
        };
        let mut parts: SmallVec<[Part; 2]> = SmallVec::new();
        parts.push(part(0, cut.long.extent / cut.steps));
        if !cut.long.extent.is_multiple_of(cut.steps) {
            parts.push(part(cut.long.extent - cut.steps, 1));
        }
        Self::from_parts(parts, shuffles)
    }

    /// Whether no vector takes more than a shuffle of words.
    pub(crate) fn are_words(&self) -> bool {
        let mut vectors = self.parts.iter().flat_map(|part| &part.cell);
        vectors.all(Vector::is_words)
    }

    /// About how many instructions their code has.
    pub(crate) fn code(&self) -> usize {
        self.parts.iter().map(|it| it.once(self.shuffles)).sum()
    }

    fn from_parts(mut parts: SmallVec<[Part; 2]>, shuffles: Shuffles) -> Self {
        if shuffles == Shuffles::Tables {
            // A window stays in its register while vectors take from it.
            let first = |vector: &Vector| vector.windows.iter().min().copied();
            for cell in parts.iter_mut().map(|part| &mut part.cell) {
                cell.sort_by_key(first);
                let taken: Vec<isize> = cell.iter().flat_map(|it| it.windows.clone()).collect();
                let often = |at: &isize| taken.iter().filter(|it| *it == at).count() > 1;
                for vector in cell {
                    vector.shares = vector.windows.iter().any(often);
                }
            }
        }
        let cost = parts
            .iter()
            .fold(0usize, |sum, part| sum.saturating_add(part.cost(shuffles)));
        Self {
            parts,
            cost,
            shuffles,
        }
    }
}

/// How many steps of a dimension of `extent` cells of `bytes` bytes are one cell; nothing if all.
fn steps_of_cell(bytes: isize, extent: isize) -> Option<isize> {
    let least = (CELL + bytes - 1) / bytes;
    let whole = (least..=LARGEST / bytes).find(|steps| steps * bytes % VECTOR == 0);
    let steps = whole.unwrap_or(least);
    (steps < extent).then_some(steps)
}

impl Part {
    fn new(
        (dst, src): (isize, isize),
        steps: Steps,
        inner: &[Step],
        run: isize,
        shuffles: Shuffles,
    ) -> Option<Self> {
        let cell = cell(inner, run, shuffles)?;
        Some(Self {
            dst,
            src,
            steps,
            cell,
        })
    }

    /// Loads, shuffles and stores.
    fn cost(&self, shuffles: Shuffles) -> usize {
        let around = match (shuffles, self.steps.is_empty()) {
            (Shuffles::Tables, false) => cost::TURN,
            _ => 0,
        };
        let once = self.once(shuffles) + around;
        once.saturating_mul(extent(&self.steps))
    }

    /// The same of one cell.
    fn once(&self, shuffles: Shuffles) -> usize {
        let mut loads: SmallVec<[isize; 16]> = SmallVec::new();
        let mut others = 0;
        for vector in &self.cell {
            loads.extend(vector.windows.iter().copied());
            others += 1 + match (shuffles, vector.windows.len()) {
                (Shuffles::Tables, _) => vector.joined_by_tables().0,
                (_, 1) => vector.shuffles.len(),
                // Two windows may take two instructions to join.
                _ => 2 * vector.shuffles.len(),
            };
        }
        loads.sort_unstable();
        loads.dedup();
        loads.len() + others
    }
}

/// The vectors of a small box, unless one of them takes more than two windows.
fn cell(steps: &[Step], run: isize, shuffles: Shuffles) -> Option<Vec<Vector>> {
    // Every byte, by its place in the destination.
    let mut bytes: Vec<(isize, isize)> = (0..run).map(|at| (at, at)).collect();
    for step in steps {
        let one = bytes.len();
        for at in 1..step.extent as isize {
            for byte in 0..one {
                let (dst, src) = bytes[byte];
                bytes.push((dst + at * step.dst, src + at * step.src));
            }
        }
    }
    bytes.sort_unstable();
    let low = bytes.iter().map(|(_, src)| *src).min()?;
    let high = bytes.iter().map(|(_, src)| *src).max()? + 1;
    if high - low < VECTOR {
        return None;
    }
    let mut vectors = Vec::new();
    let mut rest = &bytes[..];
    while let Some((first, _)) = rest.first() {
        // The bytes that follow each other, as many vectors as it takes.
        let len = rest
            .iter()
            .zip(*first..)
            .take_while(|((dst, _), at)| dst == at)
            .count();
        let (together, others) = rest.split_at(len);
        rest = others;
        let last = len.checked_sub(VECTOR as usize)?;
        let mut at = 0;
        while at < last + VECTOR as usize {
            let start = at.min(last);
            let vector = vector(&together[start..start + VECTOR as usize], low, high)?;
            if shuffles == Shuffles::Words && !vector.is_words() {
                return None;
            }
            vectors.push(vector);
            at += VECTOR as usize;
        }
    }
    Some(vectors)
}

/// A vector of these bytes from one or two windows between `low` and `high`.
fn vector(bytes: &[(isize, isize)], low: isize, high: isize) -> Option<Vector> {
    let (dst, source) = *bytes.first()?;
    let least = bytes.iter().fold(source, |least, (_, src)| least.min(*src));
    let most = bytes.iter().fold(source, |most, (_, src)| most.max(*src));
    let inside = |start: isize| start.clamp(low, high - VECTOR);
    // Windows at multiples of a vector are shared by more vectors.
    let even = |src: isize| inside(src - (src - low) % VECTOR);
    [
        [even(least); 2],
        [inside(least); 2],
        [even(least), even(most)],
        [inside(least), inside(most + 1 - VECTOR)],
    ]
    .into_iter()
    .find_map(|windows| within(dst, bytes, windows))
}

/// The same from two given windows. The first byte is the first window's: shuffles are cheaper so.
fn within(dst: isize, bytes: &[(isize, isize)], windows: [isize; 2]) -> Option<Vector> {
    let place = |[a, b]: [isize; 2], src: isize| match (src - a, src - b) {
        (at @ 0..VECTOR, _) => Some(at as u8),
        (_, at @ 0..VECTOR) => Some(at as u8 + VECTOR as u8),
        _ => None,
    };
    let [a, b] = windows;
    let first = bytes.first()?.1;
    let windows = match place([a; 2], first) {
        Some(_) => [a, b],
        None => [b, a],
    };
    let mut lanes = [0; 16];
    for (lane, (_, src)) in lanes.iter_mut().zip(bytes) {
        *lane = place(windows, *src)?;
    }
    let mut windows = SmallVec::from_slice(&windows);
    windows.dedup();
    let mut shuffles = SmallVec::new();
    shuffles.push(lanes);
    Some(Vector::new(dst, windows, shuffles))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Cells, Shuffles};
    use crate::byte_box::{ByteBox, Step};
    use crate::cores::Core;
    use crate::lines::{Known, Program};
    use restride_loops::Dim;

    fn points(steps: &[Step]) -> Vec<(isize, isize)> {
        steps.iter().fold(vec![(0, 0)], |points, step| {
            let at = |(dst, src): &(isize, isize)| {
                let (dst, src) = (*dst, *src);
                (0..step.extent as isize).map(move |i| (dst + i * step.dst, src + i * step.src))
            };
            points.iter().flat_map(at).collect()
        })
    }

    /// Which byte of the source every byte of the destination is, by the definition of a box.
    fn moved(shape: &ByteBox) -> BTreeMap<isize, isize> {
        let bytes = |(dst, src)| (0..shape.run as isize).map(move |at| (dst + at, src + at));
        let points = points(&shape.steps).into_iter();
        points.flat_map(bytes).collect()
    }

    /// The same by its vectors; also that none leaves the hull of the source.
    fn by_vectors(vectors: &Cells, shape: &ByteBox) -> BTreeMap<isize, isize> {
        let wanted = moved(shape);
        let (low, high) = (wanted.values().min(), wanted.values().max());
        let mut bytes = BTreeMap::new();
        for part in &vectors.parts {
            for (dst, src) in points(&part.steps) {
                for vector in &part.cell {
                    let loaded = |at: &isize| {
                        let at = part.src + src + at;
                        assert!(low <= Some(&at) && Some(&(at + 15)) <= high, "{vector:?}");
                        std::array::from_fn(|byte| at + byte as isize)
                    };
                    let mut windows = vector.windows.iter().map(loaded);
                    let mut joined: [isize; 16] = windows.next().expect("a window");
                    for lanes in &vector.shuffles {
                        let next = windows.next().unwrap_or(joined);
                        joined = lanes.map(|lane| match usize::from(lane) {
                            at @ 0..16 => joined[at],
                            at => next[at - 16],
                        });
                    }
                    // Tables say the same of each window.
                    for (window, table) in vector.windows.iter().zip(vector.tables()) {
                        for (byte, from) in table.iter().zip(joined).filter(|(it, _)| **it < 16) {
                            assert_eq!(part.src + src + window + *byte as isize, from);
                        }
                    }
                    for (to, from) in (0..).zip(joined) {
                        let to = part.dst + dst + vector.dst + to;
                        assert_eq!(*bytes.entry(to).or_insert(from), from, "{vector:?}");
                    }
                }
            }
        }
        bytes
    }

    fn shape(dims: &[(i64, i64, i64)], width: usize) -> ByteBox {
        let dim = |&(extent, dst, src): &(i64, i64, i64)| Dim { extent, dst, src };
        ByteBox::of_move(&dims.iter().map(dim).collect::<Vec<_>>(), width).expect("a box")
    }

    #[test]
    fn vectors_move_what_the_box_does() {
        let (mut found, known) = ([0; 4], Known::new(Core::Zen));
        for width in [1, 2, 4, 8] {
            for (n, m) in (1..24).flat_map(|n| (1..10).map(move |m| (n, m))) {
                for s in [-3, -2, -1, 0, 1, 2, 3, 7] {
                    for dims in [
                        [(n, 1, s), (m, n, s * n)],
                        [(n, m, m), (m, 1, s)],
                        [(n, m, s), (m, 1, 20)],
                        [(n, -m, m), (m, 1, s)],
                        [(n, 40, s), (m, 1, 1)],
                    ] {
                        let shape = shape(&dims, width);
                        let all = [
                            Cells::of(&shape, Shuffles::Words),
                            Cells::of(&shape, Shuffles::Bytes),
                            Program::narrow(&shape, &known, usize::MAX)
                                .map(|(_, units)| Cells::of_lines(&units, Shuffles::Bytes)),
                            Cells::of(&shape, Shuffles::Tables),
                        ];
                        for (found, vectors) in found.iter_mut().zip(all) {
                            if let Some(vectors) = vectors {
                                *found += 1;
                                let made = by_vectors(&vectors, &shape);
                                assert_eq!(made, moved(&shape), "{shape:?}");
                            }
                        }
                    }
                }
            }
        }
        assert!(found[0] > 200 && found[1] > found[0], "{found:?}");
        assert!(found[2] > found[1] && found[3] == found[1], "{found:?}");
    }

    #[test]
    fn swapped_pairs_are_a_load_a_shuffle_and_a_store() {
        let shape = shape(&[(32, 2, 2), (2, 1, -1)], 4);
        let vectors = Cells::of(&shape, Shuffles::Words).expect("words of one window");
        assert_eq!(vectors.cost, 16 * 3);
        assert_eq!((vectors.parts.len(), vectors.parts[0].cell.len()), (1, 4));
    }

    #[test]
    fn some_boxes_are_none() {
        let none =
            |dims: &[_], width| assert_eq!(Cells::of(&shape(dims, width), Shuffles::Bytes), None);
        // A transpose takes more windows, a hole in the destination ends a vector, three bytes are
        // no window.
        none(&[(8, 1, 8), (8, 8, 1)], 4);
        none(&[(20, 2, 1)], 4);
        none(&[(20, 1, 0)], 2);
        none(&[(3, 1, -1)], 4);
    }
}
