//! Which machine code is generated for, and how much of an x86-64 it may use, as the code generator is told.

use restride_moves::{Features, Processor, Shuffles};
use target_lexicon::{Architecture, Riscv64Architecture, Triple};

/// What code is generated for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    pub(crate) processor: Processor,
    pub(crate) features: Features,
}

impl Machine {
    /// Which shuffles inline code has; nothing where there are no vectors.
    pub(crate) fn shuffles(self) -> Option<Shuffles> {
        self.processor.shuffles(self.features)
    }
}

/// The kind of a processor by its name; nothing for one that has never been tried.
#[must_use]
pub fn processor(triple: &Triple) -> Option<Processor> {
    match triple.architecture {
        Architecture::X86_64 => Some(Processor::X86_64),
        Architecture::Aarch64(_) => Some(Processor::Aarch64),
        Architecture::Riscv64(profile) if has_vectors(profile) => Some(Processor::Riscv64V),
        Architecture::Riscv64(_) => Some(Processor::Riscv64),
        _ => None,
    }
}

/// Of the RISC-Vs that have names, the profile of 2023 is the first that has vectors.
fn has_vectors(profile: Riscv64Architecture) -> bool {
    matches!(profile, Riscv64Architecture::Riscv64a23)
}

/// The code generator's names for everything the level has. Of other machines the name says what
/// there is.
pub(crate) fn cranelift_flags(
    features: Features,
    architecture: Architecture,
) -> impl Iterator<Item = &'static str> {
    const STEPS: [(Features, &[&str]); 4] = [
        (Features::Sse41, &["has_sse3", "has_ssse3", "has_sse41"]),
        (Features::Avx, &["has_sse42", "has_popcnt", "has_avx"]),
        (
            Features::Avx2,
            &["has_avx2", "has_bmi1", "has_bmi2", "has_lzcnt", "has_fma"],
        ),
        (
            Features::Avx512,
            &[
                "has_avx512f",
                "has_avx512dq",
                "has_avx512vl",
                "has_avx512vbmi",
            ],
        ),
    ];
    let levels = STEPS
        .into_iter()
        .filter(move |(level, _)| architecture == Architecture::X86_64 && *level <= features);
    let vectors: &[&str] = match architecture {
        Architecture::Riscv64(profile) if has_vectors(profile) => &["has_v"],
        _ => &[],
    };
    levels
        .map(|(_, names)| names)
        .chain([vectors])
        .flat_map(|names| names.iter().copied())
}
