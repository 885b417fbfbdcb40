//! Programs of units, remembered by what they depend on.
//!
//! A program is found in a few microseconds, and the next size of a tensor mostly has the same one:
//! the channels of a pixel lie where they lie, however wide the image is. Where copies are so far apart
//! that nothing is shared between them, it matters only how much they are aligned, so strides as large as
//! that are replaced by the least that would do ([`Far`]), and put back into the program.

use std::sync::{Arc, Mutex, PoisonError};

use smallvec::SmallVec;

use super::search::Way;
use super::unit::{LINE, Unit};
use crate::byte_box::Step;
use crate::cores::Core;

/// So many programs are remembered, each in one of two places. Those that were found again stay
/// longer than others: a shape may have patterns of its own that never come again.
const PLACES: usize = 256;

/// The dimensions of a unit, and what large strides were replaced.
pub(super) struct Pattern {
    /// Bytes of an element.
    run: usize,
    /// Its dimensions, the one of the smallest destination stride first.
    dims: Dims,
    pub(super) dst: Far,
    pub(super) src: Far,
}

type Dims = SmallVec<[Step; 4]>;

/// The large strides of one side, the smallest first.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Far(SmallVec<[Replaced; 2]>);

/// A stride, and what stands in its place.
#[derive(Clone, Copy, PartialEq)]
struct Replaced {
    stride: isize,
    by: isize,
    /// The least place of what is inside of it.
    low: isize,
}

/// What lies between copies that share nothing: a window before and one after.
const APART: isize = 2 * LINE as isize;

/// No smaller stride is ever replaced.
const NEAR: usize = 2 * LINE + APART as usize;

/// What stands for a place in a line: one as much aligned, so that whole elements stay whole and the next
/// copies come to places of their own.
fn elsewhere(place: isize) -> isize {
    match place {
        0 => 0,
        _ => (21 << place.trailing_zeros()) % LINE as isize,
    }
}

impl Far {
    /// Replaces the large strides of one side.
    fn replace(dims: &mut Dims, run: usize, side: fn(&mut Step) -> &mut isize) -> Far {
        let mut strides: SmallVec<[isize; 6]> = SmallVec::new();
        strides.extend(dims.iter_mut().map(|step| *side(step)));
        let mut far = Far::default();
        if strides.iter().all(|stride| stride.unsigned_abs() < NEAR) {
            return far;
        }
        let (mut low, mut high) = (0, run as isize);
        let mut reach = high;
        let mut left: SmallVec<[usize; 6]> = SmallVec::new();
        left.extend(0..dims.len());
        while let Some(first) = (0..left.len()).min_by_key(|at| strides[left[*at]].unsigned_abs()) {
            let at = left.swap_remove(first);
            let steps = dims[at].extent as isize - 1;
            let stride = &mut strides[at];
            let least = (high - low + APART + LINE as isize - 1) / LINE as isize * LINE as isize;
            let size = stride.saturating_abs();
            let apart = stride.unsigned_abs() >= least.unsigned_abs() + LINE;
            if !far.is_empty() && (!apart || size < reach) {
                // A larger one that stays would be taken for copies of one that does not, and of two
                // that meet, what is shared would not be.
                return Far::default();
            }
            reach = reach.saturating_add(size.saturating_mul(steps));
            if apart {
                let by = least + elsewhere(size % LINE as isize);
                far.0.push(Replaced {
                    stride: size,
                    by,
                    low,
                });
                *stride = if *stride < 0 { -by } else { by };
            }
            match *stride < 0 {
                true => low += *stride * steps,
                false => high += *stride * steps,
            }
        }
        for (step, stride) in dims.iter_mut().zip(strides) {
            *side(step) = stride;
        }
        far
    }

    /// Whether no stride was.
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where something lies that is less than a window before or behind what the pattern touches
    /// there.
    pub(super) fn put_back(&self, mut at: isize) -> isize {
        let mut sum = 0isize;
        for it in self.0.iter().rev() {
            let copy = (at - it.low + LINE as isize).div_euclid(it.by);
            at -= copy * it.by;
            sum = sum.wrapping_add(copy.wrapping_mul(it.stride));
        }
        sum.wrapping_add(at)
    }
}

