//! Units as programs: for every vector of the destination, from which windows of the source its
//! bytes come and where they lie in these.

use smallvec::SmallVec;

use super::unit::Segment;

/// A unit cut into vectors of its destination.
pub(super) struct Vectors {
    /// Its segments, none of which is in two vectors.
    parts: Vec<Segment>,
    /// For each vector its first byte and the end of its parts.
    vectors: Vec<(isize, usize)>,
}

/// Where windows start, in ascending order.
pub(super) type Starts = SmallVec<[isize; 8]>;

impl Vectors {
    /// Of so many bytes.
    pub(super) fn of(unit: &[Segment], size: usize) -> Vectors {
        let mut parts = Vec::with_capacity(unit.len() + unit.len() / 4 + 8);
        let mut vectors: Vec<(isize, usize)> = Vec::with_capacity(8);
        let mut end = isize::MIN;
        for &segment in unit {
            let mut rest = segment;
            while rest.len > 0 {
                if rest.dst >= end {
                    end = rest.dst + size as isize;
                    vectors.push((rest.dst, 0));
                }
                let len = rest.len.min((end - rest.dst).unsigned_abs());
                parts.push(Segment { len, ..rest });
                if let Some((_, end)) = vectors.last_mut() {
                    *end = parts.len();
                }
                rest = Segment {
                    dst: rest.dst + len as isize,
                    src: rest.src + len as isize,
                    len: rest.len - len,
                };
            }
        }
        Vectors { parts, vectors }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.vectors.len()
    }

    /// The first byte of each, and its parts.
    pub(super) fn each(&self) -> impl Iterator<Item = (isize, &[Segment])> {
        let mut from = 0;
        self.vectors.iter().map(move |&(dst, to)| {
            let parts = &self.parts[from..to];
            from = to;
            (dst, parts)
        })
    }

    /// The parts of all.
    pub(super) fn parts(&self) -> &[Segment] {
        &self.parts
    }
}

/// Windows of `SIZE` bytes for all bytes of some segments. They are as far apart as they are long
/// where that takes no more of them, so that what was loaded from aligned lines once always is.
/// Nothing if it takes more than `most`, which is found out early: most units that are looked at do.
pub(super) fn cover<const SIZE: isize>(segments: &[Segment], most: usize) -> Option<Starts> {
    let grid = |base: isize| move |src: isize| src - (src - base).rem_euclid(SIZE);
    let tight = starts::<SIZE>(segments, most, |src| src)?;
    let fewest = tight.len();
    let low = tight.first().copied().unwrap_or(0);
    let on_grid = |base: isize| tight.iter().all(|start| (start - base) % SIZE == 0);
    let mut best = if on_grid(0) {
        tight
    } else if let Some(aligned) = starts::<SIZE>(segments, fewest, grid(0)) {
        aligned
    } else if on_grid(low) {
        tight
    } else {
        starts::<SIZE>(segments, fewest, grid(low)).unwrap_or(tight)
    };
    // Where windows straddle lines anyway, the last one ends with what is needed, so that less of it
    // lies outside the box.
    if best.iter().any(|src| src % SIZE != 0) {
        let high = segments.iter().map(Segment::end).max().unwrap_or(low);
        for src in best.iter_mut().filter(|src| **src % SIZE != 0) {
            *src = (*src).min(high - SIZE).max((*src).min(low));
        }
    }
    Some(best)
}

/// Where windows start that hold all bytes of segments, if `start` says where the window of the
/// first byte not covered yet does; nothing if there are more than `most`.
fn starts<const SIZE: isize>(
    segments: &[Segment],
    most: usize,
    start: impl Fn(isize) -> isize,
) -> Option<Starts> {
    let mut starts = Starts::new();
    let mut covered = isize::MIN;
    loop {
        let next =
            segments
                .iter()
                .fold(isize::MAX, |next, segment| match segment.end() > covered {
                    true => next.min(segment.src.max(covered)),
                    false => next,
                });
        if next == isize::MAX {
            return Some(starts);
        }
        if starts.len() == most {
            return None;
        }
        starts.push(start(next));
        covered = start(next) + SIZE;
    }
}

/// Calls `see` with the place of a part in its vector, the number of the window that has it, its
/// place there and its length, for all bytes of a vector that starts at `dst`. Of several windows
/// that have a byte, the last is taken.
pub(super) fn place<const SIZE: isize>(
    dst: isize,
    parts: &[Segment],
    windows: &[isize],
    mut see: impl FnMut(usize, usize, usize, usize),
) {
    for part in parts {
        let mut at = part.src;
        while at < part.end() {
            let Some(number) = windows.iter().rposition(|start| *start <= at) else {
                break;
            };
            let from = at - windows[number];
            let next = windows.get(number + 1).copied().unwrap_or(isize::MAX);
            let end = part.end().min(windows[number] + SIZE).min(next);
            if end <= at {
                break;
            }
            let to = part.dst - dst + (at - part.src);
            see(
                to.unsigned_abs(),
                number,
                from.unsigned_abs(),
                (end - at).unsigned_abs(),
            );
            at = end;
        }
    }
}
