//! Lists of numbers as digits.

use smallvec::SmallVec;

/// Digits as `(extent, stride)`, outermost first.
pub type RadixDigits = SmallVec<[(i64, i64); 2]>;

/// The digits of a list, outermost first, each with its extent and stride, if it is linear in a
/// mixed radix of the place. A list of one number has none.
///
/// Post-condition: `list[x] == list[0] + sum of digit * stride`, where the digits are those of `x`
/// in the mixed radix of the extents.
///
/// ```
/// use restride_layout::radix;
///
/// assert_eq!(radix(&[7, 6, 9, 8]).unwrap()[..], [(2, 2), (2, -1)]);
/// assert_eq!(radix(&[0, 1, 3]), None);
/// ```
pub fn radix(list: &[i64]) -> Option<RadixDigits> {
    let mut digits = SmallVec::new();
    let mut list: SmallVec<[i64; 16]> = SmallVec::from_slice(list);
    while let [first, second, ..] = list[..] {
        let by = second.checked_sub(first)?;
        let on = |pair: &&[i64]| pair[1].checked_sub(pair[0]) == Some(by);
        let run = 1 + list.windows(2).take_while(on).count();
        let blocks = list.chunks_exact(run);
        let straight = |block: &[i64]| block.windows(2).all(|pair| on(&pair));
        if !blocks.remainder().is_empty() || !blocks.clone().all(straight) {
            return None;
        }
        digits.insert(0, (run as i64, by));
        list = blocks.map(|block| block[0]).collect();
    }
    Some(digits)
}

/// The first number of a list over a box of these extents, row-major, and the digits of each axis
/// of the box, if the list is linear in a mixed radix of the coordinates.
///
/// ```
/// use restride_layout::radix_of_box;
///
/// let (first, axes) = radix_of_box(&[5, 6, 3, 4, 1, 2], &[3, 2]).unwrap();
/// assert_eq!((first, &axes[0][..], &axes[1][..]), (5, &[(3, -2)][..], &[(2, 1)][..]));
/// ```
pub fn radix_of_box(list: &[i64], extents: &[usize]) -> Option<(i64, SmallVec<[RadixDigits; 4]>)> {
    let first = *list.first()?;
    // Each axis on its own, then all of them together.
    let mut axes: SmallVec<[RadixDigits; 4]> = SmallVec::new();
    let mut alone: SmallVec<[Vec<i64>; 4]> = SmallVec::new();
    let mut inner = list.len();
    for &extent in extents {
        inner /= extent;
        let step = |x: usize| list.get(x * inner)?.checked_sub(first);
        let steps: Vec<i64> = (0..extent).map(step).collect::<Option<_>>()?;
        axes.push(radix(&steps)?);
        alone.push(steps);
    }
    sums_of(list, first, &alone).then_some((first, axes))
}

/// Whether every number is the sum of what its coordinates add to the first.
fn sums_of(list: &[i64], first: i64, alone: &[Vec<i64>]) -> bool {
    let Some((outer, rest)) = alone.split_first() else {
        return list == [first];
    };
    if rest.is_empty() {
        let mut pairs = list.iter().zip(outer);
        return pairs.all(|(x, by)| x.wrapping_sub(first) == *by);
    }
    let inner = list.len() / outer.len();
    let mut blocks = list.chunks_exact(inner).zip(outer);
    blocks.all(|(block, by)| sums_of(block, first.wrapping_add(*by), rest))
}

#[cfg(test)]
mod tests {
    use super::radix;

    #[test]
    fn every_mixed_radix_is_found_and_nothing_else() {
        let strides = [-3, -1, 0, 1, 2, 5];
        let mut lists = std::collections::BTreeSet::new();
        for extents in [
            [2, 2, 2],
            [2, 3, 1],
            [3, 2, 1],
            [6, 1, 1],
            [1, 1, 1],
            [2, 2, 3],
        ] {
            for at in 0..6 * 6 * 6 {
                let [a, b, c] = [at / 36, at / 6 % 6, at % 6].map(|k| strides[k]);
                let [m, n, o] = extents;
                let places = (0..m).flat_map(|x| (0..n).map(move |y| (x, y)));
                let list = places.flat_map(|(x, y)| (0..o).map(move |z| x * a + y * b + z * c));
                lists.insert(list.collect::<Vec<i64>>());
            }
        }
        let radices = lists.len();
        for list in lists.clone() {
            let mut changed = list;
            for at in 0..changed.len() {
                changed[at] += 7;
                lists.insert(changed.clone());
            }
        }
        let mut found = 0;
        for list in lists {
            let Some(digits) = radix(&list) else { continue };
            found += 1;
            let mut again = vec![list[0]];
            for (extent, stride) in digits {
                let steps = |&x: &i64| (0..extent).map(move |d| x + d * stride);
                again = again.iter().flat_map(steps).collect();
            }
            assert_eq!(again, list);
        }
        assert!(found >= radices, "{found} of {radices}");
    }

    #[test]
    fn lists_in_mixed_radix() {
        let digits = |list: &[i64]| radix(list).map(|digits| digits.to_vec());
        assert_eq!(digits(&[5]), Some(vec![]));
        assert_eq!(digits(&[0, 3, 6, 9]), Some(vec![(4, 3)]));
        assert_eq!(digits(&[0, -1, 2, 1]), Some(vec![(2, 2), (2, -1)]));
        assert_eq!(digits(&[0, 1, 4, 5, 8, 9]), Some(vec![(3, 4), (2, 1)]));
        assert_eq!(digits(&[0, 0, 1, 1]), Some(vec![(2, 1), (2, 0)]));
        assert_eq!(digits(&[0, 2, 1, 3]), Some(vec![(2, 1), (2, 2)]));
        assert_eq!(digits(&[0, 1, 3]), None);
        assert_eq!(digits(&[0, 1, 2, 4, 5, 6, 7]), None);
        assert_eq!(digits(&[0, 1, 3, 5]), None);
        assert_eq!(digits(&[i64::MIN, i64::MAX]), None);
    }
}