impl Pattern {
    /// Of a unit with these dimensions, the one of the smallest destination stride first.
    pub(super) fn new(run: usize, dims: impl Iterator<Item = Step>) -> Pattern {
        let mut dims: Dims = dims.filter(|step| step.extent > 1).collect();
        Pattern {
            dst: Far::replace(&mut dims, run, |step| &mut step.dst),
            src: Far::replace(&mut dims, run, |step| &mut step.src),
            run,
            dims,
        }
    }

    /// Whether it is the unit itself.
    pub(super) fn is_unit(&self) -> bool {
        self.dst.is_empty() && self.src.is_empty()
    }

    pub(super) fn unit(&self) -> Option<Unit> {
        Unit::of(self.run, &self.dims)
    }

    fn hash(&self) -> u64 {
        let words = self
            .dims
            .iter()
            .flat_map(|step| [step.extent, step.dst as usize, step.src as usize]);
        let mix = |hash: u64, word: usize| {
            (hash.rotate_left(5) ^ word as u64).wrapping_mul(0x517c_c1b7_2722_0a95)
        };
        words.fold(self.run as u64, mix)
    }
}

/// The lines of a unit, of up to `N` windows each. Which bytes they take is said in tables that all units of
/// a pattern share, and where they lie beside that, which units of the same strides share.
pub struct Lines<Op, const N: usize> {
    /// Which bytes of which window each line is.
    pub ops: Arc<[Op]>,
    /// Where each line lies.
    pub places: Arc<[Place<N>]>,
    /// Where the first window of the first line lies, from which sources count.
    pub start: isize,
}

/// Where a line and its windows lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place<const N: usize> {
    /// The line.
    pub dst: isize,
    /// Its windows; what it has fewer are its first once more.
    pub src: [isize; N],
}

impl<Op, const N: usize> Clone for Lines<Op, N> {
    fn clone(&self) -> Self {
        Self {
            ops: Arc::clone(&self.ops),
            places: Arc::clone(&self.places),
            start: self.start,
        }
    }
}

impl<Op, const N: usize> Lines<Op, N> {
    /// The bytes that a unit of the pattern has elsewhere and shares at most with what has its strides.
    pub fn elsewhere(&self) -> usize {
        size_of_val(&*self.places)
    }

    /// With the strides of a pattern put back.
    pub(super) fn placed(&self, pattern: &Pattern) -> Self {
        let window = |src: isize| pattern.src.put_back(src.wrapping_add(self.start));
        let start = window(0);
        let put_back = |place: &Place<N>| Place {
            dst: pattern.dst.put_back(place.dst),
            src: place.src.map(|src| window(src).wrapping_sub(start)),
        };
        Self {
            ops: Arc::clone(&self.ops),
            places: self.places.iter().map(put_back).collect(),
            start,
        }
    }
}

/// Lines with their strides put back, those of the last unit that had the pattern: what is left of a
/// box behind a loop mostly has the strides of what is in it.
pub(super) struct Last<L>(Mutex<Option<Placed<L>>>);

/// What was replaced in the destination and the source, and the lines.
type Placed<L> = (Far, Far, L);

impl<L> Default for Last<L> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<L: Clone> Last<L> {
    /// The lines for a pattern, made if the last had other strides. Nobody waits for anybody.
    pub(super) fn or_make(&self, of: &Pattern, make: impl FnOnce() -> L) -> L {
        let Ok(mut last) = self.0.try_lock() else {
            return make();
        };
        match &*last {
            Some((dst, src, lines)) if (dst, src) == (&of.dst, &of.src) => lines.clone(),
            Some(_) | None => {
                let lines = make();
                *last = Some((of.dst.clone(), of.src.clone(), lines.clone()));
                lines
            }
        }
    }
}

/// The programs that one kind of machine has been given.
pub(super) struct Known<W> {
    core: Core,
    places: Mutex<Vec<KnownProgram<W>>>,
}

/// As small as can be: most that are looked at are not what is looked for.
struct KnownProgram<W> {
    /// A part of the hash of what is here.
    tag: u32,
    /// Whether it was found since a place was last looked for.
    found: bool,
    entry: Option<Box<Entry<W>>>,
}

struct Entry<W> {
    run: usize,
    dims: Dims,
    made: Made<W>,
}

/// A program and what it costs; nothing for a unit that has none.
pub(super) type Made<W> = Option<(Arc<W>, usize)>;

