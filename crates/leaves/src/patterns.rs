//! What leaves are made for, and what is remembered of those that were made.

use crate::cpu::CpuLevel;

/// A level of processor, and the patterns for which leaves of it have been made: the next leaf of
/// a pattern takes a tenth of the time. Bounded; to be kept by whoever makes many leaves, and shared.
pub struct Patterns {
    cpu: CpuLevel,
    #[cfg(target_arch = "x86_64")]
    pub(crate) lines: crate::lines::Known,
}

impl Patterns {
    /// For a level of processor, or the best that there is if that is less. Nothing is known yet.
    #[must_use]
    pub fn new(cpu: CpuLevel) -> Patterns {
        Patterns {
            cpu: cpu.available(),
            #[cfg(target_arch = "x86_64")]
            lines: crate::lines::Known::default(),
        }
    }

    /// The level, which this machine has.
    #[must_use]
    pub fn cpu(&self) -> CpuLevel {
        self.cpu
    }
}

impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Patterns")
            .field("cpu", &self.cpu)
            .finish_non_exhaustive()
    }
}
