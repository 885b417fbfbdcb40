//! Free ranges of one slab, coalesced: best fit in logarithmic time.

use std::collections::{BTreeMap, BTreeSet};

/// A set of disjoint, never adjacent ranges.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    by_start: BTreeMap<usize, usize>,
    by_len: BTreeSet<(usize, usize)>,
}

impl Ranges {
    /// Takes `len` bytes from the smallest range that has them.
    pub(super) fn take(&mut self, len: usize) -> Option<usize> {
        let &(found, start) = self.by_len.range((len, 0)..).next()?;
        self.remove(start, found);
        if found > len {
            self.add(start + len, found - len);
        }
        Some(start)
    }

    /// Gives a range back, joining it with its neighbours.
    pub(super) fn give(&mut self, mut start: usize, mut len: usize) {
        if let Some((&before, &before_len)) = self.by_start.range(..start).next_back()
            && before + before_len == start
        {
            self.remove(before, before_len);
            start = before;
            len += before_len;
        }
        if let Some(&after_len) = self.by_start.get(&(start + len)) {
            self.remove(start + len, after_len);
            len += after_len;
        }
        self.add(start, len);
    }

    fn add(&mut self, start: usize, len: usize) {
        self.by_start.insert(start, len);
        self.by_len.insert((len, start));
    }

    fn remove(&mut self, start: usize, len: usize) {
        self.by_start.remove(&start);
        self.by_len.remove(&(len, start));
    }
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn random_takes_and_gives_never_overlap_and_join_to_the_whole() {
        const UNITS: usize = 512;
        let mut ranges = Ranges::default();
        ranges.give(0, UNITS);
        let mut owner = vec![0u32; UNITS];
        let mut held: Vec<(usize, usize, u32)> = Vec::new();
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        for tag in 1..20_000u32 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            if seed & 1 == 0 || held.is_empty() {
                let len = 1 + (seed >> 8) as usize % 40;
                if let Some(start) = ranges.take(len) {
                    for unit in &mut owner[start..start + len] {
                        assert_eq!(*unit, 0, "a range was handed out twice");
                        *unit = tag;
                    }
                    held.push((start, len, tag));
                } else {
                    let mut free = 0;
                    for unit in &owner {
                        free = if *unit == 0 { free + 1 } else { 0 };
                        assert!(free < len, "{len} free units in a row were not found");
                    }
                }
            } else {
                let (start, len, tag) = held.swap_remove((seed >> 8) as usize % held.len());
                assert!(owner[start..start + len].iter().all(|unit| *unit == tag));
                owner[start..start + len].fill(0);
                ranges.give(start, len);
            }
        }
        for (start, len, _) in held {
            ranges.give(start, len);
        }
        assert_eq!(ranges.take(UNITS), Some(0), "the ranges did not join again");
        assert_eq!(ranges.take(1), None);
    }
}
