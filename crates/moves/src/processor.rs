//! Kinds of processors, as far as code of a box's own minds which it is.

use crate::features::Features;

/// A kind of processor that there is code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Processor {
    /// The 64-bit code of Intel and AMD, at some level of its [`Features`].
    X86_64,
    /// The 64-bit code of Arm, with its vectors of 16 bytes.
    Aarch64,
    /// The 64-bit code of RISC-V, without vectors.
    Riscv64,
    /// The same with vectors, of which code uses 16 bytes each.
    Riscv64V,
}

/// What can be shuffled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffles {
    /// Words of 32 bits.
    Words,
    /// Any bytes of two vectors.
    Bytes,
    /// The same, by tables that stay in registers, of each vector those bytes that are wanted and zeros
    /// elsewhere; what zips, unzips, transposes, repeats, reverses or shifts takes no table.
    Tables,
}

impl Processor {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::X86_64, Self::Aarch64, Self::Riscv64, Self::Riscv64V];

    /// What it is called in texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86-64",
            Self::Aarch64 => "aarch64",
            Self::Riscv64 => "riscv64",
            Self::Riscv64V => "riscv64v",
        }
    }

    /// The kind of this machine.
    #[must_use]
    pub const fn host() -> Self {
        if cfg!(target_arch = "aarch64") {
            Self::Aarch64
        } else if cfg!(target_arch = "riscv64") {
            Self::Riscv64
        } else {
            Self::X86_64
        }
    }

    /// Which shuffles its code has at a level; nothing where there are no vectors.
    #[must_use]
    pub fn shuffles(self, features: Features) -> Option<Shuffles> {
        match (self, features) {
            (Self::X86_64, Features::Sse2) => Some(Shuffles::Words),
            (Self::X86_64 | Self::Riscv64V, _) => Some(Shuffles::Bytes),
            (Self::Aarch64, _) => Some(Shuffles::Tables),
            (Self::Riscv64, _) => None,
        }
    }

    /// Whether a load or store of so many bytes takes a displacement as a part of itself. Others take
    /// instructions of their own.
    #[must_use]
    pub const fn reaches(self, displacement: i64, bytes: i64) -> bool {
        match self {
            Self::X86_64 => displacement as i32 as i64 == displacement,
            Self::Aarch64 => {
                let steps = displacement / bytes;
                (displacement % bytes == 0 && 0 <= steps && steps < 1 << 12)
                    || (-256 <= displacement && displacement < 256)
            }
            Self::Riscv64 => -2048 <= displacement && displacement < 2040,
            // Vectors have no displacement at all.
            Self::Riscv64V => {
                bytes < 16 && -2048 <= displacement && displacement < 2040 || displacement == 0
            }
        }
    }
}
