//! Whether the bodies of leaves are as the processor has them.
#![cfg(target_os = "linux")]

use std::hint::black_box;

use object::read::elf::ElfFile64;
use object::{Object as _, ObjectSymbol as _};
use restride_leaves::Leaf;
use restride_moves::MovePlan;

/// An intrinsic that is a function of its own has its vectors in memory: what calls it was compiled without the features
/// of the body that it is part of, as closures are that others run. There is none of AVX2 or AVX-512 in an optimised
/// program.
#[test]
#[cfg_attr(debug_assertions, ignore = "without optimisation nothing is inlined")]
fn no_intrinsic_stands_by_itself() {
    black_box(Leaf::of as fn(&MovePlan) -> Leaf);
    let program = std::env::current_exe().and_then(std::fs::read);
    let program = program.expect("what runs is a file");
    let program = ElfFile64::<object::Endianness>::parse(&*program).expect("it is an ELF file");
    let names = program.symbols().filter_map(|symbol| symbol.name().ok());
    let names: Vec<_> = names.collect();
    assert!(names.iter().any(|name| name.contains("restride_leaves")));
    let wide = |name: &&&str| name.contains("3x864avx2") || name.contains("3x867avx512");
    assert_eq!(names.iter().find(wide), None);
}
