//! How many cache lines strided walks touch, counted and not walked.
//!
//! A walk is a start and digits. Its innermost digits make a *run*: bytes with no gap of a line
//! between them, so that every line from the first byte to the last is touched. Of the digits
//! around it, those that step farther than all inside them reach give copies on lines of their own;
//! there are few places within a line where a copy can begin, so copies are counted by place.

/// A cache line.
const LINE: i128 = 64;

/// So many runs are looked at one by one where walks may share lines.
const MAX_RUNS: i128 = 128;

/// One walk over a buffer, in bytes.
#[derive(Clone, Debug)]
pub(super) struct BufferWalk {
    /// The first byte in address order.
    start: i128,
    /// Bytes from there to the end of the last element.
    reach: i128,
    /// Bytes of a run.
    run: i128,
    /// The digits around the runs, nearest first: `(extent, step)`, steps positive.
    around: Vec<(i128, i128)>,
}

impl BufferWalk {
    /// The walk of elements of `width` bytes; nothing if there is no element.
    pub(super) fn new(
        start: i64,
        digits: impl Iterator<Item = (i64, i64)>,
        width: usize,
    ) -> Option<Self> {
        let width = width as i128;
        let mut start = i128::from(start).saturating_mul(width);
        let mut around = Vec::new();
        for (extent, stride) in digits {
            let (extent, step) = (i128::from(extent), i128::from(stride).saturating_mul(width));
            match extent {
                ..=0 => return None,
                1 => {}
                _ if step == 0 => {}
                _ => {
                    start = start.saturating_add(span(extent, step).min(0));
                    around.push((extent, step.saturating_abs()));
                }
            }
        }
        around.sort_unstable_by_key(|(_, step)| *step);
        let reach = around.iter().fold(width, |sum, (extent, step)| {
            sum.saturating_add(span(*extent, *step))
        });
        let mut run = width;
        let dense = around.iter().take_while(|(extent, step)| {
            let joins = *step - run < LINE;
            if joins {
                run = run.saturating_add(span(*extent, *step));
            }
            joins
        });
        let inside = dense.count();
        around.drain(..inside);
        Some(Self {
            start,
            reach,
            run,
            around,
        })
    }

    /// The lines it touches; too few where copies reach into each other.
    fn lines(&self) -> i128 {
        // How many runs begin at each place of a line.
        let mut places = [0i128; LINE as usize];
        places[self.start.rem_euclid(LINE) as usize] = 1;
        let mut reach = self.run;
        for &(extent, step) in &self.around {
            if step - reach < LINE - 1 {
                continue;
            }
            reach = reach.saturating_add(span(extent, step));
            places = shifted(&places, extent, step);
        }
        let runs = places.iter().zip(0..);
        runs.fold(0, |sum, (count, place)| {
            let lines = self.run.saturating_add(place - 1) / LINE + 1;
            sum.saturating_add(count.saturating_mul(lines))
        })
    }

    /// Whether every copy keeps to lines of its own, so that counting them is exact.
    fn is_separate(&self) -> bool {
        let mut reach = self.run;
        self.around.iter().all(|(extent, step)| {
            let separate = step - reach >= LINE - 1;
            reach = reach.saturating_add(span(*extent, *step));
            separate
        })
    }

    fn runs(&self) -> i128 {
        let extents = self.around.iter().map(|(extent, _)| *extent);
        extents.fold(1, i128::saturating_mul)
    }

    fn first(&self) -> i128 {
        self.start.div_euclid(LINE)
    }

    fn last(&self) -> i128 {
        self.start.saturating_add(self.reach - 1).div_euclid(LINE)
    }

    /// The first and the last line of every run.
    fn each(&self, into: &mut Vec<(i128, i128)>) {
        let mut digits = vec![0i128; self.around.len()];
        loop {
            let steps = digits.iter().zip(&self.around);
            let start = steps.fold(self.start, |at, (digit, (_, step))| at + digit * step);
            let end = start + self.run - 1;
            into.push((start.div_euclid(LINE), end.div_euclid(LINE)));
            let Some(digit) = (0..digits.len()).find(|k| digits[*k] + 1 < self.around[*k].0) else {
                return;
            };
            digits[digit] += 1;
            digits[..digit].fill(0);
        }
    }
}

/// How far the last of some copies lies from the first.
fn span(extent: i128, step: i128) -> i128 {
    (extent - 1).saturating_mul(step)
}

