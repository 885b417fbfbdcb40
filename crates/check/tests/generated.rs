//! Random kernels of every form and width, compiled at every level of the processor: all are
//! shown to be right. With a buffer too short, none is. `RESTRIDE_CHECK_TIMES=N` checks N times as
//! many.
#![cfg(target_arch = "x86_64")]

mod support {
    pub(crate) mod short;
}

use std::collections::BTreeSet;

use restride_check::{CallForm, CodeSubject, Contract, Limits, Processor, Report, Unproved, check};
use restride_jit::{CompileOptions, Compiler, Features, NativeKernel};
use restride_loops::{Kernel, Stmt, Verified, generate, verify};

fn compiler(features: Features, self_contained: bool) -> Compiler {
    let mut options = CompileOptions::default();
    options.features = features;
    options.contracts = true;
    options.self_contained = self_contained;
    Compiler::new(options).expect("this machine has a code generator")
}

fn levels() -> impl Iterator<Item = Features> {
    Features::ALL
        .into_iter()
        .filter(|level| level.is_available())
}

fn random_kernel(seed: u64) -> Verified {
    verify(generate::kernel(seed)).expect("generated kernels are valid")
}

fn checked(
    kernel: &Verified,
    native: &NativeKernel,
    short: Option<(usize, i64)>,
) -> Result<Report, Box<Unproved>> {
    let phases: Vec<usize> = native.phase_offsets().collect();
    let subject = CodeSubject {
        processor: Processor::X86,
        code: native.code(),
        form: CallForm::Phases(&phases),
        kernel,
        callees: native.callees(),
    };
    let mut limits = Limits::default();
    limits.short = short;
    check(&subject, &limits).map_err(Box::new)
}

#[test]
fn random_kernels_are_shown_to_be_right() {
    let times = std::env::var("RESTRIDE_CHECK_TIMES").ok();
    let times: u64 = times.and_then(|n| n.parse().ok()).unwrap_or(1);
    let (seen, total) = random_kernels(times, false);
    assert!(total.accesses > 0 && total.bytes > 0 && total.calls > 0);
    // Seven forms of five widths.
    assert_eq!(seen.len(), 35, "{seen:?}");
}

#[test]
fn so_are_those_whose_code_calls_nothing() {
    let (seen, total) = random_kernels(1, true);
    assert!(total.accesses > 0 && total.bytes > 0 && total.calls == 0);
    assert_eq!(seen.len(), 35, "{seen:?}");
}

/// The forms and widths of many kernels at every level, and what was looked at.
fn random_kernels(times: u64, self_contained: bool) -> (BTreeSet<String>, Report) {
    let mut seen = BTreeSet::new();
    let (mut kernels, mut total) = (0, Report::default());
    for features in levels() {
        let mut compiler = compiler(features, self_contained);
        let base = 7_000_000 * (1 + features as u64);
        for seed in base..base + 300 * times {
            let kernel = random_kernel(seed);
            let native = compiler.compile(&kernel).expect("executable memory");
            let report = checked(&kernel, &native, None).unwrap_or_else(|violation| {
                panic!(
                    "seed {seed} at {features:?}: {violation}\n{}\n{}",
                    *kernel,
                    native.disassembly()
                )
            });
            kernels += 1;
            total += &report;
            kernel.visit(|stmt| {
                if let Stmt::Move(m) = stmt {
                    let width = kernel.buffer(m.dst.buffer).map(|b| b.width);
                    seen.insert(format!("{:?} {width:?}", m.form));
                }
            });
        }
    }
    println!("{kernels} kernels: {total:?}");
    (seen, total)
}

#[test]
fn a_buffer_too_short_is_noticed() {
    let (mut refused, mut spare) = (0, 0);
    let both = |features| [(features, false), (features, true)];
    for (features, self_contained) in levels().flat_map(both) {
        let mut compiler = compiler(features, self_contained);
        let base = 8_000_000 * (1 + features as u64);
        for seed in base..base + 60 {
            let kernel = random_kernel(seed);
            let native = compiler.compile(&kernel).expect("executable memory");
            let follow = |short| checked(&kernel, &native, short);
            let (these, those) = support::short::too_short(&kernel, |_| false, follow);
            (refused, spare) = (refused + these, spare + those);
        }
    }
    assert!(
        refused > 500 && spare > 0,
        "{refused} refused, {spare} spare"
    );
    println!("{refused} refused, {spare} buffers with an element to spare");
}

/// Moves that one leaf makes are followed by what it promises: all is in range, and nothing less will do.
#[test]
fn woven_moves_are_shown_to_be_right() {
    let written = include_str!("../../jit/tests/kernels/woven.kernel");
    let (mut woven, mut refused) = (0, 0);
    for features in levels() {
        let mut compiler = compiler(features, false);
        for text in written.split("// ----") {
            let kernel: Kernel = text.parse().expect("a kernel");
            let kernel = verify(kernel).expect("a kernel that may run");
            let native = compiler.compile(&kernel).expect("executable memory");
            let contracts = native.callees().iter().map(|callee| &callee.contract);
            woven += contracts
                .filter(|it| matches!(it, Contract::Weave { .. }))
                .count();
            let follow = |short| checked(&kernel, &native, short);
            refused += support::short::too_short(&kernel, |_| false, follow).0;
        }
    }
    // With AVX2 as well as with AVX-512, where there are these.
    let levels = [Features::Avx2, Features::Avx512];
    let levels = levels.into_iter().filter(|level| level.is_available());
    assert_eq!(woven, 3 * levels.count());
    assert!(refused > 50, "{refused} refused");
}
