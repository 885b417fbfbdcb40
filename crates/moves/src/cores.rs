//! Whose cores a machine has, where that decides by which tiles it is fastest.

use std::sync::OnceLock;

/// A line of cores. What is right for one follows from what its loads and stores cost, which was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Core {
    /// AMD's. Vectors of 64 bytes are stored in halves, a line every second clock. A vector that straddles two lines
    /// takes as long as five, and lines of rows that share a set of the nearest cache drive each other out.
    Zen,
    /// Intel's. A line is stored every clock, as one vector of 64 bytes; two halves of it take a quarter more. A vector
    /// that straddles lines takes more than two clocks, and waits for both lines, one after the other: what is stored
    /// next should go on where it ends. A mask costs another clock. What leaves the nearest cache is soon back from the
    /// second one, so that no way by a stage is worth its copies.
    Cove,
}

impl Core {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Zen, Self::Cove];

    /// What they are called in texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zen => "zen",
            Self::Cove => "cove",
        }
    }

    /// Those of this machine; asked of it once. What is neither is taken for the first.
    #[must_use]
    pub fn detect() -> Self {
        static CORE: OnceLock<Core> = OnceLock::new();
        *CORE.get_or_init(asked)
    }
}

#[cfg(target_arch = "x86_64")]
fn asked() -> Core {
    let maker = std::arch::x86_64::__cpuid(0);
    let maker = [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes);
    match maker.as_flattened() == b"GenuineIntel" {
        true => Core::Cove,
        false => Core::Zen,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn asked() -> Core {
    Core::Zen
}
