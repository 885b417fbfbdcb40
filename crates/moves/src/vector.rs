//! Vectors of the destination, each put together from windows of the source.

use smallvec::SmallVec;

use crate::lines::NarrowOp;
use crate::processor::Shuffles;

/// Bytes of a vector.
pub(crate) const VECTOR: isize = 16;

/// In a table of bytes, none; and all above.
const NONE: u8 = 0x80;

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
    pub(crate) shares: bool,
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
    pub(crate) fn of_line(line: &NarrowOp, dst: isize, windows: [isize; 4]) -> Self {
        let parts = windows.into_iter().zip(line.tables);
        let taken = parts.filter(|(_, table)| table.iter().any(|at| *at < NONE));
        Self::of_tables(dst, taken.collect())
    }

    /// Of windows, and which of their bytes are which of the vector: [`NONE`] where another window's are.
    fn of_tables(dst: isize, mut parts: SmallVec<[(isize, [u8; 16]); 4]>) -> Self {
        // The first byte is the first window's: shuffles are cheaper so.
        parts.sort_by_key(|(_, table)| table[0] >= NONE);
        let windows = parts.iter().map(|(window, _)| *window).collect();
        let (first, others) = match parts.split_first() {
            Some(((_, first), others)) => (*first, others),
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
        let mut from: [(usize, u8); 16] = std::array::from_fn(|at| (0, at as u8));
        for (number, lanes) in self.shuffles.iter().enumerate() {
            from = lanes.map(|lane| match lane < VECTOR as u8 || self.windows.len() < 2 {
                true => from[usize::from(lane % VECTOR as u8)],
                false => (number + 1, lane - VECTOR as u8),
            });
        }
        let of = |window: usize| from.map(|(it, byte)| if it == window { byte } else { 255 });
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
    pub(crate) fn is_words(&self) -> bool {
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

/// The vectors of bytes in the order of the destination, of so many windows each at most.
pub(crate) fn vectors(
    bytes: &[(isize, isize)],
    windows: usize,
    shuffles: Shuffles,
) -> Option<Vec<Vector>> {
    let low = bytes.iter().map(|(_, src)| *src).min()?;
    let high = bytes.iter().map(|(_, src)| *src).max()? + 1;
    if high - low < VECTOR {
        return None;
    }
    let mut vectors = Vec::new();
    let mut rest = bytes;
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
            let vector = vector(
                &together[start..start + VECTOR as usize],
                low,
                high,
                windows,
            )?;
            if shuffles == Shuffles::Words && !vector.is_words() {
                return None;
            }
            vectors.push(vector);
            at += VECTOR as usize;
        }
    }
    Some(vectors)
}

/// A vector of these bytes from windows between `low` and `high`: one that takes a single instruction if there is any, and more
/// than two windows only where two do not reach.
fn vector(bytes: &[(isize, isize)], low: isize, high: isize, most: usize) -> Option<Vector> {
    let (dst, _) = *bytes.first()?;
    let hull = |bytes: &[(isize, isize)]| {
        let sources = || bytes.iter().map(|(_, src)| *src);
        Some((sources().min()?, sources().max()?))
    };
    let (least, last) = hull(bytes)?;
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let inside = |start: isize| start.clamp(low, high - VECTOR);
    // Windows at multiples of a vector are shared by more vectors.
    let even = |src: isize| inside(src - (src - low) % VECTOR);
    let pairs = [
        [even(least); 2],
        [inside(least); 2],
        [even(least), even(last)],
        [inside(least), inside(last + 1 - VECTOR)],
        [even(hull(first)?.0), even(hull(second)?.0)],
        [inside(hull(first)?.0), inside(hull(second)?.0)],
    ];
    let mut any = None;
    for windows in pairs {
        match within(dst, bytes, windows) {
            Some(vector) if vector.is_words() => return Some(vector),
            found => any = any.or(found),
        }
    }
    any.or_else(|| of_many(dst, bytes, most, inside))
}

/// The same of so many windows at most, each of which begins at the first byte that those before do not have.
fn of_many(
    dst: isize,
    bytes: &[(isize, isize)],
    most: usize,
    inside: impl Fn(isize) -> isize,
) -> Option<Vector> {
    let mut parts: SmallVec<[(isize, [u8; 16]); 4]> = SmallVec::new();
    let mut done = [false; VECTOR as usize];
    loop {
        let left = bytes.iter().zip(&done).filter(|(_, done)| !**done);
        let Some(start) = left.map(|((_, src), _)| inside(*src)).min() else {
            break;
        };
        if parts.len() == most {
            return None;
        }
        let mut table = [NONE; 16];
        for ((lane, done), (_, src)) in table.iter_mut().zip(&mut done).zip(bytes) {
            if !*done && (start..start + VECTOR).contains(src) {
                (*lane, *done) = ((src - start) as u8, true);
            }
        }
        parts.push((start, table));
    }
    Some(Vector::of_tables(dst, parts))
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
