//! How much of an x86-64 inline code may use, as the code generator is told.

use restride_moves::Features;
use restride_moves::cells::Shuffles;
use target_lexicon::{Architecture, Riscv64Architecture};

/// Which shuffles inline code has; nothing where there are no vectors.
pub(crate) fn shuffles(features: Features, architecture: Architecture) -> Option<Shuffles> {
    match (architecture, features) {
        (Architecture::X86_64, Features::Sse2) => Some(Shuffles::Words),
        (Architecture::Riscv64(profile), _) if !has_vectors(profile) => None,
        _ => Some(Shuffles::Bytes),
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

/// Whether a shuffle of one vector takes a table from a register, of which a place that is none makes zero
/// bits. Elsewhere the code generator would have to see to that.
pub(crate) fn has_tables(architecture: Architecture) -> bool {
    matches!(architecture, Architecture::Aarch64(_))
}
