//! The cache, one thread at a time and under a crowd. Its schedules are explored in `tests/models`.

use crate::cache::{Cache, Secret};
use rustc_hash::FxBuildHasher;
use std::collections::HashSet;
use std::hash::BuildHasher as _;
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
    // Room for all of them in any one shard.
    let cache: Cache<u64> = Cache::new(800, 10_000);
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

/// A number with which a hash that everybody knows forgets what comes after.
const CHOSEN: i64 = 0x243f_6a88_85a3_08d3;

#[test]
fn keys_that_are_chosen_to_meet_do_not() {
    let chosen: Vec<[i64; 2]> = (0..1000).map(|n| [CHOSEN, n]).collect();
    let known: HashSet<u64> = chosen
        .iter()
        .map(|key| FxBuildHasher.hash_one(&key[..]))
        .collect();
    assert_eq!(known.len(), 1, "chosen against what is no secret");
    let secrets: Vec<Secret> = (0..20).map(|_| Secret::random()).collect();
    for secret in &secrets {
        let hashes: HashSet<u64> = chosen.iter().map(|key| secret.hash(key)).collect();
        let shards: HashSet<u64> = hashes.iter().map(|hash| hash >> 60).collect();
        assert_eq!((hashes.len(), shards.len()), (1000, 16));
    }
    let of_one: HashSet<u64> = secrets
        .iter()
        .map(|secret| secret.hash(&chosen[0]))
        .collect();
    assert_eq!(of_one.len(), 20, "each cache has its own");
    // All of them fit, since no shard is filled before the others.
    let cache = Cache::new(2048, usize::MAX);
    for key in &chosen {
        assert_eq!(
            cache.get_or_make(key, || Ok::<_, ()>(key[1]), |_| 1),
            Ok(key[1])
        );
    }
    assert_eq!(cache.size(), (1000, 1000));
}

#[test]
fn of_two_keys_with_one_hash_the_later_stays() {
    let known = || Secret([[0, 1]; 8]);
    assert_eq!(known().hash(&[1, 2]), known().hash(&[3, 0]));
    let cache = Cache::with(known(), 64, usize::MAX);
    for _ in 0..3 {
        for key in [[1, 2], [3, 0]] {
            assert_eq!(cache.get(&key), None);
            assert_eq!(cache.get_or_make(&key, || Ok::<_, ()>(key), |_| 5), Ok(key));
            assert_eq!(cache.get(&key), Some(key));
            assert_eq!(cache.size(), (1, 5));
        }
    }
}

#[test]
fn every_part_of_a_key_counts() {
    let secret = Secret::random();
    for length in 0..40 {
        let key: Vec<i64> = (0..length).map(|part| part * 7 % 5).collect();
        let hash = secret.hash(&key);
        assert_ne!(hash, secret.hash(&[&key[..], &[0]].concat()));
        for part in 0..key.len() {
            let mut other = key.clone();
            other[part] ^= 1;
            assert_ne!(hash, secret.hash(&other), "{part} of {length}");
            other[part] ^= 1;
            other.swap(part, (part + 16) % key.len());
            assert_eq!(hash == secret.hash(&other), key == other);
        }
    }
}
