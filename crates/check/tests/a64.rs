//! Random kernels for aarch64, whichever machine this is: all are shown to be right, none with a buffer
//! too short or with another constant in an instruction. `RESTRIDE_CHECK_TIMES=N` checks N times as many.

mod support {
    pub(crate) mod a64;
    pub(crate) mod changed;
    pub(crate) mod short;
}

use restride_check::{CallForm, CodeSubject, Limits, Processor, Report, Unproved, check};
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
    let subject = CodeSubject {
        processor: Processor::A64,
        code,
        form: CallForm::Phases(phases),
        kernel,
        callees: &[],
    };
    check(&subject, limits).map_err(Box::new)
}

/// How many times as many kernels are checked as usually.
fn times() -> u64 {
    let times = std::env::var("RESTRIDE_CHECK_TIMES").ok();
    times.and_then(|n| n.parse().ok()).unwrap_or(1)
}

#[test]
fn random_kernels_are_shown_to_be_right() {
    let mut total = Report::default();
    for seed in 0..1000 * times() {
        let kernel = kernel_of(seed);
        let listing = compiled(&kernel);
        let report = followed(&kernel, &listing.code, &listing.phases, &Limits::default());
        let report = report.unwrap_or_else(|unproved| {
            panic!("seed {seed}: {unproved}\n{}\n{}", *kernel, listing.assembly)
        });
        total += &report;
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
        let (these, those) = support::short::too_short(
            &kernel,
            |_| false,
            |short| {
                let mut limits = Limits::default();
                limits.short = short;
                followed(&kernel, &listing.code, &listing.phases, &limits)
            },
        );
        (refused, spare) = (refused + these, spare + those);
    }
    println!("{refused} refused, {spare} buffers with an element to spare");
    assert!(refused > 500 && spare > 0, "{refused}, {spare}");
}

#[test]
fn changed_constants_are_noticed() {
    let mut counts = support::changed::Verdicts::default();
    let kernels = support::changed::small_kernels(9_000_000, 3000);
    for (_, kernel) in kernels.take(20 * times() as usize) {
        let Listing { code, phases, .. } = &mut compiled(&kernel);
        let follow = |code: &[u8], limits: &Limits| followed(&kernel, code, phases, limits);
        support::changed::change_all(code, support::a64::constants, &mut counts, follow);
    }
    println!("{counts:?}");
    counts.expect_refusals(20);
}
