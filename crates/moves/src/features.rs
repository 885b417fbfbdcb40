//! How much of an x86-64 code may use.

use std::sync::OnceLock;

/// A level of x86-64 that moves are restricted to. Other architectures have one level only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Features {
    /// What every x86-64 has.
    Sse2,
    /// SSE3, SSSE3 and SSE4.1.
    Sse41,
    /// AVX: three-operand forms.
    Avx,
    /// AVX2, BMI and FMA.
    Avx2,
    /// AVX-512 F, BW, DQ, VL and VBMI.
    Avx512,
}

impl Features {
    /// Every level, weakest first.
    pub const ALL: [Self; 5] = [Self::Sse2, Self::Sse41, Self::Avx, Self::Avx2, Self::Avx512];

    /// The weakest level of each width of vectors: precompiled moves are there for these.
    pub const WIDTHS: [Self; 3] = [Self::Sse2, Self::Avx2, Self::Avx512];

    /// What it is called in texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sse2 => "sse2",
            Self::Sse41 => "sse4.1",
            Self::Avx => "avx",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The strongest level of this machine; asked of the machine once.
    #[must_use]
    pub fn detect() -> Self {
        static LEVEL: OnceLock<Features> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let strongest_first = Self::ALL.into_iter().rev();
            let mut available = strongest_first.filter(|level| level.is_available());
            available.next().unwrap_or(Self::Sse2)
        })
    }

    /// This level, or the strongest one of this machine if it has less.
    #[must_use]
    pub fn available(self) -> Self {
        self.min(Self::detect())
    }

    /// Whether this machine has the level.
    #[cfg(target_arch = "x86_64")]
    #[must_use]
    pub fn is_available(self) -> bool {
        macro_rules! has {
            ($($feature:tt)*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
        }
        match self {
            Self::Sse2 => true,
            Self::Sse41 => has!("sse3" "ssse3" "sse4.1"),
            Self::Avx => Self::Sse41.is_available() && has!("sse4.2" "popcnt" "avx"),
            Self::Avx2 => Self::Avx.is_available() && has!("avx2" "bmi1" "bmi2" "lzcnt" "fma"),
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && has!("avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi")
            }
        }
    }

    /// Whether this machine has the level.
    #[cfg(not(target_arch = "x86_64"))]
    #[must_use]
    pub fn is_available(self) -> bool {
        self == Self::Sse2
    }

    /// How many lanes of sixteen bytes its widest vectors have, and those of at most 32 bytes.
    pub(crate) fn lanes(self) -> [usize; 2] {
        match self {
            Self::Sse2 | Self::Sse41 | Self::Avx => [1, 1],
            Self::Avx2 => [2, 2],
            Self::Avx512 => [4, 2],
        }
    }

    /// How many lanes the widest vectors have that so many lanes fill.
    pub(crate) fn widest(self, filled: usize) -> usize {
        let mut vectors = self.lanes().into_iter();
        vectors.find(|&lanes| filled >= lanes).unwrap_or(1)
    }
}
