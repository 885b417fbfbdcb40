//! What the processor says about its caches.

use crate::Target;
use crate::target::past_from;

impl Target {
    /// The machine this runs on, as far as its processor tells; the default for the rest. The same
    /// graph may then give other loops on other targets.
    #[must_use]
    pub fn host() -> Self {
        let mut target = Self::default();
        for cache in caches() {
            match cache.level {
                1 => (target.l1, target.l1_way) = (cache.bytes, cache.bytes / cache.ways),
                2 => target.l2 = cache.bytes,
                _ => {}
            }
            target.last = match cache.level {
                1 => target.last,
                _ => cache.bytes,
            };
        }
        // Of what many cores share, each has a part only, and the processor does not say which.
        target.past_from = past_from(target.last.min(Self::default().last));
        target
    }
}

/// A cache that holds data.
struct Cache {
    level: u32,
    bytes: i64,
    ways: i64,
}

/// The caches that hold data, nearest first; none where the processor cannot be asked.
#[cfg(target_arch = "x86_64")]
fn caches() -> impl Iterator<Item = Cache> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const INTEL: u32 = 4;
    const AMD: u32 = 0x8000_001d;
    let described = |leaf: u32| {
        let most = __cpuid(leaf & 0x8000_0000).eax;
        most >= leaf && __cpuid_count(leaf, 0).eax & 31 != 0
    };
    let leaf = [AMD, INTEL].into_iter().find(|&leaf| described(leaf));
    let asked = move |n| leaf.map(|leaf| __cpuid_count(leaf, n));
    (0..16)
        .map_while(asked)
        .take_while(|answer| answer.eax & 31 != 0)
        // 2 is a cache of instructions.
        .filter(|answer| answer.eax & 31 != 2)
        .map(|answer| {
            let field = |bits: u32, from: u32, width: u32| {
                i64::from((bits >> from) & ((1 << width) - 1)) + 1
            };
            let ways = field(answer.ebx, 22, 10);
            let line = field(answer.ebx, 0, 12) * field(answer.ebx, 12, 10);
            Cache {
                level: (answer.eax >> 5) & 7,
                bytes: (ways * line).saturating_mul(i64::from(answer.ecx) + 1),
                ways,
            }
        })
}

#[cfg(not(target_arch = "x86_64"))]
fn caches() -> impl Iterator<Item = Cache> {
    std::iter::empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cache_is_larger_than_the_one_before() {
        let host = Target::host();
        assert!(
            host.l1_way <= host.l1 && host.l1 < host.l2 && host.l2 <= host.last,
            "{host:?}"
        );
        assert!((8 << 10..1 << 20).contains(&host.l1), "{host:?}");
        assert!(
            host.l1 % host.l1_way == 0 && host.l1_way % host.line == 0,
            "{host:?}"
        );
    }
}
