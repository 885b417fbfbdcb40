//! Where the constants of A64 instructions are, to be changed.

/// Bytes and bits of the constants of an instruction: all, and a bit of each byte of a constant that is loaded.
pub(crate) fn constants(code: &[u8], at: usize) -> Vec<(usize, u8)> {
    let word = u32::from_le_bytes(*code[at..].first_chunk().expect("a word"));
    let bits = bits(word);
    let bits = (0..32).filter(|bit| bits & 1 << bit != 0);
    let mut places: Vec<(usize, u8)> = bits.map(|bit| (at + bit / 8, 1 << (bit % 8))).collect();
    // A constant that is loaded: tables of shuffles, patterns.
    if word & 0xff00_0000 == 0x9c00_0000 {
        let from = (at as i64 + ((i64::from(word) << 40) >> 45 << 2)) as usize;
        places.extend((from..from + 16).map(|byte| (byte, 1)));
    }
    places
}

/// Bits of a word that are a constant, by the class of the instruction.
fn bits(word: u32) -> u32 {
    let ones = |from: u32, count: u32| ((1u32 << count) - 1) << from;
    match word {
        w if w & 0x1f80_0000 == 0x1100_0000 => ones(10, 13),
        w if w & 0x1f80_0000 == 0x1280_0000 => ones(5, 18),
        w if w & 0x1f00_0000 == 0x1200_0000 => ones(10, 12),
        w if w & 0x1f20_0000 == 0x0b00_0000 => ones(10, 6),
        w if w & 0x3b00_0000 == 0x3900_0000 => ones(10, 12),
        w if w & 0x3b20_0400 == 0x3800_0000 => ones(12, 9),
        w if w & 0x3b20_0c00 == 0x3820_0800 => ones(12, 1) | ones(13, 3),
        w if w & 0x3a00_0000 == 0x2800_0000 => ones(15, 7),
        w if w & 0x3b00_0000 == 0x1800_0000 => ones(5, 19),
        w if w & 0xfc00_0000 == 0x1400_0000 => ones(0, 26),
        w if w & 0xff00_0000 == 0x5400_0000 => ones(0, 4) | ones(5, 19),
        w if w & 0x7e00_0000 == 0x3400_0000 => ones(5, 20),
        w if w & 0xbfe0_8400 == 0x2e00_0000 => ones(11, 4),
        w if w & 0x9fe0_8400 == 0x0e00_0400 => ones(16, 5),
        w if w & 0x9ff8_0c00 == 0x0f00_0400 => ones(5, 5) | ones(12, 4) | ones(16, 3),
        // Which network, of elements how large.
        w if w & 0xbf20_8c00 == 0x0e00_0800 => ones(12, 3) | ones(22, 2),
        w if w & 0x3fe0_0800 == 0x1a80_0000 => ones(12, 4),
        _ => 0,
    }
}
