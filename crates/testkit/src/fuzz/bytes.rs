//! Numbers drawn from bytes; zeros when there are no more.

/// A reader that never fails. Few bytes make a simple subject.
#[derive(Clone, Debug)]
pub struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    /// From the first byte on.
    #[must_use]
    pub fn new(data: &'a [u8]) -> Self {
        Self { rest: data }
    }

    /// Whether all have been drawn.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// One byte.
    pub fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((first, rest)) => {
                self.rest = rest;
                *first
            }
            None => 0,
        }
    }

    /// Eight bytes.
    pub fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, _| word << 8 | u64::from(self.byte()))
    }

    /// A number in `0..bound`; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = match bound {
            0..=256 => usize::from(self.byte()),
            _ => usize::from(self.byte()) << 8 | usize::from(self.byte()),
        };
        wide % bound.max(1)
    }

    /// A number that breaks things: small ones, powers of two and their neighbours, the ends.
    pub fn number(&mut self) -> i64 {
        let byte = self.byte();
        match byte {
            0..128 => i64::from(byte % 16) - 4,
            128..252 => {
                let power = 1i64 << (byte % 63);
                let near = power.wrapping_add(i64::from(self.byte() % 3) - 1);
                if byte.is_multiple_of(2) {
                    near
                } else {
                    near.wrapping_neg()
                }
            }
            252 => i64::MIN,
            253 => i64::MAX,
            254 => i64::MIN + 1,
            255 => i64::MAX - 1,
        }
    }
}
