//! How wide the vectors of the host are.

use std::sync::OnceLock;

/// The sets of instructions that leaves are compiled for, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CpuLevel {
    /// What every machine of the architecture has: SSE2 on x86-64.
    Baseline,
    /// AVX2.
    Avx2,
    /// AVX-512 with F, BW, VL, DQ and VBMI.
    Avx512,
}

impl CpuLevel {
    /// All levels, weakest first.
    pub const ALL: [CpuLevel; 3] = [CpuLevel::Baseline, CpuLevel::Avx2, CpuLevel::Avx512];

    /// The strongest level of this machine; asked of the machine once.
    pub fn detect() -> CpuLevel {
        static LEVEL: OnceLock<CpuLevel> = OnceLock::new();
        *LEVEL.get_or_init(ask)
    }

    /// This level, or the strongest one of this machine if it has less.
    pub fn available(self) -> CpuLevel {
        self.min(CpuLevel::detect())
    }
}

#[cfg(target_arch = "x86_64")]
fn ask() -> CpuLevel {
    macro_rules! has {
        ($($feature:tt)*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
    }
    if !has!("avx2" "ssse3") {
        CpuLevel::Baseline
    } else if has!("avx512f" "avx512bw" "avx512vl" "avx512dq" "avx512vbmi") {
        CpuLevel::Avx512
    } else {
        CpuLevel::Avx2
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn ask() -> CpuLevel {
    CpuLevel::Baseline
}
