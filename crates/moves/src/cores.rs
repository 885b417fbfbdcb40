//! Whose cores a machine has, where that decides by which tiles it is fastest.

use std::sync::OnceLock;

/// A line of cores. What is right for one follows from what its loads and stores cost, which was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Core {
    /// AMD's up to Zen 4. Vectors of 64 bytes are stored in halves, a line every second clock. A vector that straddles two lines
    /// takes as long as five, and lines of rows that share a set of the nearest cache drive each other out.
    Zen,
    /// AMD's from Zen 5 on, as servers have it. A line is stored every clock, one that straddles two every one and a half, and
    /// two are shuffled in that time: to load whole lines and turn them round costs less than to load lanes of sixteen
    /// bytes, of which there are two a clock. More is under way at once.
    Zen5,
    /// Intel's. A line is stored every clock, as one vector of 64 bytes; two halves of it take a quarter more. A vector
    /// that straddles lines takes more than two clocks, and waits for both lines, one after the other: what is stored
    /// next should go on where it ends. A mask costs another clock. What leaves the nearest cache is soon back from the
    /// second one, so that no way by a stage is worth its copies.
    Cove,
}

impl Core {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Zen, Self::Zen5, Self::Cove];

    /// What they are called in texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zen => "zen",
            Self::Zen5 => "zen5",
            Self::Cove => "cove",
        }
    }

    /// The ways of its nearest cache, of which a target need not say all.
    pub(crate) fn ways(self) -> usize {
        match self {
            Core::Zen => 8,
            Core::Zen5 | Core::Cove => 12,
        }
    }

    /// Whether whole lines are loaded and turned round in less time than lanes are loaded, so that squares are the better
    /// way wherever there is room for one.
    pub(crate) fn turns_whole_lines(self) -> bool {
        self == Self::Zen5
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
    use std::arch::x86_64::__cpuid;
    let maker = __cpuid(0);
    let maker = [maker.ebx, maker.edx, maker.ecx].map(u32::to_le_bytes);
    let version = __cpuid(1).eax;
    match maker.as_flattened() {
        b"GenuineIntel" => Core::Cove,
        b"AuthenticAMD" => of_amd(version),
        _ => Core::Zen,
    }
}

/// AMD's, by what the processor calls its version.
#[cfg(target_arch = "x86_64")]
fn of_amd(version: u32) -> Core {
    let field = |from: u32, width: u32| version >> from & ((1 << width) - 1);
    let (family, model) = (field(8, 4) + field(20, 8), field(4, 4) | field(16, 4) << 4);
    // Those of some laptops have registers of 64 bytes and move them in halves.
    let in_halves = matches!(model, 0x20..=0x2f | 0x60..=0x6f);
    match family {
        0x1a if in_halves => Core::Zen,
        0x1a.. => Core::Zen5,
        _ => Core::Zen,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn asked() -> Core {
    Core::Zen
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn versions_of_amd_are_told_apart() {
        use super::{Core, of_amd};
        let server = [(0x00a1_0f11, Core::Zen), (0x00b0_0f21, Core::Zen5)];
        let laptop = [(0x00a7_0f41, Core::Zen), (0x00b2_0f40, Core::Zen)];
        for (version, core) in server.into_iter().chain(laptop) {
            assert_eq!(of_amd(version), core, "{version:#x}");
        }
    }
}
