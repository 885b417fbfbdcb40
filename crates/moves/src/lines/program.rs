//! Units as programs: for every vector of the destination, from which windows of the source its
//! bytes come and where they lie in these.
//!
//! Preparing a box takes little else, so these are loops over arrays of fixed size, which become
//! vector instructions where the caller is compiled for some. Distances within a unit are small, and
//! their sums wrap.

use smallvec::SmallVec;

use super::unit::Unit;

/// A vector of the destination.
#[derive(Clone, Copy)]
pub(super) struct Vector<const SIZE: usize> {
    /// Its first byte.
    pub(super) dst: i32,
    /// Where each of its bytes lies in the source; [`NONE`] for one that is not written.
    from: [i32; SIZE],
}

/// Beyond all sources.
const NONE: i32 = i32::MAX;

/// Where windows start, in ascending order.
pub(super) type Starts = SmallVec<[i32; 8]>;

/// What a vector takes from a window.
pub(super) struct Part {
    /// Which bytes of the vector these are.
    pub(super) bytes: u64,
    /// The first byte of the window that is needed, and the end of those that are.
    pub(super) needed: (usize, usize),
}

impl<const SIZE: usize> Vector<SIZE> {
    #[inline(always)]
    fn empty(dst: i32) -> Vector<SIZE> {
        Vector {
            dst,
            from: [NONE; SIZE],
        }
    }

    /// As many of `run` bytes as have a place in it; how many these are.
    #[inline(always)]
    fn take(&mut self, dst: i32, src: i32, run: usize) -> usize {
        let at = dst.wrapping_sub(self.dst) as usize;
        let Some(places) = self.from.get_mut(at..) else {
            return 0;
        };
        let len = run.min(places.len());
        for (n, place) in (0..).zip(&mut places[..len]) {
            *place = src.wrapping_add(n);
        }
        len
    }

    /// Finds what it takes from a window that starts at `start`, but for what the next one has, and
    /// calls `see` with the place of every byte and whether it is one of these, and where it lies.
    #[inline(always)]
    pub(super) fn part(
        &self,
        start: i32,
        next: Option<&i32>,
        mut see: impl FnMut(usize, bool, u8),
    ) -> Part {
        let end = next.copied().unwrap_or(NONE);
        let (mut bytes, mut first, mut last) = (0, NONE, -1);
        for (place, &from) in self.from.iter().enumerate() {
            let at = from.wrapping_sub(start);
            let its = at >= 0 && at < SIZE as i32 && from < end;
            see(place, its, at as u8);
            bytes |= u64::from(its) << place;
            first = first.min(if its { at } else { NONE });
            last = last.max(if its { at } else { -1 });
        }
        let needed = match bytes {
            0 => (SIZE, 0),
            _ => (first as usize, last as usize + 1),
        };
        Part { bytes, needed }
    }
}

/// A unit cut into vectors.
#[inline(always)]
pub(super) fn vectors<const SIZE: usize>(unit: &Unit) -> Vec<Vector<SIZE>> {
    let mut all = Vec::with_capacity(unit.elements.len() * unit.run / SIZE + 2);
    let mut vector = Vector::empty(0);
    for element in &unit.elements {
        let (mut dst, mut src, mut run) = (element.dst, element.src, unit.run);
        loop {
            let len = vector.take(dst, src, run);
            if len == run {
                break;
            }
            run = run.wrapping_sub(len);
            (dst, src) = (dst.wrapping_add(len as i32), src.wrapping_add(len as i32));
            all.push(std::mem::replace(&mut vector, Vector::empty(dst)));
        }
    }
    all.push(vector);
    all
}

/// As [`vectors`], every stretch of the destination by itself: all vectors are written whole, and
/// the last of a stretch may overlap the one before. Nothing if a stretch is shorter than a vector.
#[inline(always)]
pub(super) fn whole_vectors<const SIZE: usize>(unit: &Unit) -> Option<Vec<Vector<SIZE>>> {
    let mut all = Vec::with_capacity(unit.elements.len() * unit.run / SIZE + 2);
    let mut stretch: Vec<i32> = Vec::with_capacity(unit.elements.len() * unit.run);
    let mut elements = unit.elements.iter().peekable();
    while let Some(element) = elements.next() {
        stretch.extend((0..unit.run as i32).map(|at| element.src.wrapping_add(at)));
        let end = element.dst.wrapping_add(unit.run as i32);
        if elements.peek().is_some_and(|next| next.dst == end) {
            continue;
        }
        let last = stretch.len().checked_sub(SIZE)?;
        let start = end.wrapping_sub(stretch.len() as i32);
        for at in (0..last).step_by(SIZE).chain([last]) {
            let mut vector = Vector::empty(start.wrapping_add(at as i32));
            vector.from.copy_from_slice(&stretch[at..at + SIZE]);
            all.push(vector);
        }
        stretch.clear();
    }
    Some(all)
}

/// Windows, each as wide as a vector, for all bytes of some vectors. They are as far apart as they
/// are long where that takes no more of them, so that what was loaded from aligned lines once always
/// is. Nothing if it takes more than `most`, which is found out early: most units take more.
#[inline(always)]
pub(super) fn cover<const SIZE: usize>(vectors: &[Vector<SIZE>], most: usize) -> Option<Starts> {
    let grid = |base: i32| {
        move |src: i32| src.wrapping_sub(src.wrapping_sub(base).rem_euclid(SIZE as i32))
    };
    let tight = starts(vectors, most, |src| src)?;
    let (fewest, low) = (tight.len(), *tight.first()?);
    let mut best = match starts(vectors, fewest, grid(0)) {
        Some(aligned) => aligned,
        None => starts(vectors, fewest, grid(low)).unwrap_or(tight),
    };
    // Where windows straddle lines anyway, the last one ends with what is needed, so that less of it
    // lies outside the box.
    let straddles = |src: &i32| *src % SIZE as i32 != 0;
    if best.iter().any(straddles) {
        let bytes = vectors.iter().flat_map(|vector| vector.from);
        let last = bytes.fold(low, |last, from| {
            last.max(if from == NONE { low } else { from })
        });
        let most = last.wrapping_add(1).wrapping_sub(SIZE as i32);
        for src in best.iter_mut().filter(|src| straddles(src)) {
            *src = (*src).min(most).max((*src).min(low));
        }
    }
    Some(best)
}

/// Where windows start, if `start` says where the one of the first byte not held yet does; nothing
/// if there are more than `most`.
#[inline(always)]
fn starts<const SIZE: usize>(
    vectors: &[Vector<SIZE>],
    most: usize,
    start: impl Fn(i32) -> i32,
) -> Option<Starts> {
    let mut starts = Starts::new();
    let mut held = i32::MIN;
    loop {
        let mut next = NONE;
        for vector in vectors {
            for from in vector.from {
                next = next.min(if from >= held { from } else { NONE });
            }
        }
        if next == NONE {
            return Some(starts);
        }
        if starts.len() == most {
            return None;
        }
        starts.push(start(next));
        held = start(next).wrapping_add(SIZE as i32);
    }
}
