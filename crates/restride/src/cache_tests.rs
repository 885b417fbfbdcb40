//! The cache, one thread at a time and under a crowd. Its schedules are explored in `tests/models`.

use crate::cache::Cache;
use std::sync::atomic::{AtomicU64, Ordering};

fn fill(cache: &Cache<i64>, keys: std::ops::Range<i64>, bytes: usize) {
    for n in keys {
        let made = cache.get_or_make(&[n, -n], || Ok::<_, ()>(n), |_| bytes);
        assert_eq!(made, Ok(n));
    }
}

#[test]
fn stays_within_both_bounds() {
    let cache = Cache::new(160, 16 * 1000);
    fill(&cache, 0..10_000, 10);
    assert!(cache.size().0 <= 160, "{:?}", cache.size());
    fill(&cache, 0..10_000, 400);
    let (entries, bytes) = cache.size();
    assert!(bytes <= 16_000 && entries <= 40, "{entries} {bytes}");
    fill(&cache, 20_000..20_001, 1 << 30);
    assert!(cache.size().1 <= 16_000);
}

#[test]
fn what_is_used_stays_while_others_pass() {
    let cache = Cache::new(16 * 8, usize::MAX);
    fill(&cache, 0..1, 1);
    for n in 1..5_000 {
        assert_eq!(cache.get(&[0, 0]), Some(0), "evicted at {n}");
        fill(&cache, n..n + 1, 1);
    }
}

#[test]
fn failures_are_not_kept() {
    let cache: Cache<i64> = Cache::new(10, 1000);
    assert_eq!(cache.get_or_make(&[1], || Err("no"), |_| 1), Err("no"));
    assert_eq!(cache.size(), (0, 0));
    assert_eq!(cache.get_or_make(&[1], || Ok::<_, ()>(5), |_| 1), Ok(5));
}

#[test]
fn one_flight_for_many_callers() {
    let cache: Cache<u64> = Cache::new(100, 10_000);
    let made = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for n in 0..50 {
                    let make = || {
                        std::thread::yield_now();
                        Ok::<_, ()>(made.fetch_add(1, Ordering::SeqCst))
                    };
                    cache.get_or_make(&[n], make, |_| 1).unwrap();
                }
            });
        }
    });
    assert_eq!(made.load(Ordering::SeqCst), 50);
}

#[test]
fn a_panic_while_making_wedges_nobody() {
    let cache: Cache<u64> = Cache::new(100, 10_000);
    let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        cache.get_or_make(&[1], || -> Result<u64, ()> { panic!("no") }, |_| 1)
    }));
    assert!(attempt.is_err());
    assert_eq!(cache.get_or_make(&[1], || Ok::<_, ()>(7), |_| 1), Ok(7));
}