impl<W: Way> Known<W> {
    /// None yet.
    pub(super) fn new(core: Core) -> Self {
        Self {
            core,
            places: Mutex::new(Vec::new()),
        }
    }

    /// Whose cores it has.
    pub(super) fn core(&self) -> Core {
        self.core
    }

    /// The program of a pattern.
    pub(super) fn program(&self, pattern: &Pattern) -> Made<W> {
        let hash = pattern.hash();
        let (place, tag) = ((hash >> 32) as usize % PLACES, hash as u32);
        let places = [place, place ^ 1];
        let lock = || self.places.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut entries = lock();
            for place in places {
                if let Some(place) = entries.get_mut(place)
                    && let Some(entry) = &place.entry
                    && place.tag == tag
                    && entry.run == pattern.run
                    && entry.dims == pattern.dims
                {
                    place.found = true;
                    return entry.made.clone();
                }
            }
        }
        let made = pattern.unit().and_then(|unit| W::of(&unit, self.core));
        let made = made.map(|(way, cost)| (Arc::new(way), cost));
        let entry = Entry {
            run: pattern.run,
            dims: pattern.dims.clone(),
            made: made.clone(),
        };
        let mut entries = lock();
        if entries.is_empty() {
            entries.resize_with(PLACES, || KnownProgram {
                tag: 0,
                found: false,
                entry: None,
            });
        }
        let free = places.iter().copied().find(|place| !entries[*place].found);
        if free.is_none() {
            for place in places {
                entries[place].found = false;
            }
        }
        let new = KnownProgram {
            tag,
            found: false,
            entry: Some(Box::new(entry)),
        };
        let old = std::mem::replace(&mut entries[free.unwrap_or(place)], new);
        drop(entries);
        drop(old);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::{NarrowLines, WideLines, narrow, wide};
    use restride_loops::Dim;

