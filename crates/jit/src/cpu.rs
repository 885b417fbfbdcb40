//! How much of an x86-64 inline code may use, as the code generator is told.

use restride_moves::Features;
use restride_moves::cells::Shuffles;
use target_lexicon::Architecture;

/// Which shuffles inline code has.
pub(crate) fn shuffles(features: Features, architecture: Architecture) -> Shuffles {
    match (architecture, features) {
        (Architecture::X86_64, Features::Sse2) => Shuffles::Words,
        _ => Shuffles::Bytes,
    }
}

/// The code generator's names for everything the level has.
pub(crate) fn cranelift_flags(features: Features) -> impl Iterator<Item = &'static str> {
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
    STEPS
        .into_iter()
        .filter(move |(level, _)| *level <= features)
        .flat_map(|(_, names)| names.iter().copied())
}