/// Places of copies `0, step, 2 * step, ...` of what begins at `places`.
fn shifted(places: &[i128; 64], extent: i128, step: i128) -> [i128; 64] {
    // After so many copies the places are the same again.
    let period = LINE >> step.trailing_zeros().min(6);
    let mut out = [0i128; 64];
    for (place, count) in places.iter().enumerate().filter(|(_, count)| **count > 0) {
        for copy in 0..period.min(extent) {
            let times = (extent - copy - 1) / period + 1;
            let place = (place as i128 + copy * (step % LINE)) % LINE;
            let sum = &mut out[place as usize];
            *sum = sum.saturating_add(count.saturating_mul(times));
        }
    }
    out
}

/// The lines that walks over one buffer touch together: exact where each keeps to lines of its
/// own or there are few runs, otherwise no more than there are.
pub(super) fn touched(mut walks: Vec<BufferWalk>) -> u128 {
    walks.sort_unstable_by_key(|walk| walk.start);
    let mut total = 0;
    let mut rest = walks.as_slice();
    while let Some(first) = rest.first() {
        // As many as may share lines.
        let mut last = first.last();
        let mut count = 1;
        while let Some(next) = rest.get(count)
            && next.first() <= last
        {
            last = last.max(next.last());
            count += 1;
        }
        let (group, after) = rest.split_at(count);
        total = i128::saturating_add(total, together(group));
        rest = after;
    }
    u128::try_from(total).unwrap_or(0)
}

fn together(group: &[BufferWalk]) -> i128 {
    let runs = group.iter().map(BufferWalk::runs);
    let counted = group.len() == 1 && group.iter().all(BufferWalk::is_separate);
    if counted || runs.fold(0, i128::saturating_add) > MAX_RUNS {
        return group.iter().map(BufferWalk::lines).max().unwrap_or(0);
    }
    let mut each = Vec::new();
    for walk in group {
        walk.each(&mut each);
    }
    each.sort_unstable();
    let mut lines = 0;
    let mut seen = i128::MIN;
    for (first, last) in each {
        lines += (last - first.max(seen + 1) + 1).max(0);
        seen = seen.max(last);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use restride_loops::Random;
    use std::collections::BTreeSet;

    /// Every byte, one by one.
    fn walked(start: i64, digits: &[(i64, i64)], width: usize) -> BTreeSet<i128> {
        let mut places = vec![i128::from(start)];
        for (extent, stride) in digits {
            places = places
                .iter()
                .flat_map(|at| (0..*extent).map(move |i| at + i128::from(i * stride)))
                .collect();
        }
        let width = width as i128;
        let bytes = places.iter().flat_map(|at| at * width..(at + 1) * width);
        bytes.map(|byte| byte.div_euclid(LINE)).collect()
    }

    fn walk(random: &mut Random) -> (i64, Vec<(i64, i64)>) {
        let digits = (0..random.below(4)).map(|_| (random.within(1, 3), random.within(-80, 79)));
        let digits: Vec<_> = digits.collect();
        (random.within(0, 3999), digits)
    }

    #[test]
    fn lines_are_those_that_are_walked() {
        let mut random = Random::new(5);
        for round in 0..4000 {
            let width = random.pick(&[1, 2, 4, 8, 16]);
            let mut walks = Vec::new();
            let mut expected = BTreeSet::new();
            for _ in 0..1 + random.below(3) {
                let (start, digits) = walk(&mut random);
                expected.extend(walked(start, &digits, width));
                walks.extend(BufferWalk::new(start, digits.iter().copied(), width));
            }
            let alone = walks.first().map_or(0, BufferWalk::lines);
            assert!(alone <= expected.len() as i128, "round {round}");
            assert_eq!(touched(walks), expected.len() as u128, "round {round}");
        }
    }

    #[test]
    fn separate_copies_are_counted_by_place() {
        let mut random = Random::new(11);
        for round in 0..2000 {
            let width = random.pick(&[1, 2, 4, 8, 16]);
            // Each digit steps past all that is inside.
            let (mut digits, mut reach) = (vec![], 1);
            for _ in 0..random.below(4) {
                let (extent, stride) = (random.within(1, 12), reach + random.within(70, 159));
                reach += (extent - 1) * stride;
                digits.push((extent, stride));
            }
            let start = random.within(0, 499);
            let expected = walked(start, &digits, width).len() as i128;
            let walk = BufferWalk::new(start, digits.iter().copied(), width).expect("elements");
            assert_eq!(
                walk.lines(),
                expected,
                "round {round}: {digits:?} of {width}"
            );
        }
    }

    #[test]
    fn nothing_touches_nothing() {
        assert!(BufferWalk::new(3, [(0, 1)].into_iter(), 4).is_none());
        assert_eq!(touched(Vec::new()), 0);
        let large = BufferWalk::new(i64::MAX, [(i64::MAX, i64::MAX)].into_iter(), 16);
        assert!(touched(large.into_iter().collect()) > 0);
    }
}