    /// Units of up to four dimensions, near ones inside and far ones around, in many orders.
    fn units() -> impl Iterator<Item = (usize, Vec<Step>)> {
        let sizes = [[2, 3, 4], [3, 64, 2], [16, 2, 5], [5, 7, 3]];
        let steps = [1, -1, 2, 3, -5];
        let far = [64, 127, 191, 192, 193, 1000, 13_300, 1 << 20];
        let orders = [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0]];
        let all =
            (0..sizes.len() * steps.len() * far.len() * far.len() * orders.len()).map(move |n| {
                let (n, size) = (n / sizes.len(), sizes[n % sizes.len()]);
                let (n, step) = (n / steps.len(), steps[n % steps.len()]);
                let (n, near) = (n / far.len(), far[n % far.len()]);
                let (n, wide) = (n / far.len(), far[n % far.len()]);
                let order = orders[n % orders.len()];
                let mut src = [step, 0, 0];
                src[1] = src[0] * size[0] as isize + near * if step < -1 { -1 } else { 1 };
                src[2] = src[1].abs() * size[1] as isize + wide;
                let mut dst = 0;
                let dims = order.map(|at| {
                    let stride = if dst == 0 { 1 } else { dst };
                    dst = stride * size[at] as isize + if at == 1 { wide - 64 } else { 0 };
                    Step {
                        extent: size[at],
                        dst: stride,
                        src: src[at],
                    }
                });
                dims.to_vec()
            });
        // Some that are large, and others that are larger but not by much, or as large.
        let between = [(64, 97), (36, 36), (50, 60), (64, 64)].map(|(near, wide)| {
            let dims = [(2, 1, near), (3, 2, wide)];
            let step = |(extent, dst, src)| Step { extent, dst, src };
            dims.map(step).to_vec()
        });
        let between = between.into_iter().flat_map(|dims| {
            [4, 8].map(|run| {
                let scaled = dims.iter().map(|step| Step {
                    extent: step.extent,
                    dst: step.dst * run as isize,
                    src: step.src * run as isize,
                });
                (run, scaled.collect())
            })
        });
        let all = all.flat_map(|dims| {
            [1, 2, 4].map(|run| {
                let scaled = dims.iter().map(|step| Step {
                    extent: step.extent,
                    dst: step.dst * run as isize,
                    src: step.src * run as isize,
                });
                (run, scaled.collect())
            })
        });
        all.chain(between)
    }

    /// Each byte that lines write, and the byte that they write there.
    trait Writes {
        fn writes(&self) -> Vec<(isize, isize)>;
    }

    impl Writes for WideLines {
        fn writes(&self) -> Vec<(isize, isize)> {
            let mut all = Vec::new();
            for (op, line) in self.ops.iter().zip(&*self.places) {
                for place in (0..64).filter(|place| op.store >> place & 1 == 1) {
                    let pair = op.blend.iter().position(|bytes| bytes >> place & 1 == 1);
                    let pair = pair.expect("a byte of some window");
                    let at = usize::from(op.tables[pair][place]);
                    let (window, at) = (2 * pair + at / 64, at % 64);
                    assert_eq!(op.load[window] >> at & 1, 1, "a byte that is not loaded");
                    let from = self.start + line.src[window] + at as isize;
                    all.push((line.dst + place as isize, from));
                }
            }
            all
        }
    }

    impl Writes for NarrowLines {
        fn writes(&self) -> Vec<(isize, isize)> {
            let mut all = Vec::new();
            for (op, line) in self.ops.iter().zip(&*self.places) {
                for (table, src) in op.tables.iter().zip(line.src) {
                    let its = table.iter().enumerate().filter(|(_, at)| **at < 0x80);
                    let from = self.start + src;
                    all.extend(its.map(|(to, at)| (line.dst + to as isize, from + *at as isize)));
                }
            }
            all
        }
    }

    fn written(lines: &impl Writes) -> Vec<(isize, isize)> {
        let mut all = lines.writes();
        all.sort_unstable();
        all
    }

    /// What stands for a unit does what the unit's own program would; what it costs is within `times`
    /// of that.
    fn agrees<W: Way<Lines: Writes>>(times: usize) {
        let (mut replaced, mut made) = (0, 0);
        let remembered = Known::new(Core::Zen);
        for (run, dims) in units() {
            let pattern = Pattern::new(run, dims.iter().copied());
            let itself = Unit::of(run, &dims).and_then(|unit| W::of(&unit, Core::Zen));
            let known = pattern.unit().and_then(|unit| W::of(&unit, Core::Zen));
            assert_eq!(known.is_some(), itself.is_some(), "{run} {dims:?}");
            let (Some((known, less)), Some((itself, cost))) = (known, itself) else {
                continue;
            };
            let near = less <= times * cost && cost <= times * less;
            assert!(near, "{less} for {cost}: {run} {dims:?}");
            let nothing = Pattern::new(run, std::iter::empty());
            let itself = itself.lines(&nothing);
            let again = remembered
                .program(&pattern)
                .map(|(way, _): (Arc<W>, _)| way);
            let again = again.expect("a program").lines(&pattern);
            for known in [known.lines(&pattern), again] {
                let same = written(&known) == written(&itself);
                assert!(same, "{run} {dims:?} by {:?}", pattern.dims);
            }
            made += 1;
            replaced += usize::from(pattern.dims.iter().ne(dims.iter()));
        }
        assert!(made > 1000 && replaced > made / 4, "{replaced} of {made}");
    }

    #[test]
    fn what_is_far_apart_may_be_as_far_as_it_likes() {
        agrees::<wide::Way>(2);
        agrees::<narrow::Way>(1);
    }

    #[test]
    fn the_next_size_finds_the_program_of_the_last() {
        let known: Known<wide::Way> = Known::new(Core::Zen);
        let program = |height: i64, width: i64| {
            let plane = height * width;
            let dims = [(plane, 3, 1), (3, 1, plane)];
            let dims = dims.map(|(extent, dst, src)| Dim { extent, dst, src });
            let shape = crate::byte_box::ByteBox::of_move(&dims, 1).expect("a box");
            let found = crate::lines::search::cheapest(&shape, usize::MAX, &known);
            found.expect("a program").way
        };
        // Planes become pixels; it matters only how much they are aligned.
        let first = program(100, 192);
        assert!(Arc::ptr_eq(&first, &program(90, 64)));
        assert!(Arc::ptr_eq(&first, &program(480, 640)));
        let odd = program(101, 191);
        assert!(!Arc::ptr_eq(&first, &odd));
        assert!(Arc::ptr_eq(&odd, &program(99, 1001)));
        for width in 0..10_000 {
            program(31, 65 + width);
        }
        assert!(known.places.lock().expect("no panic").len() <= PLACES);
    }
}
