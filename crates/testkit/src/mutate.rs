//! Seeds changed a little: what libFuzzer does, for the loops in `cargo test`.

use crate::generate::Random;

/// Tokens that a text may meet.
const TOKENS: &str = "0 1 -1 2 9223372036854775807 -9223372036854775808 18446744073709551616 4294967296 [ ] ( \
    ) { } , : % \" // -> 0x 0b _ %0 b0 v0 @ ; = box wrap clamp zero error axis strides \
    offset \u{e9} \0";

fn token(random: &mut Random) -> impl Iterator<Item = u8> {
    let count = TOKENS.split(' ').count();
    let mut tokens = TOKENS.split(' ').skip(random.below(count));
    tokens.next().unwrap_or_default().bytes()
}

/// A few changes of a seed: bytes, tokens and spans replaced, doubled, moved or dropped.
#[must_use]
pub fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(data.len() + 1);
        let end = (at + random.below(12)).min(data.len());
        match random.below(7) {
            0 if at < data.len() => data[at] = random.bits() as u8,
            1 if at < data.len() => data[at] ^= 1 << random.below(8),
            2 => drop(data.drain(at..end)),
            3 => {
                let copy = data[at..end].to_vec();
                let to = random.below(data.len() + 1);
                drop(data.splice(to..to, copy));
            }
            4 | 5 => replace_word(&mut data, at, random),
            _ => {
                let token = token(random);
                drop(data.splice(at..at, token));
            }
        }
    }
    data
}

/// Replaces the number or name around a place, so that the rest of a text still reads.
fn replace_word(data: &mut Vec<u8>, at: usize, random: &mut Random) {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-';
    let start = data[..at]
        .iter()
        .rposition(|byte| !inside(byte))
        .map_or(0, |n| n + 1);
    let end = data[at..]
        .iter()
        .position(|byte| !inside(byte))
        .map_or(data.len(), |n| at + n);
    let token = token(random);
    drop(data.splice(start..end, token));
}
