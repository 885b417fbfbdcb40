//! Kernels as text: what is emitted, and that other machines are generated for.

mod support;

use restride_jit::{Compiler, Features};
use restride_loops::{Kernel, Verified, generate, verify};

fn written(text: &str) -> Verified {
    let kernel: Kernel = text.parse().expect("a kernel");
    verify(kernel).expect("a valid kernel")
}

fn transpose() -> Verified {
    written(
        r#"
kernel "four by four" {
  b0 = in 0 w4 [16]
  b1 = out 0 w4 [16]
  move b1[0] <- b0[0] box [(4, 1, 4), (4, 4, 1)] as transpose
}"#,
    )
}

fn triple(name: &str) -> target_lexicon::Triple {
    name.parse().expect("a triple")
}

#[test]
fn aarch64_code_is_generated_for_random_kernels() {
    let triple = triple("aarch64-unknown-linux-gnu");
    for seed in 0..400 {
        let kernel = verify(generate::kernel(seed)).expect("generated kernels are valid");
        let listing = Compiler::listing_for(&triple, Features::Sse2, &kernel)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", *kernel));
        assert!(!listing.code.is_empty() && listing.assembly.contains("ret"));
    }
}

#[test]
fn an_aarch64_transpose_is_a_network_of_zips() {
    let triple = triple("aarch64-unknown-linux-gnu");
    let listing =
        Compiler::listing_for(&triple, Features::Sse2, &transpose()).expect("aarch64 code");
    println!("{}", listing.assembly);
    let count = |name: &str| {
        let lines = listing.assembly.lines();
        lines.filter(|line| line.trim().starts_with(name)).count()
    };
    assert_eq!(
        (count("zip1"), count("zip2")),
        (4, 4),
        "{}",
        listing.assembly
    );
    assert_eq!(
        (count("ldr q"), count("str q")),
        (4, 4),
        "{}",
        listing.assembly
    );
}

#[test]
fn intermediate_code_promises_nothing_but_notrap() {
    const ALLOWED: [&str; 28] = [
        "band",
        "bitcast",
        "bor",
        "brif",
        "extractlane",
        "iadd",
        "icmp",
        "iconst",
        "imul",
        "ishl",
        "isub",
        "jump",
        "load",
        "return",
        "scalar_to_vector",
        "select",
        "sextend",
        "shuffle",
        "sload16",
        "sload32",
        "sload8",
        "stack_addr",
        "store",
        "udiv",
        "uextend",
        "uload16",
        "uload32",
        "uload8",
    ];
    let triple = triple("x86_64-unknown-linux-gnu");
    for seed in 0..300 {
        let kernel = verify(generate::kernel(seed)).expect("generated kernels are valid");
        let listing = Compiler::listing_for(&triple, Features::Sse2, &kernel).expect("code");
        let declared = |line: &&str| {
            let line = line.trim_start();
            ["sig", "const", "ss"].iter().any(|it| line.starts_with(it))
        };
        let indented = |line: &&str| line.starts_with("    ");
        let lines = listing.clif.lines().filter(indented);
        for line in lines.filter(|line| !declared(line)) {
            let code = line.split("  ;").next().unwrap_or_default().trim();
            let instruction = code.rsplit("= ").next().unwrap_or_default();
            let name = instruction
                .split([' ', '(', '.'])
                .next()
                .unwrap_or_default();
            assert!(ALLOWED.contains(&name) || name == "vconst", "{line}");
            if name.contains("load") || name == "store" {
                assert!(instruction.contains("notrap"), "{line}");
                for promise in ["aligned", "readonly", "can_move"] {
                    assert!(!instruction.contains(promise), "{line}");
                }
            }
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn installed_code_is_disassembled() {
    let mut native = Compiler::new(restride_jit::CompileOptions::default()).expect("a host");
    let kernel = native.compile(&transpose()).expect("executable memory");
    let text = kernel.disassembly();
    assert!(text.contains("punpckldq") && text.contains("ret"), "{text}");
    assert_eq!(kernel.phase_offsets().collect::<Vec<_>>(), [0]);
}

#[test]
fn an_aarch64_loop_of_shuffles_has_its_tables_in_registers() {
    let swap = written(
        r#"
kernel "blue first" {
  b0 = in 0 w1 [3000]
  b1 = out 0 w1 [3000]
  move b1[0] <- b0[2] box [(1000, 3, 3), (3, 1, -1)] as lines
}"#,
    );
    let triple = triple("aarch64-unknown-linux-gnu");
    let listing = Compiler::listing_for(&triple, Features::Sse2, &swap).expect("aarch64 code");
    let lines: Vec<&str> = listing.assembly.lines().map(str::trim).collect();
    let end = lines.iter().position(|line| line.starts_with("cbnz"));
    let end = end.expect("a loop");
    let begin = lines[..end]
        .iter()
        .rposition(|line| line.starts_with("block"));
    let body = &lines[begin.expect("a block")..end];
    assert!(body.iter().any(|line| line.starts_with("tbl")));
    for line in body {
        // Windows alone are loaded, and nothing is brought into place for a shuffle.
        assert!(
            !line.contains("const(") && !line.starts_with("mov"),
            "{line}"
        );
    }
}
