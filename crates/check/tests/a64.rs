//! Random kernels for aarch64, whichever machine this is: all are shown to be right, none with a buffer
//! too short or with another constant in an instruction. `RESTRIDE_CHECK_TIMES=N` checks N times as many.

mod support;

use std::collections::BTreeMap;

use restride_check::{Limits, Processor, Report, Subject, Unproved, check};
use restride_jit::{Compiler, Features, Listing};
use restride_loops::{Verified, generate, verify};

fn kernel_of(seed: u64) -> Verified {
    verify(generate::kernel(seed)).expect("generated kernels are valid")
}

fn compiled(kernel: &Verified) -> Listing {
    let triple: target_lexicon::Triple = "aarch64-unknown-linux-gnu".parse().expect("a triple");
    Compiler::listing_for(&triple, Features::Sse2, kernel).expect("aarch64 code")
}

fn followed(
    kernel: &Verified,
    code: &[u8],
    phases: &[usize],
    limits: &Limits,
) -> Result<Report, Box<Unproved>> {
    let subject = Subject {
        processor: Processor::A64,
        code,
        phases,
        kernel,
        callees: &[],
    };
    check(&subject, limits).map_err(Box::new)
}

#[test]
fn random_kernels_are_shown_to_be_right() {
    let times = std::env::var("RESTRIDE_CHECK_TIMES").ok();
    let times: u64 = times.and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut total = Report::default();
    for seed in 0..1000 * times {
        let kernel = kernel_of(seed);
        let listing = compiled(&kernel);
        let report = followed(&kernel, &listing.code, &listing.phases, &Limits::default());
        let report = report.unwrap_or_else(|unproved| {
            panic!("seed {seed}: {unproved}\n{}\n{}", *kernel, listing.assembly)
        });
        total.runs += report.runs;
        total.steps += report.steps;
        total.accesses += report.accesses;
        total.bytes += report.bytes;
    }
    println!("{total:?}");
    assert!(total.accesses > 0 && total.bytes > 0);
}

#[test]
fn a_buffer_too_short_is_noticed() {
    let (mut refused, mut spare) = (0, 0);
    for seed in 8_000_000..8_000_300 {
        let kernel = kernel_of(seed);
        let listing = compiled(&kernel);
        let (these, those) = support::too_short(&kernel, |short| {
            let mut limits = Limits::default();
            limits.short = short;
            followed(&kernel, &listing.code, &listing.phases, &limits)
        });
        (refused, spare) = (refused + these, spare + those);
    }
    println!("{refused} refused, {spare} buffers with an element to spare");
    assert!(refused > 500 && spare > 0, "{refused}, {spare}");
}

/// Bits of a word that are a constant, by the class of the instruction.
fn constant(word: u32) -> u32 {
    let ones = |from: u32, count: u32| ((1u32 << count) - 1) << from;
    match word {
        w if w & 0x1f80_0000 == 0x1100_0000 => ones(10, 13),
        w if w & 0x1f80_0000 == 0x1280_0000 => ones(5, 18),
        w if w & 0x1f00_0000 == 0x1200_0000 => ones(10, 12),
        w if w & 0x1f20_0000 == 0x0b00_0000 => ones(10, 6),
        w if w & 0x3b00_0000 == 0x3900_0000 => ones(10, 12),
        w if w & 0x3b20_0400 == 0x3800_0000 => ones(12, 9),
        w if w & 0x3b20_0c00 == 0x3820_0800 => ones(12, 1) | ones(13, 3),
        w if w & 0x3a00_0000 == 0x2800_0000 => ones(15, 7),
        w if w & 0x3b00_0000 == 0x1800_0000 => ones(5, 19),
        w if w & 0xfc00_0000 == 0x1400_0000 => ones(0, 26),
        w if w & 0xff00_0000 == 0x5400_0000 => ones(0, 4) | ones(5, 19),
        w if w & 0x7e00_0000 == 0x3400_0000 => ones(5, 20),
        w if w & 0xbfe0_8400 == 0x2e00_0000 => ones(11, 4),
        w if w & 0x9fe0_8400 == 0x0e00_0400 => ones(16, 5),
        w if w & 0x9ff8_0c00 == 0x0f00_0400 => ones(5, 5) | ones(12, 4) | ones(16, 3),
        // Which network, of elements how large.
        w if w & 0xbf20_8c00 == 0x0e00_0800 => ones(12, 3) | ones(22, 2),
        w if w & 0x3fe0_0800 == 0x1a80_0000 => ones(12, 4),
        _ => 0,
    }
}

#[test]
fn changed_constants_are_noticed() {
    let mut counts = BTreeMap::new();
    let mut tried = 0;
    for seed in 9_000_000.. {
        let kernel = kernel_of(seed);
        let bytes: usize = kernel.buffers.iter().filter_map(|b| b.bytes()).sum();
        // Small ones, of which many can be tried.
        if bytes > 3000 {
            continue;
        }
        let Listing { code, phases, .. } = &mut compiled(&kernel);
        let mut limits = Limits::default();
        let whole = followed(&kernel, code, phases, &limits).expect("right as it is");
        limits.steps = 4 * whole.steps + 1000;
        let mut places: Vec<(usize, u32)> = Vec::new();
        for at in whole.executed {
            let word = u32::from_le_bytes(*code[at..].first_chunk().expect("a word"));
            let bits = constant(word);
            let bits = (0..32).map(|bit| 1 << bit).filter(|bit| bits & bit != 0);
            places.extend(bits.map(|bit| (at, bit)));
            // A constant that is loaded: tables of shuffles, patterns.
            if word & 0xff00_0000 == 0x9c00_0000 {
                let from = (at as i64 + ((i64::from(word) << 40) >> 45 << 2)) as usize;
                places.extend((from..from + 16).map(|at| (at & !3, 1 << (8 * (at % 4)))));
            }
        }
        places.sort_unstable();
        places.dedup();
        for (at, bit) in places {
            let flip = |code: &mut Vec<u8>| {
                for (byte, by) in code[at..].iter_mut().zip(bit.to_le_bytes()) {
                    *byte ^= by;
                }
            };
            flip(code);
            let verdict = match followed(&kernel, code, phases, &limits).map_err(|it| *it) {
                Err(Unproved::Wrong(_)) => "wrong",
                Err(Unproved::Limit(_)) => "without end",
                Err(_) => "not understood",
                Ok(_) => "equivalent",
            };
            flip(code);
            *counts.entry(verdict).or_insert(0u64) += 1;
        }
        tried += 1;
        if tried == 20 {
            break;
        }
    }
    println!("{counts:?}");
    let of = |verdict| counts.get(verdict).copied().unwrap_or(0);
    assert!(
        of("wrong") > 1000 && of("wrong") > 4 * of("equivalent"),
        "{counts:?}"
    );
    assert!(of("wrong") > 20 * of("not understood"), "{counts:?}");
}
