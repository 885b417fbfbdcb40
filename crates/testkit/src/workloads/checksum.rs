//! The two checksums of a workload's output.

const POLYNOMIAL: u32 = 0xEDB8_8320;

/// Eight tables: `TABLES[k][b]` is the CRC of byte `b` followed by `k` zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0u32; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut level = 1;
    while level < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[level - 1][byte];
            tables[level][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        level += 1;
    }
    tables
}

/// CRC-32 (IEEE, as in zlib) of bytes that come in parts.
#[derive(Clone, Copy, Debug)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Crc32 {
    /// Takes in the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let mut crc = self.0;
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            let head = u32::from_le_bytes([word[0], word[1], word[2], word[3]]) ^ crc;
            let [a, b, c, d] = head.to_le_bytes();
            crc = TABLES[7][usize::from(a)]
                ^ TABLES[6][usize::from(b)]
                ^ TABLES[5][usize::from(c)]
                ^ TABLES[4][usize::from(d)]
                ^ TABLES[3][usize::from(word[4])]
                ^ TABLES[2][usize::from(word[5])]
                ^ TABLES[1][usize::from(word[6])]
                ^ TABLES[0][usize::from(word[7])];
        }
        for &byte in words.remainder() {
            crc = (crc >> 8) ^ TABLES[0][usize::from(crc.to_le_bytes()[0] ^ byte)];
        }
        self.0 = crc;
    }

    /// The checksum of all bytes so far.
    pub const fn finish(self) -> u32 {
        !self.0
    }
}

/// CRC-32 (IEEE, as in zlib).
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = Crc32::default();
    crc.update(bytes);
    crc.finish()
}

/// FNV-1a with 64 bits.
pub fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        assert_eq!(crc32(b""), 0);
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(fnv1a64(b""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a64(b"foobar"), 0x8594_4171_F739_67E8);
    }

    #[test]
    fn words_and_bytes_agree() {
        let bytes: Vec<u8> = (0..1000u32)
            .map(|i| (i.wrapping_mul(37) >> 2) as u8)
            .collect();
        for length in [1, 7, 8, 9, 63, 64, 65, 1000] {
            let mut bitwise = u32::MAX;
            for &byte in &bytes[..length] {
                bitwise ^= u32::from(byte);
                for _ in 0..8 {
                    bitwise = (bitwise >> 1) ^ (POLYNOMIAL & (bitwise & 1).wrapping_neg());
                }
            }
            assert_eq!(crc32(&bytes[..length]), !bitwise, "{length} bytes");
        }
    }

    #[test]
    fn parts_make_the_whole() {
        let bytes: Vec<u8> = (0..=255).collect();
        for cut in [0, 1, 5, 8, 100, 256] {
            let mut crc = Crc32::default();
            crc.update(&bytes[..cut]);
            crc.update(&bytes[cut..]);
            assert_eq!(crc.finish(), crc32(&bytes), "cut at {cut}");
        }
    }
}
