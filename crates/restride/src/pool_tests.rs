//! The pool of scratch, one thread at a time and under a crowd. Its schedules are explored in
//! `tests/models`.

use restride_loops::Random;

use crate::pool::{ALIGN, Lent, Pool, Refused};

type Four = Pool<4>;

const MIB: usize = 1 << 20;
const ANY: usize = usize::MAX;

fn take(pool: &Four, bytes: usize) -> Lent<'_, 4> {
    let taken = pool.take(bytes, ANY);
    taken.unwrap_or_else(|_| panic!("a block"))
}

fn refused(pool: &Four, bytes: usize) -> Option<Refused> {
    pool.take(bytes, ANY).err()
}

#[test]
fn what_is_given_back_is_taken_again() {
    let pool = Four::new(MIB, ANY);
    let first = take(&pool, 1000);
    assert_eq!(first.start() as usize % ALIGN, 0);
    let (start, place, held) = (first.start(), first.place.unwrap(), pool.held());
    drop(first);
    for bytes in [1000, 1, 990] {
        for place in [place, ANY] {
            let again = pool.take(bytes, place).ok().unwrap();
            assert_eq!(again.start(), start);
            assert!(again.bytes() >= bytes);
        }
    }
    assert_eq!(pool.held(), held);
    pool.clear();
    assert_eq!(pool.held(), 0);
}

#[test]
fn sizes_that_grow_a_little_are_few_blocks() {
    let pool = Four::new(64 * MIB, ANY);
    let mut starts = Vec::new();
    for bytes in (4 * MIB)..(4 * MIB + 2000) {
        starts.push(take(&pool, bytes).start());
    }
    starts.dedup();
    assert!(starts.len() <= 2, "{}", starts.len());
    assert!(pool.held() < 10 * MIB, "{}", pool.held());
}

#[test]
fn no_more_is_kept_than_may_be() {
    let pool = Four::new(10 * MIB, ANY);
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let sizes = [(); 3].map(|()| random.below(6 * MIB) + 1);
        let lent = sizes.map(|size| take(&pool, size));
        let apart = lent.each_ref().map(|it| it.start() as usize);
        assert!(apart[0] != apart[1] && apart[1] != apart[2] && apart[0] != apart[2]);
        drop(lent);
        assert!(pool.held() <= 10 * MIB, "{}", pool.held());
    }
    // One that is too large to be kept is not, and what was kept stays.
    let before = pool.held();
    let large = take(&pool, 11 * MIB);
    assert_eq!((large.place, pool.held()), (None, before + 11 * MIB));
    drop(large);
    assert_eq!(pool.held(), before);
}

#[test]
fn what_is_used_stays_and_what_is_not_gives_way() {
    let pool = Four::new(10 * MIB, ANY);
    drop([4 * MIB, 3 * MIB, 2 * MIB].map(|size| take(&pool, size)));
    let often = take(&pool, 4 * MIB).start();
    for _ in 0..100 {
        assert_eq!(take(&pool, 4 * MIB).start(), often);
    }
    // The small ones were not used since they were made; one of them goes, or both.
    let (_, held) = (take(&pool, 5 * MIB), pool.held());
    assert!(held <= 10 * MIB, "{held}");
}

#[test]
fn something_small_takes_something_large_only_if_there_is_no_room() {
    let pool = Four::new(10 * MIB, ANY);
    let large = take(&pool, 8 * MIB).start();
    let small = take(&pool, MIB);
    assert_ne!(small.start(), large);
    // 9 of 10 are taken: 1.5 more have no room.
    assert_eq!(take(&pool, 3 * MIB / 2).start(), large);
}

#[test]
fn a_limit_is_kept_to() {
    let pool = Four::new(4 * MIB, 8 * MIB);
    assert_eq!(refused(&pool, 9 * MIB), Some(Refused::OverBudget));
    assert_eq!(pool.held(), 0);
    // What is kept gives way to a call that needs all there may be.
    drop([MIB, 2 * MIB].map(|size| take(&pool, size)));
    assert!(pool.held() >= 3 * MIB);
    let all = take(&pool, 8 * MIB);
    assert_eq!(pool.held(), 8 * MIB);
    assert_eq!(refused(&pool, 1), Some(Refused::OverBudget));
    drop(all);
    drop(take(&pool, 1));
    // What nobody has: it is no error to ask.
    assert_eq!(
        refused(&Four::new(ANY, ANY), ANY),
        Some(Refused::OutOfMemory)
    );
}

#[test]
fn more_than_there_are_places_are_served() {
    let pool = Four::new(MIB, ANY);
    let lent: Vec<_> = (0..20).map(|_| take(&pool, 5000)).collect();
    assert_eq!(lent.iter().filter(|it| it.place.is_some()).count(), 4);
    drop(lent);
    assert!(pool.held() <= 4 * 6000, "{}", pool.held());
}

#[test]
fn no_two_threads_have_one_block() {
    let pool = Four::new(40_000, 120_000);
    std::thread::scope(|threads| {
        for thread in 0..8u8 {
            let pool = &pool;
            threads.spawn(move || {
                let mut near = ANY;
                for round in 0..3_000usize {
                    let bytes = 1 + (round * 37 + usize::from(thread) * 1001) % 12_000;
                    let Ok(lent) = pool.take(bytes, near) else {
                        continue;
                    };
                    near = lent.place.unwrap_or(near);
                    // SAFETY: the block is this thread's, and has so many bytes.
                    unsafe {
                        lent.start().write_bytes(thread, bytes);
                        std::thread::yield_now();
                        let held = std::slice::from_raw_parts(lent.start(), bytes);
                        assert!(held.iter().all(|byte| *byte == thread));
                    }
                }
            });
        }
    });
    assert!(pool.held() <= 40_000);
    pool.clear();
    assert_eq!(pool.held(), 0);
}
