//! Numbers that wait in vector registers.
//!
//! A loop with more loop-invariant numbers than general registers keeps some on the stack. Where it
//! also writes at the speed of memory, reading them back is dear: the processor compares the low
//! bits of their addresses with those of all stores that are under way, and some of these match.

use std::arch::asm;
use std::arch::x86_64::__m128i;

/// A number out of the way.
#[derive(Clone, Copy)]
pub(crate) struct Parked(__m128i);

impl Parked {
    #[inline(always)]
    pub(crate) fn new(number: isize) -> Parked {
        let parked;
        // SAFETY: part of the baseline; only registers are touched.
        unsafe {
            asm!("movq {}, {}", out(xmm_reg) parked, in(reg) number,
                options(pure, nomem, nostack, preserves_flags));
        }
        Parked(parked)
    }

    /// The number. That is done again every time and not once before a loop.
    #[inline(always)]
    pub(crate) fn get(self) -> isize {
        let number;
        // SAFETY: as above.
        unsafe {
            asm!("movq {}, {}", out(reg) number, in(xmm_reg) self.0,
                options(nomem, nostack, preserves_flags));
        }
        number
    }
}
