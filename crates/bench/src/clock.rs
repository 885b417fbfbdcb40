//! Timing: how long one call takes, however short.

use std::time::{Duration, Instant};

/// A sample should last this long, so that reading the clock does not count.
const SAMPLE: Duration = Duration::from_micros(25);

/// No more samples than this, whatever the budget.
const MOST_SAMPLES: usize = 20_000;

/// Nor more calls per sample: what takes no time at all could be repeated for ever.
const MOST_CALLS: u64 = 1 << 20;

/// A call is never said to take less than this, in nanoseconds, so that ratios stay finite.
const LEAST_TIME: f64 = 1e-3;

/// Nanoseconds per call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Of the fastest sample.
    pub min: f64,
    /// Of the middle sample.
    pub median: f64,
}

/// Times `repeat(n)`, which makes `n` calls, until the budget is spent.
pub fn measure<E>(
    budget: Duration,
    mut repeat: impl FnMut(u64) -> Result<(), E>,
) -> Result<Times, E> {
    let mut timed = |calls: u64| {
        let start = Instant::now();
        repeat(calls)?;
        Ok(start.elapsed())
    };
    let begin = Instant::now();
    timed(1)?;
    let mut calls = 1u64;
    loop {
        let took = timed(calls)?;
        if took >= SAMPLE / 2 || calls >= MOST_CALLS {
            let wanted = calls as f64 * SAMPLE.as_secs_f64() / took.as_secs_f64();
            calls = (wanted as u64).clamp(1, MOST_CALLS);
            break;
        }
        calls *= 2;
    }
    let mut samples = Vec::new();
    loop {
        let time = timed(calls)?.as_secs_f64() * 1e9 / calls as f64;
        samples.push(time.max(LEAST_TIME));
        if begin.elapsed() >= budget || samples.len() >= MOST_SAMPLES {
            return Ok(Times::of(&mut samples));
        }
    }
}

impl Times {
    fn of(samples: &mut [f64]) -> Self {
        samples.sort_by(f64::total_cmp);
        Self {
            min: samples[0],
            median: samples[samples.len() / 2],
        }
    }
}

/// The geometric mean of positive numbers; `None` of nothing.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for value in values {
        sum += value.ln();
        count += 1;
    }
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// The middle of some numbers; `None` of nothing.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_minimum_and_median() {
        let times = Times::of(&mut [5.0, 1.0, 9.0, 3.0]);
        assert_eq!((times.min, times.median), (1.0, 5.0));
    }

    #[test]
    fn short_calls_are_repeated_and_counted() {
        let (mut calls, mut samples) = (0u64, 0u64);
        let times = measure(Duration::from_micros(200), |n| {
            calls += n;
            samples += 1;
            for call in 0..n {
                std::hint::black_box(call);
            }
            Ok::<_, ()>(())
        });
        assert!(times.is_ok_and(|times| times.min <= times.median));
        assert!(calls > samples, "{calls} calls in {samples} samples");
    }

    #[test]
    fn what_takes_no_time_is_timed_all_the_same() {
        let times = measure(Duration::from_micros(1), |_| Ok::<_, ()>(()));
        assert!(times.is_ok_and(|times| times.min >= LEAST_TIME));
    }

    #[test]
    fn an_error_ends_it() {
        let mut left = 3;
        let result = measure(Duration::from_secs(3600), |_| {
            left -= 1;
            if left == 0 { Err("stop") } else { Ok(()) }
        });
        assert_eq!(result, Err("stop"));
    }

    #[test]
    fn means() {
        let mean = geometric_mean([0.5, 2.0, 8.0]).expect("three values");
        assert!((mean - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean([]), None);
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([]), None);
    }
}
