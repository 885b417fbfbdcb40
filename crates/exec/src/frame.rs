//! The variables of a run and the addresses made of them.

use smallvec::SmallVec;

use crate::error::CallError;
use crate::slots::FrameSlot;

/// The value of an index that is out of range; no variable has it otherwise.
pub(crate) const OUTSIDE: i64 = i64::MIN;

/// Frames of up to so many variables are on the stack.
pub(crate) const FEW: usize = 256;

/// Frames of up to so many take next to no time to clear.
const VERY_FEW: usize = 16;

/// The values of all variables, by slot.
pub(crate) type Frame = [i64];

/// Works with a frame of so many slots. It is made where it stays: most calls take less time than
/// moving a large one.
#[inline]
pub(crate) fn with_frame<T>(
    slots: usize,
    work: impl FnOnce(&mut Frame) -> Result<T, CallError>,
) -> Result<T, CallError> {
    if slots <= VERY_FEW {
        work(&mut [0; VERY_FEW])
    } else if slots <= FEW {
        work(&mut [0; FEW])
    } else {
        let bytes = slots.saturating_mul(size_of::<i64>());
        let mut frame = Vec::new();
        let reserved = frame.try_reserve_exact(slots);
        reserved.map_err(|_| CallError::OutOfMemory { bytes })?;
        frame.resize(slots, 0);
        work(&mut frame)
    }
}

/// A place with its address in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// The number of its buffer.
    pub(crate) buffer: u32,
    /// How many of the terms, the first ones, are of slots that hold indices.
    indices: u32,
    base: isize,
    /// Slots and their coefficients.
    terms: SmallVec<[(usize, isize); 3]>,
}

impl Address {
    /// One without terms.
    pub(crate) fn new(buffer: u32, base: isize) -> Address {
        Address {
            buffer,
            indices: 0,
            base,
            terms: SmallVec::new(),
        }
    }

    /// Adds a slot that it grows with.
    pub(crate) fn grow(&mut self, slot: &FrameSlot, coeff: isize) {
        let at = match slot.is_index {
            true => self.indices as usize,
            false => self.terms.len(),
        };
        self.indices += u32::from(slot.is_index);
        self.terms.insert(at, (slot.number, coeff));
    }

    /// Whether it mentions an index.
    pub(crate) fn is_indexed(&self) -> bool {
        self.indices > 0
    }

    /// Whether it mentions an index that is out of range.
    #[inline]
    pub(crate) fn is_outside(&self, frame: &Frame) -> bool {
        let mut indices = self.terms.iter().take(self.indices as usize);
        indices.any(|term| frame[term.0] == OUTSIDE)
    }

    /// Its offset in the buffer. The sum is in range for a verified kernel; what comes before the
    /// last addend may wrap around.
    #[inline]
    pub(crate) fn offset(&self, frame: &Frame) -> isize {
        self.terms.iter().fold(self.base, |sum, &(slot, coeff)| {
            sum.wrapping_add(coeff.wrapping_mul(frame[slot] as isize))
        })
    }

    /// By how much it grows with a slot.
    pub(crate) fn step(&self, slot: usize) -> isize {
        self.terms
            .iter()
            .filter(|term| term.0 == slot)
            .fold(0, |sum, term| sum.wrapping_add(term.1))
    }
}
