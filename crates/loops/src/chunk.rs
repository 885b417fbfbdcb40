//! How a phase is shared out.
//!
//! Chunk `c` of `n` runs iterations `extent * c / n .. extent * (c + 1) / n` of every parallel
//! loop; every other statement at the top level belongs to chunk 0 alone.

use std::ops::Range;

/// The iterations of a parallel loop that belong to one chunk. The ranges of chunks `0..chunks`
/// follow each other and make up `0..extent`. A chunk that does not exist has none.
pub fn chunk_range(extent: i64, chunk: u32, chunks: u32) -> Range<i64> {
    if chunk >= chunks || extent <= 0 {
        return 0..0;
    }
    // The quotient is at most `extent`, so it fits again.
    let cut = |c: u128| (extent as u128 * c / u128::from(chunks)) as i64;
    cut(u128::from(chunk))..cut(u128::from(chunk) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_follow_each_other() {
        for extent in [0, 1, 2, 7, 64, i64::MAX] {
            for chunks in [1, 2, 3, 7, 64, u32::MAX] {
                let first = chunk_range(extent, 0, chunks);
                let last = chunk_range(extent, chunks - 1, chunks);
                assert_eq!((first.start, last.end), (0, extent));
                for c in 0..chunks.min(100) - 1 {
                    let (a, b) = (
                        chunk_range(extent, c, chunks),
                        chunk_range(extent, c + 1, chunks),
                    );
                    assert_eq!(a.end, b.start);
                }
            }
        }
        assert_eq!(chunk_range(10, 3, 3), 0..0);
        assert_eq!(chunk_range(-1, 0, 1), 0..0);
    }
}
