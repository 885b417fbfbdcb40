//! One row of indices for many rows of data, as permutations.
//!
//! Where the indices run along the innermost dimension of the destination and serve one row after
//! the other, every line of a row of the destination takes the same bytes of the same few lines of
//! the source. So the offsets of a chunk are turned into permutation tables once, during the call,
//! and the rows then cost a few loads and shuffles per line instead of a load and a store per
//! element.
//!
//! Only bytes of rows that are named are read: every load is masked to the hull of the offsets.

#[cfg(target_arch = "x86_64")]
mod wide;

use crate::bodies::CpuLevel;
use crate::nest::Nest;

/// Rows that must follow before preparing is worth it.
const ROWS: usize = 12;

/// What decides whether rows can be moved in this way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picks {
    /// Bytes of an element.
    run: usize,
}

impl Picks {
    /// For rows of elements of `run` bytes that an index moves by `coeff` and that follow each
    /// other at `stride` bytes; `rows` rows share the indices.
    pub(crate) fn new(
        run: usize,
        coeff: isize,
        stride: isize,
        rows: usize,
        cpu: CpuLevel,
    ) -> Option<Picks> {
        let fits = matches!(run, 1 | 2 | 4 | 8 | 16)
            && coeff.unsigned_abs().is_multiple_of(run)
            && stride == run as isize
            && rows >= ROWS
            && cpu == CpuLevel::Avx512;
        fits.then_some(Picks { run })
    }

    /// Moves elements at `offsets` to consecutive places, for every point of a nest, and says how
    /// many of them; the others are left alone because permutations do not pay for them.
    ///
    /// # Safety
    /// As for a gather's rows: offsets are of elements of the source or OUTSIDE.
    #[inline(always)]
    pub(crate) unsafe fn pick(
        self,
        dst: *mut u8,
        src: *const u8,
        offsets: &[isize],
        nest: &Nest,
    ) -> usize {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the caller's; picks are only made for a machine that has AVX-512.
        return unsafe { wide::pick(dst, src, offsets, self.run, nest) };
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (dst, src, offsets, nest, self.run);
            0
        }
    }
}
