//! Equal things made once.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::{BuildHasher, Hash, RandomState};

/// So many are compared one by one; more are found by their hash.
const FEW: usize = 12;

/// Finds what is equal to something new, among things that are named by their places.
///
/// Things are what a model chooses. How they are hashed is a secret, so that nobody can choose many
/// with one hash; what is found does not depend on it.
#[derive(Default)]
pub(crate) struct Memo {
    few: SmallVec<[u32; FEW]>,
    many: Option<Many>,
}

#[derive(Default)]
struct Many {
    secret: RandomState,
    by_hash: FxHashMap<u64, u32>,
}

impl Memo {
    /// The place of what equals the thing at `new`; if nothing does, it is remembered.
    pub(crate) fn find<T: Hash + Eq>(&mut self, new: u32, at: impl Fn(u32) -> T) -> Option<u32> {
        let wanted = at(new);
        if self.many.is_none() {
            let known = self.few.iter().find(|&&known| at(known) == wanted);
            if known.is_some() || self.few.len() < FEW {
                return known.copied().or_else(|| {
                    self.few.push(new);
                    None
                });
            }
        }
        let many = self.many.get_or_insert_with(|| {
            let mut many = Many::default();
            for &known in &self.few {
                many.find(known, &at(known), &at);
            }
            many
        });
        many.find(new, &wanted, &at)
    }
}

impl Many {
    fn find<T: Hash + Eq>(&mut self, new: u32, wanted: &T, at: impl Fn(u32) -> T) -> Option<u32> {
        let mut key = self.secret.hash_one(wanted);
        while let Some(&known) = self.by_hash.get(&key) {
            if at(known) == *wanted {
                return Some(known);
            }
            key = key.wrapping_add(1);
        }
        self.by_hash.insert(key, new);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_that_are_chosen_to_meet_do_not() {
        // Pairs that have one hash under a hash that everybody knows: h = (a * K + b) * K.
        const K: u64 = 0xf135_7aea_2e62_a9c5;
        const THINGS: u32 = 3000;
        let pair = |place: u32| {
            let a = u64::from(place);
            (a, 0u64.wrapping_sub(a.wrapping_mul(K)))
        };
        let known: std::collections::HashSet<u64> = (0..THINGS)
            .map(|place| rustc_hash::FxBuildHasher.hash_one(pair(place)))
            .collect();
        assert_eq!(known.len(), 1, "chosen against what is no secret");
        let looks = std::cell::Cell::new(0u32);
        let mut memo = Memo::default();
        for place in 0..THINGS {
            let at = |place| {
                looks.set(looks.get() + 1);
                pair(place)
            };
            assert_eq!(memo.find(place, at), None);
        }
        // Each is looked at once as it comes; so are the first few, by those after them.
        let few = FEW as u32;
        assert!(looks.get() <= THINGS + few * few, "{} looks", looks.get());
    }

    #[test]
    fn few_or_many_each_is_kept_once() {
        // Places hold numbers that come again and again; the first place of each is its name.
        for different in [1, FEW - 1, FEW, FEW + 1, 100] {
            let number = |place: u32| place as usize % different;
            let mut memo = Memo::default();
            for place in 0..300u32 {
                let first = (place as usize % different) as u32;
                let expected = (place != first).then_some(first);
                assert_eq!(memo.find(place, number), expected);
            }
        }
    }
}
