//! What graphs are hashed as.

use smallvec::SmallVec;
use std::hash::Hasher;

/// All that something gives to a hash, as numbers for a [`Secret`](crate::cache::Secret), which takes a fraction of the standard library's time.
#[derive(Default)]
pub(crate) struct Words(pub(crate) SmallVec<[i64; 128]>);

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0.len() as u64
    }

    fn write(&mut self, bytes: &[u8]) {
        // Else a word of seven bytes that are zero would be one byte.
        self.0.push(bytes.len() as i64);
        let (words, rest) = bytes.as_chunks::<8>();
        self.0
            .extend(words.iter().map(|word| i64::from_le_bytes(*word)));
        self.0.extend(rest.iter().map(|byte| (*byte).into()));
    }

    fn write_u8(&mut self, n: u8) {
        self.0.push(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.0.push(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        self.0.push(n as i64);
    }

    fn write_usize(&mut self, n: usize) {
        self.0.push(n as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::Words;
    use std::hash::Hash;

    #[test]
    fn words_are_all_that_was_hashed() {
        fn words(it: impl Hash) -> Vec<i64> {
            let mut words = Words::default();
            it.hash(&mut words);
            words.0.to_vec()
        }
        assert_ne!(words("a"), words("a\0\0\0\0\0\0\0"));
        assert_ne!(words(("ab", "c")), words(("a", "bc")));
        assert_ne!(words([&[1i64, 2][..], &[]]), words([&[1i64][..], &[2]]));
        assert_ne!(words(Some(0u8)), words(None::<u8>));
        assert_eq!(words((7u32, -1i64, true)), [7, -1, 1]);
    }
}
