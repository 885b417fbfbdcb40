//! Memory for measurements: one region, huge pages where the system has them, cut into aligned
//! parts the way an allocator would lay out one tensor after the other.

use super::system;

/// Every part starts at a multiple of this.
const ALIGN: usize = 64;

/// Room that an allocator's header takes between two parts. Without it, parts whose sizes are
/// powers of two would share their low address bits, which no engine's tensors do.
pub const GAP: usize = 64;

const HUGE_PAGE: usize = 2 << 20;

/// A region to be cut into parts.
pub struct Region {
    bytes: Vec<u8>,
    start: usize,
    sizes: Vec<usize>,
    gap: usize,
}

impl Region {
    /// Room for parts of these sizes, all zero and touched, each so many bytes behind the one before.
    pub fn new(sizes: &[usize], gap: usize) -> Result<Self, String> {
        let too_big = || "the tensors do not fit into memory".to_owned();
        let span = |size: usize| size.checked_next_multiple_of(ALIGN)?.checked_add(gap);
        let needed = sizes
            .iter()
            .try_fold(0usize, |sum, &size| sum.checked_add(span(size)?))
            .and_then(|sum| sum.checked_next_multiple_of(HUGE_PAGE))
            .ok_or_else(too_big)?;
        let total = needed.checked_add(HUGE_PAGE).ok_or_else(too_big)?;
        let mut bytes: Vec<u8> = Vec::new();
        bytes.try_reserve_exact(total).map_err(|_| too_big())?;
        let start = bytes.as_ptr().align_offset(HUGE_PAGE).min(HUGE_PAGE);
        system::advise_huge(&mut bytes.spare_capacity_mut()[start..start + needed]);
        bytes.resize(total, 0);
        Ok(Self {
            bytes,
            start,
            sizes: sizes.to_vec(),
            gap,
        })
    }

    /// The parts, in the order of their sizes.
    pub fn parts(&mut self) -> Vec<&mut [u8]> {
        let mut rest = &mut self.bytes[self.start..];
        let mut parts = Vec::new();
        for &size in &self.sizes {
            let (span, after) = rest.split_at_mut(size.next_multiple_of(ALIGN) + self.gap);
            parts.push(&mut span[..size]);
            rest = after;
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_aligned_disjoint_and_of_their_size() {
        let sizes = [0, 1, 64, 4096, 100_000];
        let mut region = Region::new(&sizes, GAP).expect("a small region");
        let mut parts = region.parts();
        for (number, part) in parts.iter_mut().enumerate() {
            assert_eq!(part.len(), sizes[number]);
            assert_eq!(part.as_ptr().align_offset(ALIGN), 0);
            assert!(part.iter().all(|&byte| byte == 0));
            part.fill(number as u8 + 1);
        }
        for (number, part) in parts.iter().enumerate() {
            assert!(part.iter().all(|&byte| byte == number as u8 + 1));
        }
    }

    #[test]
    fn what_cannot_be_had_is_refused() {
        assert!(Region::new(&[usize::MAX], GAP).is_err());
        assert!(Region::new(&[usize::MAX / 2, usize::MAX / 2], GAP).is_err());
        assert!(Region::new(&[isize::MAX as usize - (4 << 20)], GAP).is_err());
    }
}
