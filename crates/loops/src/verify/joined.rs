//! Whether few writes, put side by side, are exactly one set.
//!
//! Rows that are left over behind a loop, the parts of a concat, the rims of a pad: two writes that
//! differ in one dimension, where one goes on where the other ends, are one longer write. If all
//! become one in this way and that is the image, nothing has to be added up.

use smallvec::SmallVec;

use super::strided::Strided;

/// More writes than this are not put together by trying all pairs.
const FEW: usize = 8;

/// Whether the sets become the image by joining neighbours. Where not, they may be it all the same.
pub(super) fn is_image<'s>(
    sets: impl ExactSizeIterator<Item = &'s Strided>,
    image: &Strided,
) -> bool {
    if sets.len() > FEW || !image.is_nested() {
        return false;
    }
    let mut all: SmallVec<[Strided; FEW]> = sets.cloned().collect();
    all.sort_unstable_by_key(|set| set.low);
    while all.len() > 1 {
        let pairs = (0..all.len()).flat_map(|a| (a + 1..all.len()).map(move |b| (a, b)));
        let mut joined = pairs.filter_map(|(a, b)| Some((a, b, join(&all[a], &all[b])?)));
        let Some((a, b, both)) = joined.next() else {
            return false;
        };
        drop(joined);
        all[a] = both;
        all.remove(b);
    }
    all.first() == Some(image)
}

/// Both sets as one, the second of which starts where the first ends in one dimension and is like
/// it in all others.
fn join(a: &Strided, b: &Strided) -> Option<Strided> {
    if a.repeats || b.repeats {
        return None;
    }
    let mut dims: SmallVec<[(i64, i64); 6]> = SmallVec::new();
    let mut differs = None;
    let (mut of_a, mut of_b) = (a.dims.as_slice(), b.dims.as_slice());
    while let Some(stride) = largest(of_a).max(largest(of_b)) {
        let (first, second) = (take(&mut of_a, stride), take(&mut of_b, stride));
        if first != second && differs.replace((dims.len(), second)).is_some() {
            return None;
        }
        dims.push((first, stride));
    }
    let apart = b.low - a.low;
    let ends = |&(extent, stride): &(i64, i64)| extent.checked_mul(stride) == Some(apart);
    let (at, more) = match differs {
        Some((at, more)) if ends(&dims[at]) => (at, more),
        Some(_) => return None,
        None => match dims.iter().position(ends) {
            Some(at) => (at, dims[at].0),
            // The same again, further on.
            None => {
                dims.push((1, apart));
                (dims.len() - 1, 1)
            }
        },
    };
    dims[at].0 = dims[at].0.checked_add(more)?;
    Some(Strided::new(a.low, dims))
}

/// The stride of the first dimension, than which none has a larger one.
fn largest(dims: &[(i64, i64)]) -> Option<i64> {
    dims.first().map(|dim| dim.1)
}

/// The extent of the first dimension, which is taken off, if it has this stride; else it is 1.
fn take(dims: &mut &[(i64, i64)], stride: i64) -> i64 {
    match *dims {
        [(extent, own), rest @ ..] if *own == stride => {
            *dims = rest;
            *extent
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::verify::fingerprint::Point;

    /// An image cut again and again, and the same with one cut moved.
    #[test]
    fn what_was_cut_is_put_together_and_nothing_else() {
        let mut r = Random::new(4);
        let (mut found, mut wrong) = (0, 0);
        for _ in 0..20_000 {
            let sizes: [i64; 3] = std::array::from_fn(|_| r.within(1, 6));
            let gap = r.within(0, 2);
            let strides = [(sizes[2] + gap) * sizes[1], sizes[2] + gap, 1];
            let low = r.within(1, 50);
            let mut pieces = vec![(low, sizes)];
            for _ in 0..r.below(7) {
                let at = r.below(pieces.len());
                let (dim, (start, whole)) = (r.below(3), pieces[at]);
                if whole[dim] < 2 {
                    continue;
                }
                let (mut head, mut tail) = (whole, whole);
                head[dim] = r.within(1, whole[dim] - 1);
                tail[dim] = whole[dim] - head[dim];
                pieces[at] = (start, head);
                pieces.push((start + head[dim] * strides[dim], tail));
            }
            let set = |(low, sizes): &(i64, [i64; 3])| {
                Strided::new(*low, sizes.iter().copied().zip(strides))
            };
            let image = set(&(low, sizes));
            let mut sets: Vec<Strided> = pieces.iter().map(set).collect();
            let joined = is_image(sets.iter(), &image);
            found += usize::from(joined && sets.len() > 1);
            assert!(joined || sets.len() > 2, "{sets:?}");
            let at = r.below(sets.len());
            sets[at].low += r.within(-1, 1);
            let adds_up = Point::random().add_up(&sets, &image);
            wrong += usize::from(!adds_up);
            assert!(adds_up || !is_image(sets.iter(), &image), "{sets:?}");
        }
        assert!(found > 5_000 && wrong > 5_000, "{found} {wrong}");
    }
}
