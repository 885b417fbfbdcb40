//! The cache of specialisations: `crates/restride/src/cache.rs`.

use crate::cache::{Cache, Secret};
use crate::explore::schedules;
use crate::sync::Ordering;
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Keys of one shard.
pub(crate) const KEYS: [[i64; 1]; 3] = [[0], [1], [2]];

/// A cache whose hashes are what keys say, so that each run of a model is like the others.
pub(crate) fn cache<V: Clone>(entries: usize, bytes: usize) -> Cache<V> {
    Cache::with(Secret([[0, 1]; 8]), entries, bytes)
}

/// A key, and the bytes of the value that somebody made for it.
type Value = (usize, usize);

/// Asks for a key; the value is made of it, and `made` counts how often.
fn ask_for(cache: &Cache<Value>, key: usize, bytes: usize, made: &AtomicU64) {
    let make = || {
        made.fetch_add(1, Ordering::Relaxed);
        Ok::<_, ()>((key, bytes))
    };
    let value = cache.get_or_make(&KEYS[key], make, |value| value.1);
    assert_eq!(value.map(|value| value.0), Ok(key));
}

fn ask(cache: &Cache<Value>, key: usize, made: &AtomicU64) {
    ask_for(cache, key, 100, made);
}

/// What must hold when nobody is at it: what is weighed is what is there.
fn consistent(cache: &Cache<Value>, most: usize) {
    let (entries, bytes) = cache.size();
    assert!(entries <= most, "{entries}");
    let there: Vec<Value> = KEYS.iter().filter_map(|key| cache.get(key)).collect();
    assert_eq!(there.len(), entries);
    assert_eq!(there.iter().map(|value| value.1).sum::<usize>(), bytes);
}

#[test]
fn one_value_is_made_for_two_that_ask_for_it() {
    schedules("cache, one flight", 5, || {
        let (cache, made) = (Arc::new(cache(32, 1 << 20)), Arc::new(AtomicU64::new(0)));
        let (other, count) = (cache.clone(), made.clone());
        let thread = thread::spawn(move || ask(&other, 0, &count));
        ask(&cache, 0, &made);
        thread.join().expect("no panic");
        assert_eq!(made.load(Ordering::Relaxed), 1);
        let counts = [&cache.counts.hits, &cache.counts.misses];
        assert_eq!(counts.map(|n| n.load(Ordering::Relaxed)), [1, 1]);
        consistent(&cache, 32);
    });
}

#[test]
fn values_are_evicted_while_others_are_made_and_asked_for() {
    schedules("cache, eviction", 3, || {
        // Room for one entry of the shard.
        let (cache, made) = (Arc::new(cache(1, 1 << 20)), Arc::new(AtomicU64::new(0)));
        let threads = [1, 2].map(|key| {
            let (cache, made) = (cache.clone(), made.clone());
            thread::spawn(move || {
                ask(&cache, key, &made);
                assert!(cache.get(&KEYS[key]).is_none_or(|value| value.0 == key));
            })
        });
        ask(&cache, 1, &made);
        for thread in threads {
            thread.join().expect("no panic");
        }
        consistent(&cache, 1);
    });
}

#[test]
fn what_is_too_heavy_goes_while_another_comes() {
    schedules("cache, bytes", 3, || {
        // Every shard may have one value and a half.
        let (cache, made) = (Arc::new(cache(64, 16 * 150)), Arc::new(AtomicU64::new(0)));
        let threads = [1, 2].map(|key| {
            let (cache, made) = (cache.clone(), made.clone());
            thread::spawn(move || ask(&cache, key, &made))
        });
        for thread in threads {
            thread.join().expect("no panic");
        }
        consistent(&cache, 1);
    });
}

#[test]
fn a_failure_goes_to_its_maker_and_the_next_one_tries_again() {
    schedules("cache, failure", 5, || {
        let (cache, made) = (Arc::new(cache(32, 1 << 20)), Arc::new(AtomicU64::new(0)));
        let (other, count) = (cache.clone(), made.clone());
        let thread = thread::spawn(move || ask(&other, 0, &count));
        let failed = cache.get_or_make(&KEYS[0], || Err("no"), |value| value.1);
        assert!(failed == Err("no") || failed == Ok((0, 100)));
        thread.join().expect("no panic");
        assert_eq!(made.load(Ordering::Relaxed), 1);
        // The other may have made its value in a cell that the failure took out.
        consistent(&cache, 1);
        ask(&cache, 0, &made);
        consistent(&cache, 1);
    });
}

#[test]
fn everything_is_forgotten_while_values_are_made() {
    schedules("cache, clear", 3, || {
        let (cache, made) = (Arc::new(cache(32, 1 << 20)), Arc::new(AtomicU64::new(0)));
        let threads = [100, 200].map(|bytes| {
            let (cache, made) = (cache.clone(), made.clone());
            thread::spawn(move || ask_for(&cache, 0, bytes, &made))
        });
        cache.clear();
        for thread in threads {
            thread.join().expect("no panic");
        }
        consistent(&cache, 1);
        cache.clear();
        assert_eq!(cache.size(), (0, 0));
    });
}
