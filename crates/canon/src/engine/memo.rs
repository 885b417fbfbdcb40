//! Equal things made once.

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// So many are compared one by one; more are found by their hash.
const FEW: usize = 12;

/// Finds what is equal to something new, among things that are named by their places.
#[derive(Default)]
pub(super) struct Memo {
    few: SmallVec<[u32; FEW]>,
    many: FxHashMap<u64, u32>,
}

impl Memo {
    /// The place of what equals the thing at `new`; if nothing does, it is remembered.
    pub(super) fn find<T: Hash + Eq>(&mut self, new: u32, at: impl Fn(u32) -> T) -> Option<u32> {
        let wanted = at(new);
        if self.many.is_empty() {
            let known = self.few.iter().find(|&&known| at(known) == wanted);
            if known.is_some() || self.few.len() < FEW {
                return known.copied().or_else(|| {
                    self.few.push(new);
                    None
                });
            }
            for &known in &self.few {
                Self::by_hash(&mut self.many, known, &at(known), &at);
            }
        }
        Self::by_hash(&mut self.many, new, &wanted, &at)
    }

    fn by_hash<T: Hash + Eq>(
        many: &mut FxHashMap<u64, u32>,
        new: u32,
        wanted: &T,
        at: impl Fn(u32) -> T,
    ) -> Option<u32> {
        let mut hasher = FxHasher::default();
        wanted.hash(&mut hasher);
        let mut key = hasher.finish();
        while let Some(&known) = many.get(&key) {
            if at(known) == *wanted {
                return Some(known);
            }
            key = key.wrapping_add(1);
        }
        many.insert(key, new);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
