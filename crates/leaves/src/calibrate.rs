//! What this machine does, where its processor does not say it.

use std::hint::black_box;
use std::time::{Duration, Instant};

use restride_loops::{Dim, Form};
use restride_moves::{Planner, Target};

use crate::leaf::Leaf;

/// The megabytes that a pass is tried with, read and written together: from the most down, as long as there is a gain.
const SIZES: [usize; 9] = [32, 24, 16, 12, 8, 6, 4, 3, 2];
const MEGABYTE: usize = 1 << 20;
const MOST: usize = SIZES[0] * MEGABYTE;

/// Each size is tried so often, both ways in turn; the fastest counts.
const TURNS: usize = 6;

/// A pass must be faster by this, and with a reader of its result not slower by as much.
const NOTABLE: f64 = 1.05;

/// The target, with measurements in place of guesses: from how many bytes on a pass is stored past
/// the caches. That is so where the pass gains, and the pass and a reader of its result together do not lose.
///
/// It takes about a tenth of a second, and 32 MB for a while. The text of a target
/// ([`Display`](std::fmt::Display)) is there to keep the answer.
#[must_use]
pub fn calibrate(target: &Target) -> Target {
    let planner = Planner::new(target);
    let (mut from, mut to) = (Vec::new(), Vec::new());
    let half = MOST / 2;
    if from.try_reserve_exact(half).is_err() || to.try_reserve_exact(half).is_err() {
        return target.clone();
    }
    from.resize(half, 1);
    to.resize(half, 2);
    let sizes = SIZES.into_iter().map(|size| size * MEGABYTE);
    let gaining = sizes.take_while(|size| gains(&planner, &mut to, &from, size / 2));
    let past_from = match gaining.last() {
        Some(size) => size as i64,
        // What was not tried may gain where it was expected to.
        None => target.past_from.max(2 * MOST as i64),
    };
    Target {
        past_from,
        ..target.clone()
    }
}

/// Whether a copy of so many bytes gains by being stored past the caches, and whoever then reads them does not lose it.
fn gains(planner: &Planner, to: &mut [u8], from: &[u8], bytes: usize) -> bool {
    let run = [Dim {
        extent: bytes as i64,
        dst: 1,
        src: 1,
    }];
    let leaf = |form| Leaf::prepare_move(&run, 1, form, planner);
    let (Ok(cached), Ok(past)) = (leaf(Form::Rows), leaf(Form::Stream)) else {
        return false;
    };
    let (Some(to), Some(from)) = (to.get_mut(..bytes), from.get(..bytes)) else {
        return false;
    };
    let mut least = [[Duration::MAX; 2]; 2];
    for _ in 0..TURNS {
        for (leaf, least) in [&cached, &past].into_iter().zip(&mut least) {
            let start = Instant::now();
            // SAFETY: both hold as many bytes as the leaf was prepared for, and are different memory.
            unsafe { leaf.call(to.as_mut_ptr(), from.as_ptr()) };
            let moved = start.elapsed();
            read_all(to);
            let read = start.elapsed();
            *least = [least[0].min(moved), least[1].min(read)];
        }
    }
    let [cached, past] = least;
    cached[0] > past[0].mul_f64(NOTABLE) && cached[1].mul_f64(NOTABLE) > past[1]
}

/// Reads bytes as the next reader of a result does at the least: their sum, eight at a time.
pub fn read_all(bytes: &[u8]) {
    black_box(sum(black_box(bytes)));
}

fn sum(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_ne_bytes(*word));
    words.fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_measured_changes() {
        let before = Target::cramped();
        let after = calibrate(&before);
        assert!(after.past_from >= 2 << 20, "{after}");
        let past_from = before.past_from;
        assert_eq!(Target { past_from, ..after }, before);
    }

    #[test]
    fn a_sum_takes_every_word() {
        assert_eq!(sum(&[1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]), 3);
    }
}
