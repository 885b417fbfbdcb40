//! Code with each of its constants changed, one at a time.

use std::collections::BTreeMap;

use restride_check::{Limits, Report, Unproved};
use restride_loops::{Verified, generate, verify};

/// Random kernels of at most so many bytes, of which many changes can be tried, and their seeds.
pub(crate) fn small_kernels(first: u64, most: usize) -> impl Iterator<Item = (u64, Verified)> {
    let kernel = |seed| verify(generate::kernel(seed)).expect("generated kernels are valid");
    let all = (first..).map(move |seed| (seed, kernel(seed)));
    all.filter(move |(_, kernel)| {
        let bytes: usize = kernel.buffers.iter().filter_map(|b| b.bytes()).sum();
        bytes <= most
    })
}

/// What became of changed code, by what was said of it.
#[derive(Debug, Default)]
pub(crate) struct Verdicts(BTreeMap<&'static str, u64>);

impl Verdicts {
    /// Most changes make code wrong, and of those all but a few are known to.
    pub(crate) fn expect_refusals(&self, understood: u64) {
        let of = |verdict| self.0.get(verdict).copied().unwrap_or(0);
        let wrong = of("wrong");
        assert!(wrong > 1000 && wrong > 4 * of("equivalent"), "{self:?}");
        assert!(wrong > understood * of("not understood"), "{self:?}");
    }
}

/// Follows code with each constant of what it executes changed, one at a time.
pub(crate) fn change_all(
    code: &mut [u8],
    constants: impl Fn(&[u8], usize) -> Vec<(usize, u8)>,
    verdicts: &mut Verdicts,
    follow: impl Fn(&[u8], &Limits) -> Result<Report, Box<Unproved>>,
) {
    let mut limits = Limits::default();
    let whole = follow(code, &limits).expect("right as it is");
    limits.steps = 4 * whole.steps + 1000;
    let executed = whole.executed.iter();
    let mut places: Vec<_> = executed.flat_map(|&at| constants(code, at)).collect();
    places.sort_unstable();
    places.dedup();
    for (byte, bits) in places {
        code[byte] ^= bits;
        let verdict = match follow(code, &limits).map_err(|it| *it) {
            Err(Unproved::Wrong(_)) => "wrong",
            Err(Unproved::Limit(_)) => "without end",
            Err(_) => "not understood",
            Ok(_) => "equivalent",
        };
        code[byte] ^= bits;
        *verdicts.0.entry(verdict).or_insert(0) += 1;
    }
}
