//! Compiled kernels against the checking interpreter: random ones and a folder of written ones, at
//! every level of the processor, in both memories, whole and in chunks.
#![cfg(target_arch = "x86_64")]

mod support;

use restride_jit::{CodeMemory, CompileOptions, Compiler, Features, Paranoia};
use restride_loops::{Kernel, Verified, generate, verify};
use support::ladder::differs;

fn compiler(features: Features, memory: CodeMemory, paranoia: Paranoia) -> Compiler {
    compilers(features, memory, paranoia).0
}

/// One whose code may call leaves, and one whose code does everything itself.
fn compilers(features: Features, memory: CodeMemory, paranoia: Paranoia) -> (Compiler, Compiler) {
    let make = |self_contained| {
        let mut options = CompileOptions::default();
        options.features = features;
        options.memory = memory.clone();
        options.paranoia = paranoia;
        options.self_contained = self_contained;
        Compiler::new(options).expect("this machine has a code generator")
    };
    (make(false), make(true))
}

const PARANOID: Paranoia = Paranoia {
    verifier: true,
    regalloc: true,
};

fn levels() -> impl Iterator<Item = Features> {
    Features::ALL
        .into_iter()
        .filter(|level| level.is_available())
}

/// Compiles and runs a kernel in every way; what went wrong.
fn try_kernel(native: &mut Compiler, kernel: &Verified, seed: u64) {
    let compiled = native
        .compile(kernel)
        .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", **kernel));
    for data in 0..2 {
        let inputs = generate::inputs(kernel, seed * 2 + data);
        for (chunks, at_front) in [(1, false), (1, true), (3, false), (7, true)] {
            if let Some(difference) = differs(kernel, &compiled, &inputs, chunks, at_front) {
                let listing = native.listing(kernel).map(|listing| listing.clif);
                panic!(
                    "seed {seed}, {chunks} chunks, {native:?}: {difference}\n{}\n{}",
                    **kernel,
                    listing.unwrap_or_default()
                );
            }
        }
    }
}

fn random_kernel(seed: u64) -> Verified {
    verify(generate::kernel(seed)).expect("generated kernels are valid")
}

#[test]
fn random_kernels_at_every_level() {
    for features in levels() {
        let (mut native, mut alone) = compilers(features, CodeMemory::auto(), PARANOID);
        let base = 1_000_000 * (1 + features as u64);
        for seed in base..base + 600 {
            let kernel = random_kernel(seed);
            try_kernel(&mut native, &kernel, seed);
            try_kernel(&mut alone, &kernel, seed);
        }
    }
}

#[test]
fn random_kernels_in_modules() {
    let mut native = compiler(Features::detect(), CodeMemory::Module, Paranoia::default());
    for seed in 0..300 {
        try_kernel(&mut native, &random_kernel(seed), seed);
    }
}

#[test]
fn written_kernels_at_every_level() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of kernels")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        for (number, part) in (0..).zip(text.split("// ----")) {
            let kernel: Kernel = part
                .parse()
                .unwrap_or_else(|error| panic!("{file:?} {number}: {error:?}"));
            let kernel =
                verify(kernel).unwrap_or_else(|error| panic!("{file:?} {number}: {error}"));
            for features in levels() {
                let (mut native, mut alone) = compilers(features, CodeMemory::auto(), PARANOID);
                try_kernel(&mut native, &kernel, number);
                try_kernel(&mut alone, &kernel, number);
            }
        }
    }
}

#[test]
fn a_wrong_kernel_is_noticed() {
    let parse = |from: i64| {
        let text = format!(
            "kernel \"slice\" {{ b0 = in 0 w4 [40] b1 = out 0 w4 [9]
               move b1[0] <- b0[{from}] box [(9, 1, 1)] as rows }}"
        );
        let kernel: Kernel = text.parse().expect("a kernel");
        verify(kernel).expect("a valid kernel")
    };
    let (asked, other) = (parse(3), parse(4));
    let mut native = compiler(Features::detect(), CodeMemory::auto(), PARANOID);
    let compiled = native.compile(&other).expect("executable memory");
    let inputs = generate::inputs(&asked, 1);
    assert_eq!(differs(&other, &compiled, &inputs, 1, false), None);
    assert!(differs(&asked, &compiled, &inputs, 1, false).is_some());
}
