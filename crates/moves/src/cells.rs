//! Small boxes as vectors of the destination, each put together from one or two of the source.
//!
//! A cell is a handful of such vectors that repeats. It reads nothing outside the hull of its own
//! source, so a window at the edge begins earlier than it needs to, and it writes nothing but its
//! own destination, so its last vector may overlap the one before; both hold the same bytes there.

use smallvec::SmallVec;

use crate::byte_box::{ByteBox, Step, Steps, extent};
use crate::cost;
use crate::lines::{NarrowLines, NarrowOp, Place, Units};
use crate::processor::Shuffles;
use crate::vector::{VECTOR, Vector, vectors};

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
        Self::repeated(cell, &cut.outer, cut.long, cut.steps, (0, 0), shuffles)
    }

    /// Elements of so many bytes at offsets in a row that follow each other in the destination, so many rows together: one row of
    /// the destination begins where the one before ends, if there are several.
    pub(crate) fn of_rows(
        run: usize,
        (start, offsets): ((isize, isize), &[isize]),
        rows: Step,
        together: usize,
        outer: &[Step],
        shuffles: Shuffles,
    ) -> Option<Self> {
        let mut bytes: Vec<(isize, isize)> = Vec::new();
        for row in 0..together as isize {
            for offset in offsets {
                let from = rows.src.checked_mul(row)?.checked_add(*offset)?;
                from.checked_add(run as isize)?;
                for byte in 0..run as isize {
                    bytes.push((bytes.len() as isize, from + byte));
                }
            }
        }
        let cell = vectors(&bytes, 4, shuffles)?;
        Some(Self::repeated(cell, outer, rows, together, start, shuffles))
    }

    /// A cell for so many steps together; the last one overlaps the one before if that does not divide.
    fn repeated(
        cell: Vec<Vector>,
        outer: &[Step],
        long: Step,
        together: usize,
        start: (isize, isize),
        shuffles: Shuffles,
    ) -> Self {
        let part = |first: usize, repeated: usize| {
            let mut steps = Steps::from_slice(outer);
            if repeated > 1 {
                steps.push(Step {
                    extent: repeated,
                    dst: long.dst * together as isize,
                    src: long.src * together as isize,
                });
            }
            Part {
                dst: start.0 + long.dst * first as isize,
                src: start.1 + long.src * first as isize,
                steps,
                cell: cell.clone(),
            }
        };
        let mut parts: SmallVec<[Part; 2]> = SmallVec::new();
        parts.push(part(0, long.extent / together));
        if !long.extent.is_multiple_of(together) {
            parts.push(part(long.extent - together, 1));
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
    vectors(&bytes, 2, shuffles)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Cells;
    use crate::byte_box::{ByteBox, Step};
    use crate::cores::Core;
    use crate::lines::{Known, Program};
    use crate::processor::Shuffles;
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
        by_vectors_within(vectors, &moved(shape))
    }

    fn by_vectors_within(
        vectors: &Cells,
        wanted: &BTreeMap<isize, isize>,
    ) -> BTreeMap<isize, isize> {
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
    fn vectors_move_named_elements() {
        let mut found = [0; 3];
        let mut seed = 7u32;
        let mut random = |below: isize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) as isize % below
        };
        let runs = [1, 2, 4, 8].into_iter();
        let numbers = runs.flat_map(|run| (1..40).map(move |n| (run, n)));
        let all = numbers.flat_map(|(run, n)| [1, 2, 5, 17].map(|extent| (run, n, extent)));
        for (run, n, extent) in all {
            for spread in [1, 2, 5] {
                let of = n as isize * spread;
                let offsets: Vec<_> = (0..n).map(|_| random(of) * run as isize).collect();
                let rows = Step {
                    extent,
                    dst: (n * run) as isize,
                    src: of * run as isize,
                };
                let mut wanted = BTreeMap::new();
                for row in 0..extent as isize {
                    for (at, offset) in offsets.iter().enumerate() {
                        for byte in 0..run as isize {
                            let to = 3 + row * rows.dst + at as isize * run as isize + byte;
                            wanted.insert(to, 5 + row * rows.src + offset + byte);
                        }
                    }
                }
                for (found, shuffles) in
                    found
                        .iter_mut()
                        .zip([Shuffles::Words, Shuffles::Bytes, Shuffles::Tables])
                {
                    let together = extent.min(4);
                    let start = ((3, 5), &offsets[..]);
                    let cells = Cells::of_rows(run, start, rows, together, &[], shuffles);
                    if let Some(cells) = cells {
                        *found += 1;
                        assert_eq!(by_vectors_within(&cells, &wanted), wanted, "{offsets:?}");
                    }
                }
            }
        }
        assert!(found[0] > 100 && found[1] > 500, "{found:?}");
        assert_eq!(found[1], found[2]);
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
