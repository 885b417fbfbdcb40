//! For which machines leaves are compiled.

use restride_moves::Features;

/// The sets of instructions that leaves are compiled for, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CpuLevel {
    /// What every machine of the architecture has: SSE2 on x86-64.
    Baseline,
    /// AVX2.
    Avx2,
    /// AVX-512 with F, BW, VL, DQ and VBMI.
    Avx512,
}

impl CpuLevel {
    /// What leaves use where so much may be used, and the machine has it. Wider vectors than those of
    /// the code around them would make the processor switch between two states.
    pub(crate) fn of(features: Features) -> CpuLevel {
        match features.available() {
            Features::Sse2 | Features::Sse41 | Features::Avx => CpuLevel::Baseline,
            Features::Avx2 => CpuLevel::Avx2,
            Features::Avx512 => CpuLevel::Avx512,
        }
    }
}
