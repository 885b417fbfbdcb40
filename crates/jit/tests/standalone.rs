//! Functions for other machines: that they are made, of whatever kernel, and the same each time.

use restride_jit::{Compiler, Features, Standalone, Triple};
use restride_loops::{Kernel, Role, Verified, generate, verify};

const MACHINES: [&str; 6] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "riscv64gc-unknown-linux-gnu",
    "riscv64a23-unknown-linux-gnu",
];

fn compiler(machine: &str, level: Features) -> Compiler {
    let triple: Triple = machine.parse().expect("a triple");
    Compiler::for_machine(&triple, level).expect("a code generator")
}

fn made(machine: &str, level: Features, kernel: &Verified) -> Standalone {
    let function = compiler(machine, level).standalone(kernel);
    function.unwrap_or_else(|error| panic!("{machine}: {error}\n{}", **kernel))
}

/// A kernel of as many constant bytes, which it writes to its output.
fn copies(bytes: usize) -> Verified {
    let digits: Vec<String> = (0..bytes).map(|at| format!("{:02x}", at % 251)).collect();
    let digits = digits
        .chunks(64)
        .map(|line| format!("\"{}\"", line.concat()));
    let digits = digits.collect::<Vec<_>>().join("\n    ");
    let text = format!(
        "kernel \"table\" {{\n  b0 = const w1 [{bytes}]\n    {digits}\n  b1 = out 0 w1 [{bytes}]\n  \
         move b1[0] <- b0[0] box [({bytes}, 1, 1)] as rows\n}}"
    );
    let kernel: Kernel = text.parse().expect("a kernel");
    verify(kernel).expect("a sound kernel")
}

#[test]
fn random_kernels_are_functions_of_every_machine() {
    let mut constants = 0;
    for machine in MACHINES {
        let mut reused = compiler(machine, Features::Sse2);
        for seed in 0..200 {
            let kernel = verify(generate::kernel(seed)).expect("generated kernels are valid");
            let function = made(machine, Features::Sse2, &kernel);
            assert_eq!(reused.standalone(&kernel).as_ref(), Ok(&function), "{seed}");
            let of_kernel = kernel.buffers.iter().map(|buffer| match &buffer.role {
                Role::Const(bytes) => bytes.len(),
                Role::In(_) | Role::Out(..) | Role::Scratch => 0,
            });
            let of_kernel: usize = of_kernel.sum();
            assert!(function.code > 0 && function.bytes.len() >= function.code + of_kernel);
            constants += usize::from(of_kernel > 0);
        }
    }
    assert!(constants > 100, "{constants}");
}

#[test]
fn levels_that_this_machine_may_lack_make_other_code() {
    let kernel = copies(64);
    let code = |level| made(MACHINES[0], level, &kernel).bytes;
    assert_ne!(code(Features::Sse2), code(Features::Avx512));
    let aarch64 = |level| made(MACHINES[1], level, &kernel).bytes;
    assert_eq!(aarch64(Features::Sse2), aarch64(Features::Avx512));
}

#[test]
fn constants_lie_behind_the_code() {
    for machine in MACHINES {
        for bytes in [1, 15, 4097, 100_000] {
            let function = made(machine, Features::Sse2, &copies(bytes));
            let begin = function.code.next_multiple_of(16);
            let constant = &function.bytes[begin..];
            assert!(
                constant
                    .iter()
                    .zip(0..bytes)
                    .all(|(is, at)| usize::from(*is) == at % 251)
            );
            assert_eq!(constant.len(), bytes);
        }
    }
}
